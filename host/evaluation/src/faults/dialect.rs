//! Faults of a dialect: what other databases write.

use airlock_types::catalogue::TypeFamily;

use super::class::Broken;
use super::query::{Chance, Query};
use super::scan::Kind;

/// COALESCE under its other names; a sum gets one where the query has none.
pub fn if_null(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let foreign = chance.pick(&["IFNULL", "NVL", "ISNULL"])?;
    let calls: Vec<usize> = query
        .calls("COALESCE")
        .into_iter()
        .filter(|(_, arguments)| arguments.len() == 2)
        .map(|(at, _)| at)
        .collect();
    if let Some(at) = chance.pick(&calls) {
        return Broken::of(query.instead(at..at + 1, foreign));
    }
    let sums: Vec<std::ops::Range<usize>> = ["SUM", "AVG", "MIN", "MAX"]
        .iter()
        .flat_map(|name| query.calls(name))
        .filter_map(|(_, arguments)| arguments.first().cloned())
        .filter(|argument| {
            let columns = query.columns();
            argument.len() <= 3
                && columns.iter().any(|named| {
                    named.at + 1 == argument.end
                        && named.columns.iter().all(|column| column.family == TypeFamily::Number)
                })
        })
        .collect();
    let argument = chance.pick(&sums)?;
    let written = query.slice(argument.clone());
    Broken::beside(
        query.instead(argument.clone(), &format!("{foreign}({written}, 0)")),
        query.instead(argument, &format!("COALESCE({written}, 0)")),
    )
}

pub fn year(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let parts: Vec<(usize, usize)> = (0..query.tokens.len())
        .filter(|at| {
            query.is(*at, "EXTRACT")
                && ["YEAR", "MONTH", "DAY"].iter().any(|part| query.is(at + 2, part))
                && query.is(at + 3, "FROM")
        })
        .filter_map(|at| Some((at, query.behind(at + 1)?)))
        .collect();
    let (at, end) = chance.pick(&parts)?;
    Broken::of(query.instead(at..end, &format!("{}({})", query.word(at + 2), query.slice(at + 4..end - 1))))
}

fn todays(query: &Query<'_>) -> Vec<std::ops::Range<usize>> {
    (0..query.tokens.len())
        .filter_map(|at| {
            if query.is(at, "CURRENT_DATE") {
                return Some(at..at + 1);
            }
            (query.is(at, "NOW") && query.word(at + 1) == "(").then_some(at..at + 3)
        })
        .collect()
}

pub fn today(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let range = chance.pick(&todays(query))?;
    let names: &[&str] =
        if query.is(range.start, "NOW") { &["GETDATE()", "SYSDATETIME()"] } else { &["CURDATE()"] };
    let foreign = chance.pick(names)?;
    Broken::of(query.instead(range, foreign))
}

/// `x - INTERVAL 'n unit'` as a call.
pub fn date_sub(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let found: Vec<std::ops::Range<usize>> = todays(query)
        .into_iter()
        .filter(|day| {
            query.word(day.end) == "-"
                && query.is(day.end + 1, "INTERVAL")
                && query.kind(day.end + 2) == Some(Kind::Text)
        })
        .collect();
    let day = chance.pick(&found)?;
    let interval = query.word(day.end + 2).trim_matches('\'');
    let (count, unit) = interval.split_once(' ')?;
    let unit = unit.trim_end_matches('s').to_ascii_uppercase();
    count.parse::<u32>().ok()?;
    let written = query.slice(day.clone());
    let call = chance.pick(&[
        format!("DATE_SUB({written}, INTERVAL {count} {unit})"),
        format!("DATEADD({unit}, -{count}, {written})"),
    ])?;
    Broken::of(query.instead(day.start..day.end + 3, &call))
}

/// A difference of two dates as a call; beside a query without one, the age of a date.
pub fn date_diff(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let (relation, _) = chance.pick(&query.reads)?;
    let dates: Vec<&str> = relation
        .columns
        .iter()
        .filter(|column| column.sql_type == "date" || column.sql_type.starts_with("timestamp"))
        .map(|column| column.name.as_str())
        .collect();
    let (a, b) = (chance.pick(&dates)?, chance.pick(&dates)?);
    let from = format!("FROM {}", relation.table.name);
    let call = chance.pick(&[format!("DATEDIFF({a}, {b})"), format!("DATEDIFF(day, {b}, {a})")])?;
    Broken::beside(
        Some(format!("SELECT MAX({call}) AS days {from}")),
        Some(format!("SELECT MAX({a}::date - {b}::date) AS days {from}")),
    )
}

pub fn date_format(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let formats = [("YYYY-MM-DD", "%Y-%m-%d"), ("YYYY-MM", "%Y-%m"), ("YYYY", "%Y"), ("MM", "%m")];
    let foreign = |x: &str, form: &str, chance: &mut Chance| {
        chance.pick(&[format!("DATE_FORMAT({x}, '{form}')"), format!("STRFTIME('{form}', {x})")])
    };
    for (at, arguments) in query.calls("TO_CHAR") {
        let [x, form] = arguments.as_slice() else { continue };
        let written = query.slice(form.clone()).trim_matches('\'');
        if let Some((_, other)) = formats.iter().find(|(own, _)| *own == written) {
            let call = foreign(query.slice(x.clone()), other, chance)?;
            return Broken::of(query.instead(at..query.behind(at + 1)?, &call));
        }
    }
    let (relation, _) = chance.pick(&query.reads)?;
    let date = relation
        .columns
        .iter()
        .find(|column| column.sql_type == "date" || column.sql_type.starts_with("timestamp"))?;
    let (own, other) = chance.pick(&formats)?;
    let call = foreign(&date.name, other, chance)?;
    let text = |call: &str| {
        Some(format!("SELECT {call} AS period, COUNT(*) AS n FROM {} GROUP BY {call}", relation.table.name))
    };
    Broken::beside(text(&call), text(&format!("TO_CHAR({}, '{own}')", date.name)))
}

/// `CASE WHEN a THEN b ELSE c END` as a call.
pub fn iif(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let cases: Vec<usize> =
        (0..query.tokens.len()).filter(|at| query.is(*at, "CASE") && query.is(at + 1, "WHEN")).collect();
    let at = chance.pick(&cases)?;
    let find = |word: &str, from: usize| {
        (from..query.tokens.len()).find(|i| query.is(*i, word) && query.depth(*i) == query.depth(at))
    };
    let (then, end) = (find("THEN", at)?, find("END", at)?);
    let otherwise = find("ELSE", then).filter(|otherwise| *otherwise < end)?;
    if find("WHEN", at + 2).is_some_and(|when| when < end)
        || find("CASE", at + 1).is_some_and(|case| case < end)
    {
        return None;
    }
    let name = chance.pick(&["IF", "IIF"])?;
    let call = format!(
        "{name}({}, {}, {})",
        query.slice(at + 2..then),
        query.slice(then + 1..otherwise),
        query.slice(otherwise + 1..end)
    );
    Broken::of(query.instead(at..end + 1, &call))
}

pub fn text_functions(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    for (own, foreign) in [("LENGTH", "LEN"), ("UPPER", "UCASE"), ("LOWER", "LCASE")] {
        if let Some((at, _)) = query.calls(own).first() {
            return Broken::of(query.instead(*at..at + 1, foreign));
        }
    }
    let (relation, _) = chance.pick(&query.reads)?;
    let texts: Vec<&str> = relation
        .columns
        .iter()
        .filter(|column| column.family == TypeFamily::Text)
        .map(|column| column.name.as_str())
        .collect();
    let x = chance.pick(&texts)?;
    let (wrong, right) = chance.pick(&[
        (format!("MAX(LEN({x}))"), format!("MAX(LENGTH({x}))")),
        (format!("COUNT(DISTINCT LCASE({x}))"), format!("COUNT(DISTINCT LOWER({x}))")),
        (format!("MAX(INSTR({x}, 'a'))"), format!("MAX(STRPOS({x}, 'a'))")),
        (
            format!("GROUP_CONCAT(DISTINCT {x} ORDER BY {x} SEPARATOR '; ')"),
            format!("STRING_AGG(DISTINCT {x}, '; ' ORDER BY {x})"),
        ),
    ])?;
    let text = |call: String| Some(format!("SELECT {call} AS result FROM {}", relation.table.name));
    Broken::beside(text(wrong), text(right))
}

fn quoted(query: &Query<'_>, open: char, close: char) -> Option<Broken> {
    let columns: Vec<usize> = query.columns().iter().map(|named| named.at).collect();
    let tables = query.tables();
    Broken::of(query.everywhere(|at| {
        (columns.contains(&at) || tables.contains(&at)).then(|| format!("{open}{}{close}", query.word(at)))
    }))
}

pub fn backticks(query: &Query<'_>, _: &mut Chance) -> Option<Broken> {
    quoted(query, '`', '`')
}

pub fn brackets(query: &Query<'_>, _: &mut Chance) -> Option<Broken> {
    quoted(query, '[', ']')
}

pub fn top(query: &Query<'_>, _: &mut Chance) -> Option<Broken> {
    let limit = (0..query.tokens.len()).rev().find(|at| query.is(*at, "LIMIT") && query.depth(*at) == 0)?;
    let select = (0..limit).rev().find(|at| query.is(*at, "SELECT") && query.depth(*at) == 0)?;
    if query.kind(limit + 1) != Some(Kind::Number) || query.tokens.len() > limit + 3 {
        return None;
    }
    let number = query.word(limit + 1);
    let without = query.instead(limit..limit + 2, "")?;
    let distinct = usize::from(query.is(select + 1, "DISTINCT"));
    let at = query.bytes(select + distinct..select + distinct + 1)?.end;
    Broken::of(Some(format!("{} TOP {number}{}", without.get(..at)?, without.get(at..)?)))
}

pub fn limit_pair(query: &Query<'_>, chance: &mut Chance) -> Option<Broken> {
    let limits: Vec<usize> = (0..query.tokens.len())
        .filter(|at| {
            query.is(*at, "LIMIT") && query.kind(at + 1) == Some(Kind::Number) && !query.is(at + 2, "OFFSET")
        })
        .collect();
    let at = chance.pick(&limits)?;
    Broken::of(query.instead(at + 1..at + 2, &format!("0, {}", query.word(at + 1))))
}

pub fn double_quotes(query: &Query<'_>, _: &mut Chance) -> Option<Broken> {
    Broken::of(query.everywhere(|at| {
        let before = at.checked_sub(1)?;
        let compared = ["=", "<>", "LIKE", "ILIKE"].iter().any(|word| query.is(before, word))
            || (query.word(before) == "(" && query.is(at.checked_sub(2)?, "IN"));
        let text = query.word(at).trim_matches('\'');
        (compared && query.kind(at) == Some(Kind::Text) && !text.is_empty()).then(|| format!("\"{text}\""))
    }))
}

pub fn double_equals(query: &Query<'_>, _: &mut Chance) -> Option<Broken> {
    Broken::of(query.everywhere(|at| (query.word(at) == "=").then(|| "==".to_owned())))
}
