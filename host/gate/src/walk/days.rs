//! Days and moments as a text writes them: which day a value is, and how far an interval goes, as far as the text alone
//! shows it.

use std::cmp::Ordering;

use airlock_types::clock::MONTHS;
use pg_query::NodeEnum;
use pg_query::protobuf::{
    AConst, AExpr, AExprKind, FuncCall, SqlValueFunctionOp, TypeCast, TypeName, a_const,
};

use super::inner;
use super::limits::constant;
use super::names::strings;

/// A year from which on a bound means for ever: no data is from then.
const FOR_EVER: i64 = 2_200;

/// A moment as the text shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct When {
    /// Whether its days are counted from today, whatever day that is, and not from the first of the year 0.
    from_today: bool,
    /// The days, from the least to the most that they can be: a month is not always as long.
    days: (i64, i64),
    /// Whether it is later than the first moment of its day.
    later: bool,
}

impl When {
    const TODAY: Self = Self { from_today: true, days: (0, 0), later: false };

    fn on(year: i64, month: i64, day: i64) -> Option<Self> {
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then(|| {
            let day = days_of(year, month, day);
            Self { from_today: false, days: (day, day), later: false }
        })
    }

    /// The first moment of its day.
    fn floored(self) -> Self {
        Self { later: false, ..self }
    }

    fn moved(self, by: Interval, sign: i64) -> Option<Self> {
        let (months, days) = (by.months * sign, by.days * sign);
        let (a, b) = (months * 28, months * 31);
        let days = (self.days.0 + days + a.min(b), self.days.1 + days + a.max(b));
        (by.time == 0).then_some(Self { days, ..self })
    }

    /// Whether nothing lies between this one and an end, both included unless `behind` leaves out this one.
    pub(super) fn leaves_nothing_until(self, end: Self, behind: bool) -> bool {
        let same_day = self.days == end.days && self.days.0 == self.days.1;
        self.from_today == end.from_today
            && (self.days.0 > end.days.1 || same_day && !end.later && (self.later || behind))
    }

    /// Whether a bound at this moment bounds nothing.
    pub(super) fn is_for_ever(self) -> bool {
        !self.from_today && self.days.0 >= days_of(FOR_EVER, 1, 1)
    }
}

/// The moment a value is, when the text alone shows it.
pub(super) fn when(node: &NodeEnum) -> Option<When> {
    match node {
        NodeEnum::AConst(AConst { val: Some(a_const::Val::Sval(text)), .. }) => written(&text.sval),
        NodeEnum::TypeCast(cast) => {
            let arg = when(inner(&cast.arg)?)?;
            match type_name(cast.type_name.as_ref()?)? {
                "date" => Some(arg.floored()),
                "timestamp" | "timestamptz" => Some(arg),
                _ => None,
            }
        }
        NodeEnum::SqlvalueFunction(function) => {
            use SqlValueFunctionOp as Op;
            match Op::try_from(function.op).ok()? {
                Op::SvfopCurrentDate => Some(When::TODAY),
                Op::SvfopCurrentTimestamp
                | Op::SvfopCurrentTimestampN
                | Op::SvfopLocaltimestamp
                | Op::SvfopLocaltimestampN => Some(When { later: true, ..When::TODAY }),
                _ => None,
            }
        }
        NodeEnum::FuncCall(call) => of_call(call),
        NodeEnum::AExpr(sum) if sum.kind == AExprKind::AexprOp as i32 => of_sum(sum),
        _ => None,
    }
}

fn of_call(call: &FuncCall) -> Option<When> {
    let arguments: Vec<&NodeEnum> = call.args.iter().filter_map(|node| node.node.as_ref()).collect();
    match (strings(&call.funcname)?.last().copied()?, arguments.as_slice()) {
        ("now" | "transaction_timestamp" | "statement_timestamp" | "clock_timestamp", []) => {
            Some(When { later: true, ..When::TODAY })
        }
        ("make_date", [year, month, day]) => {
            let number = |node| constant(node).and_then(|number| i64::try_from(number).ok());
            When::on(number(year)?, number(month)?, number(day)?)
        }
        ("make_timestamp" | "make_timestamptz", [year, month, day, time @ ..]) => {
            let number = |node| constant(node).and_then(|number| i64::try_from(number).ok());
            let day = When::on(number(year)?, number(month)?, number(day)?)?;
            // A zone moves it by what is not known here.
            let [hour, minute, second] = time else { return None };
            let midnight = [hour, minute, second].into_iter().all(|node| is_zero(node));
            Some(When { later: !midnight, ..day })
        }
        ("to_date", [text, format]) if literal(format)?.eq_ignore_ascii_case("yyyy-mm-dd") => when(text),
        ("date", [of]) => when(of).map(When::floored),
        ("date_trunc", [unit, of, ..]) if literal(unit)?.eq_ignore_ascii_case("day") => {
            when(of).map(When::floored)
        }
        _ => None,
    }
}

/// Whether a moment that is made of numbers is the first one of its day.
pub(super) fn is_at_midnight(call: &FuncCall) -> bool {
    let time = call.args.iter().skip(3).take(3).filter_map(|node| node.node.as_ref());
    call.args.len() >= 6 && time.filter(|node| is_zero(node)).count() == 3
}

/// Whether a number is 0, and not something that a whole number of it would cut.
fn is_zero(node: &NodeEnum) -> bool {
    match node {
        NodeEnum::AConst(AConst { val: Some(a_const::Val::Fval(number)), .. }) => {
            number.fval.parse::<f64>() == Ok(0.0)
        }
        node => constant(node) == Some(0),
    }
}

/// Whether a range of moments, as a text writes it, has the first moment of its last day and no more: `[2026-01-01,2026-01-31]`.
pub(super) fn ends_in_a_day(range: &str) -> bool {
    let until = range.trim().strip_suffix(']').and_then(|range| range.rsplit_once(','));
    until.is_some_and(|(_, until)| {
        let until = until.trim().trim_matches('"');
        is_day_alone(until) && !written(until).is_some_and(When::is_for_ever)
    })
}

fn of_sum(sum: &AExpr) -> Option<When> {
    let sign = match strings(&sum.name)?.last().copied()? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (left, right) = (inner(&sum.lexpr)?, inner(&sum.rexpr)?);
    let by = match interval(right) {
        Some(by) => by,
        None => {
            let mut by = Interval::default();
            by.add(i64::try_from(constant(right)?).ok()?, "day")?;
            by
        }
    };
    when(left)?.moved(by, sign)
}

/// An interval that is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Interval {
    months: i64,
    days: i64,
    /// Whatever is shorter than a day; only whether there is something matters.
    time: i64,
}

impl Interval {
    /// Which way it goes in days, and in months; none for one that is not of whole days.
    pub(super) fn directions(self) -> Option<(Ordering, Ordering)> {
        (self.time == 0).then(|| (self.days.cmp(&0), self.months.cmp(&0)))
    }

    fn add(&mut self, number: i64, unit: &str) -> Option<()> {
        let unit = unit.to_ascii_lowercase();
        let (field, size) = match unit.strip_suffix('s').unwrap_or(&unit) {
            "day" | "d" => (&mut self.days, 1),
            "week" | "w" => (&mut self.days, 7),
            "month" | "mon" => (&mut self.months, 1),
            "year" | "yr" | "y" => (&mut self.months, 12),
            "decade" => (&mut self.months, 120),
            "hour" | "hr" | "h" | "minute" | "min" | "m" | "second" | "sec" | "millisecond"
            | "microsecond" => (&mut self.time, 1),
            _ => return None,
        };
        *field = field.checked_add(number.checked_mul(size)?)?;
        // Longer than any calendar.
        (field.abs() < 10_000_000).then_some(())
    }
}

/// The interval a value is.
fn interval(node: &NodeEnum) -> Option<Interval> {
    match node {
        NodeEnum::TypeCast(cast) => interval_of_cast(cast),
        NodeEnum::FuncCall(call) if strings(&call.funcname)?.last() == Some(&"make_interval") => {
            interval_of_call(call)
        }
        _ => None,
    }
}

/// `interval '1 day'`, `'1 day'::interval`
pub(super) fn interval_of_cast(cast: &TypeCast) -> Option<Interval> {
    let of = cast.type_name.as_ref().filter(|of| type_name(of) == Some("interval"))?;
    let text = literal(inner(&cast.arg)?)?;
    let Some(unit) = unit_of(of) else { return interval_in_words(text) };
    let mut one = Interval::default();
    one.add(text.trim().parse().ok()?, unit)?;
    Some(one)
}

/// `make_interval(days => 1)`
pub(super) fn interval_of_call(call: &FuncCall) -> Option<Interval> {
    let mut whole = Interval::default();
    for node in &call.args {
        let Some(NodeEnum::NamedArgExpr(named)) = &node.node else { return None };
        let number = i64::try_from(constant(inner(&named.arg)?)?).ok()?;
        whole.add(number, &named.name)?;
    }
    Some(whole)
}

/// Whether a part of a moment, cut to it, is the first moment of a day.
pub(super) fn is_whole_days(unit: &str) -> bool {
    const UNITS: [&str; 8] = ["day", "week", "month", "mon", "quarter", "year", "decade", "century"];
    let unit = unit.trim().to_ascii_lowercase();
    UNITS.contains(&unit.as_str()) || UNITS.contains(&unit.strip_suffix('s').unwrap_or(&unit))
}

/// `INTERVAL '1' DAY`: the grammar writes the unit as a bit.
fn unit_of(of: &TypeName) -> Option<&'static str> {
    match constant(of.typmods.first()?.node.as_ref()?)? {
        2 => Some("month"),
        4 => Some("year"),
        8 => Some("day"),
        _ => None,
    }
}

/// `1 month - 1 day`
fn interval_in_words(text: &str) -> Option<Interval> {
    let mut whole = Interval::default();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (sign, unsigned) = match rest.strip_prefix(['-', '+']) {
            Some(unsigned) if rest.starts_with('-') => (-1, unsigned.trim_start()),
            Some(unsigned) => (1, unsigned.trim_start()),
            None => (1, rest),
        };
        let (number, behind) = cut(unsigned, |c| c.is_ascii_digit());
        let (unit, behind) = cut(behind.trim_start(), |c| c.is_ascii_alphabetic());
        whole.add(number.parse::<i64>().ok()? * sign, unit)?;
        rest = behind.trim_start();
    }
    (!text.trim().is_empty()).then_some(whole)
}

/// What begins a text and what follows it.
fn cut(text: &str, keep: fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c: char| !keep(c)).unwrap_or(text.len()))
}

/// Whether a literal is a day and no time of it, where a moment is expected.
pub(super) fn is_day_alone(text: &str) -> bool {
    matches!(text.trim().to_ascii_lowercase().as_str(), "today" | "yesterday" | "tomorrow")
        || day_in_words(text).is_some()
}

/// The moment a literal is.
fn written(text: &str) -> Option<When> {
    let text = text.trim();
    let day = |days| Some(When { days: (days, days), ..When::TODAY });
    match text.to_ascii_lowercase().as_str() {
        "today" => return day(0),
        "yesterday" => return day(-1),
        "tomorrow" => return day(1),
        "now" => return Some(When { later: true, ..When::TODAY }),
        _ => {}
    }
    let (date, time) = match day_in_words(text) {
        Some(day) => (day, ""),
        None => {
            let (date, time) = text.split_once([' ', 'T'])?;
            (day_in_words(date)?, time)
        }
    };
    // A zone moves it by what is not known here.
    if !time.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '.')) {
        return None;
    }
    let (year, month, day) = date?;
    let later = time.contains(|c: char| matches!(c, '1'..='9'));
    Some(When { later, ..When::on(year, month, day)? })
}

/// Year, month and day.
type Day = (i64, i64, i64);

/// A text that is a day: which one, where its numbers can be told apart.
fn day_in_words(text: &str) -> Option<Option<Day>> {
    if text.contains(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, ' ' | '-' | '/' | '.' | ',')) {
        return None;
    }
    let mut numbers: Vec<(usize, i64)> = Vec::new();
    let mut month = None;
    for part in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        if part.bytes().all(|b| b.is_ascii_digit()) && part.len() <= 8 {
            numbers.push((part.len(), part.parse().ok()?));
        } else if let Some(named) = month_of(part)
            && month.is_none()
        {
            month = Some(named);
        } else if !is_weekday(part) {
            return None;
        }
    }
    match (month, numbers.as_slice()) {
        (None, [(8, digits)]) => Some(Some((digits / 10_000, digits / 100 % 100, digits % 100))),
        (None, [(4, year), (1..=2, month), (1..=2, day)]) => Some(Some((*year, *month, *day))),
        (None, [(1..=2, _), (1..=2, _), (2 | 4, _)]) => Some(None),
        (Some(month), [(4, year), (1..=2, day)] | [(1..=2, day), (4, year)]) => {
            Some(Some((*year, month, *day)))
        }
        (Some(_), [(1..=2, _), (1..=2, _)]) => Some(None),
        _ => None,
    }
}

fn month_of(word: &str) -> Option<i64> {
    let at = MONTHS.iter().position(|month| begins(month, word))?;
    i64::try_from(at + 1).ok()
}

fn is_weekday(word: &str) -> bool {
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        .iter()
        .any(|day| begins(day, word))
}

/// Whether a word is this name, or its first letters.
fn begins(name: &str, word: &str) -> bool {
    word.len() >= 3 && name.get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word))
}

/// Days from the first of March of the year 0, by the calendar that PostgreSQL has for all times.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year
}

/// The text that a literal holds, cast or not.
pub(super) fn literal(node: &NodeEnum) -> Option<&str> {
    match node {
        NodeEnum::AConst(AConst { val: Some(a_const::Val::Sval(text)), .. }) => Some(&text.sval),
        NodeEnum::TypeCast(cast) => inner(&cast.arg).and_then(literal),
        _ => None,
    }
}

/// The name of a type of `pg_catalog`.
fn type_name(of: &TypeName) -> Option<&str> {
    match strings(&of.names)?.as_slice() {
        [name] | ["pg_catalog", name] if of.array_bounds.is_empty() => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_a_day_when_it_has_no_time() {
        for (text, want) in [
            ("2026-01-30", true),
            ("2026-1-30", true),
            ("20260130", true),
            ("30 January 2026", true),
            ("Jan 30, 2026", true),
            ("Fri 30-Jan-2026", true),
            ("1/30/2026", true),
            ("today", true),
            ("2026-01-30 00:00", false),
            ("2026-01-30T10", false),
            ("2026-01", false),
            ("infinity", false),
            ("now", false),
            ("epoch", false),
            ("", false),
            ("30 Brumaire 2026", false),
            ("2026-01-30 10", false),
        ] {
            assert_eq!(is_day_alone(text), want, "{text}");
        }
    }

    #[test]
    fn moments_are_compared_where_the_text_shows_them() {
        let of = |text: &str| -> Option<When> {
            let parsed = pg_query::parse(&format!("SELECT {text}"), 0).unwrap().protobuf;
            let Some(NodeEnum::SelectStmt(select)) =
                parsed.stmts[0].stmt.as_ref().and_then(|node| node.node.clone())
            else {
                panic!("{text}")
            };
            let Some(NodeEnum::ResTarget(target)) = select.target_list[0].node.clone() else {
                panic!("{text}")
            };
            when(inner(&target.val).unwrap())
        };
        // Whether nothing is left between them, the first one included or not.
        for (from, until, with, without) in [
            ("'2026-01-30'", "'2026-01-30'", false, true),
            ("date '2026-1-30'", "'30 January 2026'::date", false, true),
            ("'2026-01-31'", "make_date(2026, 1, 30)", true, true),
            ("'2026-01-29'", "to_date('2026-01-30', 'YYYY-MM-DD')", false, false),
            ("'2026-01-30 10:00'", "'2026-01-30'", true, true),
            ("'2026-01-30 00:00:00'", "'2026-01-30'", false, true),
            ("'2026-01-30'", "'2026-01-30 10:00'", false, false),
            ("'2026-03-01'", "date '2026-02-27' + 1", true, true),
            ("'2026-03-01'", "date '2026-02-28' + 1", false, true),
            ("current_date", "'today'", false, true),
            ("current_date", "current_date - 7", true, true),
            ("current_date - interval '7 days'", "current_date", false, false),
            ("now()", "current_date", true, true),
            ("now() - interval '7 days'", "current_date", false, false),
            ("current_date", "current_date - interval '1 month'", true, true),
            ("current_date - interval '1 month'", "current_date - interval '29 days'", false, false),
            ("date_trunc('day', now())", "now()::date", false, true),
            // What cannot be compared.
            ("current_date", "'2026-01-30'", false, false),
            ("'2026-01-30 10:00+02'", "'2026-01-30'", false, false),
        ] {
            let nothing =
                |behind| of(from).zip(of(until)).is_some_and(|(a, b)| a.leaves_nothing_until(b, behind));
            assert_eq!((nothing(false), nothing(true)), (with, without), "{from} {until}");
        }
        for (text, want) in [
            ("'9999-12-31'", true),
            ("date '9999-12-31'", true),
            ("make_date(9999, 12, 31)", true),
            ("'2026-12-31'", false),
            ("current_date", false),
        ] {
            assert_eq!(of(text).is_some_and(When::is_for_ever), want, "{text}");
        }
    }

    #[test]
    fn intervals_are_read_with_their_directions() {
        use Ordering::{Equal, Greater, Less};
        for (text, want) in [
            ("1 day", Some((Greater, Equal))),
            ("1 month - 1 day", Some((Less, Greater))),
            ("1 mon -1 days", Some((Less, Greater))),
            ("2 weeks", Some((Greater, Equal))),
            ("1 year", Some((Equal, Greater))),
            ("1 second", None),
            ("1 day 1 hour", None),
            ("P1D", None),
            ("", None),
            ("day", None),
        ] {
            assert_eq!(interval_in_words(text).and_then(Interval::directions), want, "{text}");
        }
    }
}
