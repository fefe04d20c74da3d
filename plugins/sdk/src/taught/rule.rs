//! The sentences of a lesson that can be acted on: what stands in backticks, and the words between.

use std::fmt;

use crate::question::grammar::{Chunk, Op, Reading};
use crate::question::stems;
use crate::{CivilTime, Clock, TableRef};

/// Sentences of one lesson that are read.
const SENTENCES: usize = 8;
/// Longest sentence that is read, in bytes.
const LONGEST: usize = 400;
/// Words of grammar, of time and of aggregates that no lesson may change: what they do to a question they do to all. The
/// grammar knows some of them only beside others, as `may` beside a year, so all are listed. Sorted; a test holds that.
const GRAMMAR: &[&str] = &[
    "after",
    "ago",
    "annual",
    "annually",
    "apr",
    "april",
    "aug",
    "august",
    "average",
    "avg",
    "before",
    "but",
    "centuries",
    "century",
    "count",
    "daily",
    "day",
    "dec",
    "decade",
    "december",
    "deviation",
    "either",
    "feb",
    "february",
    "fewer",
    "first",
    "fortnight",
    "fri",
    "friday",
    "half",
    "hour",
    "hourly",
    "jan",
    "january",
    "jul",
    "july",
    "jun",
    "june",
    "last",
    "less",
    "mar",
    "march",
    "max",
    "maximum",
    "may",
    "mean",
    "median",
    "min",
    "minimum",
    "minus",
    "minute",
    "mon",
    "monday",
    "month",
    "monthly",
    "more",
    "neither",
    "next",
    "nobody",
    "none",
    "nor",
    "nov",
    "november",
    "number",
    "oct",
    "october",
    "only",
    "percent",
    "percentage",
    "plus",
    "previous",
    "proportion",
    "quarter",
    "quarterly",
    "ratio",
    "sat",
    "saturday",
    "second",
    "sep",
    "sept",
    "september",
    "since",
    "stddev",
    "sum",
    "sun",
    "sunday",
    "than",
    "thu",
    "thur",
    "thurs",
    "thursday",
    "total",
    "tue",
    "tues",
    "tuesday",
    "twice",
    "unless",
    "until",
    "variance",
    "wed",
    "wednesday",
    "week",
    "weekday",
    "weekend",
    "weekly",
    "while",
    "year",
    "yearly",
];

/// Something a lesson says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A phrase names a table, a column, or a condition: ``Here `staff` means `employees`.``
    Means(String, String),
    /// A phrase is an amount: ``Here `turnover` is computed as `sum(bills.total)`.``
    Computed(String, String),
    /// A phrase asks for nothing by itself: ``Here `please note` asks for nothing by itself.``
    Silent(String),
    /// Tables that no key connects: ``Each row of `bills` belongs to one of `staff` by `bills.cashier = staff.id`.``
    Joined {
        /// The table whose rows belong to one of the other's.
        from: String,
        /// The other table.
        to: String,
        /// A column of the one and a column of the other.
        columns: (String, String),
    },
}

impl Rule {
    /// The rules of a lesson that may be acted on; the rest of it is for people and models.
    #[must_use]
    pub fn read(text: &str) -> Vec<Self> {
        Self::written(text).into_iter().filter(|rule| rule.objection().is_none()).collect()
    }

    /// The rules of a lesson, also those that may not be acted on.
    #[must_use]
    pub fn written(text: &str) -> Vec<Self> {
        let sentences = text.split(['\n', ';']).flat_map(|line| line.split(". ")).map(str::trim);
        sentences
            .filter(|sentence| sentence.len() <= LONGEST)
            .filter_map(Self::sentence)
            .take(SENTENCES)
            .collect()
    }

    fn sentence(sentence: &str) -> Option<Self> {
        let sentence = sentence.trim_end_matches('.');
        let parts: Vec<&str> = sentence.split('`').collect();
        let said = |text: &str| text.trim().to_lowercase();
        match parts.as_slice() {
            [before, phrase, after, sql, end] if said(end).is_empty() && opens(before) => {
                let (phrase, sql) = (named(phrase)?, code(sql)?);
                match said(after).as_str() {
                    "means" => Some(Self::Means(phrase, sql)),
                    "is computed as" => Some(Self::Computed(phrase, sql)),
                    _ => None,
                }
            }
            [before, phrase, after] if opens(before) && said(after) == "asks for nothing by itself" => {
                Some(Self::Silent(named(phrase)?))
            }
            [before, from, belongs, to, by, columns, end]
                if said(before) == "each row of"
                    && said(belongs) == "belongs to one of"
                    && said(by) == "by"
                    && said(end).is_empty() =>
            {
                let (one, other) = columns.split_once('=')?;
                let own = |table: &str, text: &str| -> Option<String> {
                    let column = text.trim().strip_prefix(table)?.strip_prefix('.')?;
                    is_name(column).then(|| column.to_owned())
                };
                let (from, to) = (from.trim(), to.trim());
                let columns = (own(from, one)?, own(to, other)?);
                (relation(from).is_some() && relation(to).is_some()).then(|| Self::Joined {
                    from: from.to_owned(),
                    to: to.to_owned(),
                    columns,
                })
            }
            _ => None,
        }
    }

    /// The words of a question that it is about, if it is about words.
    #[must_use]
    pub fn phrase(&self) -> Option<&str> {
        match self {
            Self::Means(phrase, _) | Self::Computed(phrase, _) | Self::Silent(phrase) => Some(phrase),
            Self::Joined { .. } => None,
        }
    }

    /// Why the rule may not be: words of grammar, numbers and times do to every question what they do, so they are never
    /// left out of one, and mean nothing else where they stand alone.
    #[must_use]
    pub fn objection(&self) -> Option<String> {
        let phrase = self.phrase()?;
        let silent = matches!(self, Self::Silent(_));
        let reading = Reading::new(phrase, &any_day());
        let grammar = |chunk: &Chunk| {
            let tokens = reading.tokens.get(chunk.first..chunk.end).unwrap_or_default();
            let closed = |word: &str| {
                let listed = |word: &str| GRAMMAR.binary_search(&word).is_ok();
                listed(word)
                    || word.strip_suffix('s').is_some_and(listed)
                    || word.starts_with(|c: char| c.is_ascii_digit())
            };
            match chunk.op {
                Op::Word | Op::List | Op::Link | Op::Stop | Op::Quoted => {
                    tokens.iter().any(|token| closed(&token.lower))
                }
                _ => true,
            }
        };
        let binds = |chunk: &Chunk| {
            let tokens = reading.tokens.get(chunk.first..chunk.end).unwrap_or_default();
            matches!(chunk.op, Op::Link | Op::Stop)
                && tokens.iter().all(|token| stems::is_function_word(&token.lower))
        };
        let chunks = &reading.chunks;
        let bad = chunks.iter().find(|chunk| grammar(chunk));
        let empty = chunks.iter().all(|chunk| grammar(chunk) || binds(chunk));
        let said = match bad {
            Some(bad) if silent || empty => reading.text(bad.first, bad.end),
            None if empty => phrase.to_owned(),
            _ => return None,
        };
        let what = if silent { "ask for nothing" } else { "mean something else" };
        Some(format!("`{said}` is a word of grammar, a number or a time, which no lesson makes {what}"))
    }
}

/// A day to read phrases on: which words are a time hangs on no day.
fn any_day() -> Clock {
    let local = CivilTime { year: 2026, month: 7, day: 15, hour: 0, minute: 0, second: 0, weekday: 3 };
    Clock { now: "2026-07-15T00:00:00Z".into(), time_zone: "UTC".into(), local, fiscal_year_start: 1 }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Means(phrase, sql) => write!(f, "Here `{phrase}` means `{sql}`."),
            Self::Computed(phrase, sql) => write!(f, "Here `{phrase}` is computed as `{sql}`."),
            Self::Silent(phrase) => write!(f, "Here `{phrase}` asks for nothing by itself."),
            Self::Joined { from, to, columns: (one, other) } => {
                write!(f, "Each row of `{from}` belongs to one of `{to}` by `{from}.{one} = {to}.{other}`.")
            }
        }
    }
}

fn opens(text: &str) -> bool {
    matches!(text.trim().to_lowercase().as_str(), "" | "here")
}

/// Words of a question, one to six.
fn named(text: &str) -> Option<String> {
    let text = text.trim();
    let words = text.split_whitespace().count();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '\'' | '&' | '/');
    ((1..=6).contains(&words) && text.chars().all(plain)).then(|| text.to_lowercase())
}

fn code(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty() && !text.contains("--") && !text.contains("/*")).then(|| text.to_owned())
}

/// A name that needs no quotation marks.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let begins = text.chars().next().is_some_and(|c| c.is_ascii_lowercase() || c == '_');
    begins && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// A relation as rules write it: `bills`, or `shop.bills` where one name is not enough.
#[must_use]
pub fn relation(text: &str) -> Option<(Option<&str>, &str)> {
    let parts = match text.split_once('.') {
        Some((schema, name)) => (Some(schema), name),
        None => (None, text),
    };
    (parts.0.is_none_or(is_name) && is_name(parts.1)).then_some(parts)
}

/// Whether a relation is the one that a rule names.
#[must_use]
pub fn is_relation(table: &TableRef, text: &str) -> bool {
    relation(text).is_some_and(|(schema, name)| {
        table.name == name && schema.is_none_or(|schema| table.schema == schema)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_again() {
        for rule in [
            Rule::Means("big spenders".into(), "customers.spent > 100".into()),
            Rule::Computed("turnover".into(), "sum(bills.total)".into()),
            Rule::Silent("vary".into()),
            Rule::Joined {
                from: "bills".into(),
                to: "staff".into(),
                columns: ("cashier".into(), "id".into()),
            },
        ] {
            assert_eq!(Rule::read(&rule.to_string()), vec![rule]);
        }
    }

    #[test]
    fn prose_is_no_rule() {
        for (text, want) in [
            ("Join bills to staff by their keys.", 0),
            ("`staff` is a table. `bills` too.", 0),
            ("`staff` means `employees`. Never forget it. `x` means `y.z = 'Q'`", 2),
            ("`staff; drop` means `employees`", 0),
            ("`staff` means `employees -- all of them`", 0),
            ("Each row of `bills` belongs to one of `staff` by `bills.cashier = other.id`.", 0),
            ("`one two three four five six seven` means `a.b`", 0),
        ] {
            assert_eq!(Rule::read(text).len(), want, "{text}");
        }
    }

    #[test]
    fn the_closed_words_are_sorted() {
        assert!(GRAMMAR.is_sorted());
    }

    #[test]
    fn grammar_numbers_and_times_are_not_taught() {
        let of = |rule: fn(String) -> Rule, phrase: &str| rule(phrase.to_owned());
        let silent: fn(String) -> Rule = Rule::Silent;
        let means: fn(String) -> Rule = |phrase| Rule::Means(phrase, "bills".into());
        let computed: fn(String) -> Rule = |phrase| Rule::Computed(phrase, "sum(bills.total)".into());
        for phrase in [
            "not",
            "never",
            "without",
            "no",
            "except",
            "isn't",
            "and",
            "or",
            "but",
            "more than",
            "at least",
            "over",
            "between",
            "most",
            "highest",
            "cheapest",
            "oldest",
            "top",
            "average",
            "total",
            "how many",
            "distinct",
            "percentage",
            "per",
            "each",
            "2025",
            "3",
            "five",
            "july",
            "today",
            "last month",
            "yesterday",
            "1st",
            "in",
            "of the",
            "first",
            "before",
            "only",
            "than",
            "descending",
            "q3 2025",
            "monday",
            "mondays",
            "sat",
            "march",
            "may",
            "sept",
            "count",
            "number",
            "mean",
            "sum",
            "day",
            "week",
            "month",
            "months",
            "quarter",
            "year",
            "monthly",
            "of the month",
        ] {
            for make in [silent, means, computed] {
                let rule = of(make, phrase);
                assert!(rule.objection().is_some(), "{rule}");
                assert_eq!(Rule::written(&rule.to_string()), std::slice::from_ref(&rule));
                assert_eq!(
                    Rule::read(&rule.to_string()),
                    [],
                    "what is there already is not acted on: {rule}"
                );
            }
        }
        for phrase in ["vary", "whatsoever", "please note", "calculate", "check-ins", "sales made"] {
            assert_eq!(of(silent, phrase).objection(), None, "{phrase}");
        }
        for phrase in [
            "not paid",
            "best sellers",
            "net total",
            "leap year",
            "no-show",
            "average spenders",
            "first name",
        ] {
            assert_eq!(of(means, phrase).objection(), None, "{phrase}");
        }
        assert!(
            of(silent, "not paid")
                .objection()
                .is_some_and(|why| why.starts_with("`not` is a word of grammar"))
        );
        assert!(of(silent, "month").objection().is_some());
    }
}
