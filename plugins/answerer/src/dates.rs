//! The days that a query's text means.
//!
//! A range that ends before a day does not hold that day: `< '2026-02-01'` is about January, and `> '2026-01-31'` about
//! February.

use airlock_plugin_sdk::time::Date;

/// Words that say what type a literal has, as they stand before it.
const TYPES: [&str; 8] = [
    "date",
    "timestamp",
    "timestamptz",
    "timestamp with time zone",
    "timestamp without time zone",
    "time zone",
    "(",
    "cast",
];

/// The days of the dates in `sql`; a bound that is left out stands for the day inside it.
pub fn of_query(sql: &str) -> Vec<Date> {
    // Between quotes there are texts, and code between those.
    let parts: Vec<&str> = sql.split('\'').collect();
    let mut days = Vec::new();
    for (at, literal) in parts.iter().enumerate().skip(1).step_by(2) {
        let Some(date) = Date::parse(literal) else { continue };
        let code =
            |at: Option<usize>| at.and_then(|at| parts.get(at)).map_or("", |code| *code).to_lowercase();
        let (before, behind) = (code(at.checked_sub(1)), code(at.checked_add(1)));
        let (before, behind) = (operator_before(&before), behind_of_cast(&behind));
        // `< DATE '2026-01-01' + INTERVAL '1 month'` ends elsewhere.
        let shifted = behind.starts_with(['+', '-']) && !behind.starts_with("->");
        let ends = before.ends_with('<') || (behind.starts_with('>') && !behind.starts_with(">="));
        let begins = (before.ends_with('>') && !before.ends_with("<>") && !before.ends_with("->"))
            || (behind.starts_with('<') && !behind.starts_with("<=") && !behind.starts_with("<>"));
        days.push(match (ends && is_midnight(literal), begins && is_midnight(literal)) {
            _ if shifted => date,
            (true, _) => date.add_days(-1),
            (_, true) => date.add_days(1),
            _ => date,
        });
    }
    days
}

/// What stands before a literal, without the words of its type.
fn operator_before(code: &str) -> &str {
    let mut code = code.trim_end();
    while let Some(rest) = TYPES.iter().find_map(|word| {
        let rest = code.strip_suffix(word)?;
        let whole = *word == "(" || !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        whole.then(|| rest.trim_end())
    }) {
        code = rest;
    }
    code
}

/// What stands behind a literal, without `::type` and brackets that close.
fn behind_of_cast(code: &str) -> &str {
    let code = code.trim_start();
    let code = code
        .strip_prefix("::")
        .map_or(code, |rest| rest.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'));
    code.trim_start_matches(|c: char| c == ')' || c.is_whitespace())
}

/// Whether a literal has no time of day, or the first moment of its day.
fn is_midnight(literal: &str) -> bool {
    let time = literal.split_once(['T', ' ']).map_or("", |(_, time)| time);
    let clock = time.split(['+', '-', 'Z', ' ']).next().unwrap_or_default();
    clock.chars().all(|c| matches!(c, '0' | ':' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_is_left_out_stands_for_the_day_inside() {
        for (sql, want) in [
            ("WHERE d >= '2026-01-01' AND d < '2026-02-01'", &["2026-01-01", "2026-01-31"][..]),
            ("WHERE d < DATE '2026-02-01'", &["2026-01-31"]),
            ("WHERE d < timestamp with time zone '2027-01-01 00:00:00+05:30'", &["2026-12-31"]),
            ("WHERE d < TIMESTAMP '2026-02-01 10:00'", &["2026-02-01"]),
            ("WHERE d <('2026-02-01')::date", &["2026-01-31"]),
            ("WHERE d < CAST('2026-02-01' AS date)", &["2026-01-31"]),
            ("WHERE '2026-02-01'::date > d", &["2026-01-31"]),
            ("WHERE d <= '2026-02-01'", &["2026-02-01"]),
            ("WHERE d = '2026-02-01' OR d <> '2026-03-01'", &["2026-02-01", "2026-03-01"]),
            ("WHERE d > '2026-01-31'", &["2026-02-01"]),
            ("WHERE '2026-01-31' < d", &["2026-02-01"]),
            ("WHERE d BETWEEN '2026-01-01' AND '2026-01-31'", &["2026-01-01", "2026-01-31"]),
            ("WHERE d < DATE '2026-01-01' + INTERVAL '1 month'", &["2026-01-01"]),
            ("WHERE name = 'O''Hara' AND d < '2026-02-01'", &["2026-01-31"]),
            ("WHERE updated < '2026-02-01'", &["2026-01-31"]),
            ("WHERE name < 'x'", &[]),
        ] {
            let got: Vec<String> = of_query(sql).iter().map(ToString::to_string).collect();
            assert_eq!(got, want, "{sql}");
        }
    }
}
