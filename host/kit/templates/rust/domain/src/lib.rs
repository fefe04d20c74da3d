//! A domain's adapter: ticket numbers in their one spelling, and a warning where a query reads a table without saying which rows.

use airlock_plugin_sdk::contract::domain::{Canonical, Finding, Severity};
use airlock_plugin_sdk::contract::sql::Facts;
use airlock_plugin_sdk::{Clock, DomainAdapter, Host, StageError};

/// Most entities of one question.
const MOST: usize = 10;

/// The adapter. Functions that it does not have say nothing.
pub struct Plugin;

impl DomainAdapter for Plugin {
    fn canonicalize(_host: &impl Host, question: String, _clock: Clock) -> Result<Vec<Canonical>, StageError> {
        let words = question.split(|c: char| !c.is_alphanumeric() && c != '-');
        Ok(words.filter_map(ticket).take(MOST).collect())
    }

    fn review(_host: &impl Host, _text: String, facts: Facts, _clock: Clock) -> Result<Vec<Finding>, StageError> {
        if facts.tables.is_empty() || !facts.literals.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![Finding {
            code: "whole-table".into(),
            severity: Severity::Warn,
            message: "The answer is about all rows there are, of any time.".into(),
            hint: Some("Name a time or a value to look at less.".into()),
        }])
    }
}

airlock_plugin_sdk::export!(domain: Plugin);

/// `tk-7`, `TK0007` and `tk7` are the ticket TK-0007.
fn ticket(word: &str) -> Option<Canonical> {
    let (head, digits) = word.split_at_checked(2)?;
    let digits = digits.strip_prefix('-').unwrap_or(digits);
    let number: u32 = digits.parse().ok()?;
    (head.eq_ignore_ascii_case("tk") && digits.len() <= 6 && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| Canonical {
        kind: "ticket".into(),
        matched: word.to_owned(),
        key: format!("TK-{number:04}"),
    })
}

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::harness::{Recorded, clock, table_ref};

    use super::*;

    #[test]
    fn a_ticket_has_one_spelling() {
        for word in ["tk-7", "TK0007", "Tk7"] {
            let question = format!("Who opened {word}?");
            let found = Plugin::canonicalize(&Recorded::new(), question, clock("2026-07-15")).unwrap();
            assert_eq!((found[0].matched.as_str(), found[0].key.as_str()), (word, "TK-0007"));
        }
        for word in ["tk", "tk-", "tk-x", "tk--7", "task7", "tk9999999"] {
            assert!(ticket(word).is_none(), "{word}");
        }
    }

    #[test]
    fn a_whole_table_is_warned_of() {
        let facts = |tables: Vec<_>| Facts { tables, columns: vec![], functions: vec![], literals: vec![] };
        let review = |facts| Plugin::review(&Recorded::new(), String::new(), facts, clock("2026-07-15")).unwrap();
        assert_eq!(review(facts(vec![table_ref("tickets")])).len(), 1);
        assert!(review(facts(vec![])).is_empty());
    }
}
