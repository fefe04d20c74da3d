//! Whether two results say the same: rows as multisets, column names ignored, further columns allowed.

use std::collections::HashMap;

use airlock_database::ResultSet;

use super::cell::Cell;

/// What a comparison came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Comparison {
    Same,
    /// In what they differ.
    Different(String),
    /// Why nobody can say.
    Undecided(String),
}

/// Ways of matching columns that are tried before it is called undecided. Only results whose columns hold the same
/// values in other orders need more than a few.
const TRIES: usize = 400;

/// Compares what was answered with what is right. Row order counts only where it was asked for: then `blocks` says for
/// each place in the right result to which block of rows it belongs, and a row must stand within its block.
pub(crate) fn compare(got: &ResultSet, gold: &ResultSet, blocks: Option<&[u32]>) -> Comparison {
    if got.truncated || gold.truncated {
        return Comparison::Undecided("a result is too large to be compared".to_owned());
    }
    if got.rows.len() != gold.rows.len() {
        return Comparison::Different(format!("{} rows instead of {}", got.rows.len(), gold.rows.len()));
    }
    if got.columns.len() < gold.columns.len() {
        let (got, gold) = (got.columns.len(), gold.columns.len());
        return Comparison::Different(format!("{got} columns instead of {gold}"));
    }
    if gold.rows.is_empty() {
        return Comparison::Same;
    }
    let mut numbers = HashMap::new();
    let (got, gold) = (columns(got, &mut numbers), columns(gold, &mut numbers));
    let mut search = Search { got: &got, gold: &gold, blocks, chosen: Vec::new(), tries: 0 };
    match search.next() {
        Some(true) => Comparison::Same,
        Some(false) => Comparison::Different("the values differ".to_owned()),
        None => Comparison::Undecided("the columns can be matched in too many ways".to_owned()),
    }
}

/// A column: a number for each different value.
type Column = Vec<u32>;

fn columns(result: &ResultSet, numbers: &mut HashMap<Cell, u32>) -> Vec<Column> {
    let mut columns = vec![Vec::with_capacity(result.rows.len()); result.columns.len()];
    for row in &result.rows {
        for ((value, kind), column) in row.iter().zip(&result.columns).zip(&mut columns) {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            column.push(*numbers.entry(Cell::of(value, &kind.sql_type)).or_insert(next));
        }
    }
    columns
}

/// Looks for a column of the answer for each right column, so that the rows of the two agree.
struct Search<'a> {
    got: &'a [Column],
    gold: &'a [Column],
    blocks: Option<&'a [u32]>,
    /// For each right column so far, the column of the answer.
    chosen: Vec<usize>,
    tries: usize,
}

impl Search<'_> {
    /// Goes on from the columns chosen so far; `None` when it takes too long.
    fn next(&mut self) -> Option<bool> {
        if self.chosen.len() == self.gold.len() {
            return Some(true);
        }
        let mut tried: Vec<&Column> = Vec::new();
        for (at, column) in self.got.iter().enumerate() {
            // Of equal columns one is as good as the other.
            if self.chosen.contains(&at) || tried.contains(&column) {
                continue;
            }
            tried.push(column);
            self.tries += 1;
            if self.tries > TRIES {
                return None;
            }
            self.chosen.push(at);
            if self.agrees() && self.next()? {
                return Some(true);
            }
            self.chosen.pop();
        }
        Some(false)
    }

    /// Whether the rows agree in the columns chosen so far.
    fn agrees(&self) -> bool {
        let count = self.chosen.len();
        let got: Vec<&Column> = self.chosen.iter().filter_map(|at| self.got.get(*at)).collect();
        let gold: Vec<&Column> = self.gold.iter().take(count).collect();
        sorted_rows(&got, self.blocks) == sorted_rows(&gold, self.blocks)
    }
}

/// The rows as a multiset, those of a block together.
fn sorted_rows(columns: &[&Column], blocks: Option<&[u32]>) -> Vec<Vec<u32>> {
    let height = columns.first().map_or(0, |column| column.len());
    let mut rows: Vec<Vec<u32>> = (0..height)
        .map(|row| {
            let block = blocks.and_then(|blocks| blocks.get(row));
            block.into_iter().chain(columns.iter().filter_map(|column| column.get(row))).copied().collect()
        })
        .collect();
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use airlock_types::ask::ResultColumn;
    use serde_json::{Value, json};

    use super::*;

    fn result(rows: Value, types: &[&str]) -> ResultSet {
        let columns = types
            .iter()
            .enumerate()
            .map(|(at, sql_type)| ResultColumn { name: format!("c{at}"), sql_type: (*sql_type).to_owned() })
            .collect();
        ResultSet {
            columns,
            rows: serde_json::from_value(rows).unwrap(),
            truncated: false,
            duration: Duration::ZERO,
        }
    }

    #[test]
    fn what_counts_and_what_does_not() {
        let (two, three) = (["text", "integer"].as_slice(), ["text", "integer", "integer"].as_slice());
        let [free, exact, tied, part]: [Option<&[u32]>; 4] =
            [None, Some(&[0, 1]), Some(&[0, 0]), Some(&[0, 1, 1])];
        for (got, types, gold, gold_types, blocks, same) in [
            (json!([["a", 1], ["b", 2]]), two, json!([["b", 2], ["a", 1]]), two, free, true),
            (json!([["a", 1], ["b", 2]]), two, json!([["b", 2], ["a", 1]]), two, exact, false),
            (json!([["a", 1], ["b", 2]]), two, json!([["a", 1], ["b", 2]]), two, exact, true),
            // Rows that tie may change places; others may not.
            (json!([["a", 1], ["b", 1]]), two, json!([["b", 1], ["a", 1]]), two, tied, true),
            (json!([["a", 1], ["b", 2]]), two, json!([["b", 1], ["a", 2]]), two, tied, false),
            (
                json!([["a", 2], ["c", 1], ["b", 1]]),
                two,
                json!([["a", 2], ["b", 1], ["c", 1]]),
                two,
                part,
                true,
            ),
            (
                json!([["b", 1], ["a", 2], ["c", 1]]),
                two,
                json!([["a", 2], ["b", 1], ["c", 1]]),
                two,
                part,
                false,
            ),
            // Each column has the right values, the rows have not.
            (json!([["a", 2], ["b", 1]]), two, json!([["a", 1], ["b", 2]]), two, free, false),
            // Further columns, in any place.
            (json!([["a", 7, 1], ["b", 7, 2]]), three, json!([["a", 1], ["b", 2]]), two, free, true),
            (json!([["a", 1]]), two, json!([["a", 1, 7]]), three, free, false),
            // The second of two columns with the same values is the right one.
            (json!([["a", 1, 2], ["b", 2, 1]]), three, json!([["a", 2], ["b", 1]]), two, free, true),
            // Multisets: how often counts.
            (json!([["a", 1], ["a", 1]]), two, json!([["a", 1], ["b", 1]]), two, free, false),
            (json!([["a", 1]]), two, json!([["a", 1], ["a", 1]]), two, free, false),
            // Without rows too.
            (json!([]), three, json!([]), two, free, true),
            (json!([]), two, json!([]), three, free, false),
        ] {
            let comparison = compare(&result(got.clone(), types), &result(gold.clone(), gold_types), blocks);
            assert_eq!(comparison == Comparison::Same, same, "{got} {gold} {blocks:?}: {comparison:?}");
        }
    }

    #[test]
    fn a_cut_result_decides_nothing() {
        let whole = result(json!([["a", 1]]), &["text", "integer"]);
        let cut = ResultSet { truncated: true, ..whole.clone() };
        assert!(matches!(compare(&cut, &whole, None), Comparison::Undecided(_)));
        assert!(matches!(compare(&whole, &cut, None), Comparison::Undecided(_)));
    }

    #[test]
    fn columns_that_are_all_alike_end_the_search() {
        // Each column holds the numbers below 31 in another order, so that any two match and hardly any four.
        let rows = |shift: usize| -> Value {
            let row = |row: usize| (1..31).map(|c| (row * c + shift * c * c * c) % 31).collect::<Vec<_>>();
            (0..31).map(row).collect::<Vec<_>>().into()
        };
        let types = ["integer"; 30];
        let comparison = compare(&result(rows(1), &types), &result(rows(0), &types), None);
        assert!(matches!(comparison, Comparison::Undecided(_)), "{comparison:?}");
    }
}
