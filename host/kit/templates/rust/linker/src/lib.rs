//! A linker: the plan to the tables that answer it, nearest first, with the joins between them.

use airlock_plugin_sdk::contract::linker::{LinkInput, LinkStep, NoMatch, SelectedTable, Selection};
use airlock_plugin_sdk::{Exchange, Host, Linker, StageError};

/// Most joins between two tables.
const HOPS: u32 = 3;

/// The linker.
pub struct Plugin;

impl Linker for Plugin {
    fn run(host: &impl Host, input: LinkInput, _exchanges: Vec<Exchange>) -> Result<LinkStep, StageError> {
        let hits = host.near_tables(&input.question, input.width);
        let [best, others @ ..] = hits.as_slice() else {
            let mut unknown_words = input.plan.keywords;
            unknown_words.truncate(20);
            let reason = "No table of this domain is near the question.".to_owned();
            return Ok(LinkStep::Nothing(NoMatch { reason, unknown_words }));
        };
        let mut joins = Vec::new();
        for other in others {
            for join in host.join_path(&best.table, &other.table, HOPS) {
                if joins.len() < 20 && !joins.contains(&join) {
                    joins.push(join);
                }
            }
        }
        let tables = hits
            .iter()
            .map(|hit| SelectedTable {
                table: hit.table.clone(),
                columns: Vec::new(),
                reason: format!("it has to do with {}", hit.matched.join(", ")),
                score: hit.score,
            })
            .collect();
        Ok(LinkStep::Done(Selection { tables, joins, attributes: Vec::new() }))
    }
}

airlock_plugin_sdk::export!(linker: Plugin);

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::contract::planner::Plan;
    use airlock_plugin_sdk::harness::{Recorded, clock, drive, table};

    use super::*;

    fn linked(question: &str) -> LinkStep {
        let host = Recorded::new()
            .table(table("loans").columns(&[("loan_id", "bigint"), ("member_id", "bigint")]))
            .table(table("members").columns(&[("member_id", "bigint"), ("full_name", "text")]))
            .join("loans.member_id", "members.member_id");
        let plan = Plan {
            intent: "data".into(),
            steps: Vec::new(),
            keywords: vec!["weather".into()],
            measures: Vec::new(),
            filters: Vec::new(),
            time: Vec::new(),
            grouping: Vec::new(),
            order: Vec::new(),
            limit: None,
            assumptions: Vec::new(),
            attributes: Vec::new(),
        };
        let input = LinkInput {
            question: question.into(),
            clock: clock("2026-07-15"),
            plan,
            width: 5,
            failure: None,
            model_available: false,
            attributes: Vec::new(),
        };
        drive([], |exchanges| Plugin::run(&host, input.clone(), exchanges)).end.unwrap()
    }

    #[test]
    fn what_the_question_names_is_selected_and_joined() {
        let LinkStep::Done(selection) = linked("Which members have loans?") else { panic!("nothing") };
        assert_eq!((selection.tables.len(), selection.joins.len()), (2, 1));
        let LinkStep::Nothing(none) = linked("How is the weather?") else { panic!("something") };
        assert_eq!(none.unknown_words, ["weather"]);
    }
}
