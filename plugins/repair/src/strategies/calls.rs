//! Functions of other dialects and what PostgreSQL writes for them.

use crate::edit::{Edit, apply};
use crate::tokens::{Kind, Tokens, inside, literal};

/// Units of time that an interval or a date function may name.
pub const UNITS: [&str; 14] = [
    "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "SECONDS", "MINUTES", "HOURS",
    "DAYS", "MONTHS", "YEARS",
];

/// Calls translated in one text; each may bring an inner one to light.
const MOST: usize = 32;

/// The text with every foreign call translated, none when it has none.
pub fn translate_all(text: &str) -> Option<String> {
    let mut current = text.to_owned();
    for _ in 0..MOST {
        let tokens = Tokens::of(&current);
        let Some(edited) = (0..tokens.all.len())
            .find_map(|index| translate(&tokens, index))
            .and_then(|edit| apply(&current, vec![edit]))
        else {
            break;
        };
        current = edited;
    }
    (current != text).then_some(current)
}

/// Whether a call of another dialect's function begins at a token.
pub fn is_foreign(tokens: &Tokens<'_>, index: usize) -> bool {
    translate(tokens, index).is_some()
}

/// The edit that replaces the call at a token, when it is one of another dialect.
fn translate(tokens: &Tokens<'_>, index: usize) -> Option<Edit> {
    let named = tokens.kind(index) == Some(Kind::Word) && tokens.kind(index + 1) == Some(Kind::Open);
    let qualified = index.checked_sub(1).is_some_and(|before| tokens.kind(before) == Some(Kind::Dot));
    if !named || qualified {
        return None;
    }
    let name = tokens.written(index).to_ascii_uppercase();
    let arguments: Vec<&str> =
        tokens.arguments(index + 1)?.iter().map(|argument| tokens.slice(argument)).collect();
    let close = tokens.closing(index + 1)?;
    let divided = tokens.is_operator(close + 1, "/")
        || index.checked_sub(1).is_some_and(|before| tokens.is_operator(before, "/"));
    let with = match (name.as_str(), arguments.as_slice()) {
        // MySQL divides whole numbers into fractions; T-SQL, whose DATEDIFF has three arguments, does not.
        ("DATEDIFF", [until, from]) if divided => format!("(({until})::date - ({from})::date)::numeric"),
        ("TIMESTAMPDIFF", [unit, from, until]) => {
            let units = complete_units(unit, from, until)?;
            if divided { format!("{units}::numeric") } else { format!("{units}::bigint") }
        }
        (name, arguments) => replacement(name, arguments)?,
    };
    Some(Edit::replace(tokens.bytes(&(index..close + 1))?, with))
}

fn replacement(name: &str, arguments: &[&str]) -> Option<String> {
    let all = arguments.join(", ");
    Some(match (name, arguments) {
        ("IFNULL" | "NVL", [_, _]) | ("ISNULL", [_, _]) => format!("COALESCE({all})"),
        ("ISNULL", [x]) => format!("({x} IS NULL)"),
        ("YEAR" | "QUARTER" | "MONTH" | "DAY" | "HOUR" | "MINUTE", [x]) => {
            format!("EXTRACT({name} FROM {x})")
        }
        // Elsewhere a second has no fraction.
        ("SECOND", [x]) => format!("floor(EXTRACT(SECOND FROM {x}))"),
        // PostgreSQL's week is the ISO week. WEEK alone begins on Sundays in one dialect and on Mondays in another, and numbers
        // the first days of a year in other ways.
        ("WEEKOFYEAR" | "ISOWEEK", [x]) | ("WEEK", [x, "3"]) => format!("EXTRACT(WEEK FROM {x})"),
        ("DAYOFMONTH", [x]) => format!("EXTRACT(DAY FROM {x})"),
        ("DAYOFYEAR", [x]) => format!("EXTRACT(DOY FROM {x})"),
        // SQL Server does not count the spaces at the end.
        ("LEN", [x]) => format!("length(rtrim({x}))"),
        ("UCASE", [x]) => format!("upper({x})"),
        ("LCASE", [x]) => format!("lower({x})"),
        ("INSTR", [x, part]) | ("CHARINDEX", [part, x]) | ("LOCATE", [part, x]) => {
            format!("strpos({x}, {part})")
        }
        ("GETDATE" | "SYSDATE" | "SYSDATETIME", []) => "now()".into(),
        ("CURDATE", []) => "CURRENT_DATE".into(),
        ("CURTIME", []) => "CURRENT_TIME".into(),
        ("RAND", []) => "random()".into(),
        ("IF" | "IIF", [test, yes, no]) => format!("CASE WHEN {test} THEN {yes} ELSE {no} END"),
        ("TRUNCATE", [x, digits]) => format!("trunc(({x})::numeric, {digits})"),
        ("DATEDIFF", [until, from]) => format!("(({until})::date - ({from})::date)"),
        ("DATEDIFF", [unit, from, until]) => boundaries(unit, from, until)?,
        ("DATE_ADD" | "ADDDATE", [x, interval]) => format!("({x} + {})", interval_of(interval)?),
        ("DATE_SUB" | "SUBDATE", [x, interval]) => format!("({x} - {})", interval_of(interval)?),
        ("DATEADD", [unit, count, x]) => format!("({x} + ({count}) * INTERVAL '1 {}')", unit_of(unit)?),
        ("DATE_FORMAT", [x, form]) => format!("to_char({x}, {})", literal(&date_form(form, mysql)?)),
        ("STRFTIME", [form, x]) => format!("to_char({x}, {})", literal(&date_form(form, sqlite)?)),
        ("GROUP_CONCAT", [list]) => concatenated(list, None)?,
        ("LISTAGG", [x, separator]) => format!("string_agg(({x})::text, {separator})"),
        _ => return None,
    })
}

/// MySQL counts units that are complete, towards zero: 23 hours are no day, and from the 31st of January to the 28th of
/// February it is no month.
fn complete_units(unit: &str, from: &str, until: &str) -> Option<String> {
    let unit = unit.to_ascii_uppercase();
    let seconds = format!("EXTRACT(EPOCH FROM ({until})::timestamp - ({from})::timestamp)");
    let part = |part: &str| format!("EXTRACT({part} FROM age(({until})::timestamp, ({from})::timestamp))");
    let months = || format!("{} * 12 + {}", part("YEAR"), part("MONTH"));
    Some(match unit.strip_prefix("SQL_TSI_").unwrap_or(&unit) {
        "MICROSECOND" => format!("trunc({seconds} * 1000000)"),
        "SECOND" => format!("trunc({seconds})"),
        "MINUTE" => format!("trunc({seconds} / 60)"),
        "HOUR" => format!("trunc({seconds} / 3600)"),
        "DAY" => format!("trunc({seconds} / 86400)"),
        "WEEK" => format!("trunc({seconds} / 604800)"),
        "MONTH" => format!("({})", months()),
        "QUARTER" => format!("trunc(({}) / 3)", months()),
        "YEAR" => part("YEAR"),
        _ => return None,
    })
}

/// T-SQL counts the boundaries that are crossed.
fn boundaries(unit: &str, from: &str, until: &str) -> Option<String> {
    let part = |part: &str, x: &str| format!("EXTRACT({part} FROM {x})");
    let years = format!("({} - {})", part("YEAR", until), part("YEAR", from));
    match unit.to_ascii_uppercase().as_str() {
        "DAY" | "DD" | "D" => Some(format!("(({until})::date - ({from})::date)")),
        "MONTH" | "MM" | "M" => {
            Some(format!("({years} * 12 + {} - {})", part("MONTH", until), part("MONTH", from)))
        }
        "YEAR" | "YY" | "YYYY" => Some(years),
        _ => None,
    }
}

/// `INTERVAL 7 DAY`, `INTERVAL '7' DAY`, `INTERVAL n.days DAY`.
fn interval_of(text: &str) -> Option<String> {
    let tokens = Tokens::of(text);
    let last = tokens.all.len().checked_sub(1)?;
    if !tokens.is(0, "INTERVAL") {
        return None;
    }
    // PostgreSQL's own form.
    if last == 1 && tokens.kind(1) == Some(Kind::Text) {
        return Some(text.to_owned());
    }
    let unit = unit_of(tokens.written(last))?;
    let count = tokens.slice(&(1..last));
    match tokens.kind(1)? {
        Kind::Number | Kind::Text if last == 2 => {
            let count = if tokens.kind(1) == Some(Kind::Text) { inside(count) } else { count };
            Some(format!("INTERVAL '{count} {unit}'"))
        }
        _ if last >= 2 => Some(format!("({count}) * INTERVAL '1 {unit}'")),
        _ => None,
    }
}

fn unit_of(unit: &str) -> Option<String> {
    let unit = unit.to_ascii_uppercase();
    let unit = match unit.as_str() {
        "DD" | "D" => "DAY",
        "MM" | "M" => "MONTH",
        "YY" | "YYYY" => "YEAR",
        "WK" | "WW" => "WEEK",
        "HH" => "HOUR",
        // PostgreSQL's intervals have no quarter.
        "QUARTER" => return None,
        known => UNITS.iter().find(|unit| **unit == known)?,
    };
    Some(unit.to_ascii_lowercase())
}

/// A pattern of a date as `to_char` has it; none when a part of it has no like here.
fn date_form(form: &str, part: fn(char) -> Option<&'static str>) -> Option<String> {
    let pattern = form.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' => out.push_str(part(chars.next()?)?),
            // Letters of a pattern would be read as more of it, and quotes begin what is not read.
            _ if c.is_alphabetic() || matches!(c, '"' | '\\') => return None,
            _ => out.push(c),
        }
    }
    Some(out)
}

/// A part of MySQL's patterns.
fn mysql(part: char) -> Option<&'static str> {
    Some(match part {
        'Y' => "YYYY",
        'y' => "YY",
        'm' => "MM",
        'c' => "FMMM",
        'M' => "FMMonth",
        'b' => "Mon",
        'd' => "DD",
        'e' => "FMDD",
        'W' => "FMDay",
        'a' => "Dy",
        'j' => "DDD",
        'H' => "HH24",
        'i' => "MI",
        's' | 'S' => "SS",
        _ => return None,
    })
}

/// A part of SQLite's patterns, where the same letters stand for other things.
fn sqlite(part: char) -> Option<&'static str> {
    Some(match part {
        'Y' => "YYYY",
        'm' => "MM",
        'd' => "DD",
        'j' => "DDD",
        'H' => "HH24",
        'M' => "MI",
        'S' => "SS",
        _ => return None,
    })
}

/// `x`, `DISTINCT x`, `x ORDER BY y`, each with or without `SEPARATOR s`.
fn concatenated(list: &str, separator: Option<&str>) -> Option<String> {
    let tokens = Tokens::of(list);
    let last = tokens.all.len().checked_sub(1)?;
    if let Some(at) = (1..=last).find(|index| tokens.is(*index, "SEPARATOR")) {
        let separator = tokens.slice(&(at + 1..last + 1));
        return (at < last).then(|| concatenated(tokens.slice(&(0..at)), Some(separator))).flatten();
    }
    let separator = separator.unwrap_or("','");
    let distinct = tokens.is(0, "DISTINCT");
    let start = usize::from(distinct);
    let order = (start..=last)
        .find(|index| tokens.is(*index, "ORDER") && tokens.get(*index).is_some_and(|t| t.depth == 0));
    let x = tokens.slice(&(start..order.unwrap_or(last + 1)));
    // What DISTINCT is ordered by must be what it makes distinct, cast and all.
    let order = order.map(|order| {
        let by = tokens.slice(&(order + 2..last + 1));
        let by = by.strip_prefix(x).map_or_else(|| by.to_owned(), |rest| format!("({x})::text{rest}"));
        format!(" ORDER BY {by}")
    });
    let order = order.unwrap_or_default();
    let head = if distinct { "DISTINCT " } else { "" };
    Some(format!("string_agg({head}({x})::text, {separator}{order})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_calls_are_translated() {
        for (text, want) in [
            ("SELECT IFNULL(a, 0)", Some("SELECT COALESCE(a, 0)")),
            ("SELECT ISNULL(a), ISNULL(a, b)", Some("SELECT (a IS NULL), COALESCE(a, b)")),
            ("SELECT YEAR(IFNULL(d, e))", Some("SELECT EXTRACT(YEAR FROM COALESCE(d, e))")),
            (
                "SELECT LEN(a) + CHARINDEX('x', a), SECOND(d)",
                Some("SELECT length(rtrim(a)) + strpos(a, 'x'), floor(EXTRACT(SECOND FROM d))"),
            ),
            // The week of a date has other numbers elsewhere, but where it is said to be the ISO week.
            ("SELECT WEEK(d)", None),
            ("SELECT WEEK(d, 1)", None),
            ("SELECT WEEK(d, 3), WEEKOFYEAR(d)", Some("SELECT EXTRACT(WEEK FROM d), EXTRACT(WEEK FROM d)")),
            ("SELECT GETDATE(), CURDATE()", Some("SELECT now(), CURRENT_DATE")),
            ("SELECT DATEDIFF(a, b)", Some("SELECT ((a)::date - (b)::date)")),
            ("SELECT DATEDIFF(a, b) / 7", Some("SELECT ((a)::date - (b)::date)::numeric / 7")),
            (
                "SELECT TIMESTAMPDIFF(DAY, a, b)",
                Some("SELECT trunc(EXTRACT(EPOCH FROM (b)::timestamp - (a)::timestamp) / 86400)::bigint"),
            ),
            (
                "SELECT TIMESTAMPDIFF(SQL_TSI_SECOND, a, b) / 2",
                Some("SELECT trunc(EXTRACT(EPOCH FROM (b)::timestamp - (a)::timestamp))::numeric / 2"),
            ),
            (
                "SELECT timestampdiff(year, a, b)",
                Some("SELECT EXTRACT(YEAR FROM age((b)::timestamp, (a)::timestamp))::bigint"),
            ),
            ("SELECT TIMESTAMPDIFF(DECADE, a, b)", None),
            ("SELECT DATEDIFF(day, a, b)", Some("SELECT ((b)::date - (a)::date)")),
            (
                "SELECT DATEDIFF(month, a, b)",
                Some(
                    "SELECT ((EXTRACT(YEAR FROM b) - EXTRACT(YEAR FROM a)) * 12 + EXTRACT(MONTH FROM b) - \
                     EXTRACT(MONTH FROM a))",
                ),
            ),
            ("SELECT DATE_SUB(a, INTERVAL 7 DAY)", Some("SELECT (a - INTERVAL '7 day')")),
            ("SELECT DATEADD(month, -1, a)", Some("SELECT (a + (-1) * INTERVAL '1 month')")),
            ("SELECT DATE_FORMAT(a, '%Y-%m')", Some("SELECT to_char(a, 'YYYY-MM')")),
            ("SELECT STRFTIME('%Y-%m-%d %H:%M:%S', a)", Some("SELECT to_char(a, 'YYYY-MM-DD HH24:MI:SS')")),
            ("SELECT DATE_FORMAT(a, '%M %H:%i')", Some("SELECT to_char(a, 'FMMonth HH24:MI')")),
            // A weekday in one dialect is a week in another, and a second the seconds since 1970.
            ("SELECT DATE_FORMAT(a, '%W')", Some("SELECT to_char(a, 'FMDay')")),
            ("SELECT STRFTIME('%W', a)", None),
            ("SELECT STRFTIME('%s', a)", None),
            ("SELECT STRFTIME('%Y-W%m', a)", None),
            ("SELECT IF(a > 1, 'x', 'y')", Some("SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END")),
            (
                "SELECT GROUP_CONCAT(DISTINCT a ORDER BY a SEPARATOR '; ')",
                Some("SELECT string_agg(DISTINCT (a)::text, '; ' ORDER BY (a)::text)"),
            ),
            ("SELECT coalesce(a, b), count(*), s.year(a)", None),
            ("SELECT IFNULL(a)", None),
        ] {
            assert_eq!(translate_all(text).as_deref(), want, "{text}");
        }
    }
}
