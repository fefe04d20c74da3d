//! The two sides of a comparison: a column, and the value that it is compared with.
//!
//! Only what is surely understood is read. A side that is anything else has no reading, and its comparison says nothing.

use std::collections::BTreeSet;

use airlock_plugin_sdk::question::stems::stem;
use airlock_plugin_sdk::time::Date;
use airlock_plugin_sdk::words;

use super::tokens::{Kind, Token};
use crate::decimal::Decimal;

/// Units of time that are taken out of a date.
const UNITS: [&str; 4] = ["year", "quarter", "month", "day"];

/// What of a column is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Via {
    Itself,
    /// `extract(year FROM day)`
    Part(&'static str),
    /// `date_trunc('month', day)`
    Start(&'static str),
    /// `to_char(day, 'YYYY-MM')`, which has so many characters.
    Written(usize),
}

/// A column that is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) qualifier: Option<String>,
    pub(super) name: String,
    pub(super) via: Via,
}

/// What a column is compared with.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Text(Text),
    Number(Text, Decimal),
    /// The first moment of a day.
    Day(Date),
    /// The last moment of a day.
    End(Date),
    Truth(bool),
}

/// A literal and the stems of its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) written: String,
    pub(super) stems: BTreeSet<String>,
}

impl Text {
    fn of(token: &Token) -> Self {
        let read = words::words(&token.text);
        Self { written: token.text.clone(), stems: read.iter().map(|word| stem(&word.text)).collect() }
    }
}

/// Whether a token is this sign.
pub(super) fn is_mark(token: &Token, mark: &str) -> bool {
    token.kind == Kind::Mark && token.text == mark
}

/// What stands in brackets that enclose all of it, as often as they do.
pub(super) fn bare(mut read: &[Token]) -> &[Token] {
    while let [first, inner @ .., last] = read
        && is_mark(first, "(")
        && is_mark(last, ")")
        && first.depth == last.depth
        && !inner.iter().any(|token| is_mark(token, ")") && token.depth == first.depth)
    {
        read = inner;
    }
    read
}

/// What is cast, without the `::type` behind it.
pub(super) fn uncast(read: &[Token]) -> &[Token] {
    let depth = read.first().map_or(0, |token| token.depth);
    let cast = read.iter().rposition(|token| is_mark(token, "::") && token.depth == depth);
    match cast.and_then(|at| Some((read.get(..at)?, read.get(at + 1..)?))) {
        Some((inner, kind)) if is_type(kind) => bare(inner),
        _ => read,
    }
}

/// A type by its name: no operator and no literal stands in it.
fn is_type(read: &[Token]) -> bool {
    const TYPES: [&str; 17] = [
        "bigint",
        "char",
        "date",
        "double",
        "int",
        "int4",
        "int8",
        "integer",
        "numeric",
        "precision",
        "text",
        "time",
        "timestamp",
        "timestamptz",
        "varchar",
        "without",
        "zone",
    ];
    let plain = |token: &Token| match token.kind {
        Kind::Word => TYPES.contains(&token.text.as_str()) || token.is("with"),
        Kind::Number => true,
        Kind::Mark => ["(", ")", ","].contains(&token.text.as_str()),
        Kind::Text => false,
    };
    !read.is_empty() && read.iter().all(plain)
}

/// The name of a call and what stands in its brackets, where the call is all there is.
pub(super) fn call(read: &[Token]) -> Option<(&str, &[Token])> {
    let [name, open, inner @ .., close] = read else { return None };
    let whole = name.kind == Kind::Word
        && is_mark(open, "(")
        && is_mark(close, ")")
        && !inner.iter().any(|token| is_mark(token, ")") && token.depth == open.depth);
    whole.then_some((name.text.as_str(), inner))
}

/// The arguments between the commas of a call.
fn arguments(read: &[Token]) -> Vec<&[Token]> {
    let depth = read.first().map_or(0, |token| token.depth);
    read.split(|token| is_mark(token, ",") && token.depth == depth).collect()
}

/// A column by its name, perhaps behind that of its relation.
pub(super) fn name(read: &[Token]) -> Option<Side> {
    let side = |qualifier: Option<&Token>, name: &Token| Side {
        qualifier: qualifier.map(|token| token.text.clone()),
        name: name.text.clone(),
        via: Via::Itself,
    };
    let plain = |token: &Token| token.kind == Kind::Word && !super::is_keyword(&token.text);
    match read {
        [name] if plain(name) => Some(side(None, name)),
        [relation, dot, name] if plain(relation) && is_mark(dot, ".") && plain(name) => {
            Some(side(Some(relation), name))
        }
        [_, first, relation, second, name]
            if is_mark(first, ".") && is_mark(second, ".") && plain(name) && plain(relation) =>
        {
            Some(side(Some(relation), name))
        }
        _ => None,
    }
}

/// The column that a side of a comparison is, perhaps under what leaves its value the same but for case, spaces and time of day.
pub(super) fn column(read: &[Token]) -> Option<Side> {
    let read = uncast(bare(read));
    // `bill_ts AT TIME ZONE 'Asia/Kolkata'`
    let depth = read.first()?.depth;
    let zone = read.iter().position(|token| token.is("at") && token.depth == depth);
    if let Some(at) = zone {
        let (inner, behind) = (read.get(..at)?, read.get(at + 1..)?);
        return match behind {
            [time, zone, place] if time.is("time") && zone.is("zone") && place.kind == Kind::Text => {
                column(inner)
            }
            _ => None,
        };
    }
    if let Some(side) = name(read) {
        return Some(side);
    }
    let (called, inner) = call(read)?;
    let of = |read: &[Token], via: Via| {
        column(read).filter(|side| side.via == Via::Itself).map(|side| Side { via, ..side })
    };
    let unit = |token: &Token| UNITS.into_iter().find(|unit| token.text == *unit);
    match (called, arguments(inner).as_slice()) {
        ("lower" | "upper" | "trim" | "btrim" | "initcap" | "date", [inner]) => of(inner, Via::Itself),
        ("cast", [inner]) => {
            let at = inner.iter().rposition(|token| token.is("as"))?;
            is_type(inner.get(at + 1..)?).then(|| of(inner.get(..at)?, Via::Itself)).flatten()
        }
        ("extract", [[part, from, inner @ ..]]) if from.is("from") => of(inner, Via::Part(unit(part)?)),
        ("date_part", [[part], inner]) => of(inner, Via::Part(unit(part)?)),
        ("date_trunc", [[part], inner]) => of(inner, Via::Start(unit(part)?)),
        ("to_char", [inner, [format]]) => {
            let length = match format.text.as_str() {
                "YYYY" => 4,
                "YYYY-MM" => 7,
                "YYYY-MM-DD" => 10,
                _ => return None,
            };
            of(inner, Via::Written(length))
        }
        _ => None,
    }
}

/// The unit of time that a column has by its name: `bill_year`. A fiscal year is none of the calendar.
pub(super) fn unit_of_name(name: &str) -> Option<&'static str> {
    let parts = words::identifier_words(name);
    let fiscal = parts.iter().any(|part| ["fiscal", "financial", "fy"].contains(&part.as_str()));
    UNITS.into_iter().find(|unit| !fiscal && parts.last().is_some_and(|last| last == unit))
}

/// The value that a side of a comparison is.
pub(super) fn value(read: &[Token]) -> Option<Value> {
    let read = uncast(bare(read));
    match read {
        [word] if word.is("true") => return Some(Value::Truth(true)),
        [word] if word.is("false") => return Some(Value::Truth(false)),
        [only] if only.kind == Kind::Number => {
            return Some(Value::Number(Text::of(only), Decimal::parse(&only.text)?));
        }
        [only] if only.kind == Kind::Text => return text(only),
        _ => {}
    }
    if let Some((called, inner)) = call(read) {
        return match (called, arguments(inner).as_slice()) {
            ("lower" | "upper" | "trim" | "btrim" | "initcap", [inner]) => value(inner),
            ("cast", [inner]) => {
                let at = inner.iter().rposition(|token| token.is("as"))?;
                is_type(inner.get(at + 1..)?).then(|| value(inner.get(..at)?)).flatten()
            }
            ("make_date", [[year], [month], [day]]) => {
                let date =
                    Date::new(year.text.parse().ok()?, month.text.parse().ok()?, day.text.parse().ok()?)?;
                Some(Value::Day(date))
            }
            _ => None,
        };
    }
    // `DATE '2026-01-01' + INTERVAL '1 month'`
    let depth = read.first()?.depth;
    if let Some(at) =
        read.iter().rposition(|token| (is_mark(token, "+") || is_mark(token, "-")) && token.depth == depth)
    {
        let Value::Day(date) = value(read.get(..at)?)? else { return None };
        let sign = if is_mark(read.get(at)?, "+") { 1 } else { -1 };
        return Some(Value::Day(moved(date, read.get(at + 1..)?, sign)?));
    }
    match read {
        [kind @ .., only] if only.kind == Kind::Text && is_type(kind) => text(only),
        _ => None,
    }
}

/// A text in quotes: a day where it is written as one.
fn text(token: &Token) -> Option<Value> {
    let Some(date) = Date::parse(&token.text) else { return Some(Value::Text(Text::of(token))) };
    let time = token.text.get(10..).unwrap_or_default().trim_start_matches(['T', ' ']);
    let time = time.split(['+', 'Z']).next().unwrap_or_default();
    if time.chars().all(|c| ['0', ':', '.'].contains(&c)) {
        Some(Value::Day(date))
    } else {
        time.starts_with("23:59:59").then_some(Value::End(date))
    }
}

/// A day and so many days, months or years more: `INTERVAL '1 month'`, `7`.
fn moved(date: Date, read: &[Token], sign: i32) -> Option<Date> {
    let written = match read {
        [days] if days.kind == Kind::Number => {
            return Some(date.add_days(i64::from(sign) * days.text.parse::<i64>().ok()?));
        }
        [interval, written] if interval.is("interval") && written.kind == Kind::Text => &written.text,
        _ => return None,
    };
    let (count, unit) = written.trim().split_once(' ')?;
    let count = sign.checked_mul(count.parse().ok()?)?;
    Some(match unit.trim().trim_end_matches('s') {
        "day" => date.add_days(i64::from(count)),
        "week" => date.add_days(i64::from(count) * 7),
        "month" | "mon" => date.add_months(count),
        "year" => date.add_months(count.checked_mul(12)?),
        _ => return None,
    })
}
