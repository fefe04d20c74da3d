//! Nothing found, told with what was checked.

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::contract::repair::ProbeFinding;

use crate::decimal::grouped;
use crate::given::Given;
use crate::label::label;
use crate::query::Measure;
use crate::question::sentence as ended;
use crate::table;

/// Spellings that are named.
const SPELLINGS: usize = 5;

/// What an empty result shows of the rows that the query asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// There is none.
    NoRow,
    /// None of them has a value.
    NoValue,
    /// There may be some: their values are 0, or nothing was computed from them.
    Nothing,
}

/// The sentence for no rows, and for the one row of NULL that an aggregate over nothing gives. Absent when there is
/// something to tell.
pub fn sentence(given: &Given<'_>) -> Option<String> {
    let input = given.input;
    let measure = given.query.plain().map(|plain| &plain.measure);
    let (head, shown) = if input.row_count == 0 {
        ("No row matches the question.".to_owned(), Shown::NoRow)
    } else if input.row_count == 1 && is_without_value(input) {
        // An aggregate of rows gives a value where one of them has any.
        let aggregate = matches!(measure, Some(Measure::Sum(_) | Measure::Average(_) | Measure::End { .. }));
        let why = match (aggregate, divides_by_nothing(input)) {
            (true, _) => ": no row with a value matched",
            (false, true) => ": no row with a value matched, or what it would be divided by is 0",
            (false, false) => "",
        };
        let labels: Vec<String> = input
            .columns
            .iter()
            .map(|column| label(&column.name, input))
            .filter(|label| !label.is_empty())
            .collect();
        let head = match labels.as_slice() {
            [label] => format!("There is no value for {label}{why}."),
            _ => format!("There is no value{why}."),
        };
        (head, if aggregate { Shown::NoValue } else { Shown::Nothing })
    } else if input.row_count == 1 && is_zero(input) && was_looked_at(input) {
        let counted = measure == Some(&Measure::Rows);
        (table::sentence(given), if counted { Shown::NoRow } else { Shown::Nothing })
    } else {
        return None;
    };
    let told = [
        none(input),
        null(input),
        among(input),
        held(input, shown),
        input.probe.as_ref().map(finding),
        missing(input),
        values(input),
        without(input),
        beside(input),
        tables(input, shown),
        unchecked(input),
    ];
    let told = std::iter::once(head).chain(told.into_iter().flatten());
    Some(told.collect::<Vec<_>>().join(" "))
}

/// What the host noted under a key.
fn notes<'a>(input: &'a AnswerInput, key: &'a str) -> impl Iterator<Item = &'a str> {
    let noted = input.attributes.iter().filter(move |note| note.key == key);
    noted.map(|note| note.value.as_str())
}

fn was_looked_at(input: &AnswerInput) -> bool {
    input.probe.is_some() || input.attributes.iter().any(|note| note.key.starts_with("empty:"))
}

/// A comparison that is true of no row.
fn null(input: &AnswerInput) -> Option<String> {
    let comparison = notes(input, "empty:null").next()?;
    Some(format!(
        "The query compares with NULL by an operator ({comparison}), which is true of no row: IS NULL asks for what has no value."
    ))
}

/// A limit of no row.
fn none(input: &AnswerInput) -> Option<String> {
    let limit = notes(input, "empty:none").next()?;
    Some(format!("The query asks for no row at all ({limit})."))
}

/// The NULLs that NOT IN is compared with.
fn among(input: &AnswerInput) -> Option<String> {
    let said = match notes(input, "empty:among").next()? {
        "0" => {
            "It was checked that NOT IN is compared with no NULL, so that finding nothing may be the answer."
        }
        _ => {
            "It was checked that NULL is among the values that NOT IN is compared with, which makes NOT IN true of no row: they must be left out (IS NOT NULL)."
        }
    };
    Some(said.to_owned())
}

/// Further values that are not there.
fn missing(input: &AnswerInput) -> Option<String> {
    let missing = notes(input, "empty:missing").filter_map(|note| note.split_once('\t'));
    let missing: Vec<String> = missing.map(|(column, value)| format!("'{value}' in {column}")).collect();
    (!missing.is_empty()).then(|| format!("The same holds of {}.", and(&missing)))
}

/// What the column has in place of a value that is not there.
fn values(input: &AnswerInput) -> Option<String> {
    let mut told = notes(input, "empty:values").next()?.split('\t');
    let column = told.next()?;
    let values: Vec<String> = told.map(|value| format!("'{value}'")).collect();
    (!values.is_empty()).then(|| format!("The indexed values of {column} are {}.", and(&values)))
}

/// What there is without HAVING or OFFSET.
fn without(input: &AnswerInput) -> Option<String> {
    let (part, rows) = notes(input, "empty:without").find_map(|note| note.split_once('\t'))?;
    Some(match rows {
        "0" => format!("It was checked without {part} too, and there is none then either."),
        "1" => format!("Without {part} there would be 1 row."),
        rows => format!("Without {part} there would be {} rows.", grouped(rows)),
    })
}

/// What may have left none too.
fn beside(input: &AnswerInput) -> Option<String> {
    let parts: Vec<&str> = notes(input, "empty:beside").collect();
    (!parts.is_empty())
        .then(|| format!("It was not checked without {}, which may leave none too.", and(&parts)))
}

/// The values that are there as the query has them.
fn held(input: &AnswerInput, shown: Shown) -> Option<String> {
    let held: Vec<String> = notes(input, "empty:held")
        .filter_map(|note| note.split_once('\t'))
        .map(|(column, value)| format!("{column} has '{value}'"))
        .collect();
    let alone = input.probe.is_none()
        && ["empty:rows", "empty:without", "empty:beside"]
            .iter()
            .all(|key| notes(input, key).next().is_none());
    let rest = match shown {
        Shown::NoRow if alone => "; the conditions together leave no row",
        Shown::NoValue if alone => "; no row that meets the conditions together has a value",
        _ => "",
    };
    (!held.is_empty()).then(|| format!("It was checked that {}{rest}.", and(&held)))
}

/// The tables that have rows, those that have none, and those that may have some that the reader is not shown.
fn tables(input: &AnswerInput, shown: Shown) -> Option<String> {
    let empty: Vec<&str> = notes(input, "empty:no-rows").collect();
    let hidden: Vec<&str> = notes(input, "empty:none-visible").collect();
    let filled: Vec<&str> = notes(input, "empty:rows").collect();
    let have = |tables: &[&str]| if tables.len() == 1 { "has" } else { "have" };
    let none =
        |tables: &[&str]| format!("It was checked that {} {} no rows at all.", and(tables), have(tables));
    let unseen = |tables: &[&str]| {
        format!(
            "Row security decides which rows are shown: no row of {} is visible to this reader.",
            and(tables)
        )
    };
    match (empty.as_slice(), hidden.as_slice(), filled.as_slice()) {
        ([], [], []) => None,
        ([], [], filled) => {
            let rest = match shown {
                Shown::NoRow => "; what the query asks of them leaves none",
                Shown::NoValue => "; none of those that the query asks for has a value",
                Shown::Nothing => "",
            };
            Some(format!("It was checked that {} {} rows{rest}.", and(filled), have(filled)))
        }
        (empty, [], _) => Some(none(empty)),
        ([], hidden, _) => Some(unseen(hidden)),
        (empty, hidden, _) => Some(format!("{} {}", none(empty), unseen(hidden))),
    }
}

/// Why nothing more was checked.
fn unchecked(input: &AnswerInput) -> Option<String> {
    let said = match notes(input, "empty:unchecked").next()? {
        "among" => {
            "The query looks for what is not among the values of another (NOT IN): finding nothing may be the answer, and one NULL among those values gives the same; nothing more was checked."
        }
        "absence" => {
            "The query looks for what is missing, so that finding nothing may be the answer; nothing more was checked."
        }
        "nested" => {
            "No condition could be left out to see more: they stand inside OR, NOT, CASE or another expression."
        }
        "withheld" => "Nothing more could be checked: values of its columns may not be looked up.",
        "no-table" => "The query reads no table, so there was nothing to check.",
        _ => "Nothing more could be checked: the query for it did not run.",
    };
    Some(said.to_owned())
}

/// `A`, `A and B`, `A, B and C`.
fn and<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        items => items.concat(),
    }
}

/// What the host's diagnostic found, in words.
fn finding(probe: &ProbeFinding) -> String {
    let column = format!("{}.{}", probe.column.table.name, probe.column.column);
    let literal = probe.literal.trim_matches('\'');
    let spellings: Vec<String> =
        probe.spellings.iter().take(SPELLINGS).map(|spelling| format!("'{spelling}'")).collect();
    match (spellings.is_empty(), probe.rows_without) {
        (false, _) => ended(&format!(
            "The query looked for '{literal}' in {column}, which is stored there as {}",
            spellings.join(", ")
        )),
        (true, Some(0)) => ended(&format!(
            "It was checked without the condition on {column} ({literal}) too, and there is none then either"
        )),
        (true, Some(rows)) => ended(&format!(
            "Without the condition on {column} ({literal}) there would be {} {}",
            grouped(&rows.to_string()),
            if rows == 1 { "row" } else { "rows" }
        )),
        (true, None) => ended(&format!(
            "It was checked that {column} has no value like '{literal}', whatever its case and outer spaces"
        )),
    }
}

/// Whether the one row has no value in any column.
fn is_without_value(input: &AnswerInput) -> bool {
    input.rows.first().is_some_and(|row| !row.is_empty() && row.iter().all(Option::is_none))
}

/// Whether the query makes a division of aggregates by zero no value.
fn divides_by_nothing(input: &AnswerInput) -> bool {
    let sql = input.sql.as_deref().unwrap_or_default().to_ascii_lowercase();
    sql.contains("nullif") && ["avg(", "count(", "sum("].iter().any(|call| sql.contains(call))
}

/// Whether the one value is 0.
fn is_zero(input: &AnswerInput) -> bool {
    matches!(input.rows.first().map(Vec::as_slice), Some([Some(value)]) if value == "0")
}
