//! What PostgreSQL leaves out of a result without an error, where the result says nothing: what is behind the point of a
//! quotient of whole numbers, and a day that ends at its first moment. The host, which knows the types, says where.

use std::ops::Range;

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::time::Date;

use super::arithmetic::operand;
use crate::case::{Case, Proposal};
use crate::edit::Edit;
use crate::tokens::{Kind, Tokens, inside};

/// The bytes of the operators, by what is lost there.
const FRACTION: &str = "loss:fraction";
const LAST_DAY: &str = "loss:last-day";
const ONE_DAY: &str = "loss:one-day";
/// Those among them whose day is written as a moment.
const IN_MOMENTS: &str = "loss:in-moments";

/// All losses of a text made good at once, each where it is sure how.
pub fn propose(case: &Case<'_, impl Host>) -> Option<Proposal> {
    // The host speaks of the text that it ran, and not of one on the way.
    if case.failure.sql != case.input.failure.sql {
        return None;
    }
    let tokens = &case.tokens;
    let found = |key: &str| -> Vec<usize> {
        let told = case.input.attributes.iter().filter(|attribute| attribute.key == key);
        let places =
            told.flat_map(|attribute| attribute.value.split(',')).filter_map(|place| place.parse().ok());
        places
            .filter_map(|place| {
                tokens.at(place).filter(|at| case.span(*at).is_some_and(|span| span.start == place))
            })
            .collect()
    };
    let (divisions, ranges, days) = (found(FRACTION), found(LAST_DAY), found(ONE_DAY));
    let in_moments = found(IN_MOMENTS);
    let compared: Vec<Compared> = ranges
        .iter()
        .chain(&days)
        .filter_map(|at| Compared::of(case, *at, in_moments.contains(at)))
        .collect();
    // An edit inside what another one writes twice would be made in one of the two places.
    let nested = |outer: &Compared| {
        let others = compared.iter().map(|one| one.operator.start).chain(divisions.iter().copied());
        let within = |at: usize| outer.values.iter().any(|value| value.contains(&at));
        others.into_iter().any(|at| at != outer.operator.start && within(at))
    };
    if compared.iter().any(nested) {
        return None;
    }
    let (mut edits, mut changes, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
    let mut by: Vec<&str> = Vec::new();
    for at in divisions.iter().filter(|at| tokens.written(**at).starts_with('/')) {
        // A cast binds closer than any operator: it is of what stands right before it, and makes the whole numeric.
        edits.push(Edit::insert(case.span(at.checked_sub(1)?)?.end, "::numeric"));
        by.push(operand(tokens, at + 1).map_or("a whole number", |divisor| tokens.slice(&divisor)));
    }
    if !by.is_empty() {
        by.dedup();
        changes.push(format!("What is divided by {} is now a numeric.", by.join(", ")));
        reasons.push("A whole number divided by a whole number is cut to a whole number.");
    }
    for one in &compared {
        edits.extend(one.edits(tokens)?);
        let column = tokens.slice(&one.column);
        let change = match one.form {
            Form::OneOf => format!("{column} is now compared with the whole day."),
            Form::Until | Form::Within | Form::Outside => {
                format!("The range of {column} now has all of its last day.")
            }
        };
        if !changes.contains(&change) {
            changes.push(change);
        }
    }
    if !compared.is_empty() {
        reasons.push("A moment that is compared with a day is compared with its first moment.");
    }
    (!edits.is_empty()).then(|| Proposal { edits, change: changes.join(" "), reason: reasons.join(" ") })
}

/// Words that a condition begins behind.
const OPENS: [&str; 7] = ["WHERE", "AND", "OR", "NOT", "ON", "WHEN", "HAVING"];

/// How a moment is compared with a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `= day`, `IN (day, day)`
    OneOf,
    /// `<= day`, `NOT (... > day)`
    Until,
    /// `BETWEEN ... AND day`
    Within,
    /// `NOT BETWEEN ... AND day`
    Outside,
}

/// A moment compared with a day, as tokens.
struct Compared {
    form: Form,
    /// All of it.
    range: Range<usize>,
    column: Range<usize>,
    operator: Range<usize>,
    /// The AND of a range.
    and: Option<usize>,
    /// The day, the last one of a range; or each of a list.
    values: Vec<Range<usize>>,
    /// Whether the day is written as a moment.
    in_moments: bool,
}

impl Compared {
    fn of(case: &Case<'_, impl Host>, at: usize, in_moments: bool) -> Option<Self> {
        let tokens = &case.tokens;
        let Some((start, column)) =
            column_before(case, at).filter(|_| ![">=", "<"].contains(&tokens.written(at)))
        else {
            return Self::reversed(case, at, in_moments);
        };
        let outside = tokens.is(at, "NOT");
        let between = if outside { at + 1 } else { at };
        if tokens.is(at, "IN") {
            let close = tokens.closing(at + 1)?;
            let values = tokens.arguments(at + 1)?;
            let whole = |listed: &Range<usize>| value(tokens, listed.start).as_ref() == Some(listed);
            return (!values.is_empty() && values.iter().all(whole)).then_some(Self {
                form: Form::OneOf,
                range: start..close + 1,
                column,
                operator: at..at + 1,
                and: None,
                values,
                in_moments,
            });
        }
        if !tokens.is(between, "BETWEEN") {
            let form = match tokens.written(at) {
                "=" => Form::OneOf,
                // `>` under a NOT.
                "<=" | ">" => Form::Until,
                _ => return None,
            };
            let value = value(tokens, at + 1)?;
            return Some(Self {
                form,
                range: start..value.end,
                column,
                operator: at..at + 1,
                and: None,
                values: vec![value],
                in_moments,
            });
        }
        let begins = between + 1 + usize::from(tokens.is(between + 1, "ASYMMETRIC"));
        let and = value(tokens, begins)?.end;
        if !tokens.is(and, "AND") {
            return None;
        }
        let value = value(tokens, and + 1)?;
        Some(Self {
            form: if outside { Form::Outside } else { Form::Within },
            range: start..value.end,
            column,
            operator: at..begins,
            and: Some(and),
            values: vec![value],
            in_moments,
        })
    }

    /// `day >= column`, `day = column`
    fn reversed(case: &Case<'_, impl Host>, at: usize, in_moments: bool) -> Option<Self> {
        let tokens = &case.tokens;
        let form = match tokens.written(at) {
            "=" => Form::OneOf,
            ">=" | "<" => Form::Until,
            _ => return None,
        };
        let column = case.reference_at(at + 1)?.range;
        // What stands before the operator is a value as a whole, or none that is known.
        let opens = |before: usize| tokens.is_any(before, &OPENS) || tokens.kind(before) == Some(Kind::Open);
        let starts = (0..at).rev().filter(|start| start.checked_sub(1).is_some_and(opens));
        let mut values = starts.filter(|start| !tokens.is_any(*start, &OPENS));
        let value = values.find_map(|start| value(tokens, start).filter(|value| value.end == at))?;
        (column.start == at + 1).then_some(Self {
            form,
            range: value.start..column.end,
            column,
            operator: at..at + 1,
            and: None,
            values: vec![value],
            in_moments,
        })
    }

    fn edits(&self, tokens: &Tokens<'_>) -> Option<Vec<Edit>> {
        let written = tokens.slice(&self.column);
        let whole = tokens.bytes(&self.range)?;
        let operator = tokens.bytes(&self.operator)?;
        let [last, ..] = self.values.as_slice() else { return None };
        let value = tokens.bytes(last)?;
        let next = next_day(tokens, last, self.in_moments)?;
        let begins =
            |sign: &str| [Edit::insert(whole.start, "("), Edit::replace(operator.clone(), sign.to_owned())];
        let mut edits = Vec::new();
        match (self.form, self.and) {
            (Form::Until, _) => {
                let sign = match tokens.written(self.operator.start) {
                    "<=" => "<",
                    ">=" => ">",
                    ">" => ">=",
                    _ => "<=",
                };
                edits.push(Edit::replace(operator, sign));
                edits.push(Edit::replace(value, next));
            }
            (Form::OneOf, _)
                if tokens.written(self.operator.start) == "=" && self.column.start < last.start =>
            {
                edits.extend(begins(">="));
                edits.push(Edit::insert(value.end, format!(" AND {written} < {next})")));
            }
            (Form::OneOf, _) => {
                let mut days = Vec::new();
                for day in &self.values {
                    let next = next_day(tokens, day, self.in_moments)?;
                    days.push(format!("{written} >= {} AND {written} < {next}", tokens.slice(day)));
                }
                edits.push(Edit::replace(whole, format!("({})", days.join(" OR "))));
            }
            (Form::Within, _) => {
                edits.extend(begins(">="));
                edits.push(Edit::replace(value, format!("{written} < {next})")));
            }
            (Form::Outside, and) => {
                edits.extend(begins("<"));
                edits.push(Edit::replace(tokens.get(and?)?.span.clone(), "OR"));
                edits.push(Edit::replace(value, format!("{written} >= {next})")));
            }
        }
        Some(edits)
    }
}

/// The column that ends before a token, and where the parenthesis begins that it may stand in.
fn column_before(case: &Case<'_, impl Host>, at: usize) -> Option<(usize, Range<usize>)> {
    let tokens = &case.tokens;
    let last = at.checked_sub(1)?;
    let in_brackets = tokens.kind(last) == Some(Kind::Close);
    let column = case.reference_at(if in_brackets { last.checked_sub(1)? } else { last })?.range;
    let start = if in_brackets { column.start.checked_sub(1)? } else { column.start };
    let today = column.len() == 1 && tokens.is(column.start, "CURRENT_DATE");
    (!today && (!in_brackets || tokens.kind(start) == Some(Kind::Open))).then_some((start, column))
}

/// The literal that a value is: alone, behind the name of its type, or cast.
fn lone_literal(tokens: &Tokens<'_>, value: &Range<usize>) -> Option<usize> {
    let literal = value.clone().find(|at| tokens.kind(*at) == Some(Kind::Text))?;
    let typed = (value.start..literal).all(|at| tokens.kind(at) == Some(Kind::Word));
    let cast = tokens.is(value.start, "CAST") && literal == value.start + 2;
    let computed = (literal + 1..value.end)
        .any(|at| tokens.kind(at) == Some(Kind::Operator) && !tokens.is_operator(at, "::"));
    ((typed || cast) && !computed).then_some(literal)
}

/// The value that begins at a token: operands with signs of arithmetic between them.
fn value(tokens: &Tokens<'_>, start: usize) -> Option<Range<usize>> {
    let mut end = typed(tokens, start)?.end;
    while ["+", "-", "*", "/"].iter().any(|sign| tokens.is_operator(end, sign)) {
        end = typed(tokens, end + 1)?.end;
    }
    Some(start..end)
}

/// An operand, or a literal behind the name of its type.
fn typed(tokens: &Tokens<'_>, start: usize) -> Option<Range<usize>> {
    let zoned = tokens.is_any(start + 1, &["WITH", "WITHOUT"])
        && tokens.is(start + 2, "TIME")
        && tokens.is(start + 3, "ZONE");
    let literal = if zoned { start + 4 } else { start + 1 };
    let named = tokens.kind(start) == Some(Kind::Word) && tokens.kind(literal) == Some(Kind::Text);
    let begins = if named { literal } else { start };
    Some(start..operand(tokens, begins)?.end)
}

/// The day after a value: a literal in the form it has, else by arithmetic on a date or a moment.
fn next_day(tokens: &Tokens<'_>, value: &Range<usize>, in_moments: bool) -> Option<String> {
    let written = tokens.slice(value);
    let later = if in_moments { "+ interval '1 day'" } else { "+ 1" };
    let Some(literal) = lone_literal(tokens, value) else { return Some(format!("{written} {later}")) };
    let token = tokens.get(literal)?;
    let text = inside(tokens.written(literal));
    let Some(day) = Date::parse(text) else {
        // Of a day that the calendar does not have there is no next one.
        let looks_like_one = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        let typed = if value.len() == 1 { "::date" } else { "" };
        return (!looks_like_one).then(|| format!("{written}{typed} {later}"));
    };
    let at = token.span.start.checked_sub(tokens.bytes(value)?.start)?;
    let (before, behind) = (written.get(..at)?, written.get(at + token.span.len()..)?);
    Some(format!("{before}'{}'{behind}", day.add_days(1)))
}
