//! The contract's imports, answered from what was recorded.

use super::Recorded;
use crate::Host;
use crate::contract::catalog::{Join, TableDetail, TableSummary};
use crate::contract::log::Level;
use crate::contract::retrieval::{ColumnHit, Example, Lesson, Passage, TableHit, Term, ValueHit};
use crate::contract::sql::{Facts, Node, Rejection};
use crate::contract::types::{Attribute, ColumnRef, TableRef};
use crate::{joins, words};

/// Every retrieval function returns at most this many.
const MOST: usize = 50;

impl Host for Recorded {
    fn tables(&self) -> Vec<TableSummary> {
        self.tables.iter().map(|table| table.summary.clone()).collect()
    }

    fn describe(&self, table: &TableRef) -> Option<TableDetail> {
        self.tables.iter().find(|known| known.summary.table == *table).cloned()
    }

    fn join_path(&self, from: &TableRef, to: &TableRef, max_hops: u32) -> Vec<Join> {
        joins::shortest(self, from, to, max_hops)
    }

    fn server_version(&self) -> u32 {
        self.server_version.unwrap_or(150_000)
    }

    fn near_tables(&self, query: &str, k: u32) -> Vec<TableHit> {
        let hits = self.tables.iter().filter_map(|table| {
            let mut text = words::identifier_words(&table.summary.table.name).join(" ");
            for more in table.synonyms.iter().chain([&table.summary.description]) {
                text = format!("{text} {more}");
            }
            for column in &table.columns {
                text = format!("{text} {}", words::identifier_words(&column.name).join(" "));
            }
            let matched = shared(query, &text);
            (!matched.is_empty()).then(|| TableHit {
                table: table.summary.table.clone(),
                score: matched.len() as f64,
                matched,
            })
        });
        best(hits.collect(), k, |hit| hit.score)
    }

    fn near_columns(&self, query: &str, k: u32) -> Vec<ColumnHit> {
        let hits = self.tables.iter().flat_map(|table| {
            table.columns.iter().filter_map(|column| {
                let mut text = words::identifier_words(&column.name).join(" ");
                for more in column.synonyms.iter().chain([&column.description]) {
                    text = format!("{text} {more}");
                }
                let matched = shared(query, &text);
                (!matched.is_empty()).then(|| ColumnHit {
                    column: ColumnRef { table: table.summary.table.clone(), column: column.name.clone() },
                    score: matched.len() as f64,
                    matched,
                })
            })
        });
        best(hits.collect(), k, |hit| hit.score)
    }

    fn near_values(&self, query: &str, k: u32) -> Vec<ValueHit> {
        let hits = self.values.iter().filter_map(|(column, value)| {
            let matched = shared(query, value);
            (!matched.is_empty()).then(|| ValueHit {
                column: column.clone(),
                value: value.clone(),
                score: matched.len() as f64,
                matched: matched.join(" "),
            })
        });
        best(hits.collect(), k, |hit| hit.score)
    }

    fn near_examples(&self, query: &str, k: u32) -> Vec<Example> {
        let hits = self.examples.iter().filter_map(|example| {
            let score = shared(query, &example.question).len() as f64;
            (score > 0.0).then(|| Example { score, ..example.clone() })
        });
        best(hits.collect(), k, |hit| hit.score)
    }

    fn near_lessons(&self, query: &str, k: u32) -> Vec<Lesson> {
        let hits = self.lessons.iter().filter_map(|lesson| {
            let score = shared(query, &lesson.text).len() as f64;
            (score > 0.0).then(|| Lesson { score, ..lesson.clone() })
        });
        best(hits.collect(), k, |hit| hit.score)
    }

    fn near_terms(&self, query: &str, k: u32) -> Vec<Term> {
        let hits = self.terms.iter().filter_map(|term| {
            let text = format!("{} {}", term.name, term.synonyms.join(" "));
            let matched = shared(query, &text);
            (!matched.is_empty()).then(|| Term {
                score: matched.len() as f64,
                matched: matched.join(" "),
                ..term.clone()
            })
        });
        best(hits.collect(), k, |hit| hit.score)
    }

    fn near_passages(&self, query: &str, k: u32) -> Vec<Passage> {
        let hits = self.passages.iter().filter_map(|passage| {
            let score = shared(query, &passage.text).len() as f64;
            (score > 0.0).then(|| Passage { score, ..passage.clone() })
        });
        best(hits.collect(), k, |hit| hit.score)
    }

    fn check(&self, text: &str) -> Result<Facts, Rejection> {
        self.checks.get(text).cloned().unwrap_or_else(|| {
            Ok(Facts { tables: Vec::new(), columns: Vec::new(), functions: Vec::new(), literals: Vec::new() })
        })
    }

    fn outline(&self, text: &str) -> Result<Vec<Node>, Rejection> {
        self.outlines.get(text).cloned().unwrap_or_else(|| Ok(Vec::new()))
    }

    fn log(&self, level: Level, message: &str, fields: &[Attribute]) {
        self.logged.borrow_mut().push((level, message.to_owned(), fields.to_vec()));
    }
}

/// Content words that both texts have.
fn shared(query: &str, text: &str) -> Vec<String> {
    let known = words::content_words(text);
    words::content_words(query).into_iter().filter(|word| known.contains(word)).collect()
}

/// The best first; equal scores keep their order, so that a test reads the same every time.
fn best<T>(mut hits: Vec<T>, k: u32, score: impl Fn(&T) -> f64) -> Vec<T> {
    hits.sort_by(|a, b| score(b).total_cmp(&score(a)));
    hits.truncate((k as usize).min(MOST));
    hits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{table, table_ref};

    fn shop() -> Recorded {
        Recorded::new()
            .table(table("bills").columns(&[("bill_id", "bigint"), ("total_amt", "numeric(12,2)")]))
            .table(table("bill_items").columns(&[("bill_id", "bigint"), ("prod_id", "bigint")]))
            .table(
                table("products")
                    .columns(&[("prod_id", "bigint"), ("prod_name", "text")])
                    .synonyms(&["goods"]),
            )
            .join("bill_items.bill_id", "bills.bill_id")
            .join("bill_items.prod_id", "products.prod_id")
            .values("products.prod_name", &["Hammer 500g", "Nails"])
            .metric("revenue", &["turnover"], "bills", "sum(bills.total_amt)", "")
    }

    #[test]
    fn joins_are_walked_in_both_directions() {
        let host = shop();
        let path = host.join_path(&table_ref("bills"), &table_ref("products"), 3);
        assert_eq!(path.len(), 2);
        assert!(host.join_path(&table_ref("bills"), &table_ref("products"), 1).is_empty());
        assert!(host.join_path(&table_ref("bills"), &table_ref("nowhere"), 6).is_empty());
    }

    #[test]
    fn retrieval_finds_names_synonyms_values_and_terms() {
        let host = shop();
        assert_eq!(host.near_tables("which goods sell", 5)[0].table.name, "products");
        assert_eq!(host.near_values("price of a hammer", 5)[0].value, "Hammer 500g");
        assert_eq!(host.near_terms("our turnover", 5)[0].name, "revenue");
        assert_eq!(host.near_columns("total", 1)[0].column.column, "total_amt");
        assert!(host.near_tables("weather", 5).is_empty());
    }

    #[test]
    fn recorded_answers_survive_json() {
        let host = shop();
        let again = Recorded::from_json(&serde_json::to_string(&host).unwrap()).unwrap();
        assert_eq!(again.tables, host.tables);
        assert_eq!(again.values, host.values);
    }
}
