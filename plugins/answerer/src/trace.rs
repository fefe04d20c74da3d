//! Whether each number of a sentence comes from somewhere.

use std::collections::BTreeSet;
use std::ops::Range;

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::words;

use crate::arithmetic::Derived;
use crate::decimal::Decimal;
use crate::given::Given;
use crate::period;
use crate::refs::refs;
use crate::times::Origin;

/// A rounded number must keep this many digits to be taken for the number it rounds.
const LEAST_DIGITS: usize = 3;

/// A number in a text.
pub struct Mention {
    pub written: String,
    /// The byte it begins at.
    pub at: usize,
    pub value: Decimal,
    /// Significant digits, trailing zeros of `1.2 million` not counted.
    digits: usize,
    /// Written in digits and not in words.
    pub in_digits: bool,
    /// The marker of a list: a number that opens a line and is followed by a full stop or a bracket.
    pub marker: bool,
    /// Followed by `%` or the word for it.
    pub percent: bool,
    /// Written with a sign.
    pub negative: bool,
    /// It says by how much: `rose by 100`.
    pub step: bool,
}

impl Mention {
    /// Whether it is the exact number, or that number rounded to no fewer digits than are needed to know it again.
    pub fn stands_for(&self, exact: Decimal) -> bool {
        self.value.equals(exact)
            || (self.digits >= LEAST_DIGITS && self.value.is_rounding_of(exact, self.digits))
    }
}

/// The first number of `text` that neither the rows, nor arithmetic on those that it names, nor the query accounts for. What the
/// question says counts where the query has it too.
pub fn untraced(text: &str, given: &Given<'_>) -> Option<String> {
    let input = given.input;
    if let Some(word) = foreign(text, input) {
        return Some(word);
    }
    let (mut known, mut below_zero) = (given.asked.clone(), Vec::new());
    for mention in input.rows.iter().flatten().flatten().flat_map(|value| of_cell(value)) {
        known.push(mention.value);
        below_zero.extend(mention.negative.then_some(mention.value));
    }
    known.extend(Decimal::parse(&input.row_count.to_string()));
    known.extend(Decimal::parse(&input.rows.len().to_string()));
    let derived = Derived::of(given);
    let spoken: BTreeSet<usize> = refs(&text.to_lowercase(), given).iter().map(|found| found.row).collect();
    let computed = amounts(&derived, &spoken, input.rows.len());
    let (times, phrases) = given.dated(text);
    let timed = |mention: &Mention| {
        let inside = |span: &Range<usize>| span.contains(&mention.at);
        times.iter().any(|(time, origin)| inside(&time.span) && *origin != Origin::Nowhere)
            || phrases.iter().any(inside)
    };
    // A time that is nowhere takes its numbers with it; a year that stands alone may be another number of the rows.
    let lost = |mention: &Mention| {
        let held = || {
            let cells = input.rows.iter().flatten().flatten();
            cells.into_iter().any(|cell| of_cell(cell).iter().any(|has| mention.stands_for(has.value)))
        };
        times.iter().any(|(time, origin)| {
            let alone = time.span.start == mention.at && time.span.len() == mention.written.len();
            time.span.contains(&mention.at) && *origin == Origin::Nowhere && !(alone && held())
        })
    };
    let accounted = |mention: &Mention| {
        if mention.percent {
            return is_percentage(mention, given, &derived, &spoken);
        }
        let in_list =
            mention.marker && mention.written.parse::<usize>().is_ok_and(|number| number <= input.rows.len());
        let known = if mention.negative { &below_zero } else { &known };
        let exact = known.iter().any(|exact| mention.stands_for(*exact));
        in_list
            || timed(mention)
            || (exact && !lost(mention))
            || (mention.in_digits && computed.iter().any(|exact| mention.stands_for(*exact)))
    };
    numbers(text).into_iter().find(|mention| !accounted(mention)).map(|mention| mention.written)
}

/// The numbers of a cell; of a date only its year, whose days and months are no amounts.
pub fn of_cell(cell: &str) -> Vec<Mention> {
    let mut found = numbers(cell);
    if period::date(cell).is_some() {
        found.truncate(1);
    }
    found
}

/// What can be computed from the rows that a text speaks of, or from all.
fn amounts(derived: &Derived, spoken: &BTreeSet<usize>, rows: usize) -> Vec<Decimal> {
    let told: Vec<usize> =
        if spoken.is_empty() { (0..rows).collect() } else { spoken.iter().copied().collect() };
    let sums = derived.sums().chain(derived.sums_of(spoken));
    let mut amounts: Vec<Decimal> = sums.map(|(_, sum)| sum).collect();
    for (at, a) in told.iter().enumerate() {
        amounts.extend(derived.across(*a));
        amounts
            .extend(told.iter().skip(at + 1).flat_map(|b| derived.between(*a, *b)).map(|(_, apart)| apart));
    }
    amounts
}

/// Whether the rows hold the number as a percentage, or it is a share of those that a text speaks of. A number of a column that
/// holds no percentage does not become one.
fn is_percentage(said: &Mention, given: &Given<'_>, derived: &Derived, spoken: &BTreeSet<usize>) -> bool {
    let asked = || {
        let same = |known: &Mention| known.percent && said.stands_for(known.value);
        numbers(&given.input.question).iter().any(same)
            && given.asked.iter().any(|known| said.stands_for(*known))
    };
    is_held(said, given.input)
        || asked()
        || (!said.negative && is_share(said, derived, spoken, given.input.rows.len()))
}

fn is_share(said: &Mention, derived: &Derived, spoken: &BTreeSet<usize>, rows: usize) -> bool {
    let told: Vec<usize> =
        if spoken.is_empty() { (0..rows).collect() } else { spoken.iter().copied().collect() };
    let any = BTreeSet::new();
    let change = |a: &usize, b: &usize| {
        [true, false].iter().any(|above| derived.is_change(said.value, (*a, *b), *above, &any))
    };
    derived.is_share(said.value, spoken, &any)
        || told.iter().any(|row| {
            derived.is_share(said.value, &BTreeSet::from([*row]), &any)
                || derived.is_ratio(said.value, *row)
                || told.iter().any(|other| change(row, other))
        })
}

/// Whether a number is a percentage that stands in no row as it is.
pub fn is_derived_percentage(said: &Mention, given: &Given<'_>) -> bool {
    said.percent && !is_held(said, given.input)
}

/// Whether a row holds the percentage.
fn is_held(said: &Mention, input: &AnswerInput) -> bool {
    let cell = |of_percent: bool, cell: &str| {
        numbers(cell).into_iter().any(|known| {
            (known.percent || of_percent) && known.negative == said.negative && said.stands_for(known.value)
        })
    };
    let percentages = percentages(input);
    input.rows.iter().any(|row| {
        row.iter().enumerate().any(|(at, value)| {
            let value = value.as_deref().unwrap_or_default();
            match percentages.iter().find(|(column, _)| *column == at) {
                Some((_, Unit::Fraction)) => numbers(value).into_iter().any(|known| {
                    let hundredfold = known.value.times_power(2);
                    known.negative == said.negative && hundredfold.is_some_and(|exact| said.stands_for(exact))
                }),
                of_percent => cell(of_percent.is_some(), value),
            }
        })
    })
}

/// What a percentage is stored as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// 25 is 25 %.
    Percent,
    /// 0.25 is 25 %.
    Fraction,
}

/// The columns that hold percentages: by their names, or, where no name says so, the only column of numbers when the query
/// multiplies by 100 or the question asks for a percentage.
fn percentages(input: &AnswerInput) -> Vec<(usize, Unit)> {
    const NAMES: [&str; 8] =
        ["fraction", "pct", "perc", "percent", "percentage", "proportion", "ratio", "share"];
    let says = |text: &str| words::words(text).iter().any(|word| NAMES.contains(&word.text.as_str()));
    let named = |at: &usize| {
        let name = input.columns.get(*at).map_or("", |column| column.name.as_str());
        words::identifier_words(name).iter().any(|word| NAMES.contains(&word.as_str()))
    };
    let hundredfold = input.sql.as_deref().is_some_and(|sql| {
        words::words(sql).iter().any(|word| matches!(word.text.as_str(), "100" | "100.0" | "100.00"))
    });
    let values = |at: usize| -> Option<Vec<f64>> {
        let cells = input.rows.iter().filter_map(|row| row.get(at)?.as_deref());
        let values: Vec<f64> = cells.map(|cell| cell.parse().ok()).collect::<Option<_>>()?;
        (!values.is_empty()).then_some(values)
    };
    let numeric: Vec<usize> = (0..input.columns.len()).filter(|at| values(*at).is_some()).collect();
    let by_name: Vec<usize> = numeric.iter().copied().filter(named).collect();
    let columns = match (by_name.is_empty(), numeric.as_slice()) {
        (false, _) => by_name,
        (true, [only]) if hundredfold || says(&input.question) || input.question.contains('%') => vec![*only],
        _ => Vec::new(),
    };
    let unit = |at: usize| {
        let small = values(at).is_some_and(|values| values.iter().all(|value| value.abs() <= 1.0));
        if small && !hundredfold { Unit::Fraction } else { Unit::Percent }
    };
    columns.into_iter().map(|at| (at, unit(at))).collect()
}

/// Every number of a text, in digits or in words above one.
pub fn numbers(text: &str) -> Vec<Mention> {
    let found = words::words(text);
    let mut mentions = Vec::new();
    for (index, word) in found.iter().enumerate() {
        let next = found.get(index + 1).map(|word| word.text.as_str());
        let power = next.and_then(power);
        if word.text.starts_with(|c: char| c.is_ascii_digit()) {
            mentions.extend(in_digits(text, word, power));
        } else if let Some(value) = words::number(&word.text).filter(|value| *value > 1) {
            // `two million` is one number and `million` no second one.
            let scales = index.checked_sub(1).and_then(|before| found.get(before)).is_some_and(|before| {
                before.text.starts_with(|c: char| c.is_ascii_digit()) && self::power(&word.text).is_some()
            });
            if !scales && let Some(value) = Decimal::parse(&value.to_string()) {
                mentions.push(Mention {
                    written: word.text.clone(),
                    at: word.span.start,
                    value,
                    digits: 1,
                    in_digits: false,
                    marker: false,
                    percent: is_percent(text.get(word.span.end..).unwrap_or_default()),
                    negative: false,
                    step: false,
                });
            }
        }
    }
    mentions
}

fn in_digits(text: &str, word: &words::Word, power: Option<u32>) -> Option<Mention> {
    let digits: String =
        word.text.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ',')).collect();
    let suffix = word.text.get(digits.len()..).unwrap_or_default();
    let power = match suffix {
        "" => power,
        "k" => Some(3),
        "m" => Some(6),
        // `1e5`
        _ => suffix.strip_prefix('e').and_then(|exponent| exponent.parse().ok()),
    };
    let written = Decimal::parse(&digits)?;
    let value = written.times_power(power.unwrap_or(0))?;
    let before = text.get(..word.span.start).unwrap_or_default();
    let after = text.get(word.span.end..).unwrap_or_default();
    let sign = before.strip_suffix(['-', '\u{2212}']);
    let opens_line = before.rsplit('\n').next().is_some_and(|line| line.trim().is_empty());
    Some(Mention {
        written: word.text.clone(),
        at: word.span.start,
        value,
        digits: significant(&digits),
        in_digits: true,
        marker: opens_line && after.starts_with(['.', ')']),
        percent: is_percent(after),
        step: before.trim_end().ends_with(" by"),
        // A dash behind a letter or a digit joins: `2026-04`.
        negative: sign.is_some_and(|rest| !rest.ends_with(char::is_alphanumeric)),
    })
}

/// Whether what stands behind a number makes it a percentage.
fn is_percent(after: &str) -> bool {
    let after = after.trim_start_matches(['-', ' ', '\u{a0}']);
    ["%", "percent", "per cent", "pct"]
        .iter()
        .any(|sign| after.get(..sign.len()).is_some_and(|start| start.eq_ignore_ascii_case(sign)))
}

/// A number that cannot be computed with (in another script's digits, or too long) and that neither the rows nor the question
/// has: it is copied or invented.
fn foreign(text: &str, input: &AnswerInput) -> Option<String> {
    let given = |word: &str| {
        input.question.contains(word)
            || input.rows.iter().flatten().flatten().any(|value| value.contains(word))
    };
    let unread = |word: &str| {
        word.contains(|c: char| c.is_numeric() && !c.is_ascii_digit())
            || (word.starts_with(|c: char| c.is_ascii_digit()) && numbers(word).is_empty())
    };
    text.split(|c: char| !c.is_alphanumeric()).find(|word| unread(word) && !given(word)).map(str::to_owned)
}

/// Significant digits as written. Zeros that end a whole number are placeholders: `1,230,000` has three.
fn significant(digits: &str) -> usize {
    let plain: String = digits.chars().filter(|c| *c != ',').collect();
    let all: String = plain.chars().filter(char::is_ascii_digit).collect();
    let trimmed = all.trim_start_matches('0');
    if plain.contains('.') { trimmed.len() } else { trimmed.trim_end_matches('0').len() }
}

/// The power of ten that a word multiplies the number before it by.
pub fn power(word: &str) -> Option<u32> {
    match word {
        "hundred" => Some(2),
        "thousand" => Some(3),
        "lakh" | "lakhs" => Some(5),
        "million" => Some(6),
        "crore" | "crores" => Some(7),
        "billion" => Some(9),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::contract::answerer::ResultColumn;
    use airlock_plugin_sdk::harness::clock;

    use super::*;
    use crate::tests::given;

    fn input() -> AnswerInput {
        AnswerInput {
            question: "Which two products sold most in 2026?".into(),
            clock: clock("2026-07-15"),
            kind: "data".into(),
            sql: Some(
                "SELECT a FROM b WHERE c >= DATE '2026-01-01' AND c < '2027-01-01' AND d > 777 LIMIT 2"
                    .into(),
            ),
            columns: ["prod_name", "units"]
                .map(|name| ResultColumn { name: name.into(), sql_type: "text".into() })
                .into(),
            rows: vec![
                vec![Some("Hammer 500g".into()), Some("1234567.891".into())],
                vec![Some("Nails".into()), Some("-42".into())],
            ],
            row_count: 2,
            truncated: false,
            probe: None,
            assumptions: vec![],
            context: vec![],
            model_available: true,
            attributes: vec![],
        }
    }

    #[test]
    fn numbers_are_traced_or_named() {
        for (text, want) in [
            ("Hammer 500g sold 1,234,567.891 and Nails lost 42.", None),
            ("Hammer sold 1,234,567.89 units.", None),
            ("Hammer sold 1.23 million units.", None),
            ("Hammer sold 1.23 million units, Nails 43.", Some("43")),
            ("Hammer sold 1.24 million units.", Some("1.24")),
            ("Hammer sold about 1 million units.", Some("1")),
            ("1. Hammer\n2. Nails", None),
            ("3. Hammer", Some("3")),
            ("The two products of 2026 are Hammer and Nails.", None),
            ("The five products are Hammer and Nails.", Some("five")),
            ("In 2026, Hammer led.", None),
            // The query ends with the year.
            ("From 2026-01-01 on, Hammer led.", Some("2026")),
            ("From 2026-04-01 on, Hammer led.", Some("2026")),
            ("More than 777 were sold.", Some("777")),
            ("Hammer grew by 12%.", Some("12")),
            ("No number at all.", None),
            ("Nails fell to -42.", None),
            ("Nails fell to \u{2212}42.", None),
            ("Hammer sold -1,234,567.891 units.", Some("1,234,567.891")),
            ("Hammer 500g sold 500e3 units.", Some("500e3")),
            ("Hammer sold \u{ff15}\u{ff10}\u{ff10} units.", Some("\u{ff15}\u{ff10}\u{ff10}")),
            ("Hammer sold 5e99 units.", Some("5e99")),
            ("The range is 42-42.", None),
            ("It was 42%.", Some("42")),
            ("It was 42 per cent.", Some("42")),
            ("It was two percent.", Some("two")),
        ] {
            assert_eq!(untraced(text, &given(&input())).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn a_percentage_is_one_in_the_rows_too() {
        let told = |name: &str, value: &str, question: &str, sql: &str, said: &str| {
            let mut data = input();
            data.question = question.into();
            data.sql = Some(sql.into());
            data.columns = vec![
                ResultColumn { name: "city".into(), sql_type: "text".into() },
                ResultColumn { name: name.into(), sql_type: "numeric".into() },
            ];
            data.rows = vec![vec![Some("Pune".into()), Some(value.into())]];
            data.row_count = 1;
            untraced(said, &given(&data)).is_none()
        };
        let sql = "SELECT city, x FROM t";
        for (name, value, question, sql, said, want) in [
            ("units", "12", "Units by city?", sql, "Pune has 12.", true),
            ("units", "12", "Units by city?", sql, "Pune has 12%.", false),
            ("units", "12", "Units by city?", "SELECT city, 100.0 * a / b FROM t", "Pune has 12%.", true),
            ("units", "12", "What percentage is Pune?", sql, "Pune has 12%.", true),
            ("pct_sold", "12.5", "Pune?", sql, "Pune has 12.5 %.", true),
            ("share", "0.125", "Pune?", sql, "Pune has 12.5%.", true),
            ("share", "0.125", "Pune?", sql, "Pune has 0.125%.", false),
            ("pct", "0.125", "Pune?", "SELECT city, 100 * a / b AS pct FROM t", "Pune has 0.125%.", true),
            ("pct", "-5", "Pune?", sql, "Pune has -5%.", true),
            ("pct", "-5", "Pune?", sql, "Pune has 5%.", false),
            ("units", "12", "Which cities have over 10%?", sql, "Pune has over 10%.", false),
            (
                "units",
                "12",
                "Which cities have over 10%?",
                "SELECT city, x FROM t WHERE x > 10",
                "Pune has over 10%.",
                true,
            ),
        ] {
            assert_eq!(told(name, value, question, sql, said), want, "{name} {value}: {said}");
        }
    }

    #[test]
    fn the_day_that_ends_a_range_is_not_in_it() {
        let mut data = input();
        data.question = "How many?".into();
        data.sql = Some("SELECT a FROM b WHERE d >= '2026-01-01' AND d < '2027-01-01'".into());
        for (text, want) in
            [("In 2026.", None), ("In 2027.", Some("2027")), ("From 1 January to 31 December 2026.", None)]
        {
            assert_eq!(untraced(text, &given(&data)).as_deref(), want, "{text}");
        }
    }
}
