//! An answerer: the sentence that a person reads, from the rows alone. It claims nothing that they do not show.

use airlock_plugin_sdk::contract::answerer::{Answer, AnswerInput, AnswerStep};
use airlock_plugin_sdk::prompt::cut;
use airlock_plugin_sdk::{Answerer, Exchange, Host, StageError};

/// Bytes of a value in a sentence.
const VALUE: usize = 200;

/// The answerer.
pub struct Plugin;

impl Answerer for Plugin {
    fn run(_host: &impl Host, input: AnswerInput, _exchanges: Vec<Exchange>) -> Result<AnswerStep, StageError> {
        if input.kind != "data" {
            return Err(StageError::Unsupported("this answerer speaks of rows only".into()));
        }
        Ok(AnswerStep::Done(Answer { text: sentence(&input), attributes: Vec::new() }))
    }
}

airlock_plugin_sdk::export!(answerer: Plugin);

fn sentence(input: &AnswerInput) -> String {
    match (input.row_count, input.columns.as_slice(), input.rows.as_slice()) {
        (0, _, _) => "There are no rows that answer this.".to_owned(),
        (1, [column], [row]) => match row.first() {
            Some(Some(value)) => {
                let (mut name, mut value) = (column.name.clone(), value.clone());
                cut(&mut name, VALUE);
                cut(&mut value, VALUE);
                format!("{name}: {value}.")
            }
            _ => "The answer is empty: there is nothing to compute it from.".to_owned(),
        },
        (1, _, _) => "One row answers this.".to_owned(),
        (count, _, _) if input.truncated => format!("The first {count} rows; there are more."),
        (count, _, _) => format!("{count} rows answer this."),
    }
}

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::contract::answerer::ResultColumn;
    use airlock_plugin_sdk::harness::{Recorded, clock, drive};

    use super::*;

    fn said(rows: Vec<Vec<Option<String>>>, row_count: u64, truncated: bool) -> String {
        let input = AnswerInput {
            question: "How many loans are out?".into(),
            clock: clock("2026-07-15"),
            kind: "data".into(),
            sql: Some("SELECT count(*) AS loans FROM loans".into()),
            columns: vec![ResultColumn { name: "loans".into(), sql_type: "bigint".into() }],
            rows,
            row_count,
            truncated,
            probe: None,
            assumptions: Vec::new(),
            context: Vec::new(),
            model_available: false,
            attributes: Vec::new(),
        };
        let step = drive([], |exchanges| Plugin::run(&Recorded::new(), input.clone(), exchanges)).end.unwrap();
        let AnswerStep::Done(answer) = step else { panic!("it asks") };
        answer.text
    }

    #[test]
    fn a_sentence_says_what_the_rows_show() {
        assert_eq!(said(vec![vec![Some("41".into())]], 1, false), "loans: 41.");
        assert_eq!(said(vec![vec![None]], 1, false), "The answer is empty: there is nothing to compute it from.");
        assert_eq!(said(Vec::new(), 0, false), "There are no rows that answer this.");
        assert_eq!(said(Vec::new(), 200, true), "The first 200 rows; there are more.");
    }
}
