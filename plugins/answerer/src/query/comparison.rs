//! What one comparison asks of a column.
//!
//! Only shapes that are surely understood are read; any other has no reading.

use airlock_plugin_sdk::time::{Date, Days};

use super::sides::{Side, Text, Value, Via, bare, call, column, is_mark, name, unit_of_name, value};
use super::tokens::{Kind, Token};
use crate::decimal::Decimal;

/// A condition on a column.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) side: Side,
    pub(super) test: Test,
    /// The query it stands in.
    pub(super) block: usize,
}

/// What a condition asks of its column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    One(Vec<Text>),
    /// None of these.
    Not(Vec<Text>),
    Bound {
        above: bool,
        inclusive: bool,
        number: Decimal,
    },
    /// A day from the first on and before the second.
    Days(Option<Date>, Option<Date>),
    /// A part of a date is so much.
    Part(&'static str, u32),
    Holds,
}

impl Condition {
    /// Whether it is the same condition, wherever it stands.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.side.name == other.side.name && self.side.via == other.side.via && self.test == other.test
    }

    /// That its column has none of its values, where it asks for values.
    pub(super) fn turned(self) -> Option<Self> {
        match self.test {
            Test::One(values) => Some(Self { test: Test::Not(values), ..self }),
            _ => None,
        }
    }
}

/// `city = 'Pune' OR city = 'Surat'`: one column, and all values of it.
pub(super) fn alternatives(read: &[Token], depth: usize, block: usize) -> Option<Condition> {
    let mut found: Option<Condition> = None;
    for part in read.split(|token| token.is("or") && token.depth == depth) {
        let Single::Tests(mut tests) = single(bare(part), block)? else { return None };
        let (one, true) = (tests.pop()?, tests.is_empty()) else { return None };
        let Test::One(values) = &one.test else { return None };
        match &mut found {
            None => found = Some(one),
            Some(Condition { side, test: Test::One(known), .. }) if *side == one.side => {
                known.extend(values.iter().cloned());
            }
            Some(_) => return None,
        }
    }
    found
}

/// What one comparison says.
pub(super) enum Single {
    Tests(Vec<Condition>),
    /// Two columns are equal.
    Links(Side, Side),
}

/// A condition that is no AND and no OR.
pub(super) fn single(read: &[Token], block: usize) -> Option<Single> {
    let tests = |side: &Side, tests: Option<Vec<Test>>| {
        let one = |test| Condition { side: side.clone(), test, block };
        tests.map(|tests| Single::Tests(tests.into_iter().map(one).collect()))
    };
    if let Some(side) = name(read) {
        return tests(&side, Some(vec![Test::Holds]));
    }
    let depth = read.first()?.depth;
    let is_sign =
        |token: &Token| token.kind == Kind::Mark && token.text.starts_with(['<', '>', '=', '!', '~']);
    let is_word = |token: &Token| {
        ["like", "ilike", "in", "between", "is", "similar", "any", "all", "some", "case"]
            .iter()
            .any(|word| token.is(word))
    };
    let mut signs = read
        .iter()
        .enumerate()
        .filter(|(_, token)| token.depth == depth && (is_sign(token) || is_word(token)));
    let (at, sign) = signs.next()?;
    if signs.next().is_some() {
        return None;
    }
    let not = at.checked_sub(1).and_then(|before| read.get(before)).is_some_and(|token| token.is("not"));
    let (left, right) = (read.get(..at - usize::from(not))?, read.get(at + 1..)?);
    let sign = sign.text.as_str();
    let Some(side) = column(left) else {
        // `5 < total`, `'Pune' = city`, and of groups `count(*) > 5`
        let flipped = match sign {
            "<" => ">",
            ">" => "<",
            "<=" => ">=",
            ">=" => "<=",
            "=" | "<>" | "!=" => sign,
            _ => return None,
        };
        if let (Some(found), Some(side)) = (value(left), column(right)) {
            return tests(&side, test(&side, flipped, &found).map(|test| vec![test]));
        }
        let (called, _) = call(left)?;
        let Value::Number(text, number) = value(right)? else { return None };
        let side = Side { qualifier: None, name: called.to_owned(), via: Via::Itself };
        let counted = ["count", "sum", "avg", "min", "max"].contains(&called);
        let test = if sign == "=" { Some(Test::One(vec![text])) } else { bound(sign, number) };
        return tests(&side, test.filter(|_| counted).map(|test| vec![test]));
    };
    match sign {
        "between" => {
            let at = right.iter().position(|token| token.is("and") && token.depth == depth)?;
            let (low, high) = (value(right.get(..at)?)?, value(right.get(at + 1..)?)?);
            let both = [test(&side, ">=", &low)?, test(&side, "<=", &high)?];
            tests(&side, (!not).then(|| both.into()))
        }
        "in" => {
            let inner = bare(right);
            let depth = inner.first()?.depth;
            let mut values = Vec::new();
            for item in inner.split(|token| is_mark(token, ",") && token.depth == depth) {
                match test(&side, "=", &value(item)?)? {
                    Test::One(found) => values.extend(found),
                    // A list of one day is that day.
                    other => return tests(&side, (!not && inner.len() == item.len()).then(|| vec![other])),
                }
            }
            tests(&side, Some(vec![if not { Test::Not(values) } else { Test::One(values) }]))
        }
        "like" | "ilike" => {
            let found = test(&side, "like", &value(right)?)?;
            let found = match found {
                Test::One(values) if not => Test::Not(values),
                found if !not => found,
                _ => return None,
            };
            tests(&side, Some(vec![found]))
        }
        "is" => match right {
            [word] if word.is("true") => tests(&side, Some(vec![Test::Holds])),
            _ => None,
        },
        "=" if let Some(other) = column(right) => {
            (side.via == Via::Itself && other.via == Via::Itself).then_some(Single::Links(side, other))
        }
        _ => tests(&side, test(&side, sign, &value(right)?).map(|test| vec![test])),
    }
}

/// What a comparison of a column with a value says of it.
fn test(side: &Side, sign: &str, found: &Value) -> Option<Test> {
    match (side.via, found) {
        (Via::Itself, Value::Truth(true)) if sign == "=" => Some(Test::Holds),
        (Via::Itself, Value::Number(text, number)) => match (unit_of_name(&side.name), sign) {
            (Some(unit), "=") => part(unit, text),
            (_, "=") => Some(Test::One(vec![text.clone()])),
            (_, "<>" | "!=") => Some(Test::Not(vec![text.clone()])),
            _ => bound(sign, *number),
        },
        (Via::Part(unit), Value::Number(text, _)) => match (unit, sign) {
            (_, "=") => part(unit, text),
            ("year", _) => {
                let first = Date::new(text.written.parse().ok()?, 1, 1)?;
                started("year", sign, first)
            }
            _ => None,
        },
        (Via::Itself, Value::Day(date)) => started("day", sign, *date),
        (Via::Itself, Value::End(date)) => (sign == "<=").then(|| Test::Days(None, Some(date.add_days(1)))),
        (Via::Start(unit), Value::Day(date)) => started(unit, sign, *date),
        (Via::Written(10), Value::Day(date)) => started("day", sign, *date),
        (Via::Itself | Via::Written(_), Value::Text(text)) => texted(side.via, sign, text),
        _ => None,
    }
}

fn part(unit: &'static str, text: &Text) -> Option<Test> {
    Some(Test::Part(unit, text.written.parse().ok()?))
}

fn bound(sign: &str, number: Decimal) -> Option<Test> {
    let (above, inclusive) = match sign {
        ">" => (true, false),
        ">=" => (true, true),
        "<" => (false, false),
        "<=" => (false, true),
        _ => return None,
    };
    Some(Test::Bound { above, inclusive, number })
}

/// Days by a comparison with the first day of a unit.
fn started(unit: &str, sign: &str, date: Date) -> Option<Test> {
    let days = match unit {
        "year" => Days::year(date),
        "quarter" => Days::quarter(date),
        "month" => Days::month(date),
        _ => Days::day(date),
    };
    if days.from != date {
        return None;
    }
    Some(match sign {
        "=" => Test::Days(Some(days.from), Some(days.until)),
        ">=" => Test::Days(Some(days.from), None),
        ">" => Test::Days(Some(days.until), None),
        "<" => Test::Days(None, Some(days.from)),
        "<=" => Test::Days(None, Some(days.until)),
        _ => return None,
    })
}

/// A text that is compared: the beginning of a date, or the value itself. A pattern may mean other values than its letters say.
fn texted(via: Via, sign: &str, text: &Text) -> Option<Test> {
    let start = text.written.trim_end_matches(['%', '-']);
    let (unit, first) = match start.len() {
        4 => ("year", Date::parse(&format!("{start}-01-01"))),
        7 => ("month", Date::parse(&format!("{start}-01"))),
        10 => ("day", Date::parse(start)),
        _ => ("", None),
    };
    let fits = match via {
        Via::Written(length) => length == start.len(),
        _ => start.len() > 4,
    };
    let whole = start == text.written || (sign == "like" && !start.contains(['%', '_']));
    match (first, sign) {
        (Some(first), "=" | "like") if fits && whole => started(unit, "=", first),
        (None, "=") if via == Via::Itself => Some(Test::One(vec![text.clone()])),
        (None, "<>" | "!=") if via == Via::Itself => Some(Test::Not(vec![text.clone()])),
        (None, "like") if via == Via::Itself && !text.written.contains(['%', '_']) => {
            Some(Test::One(vec![text.clone()]))
        }
        _ => None,
    }
}
