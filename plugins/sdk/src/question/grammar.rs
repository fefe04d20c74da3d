//! The words of English that ask for an operation: `how many`, `average`, `per`, `more than`, `never`.

use super::moments::{self, Found};
use super::phrases::{NEGATED, PHRASES, superlative};
use super::stems;
use super::tokens::{Token, TokenKind, tokenize};
use crate::Clock;

/// The size of a step of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// One day.
    Day,
    /// One week, from Monday.
    Week,
    /// One calendar month.
    Month,
    /// Three calendar months.
    Quarter,
    /// One calendar year.
    Year,
}

impl Grain {
    /// The word of the contract, which is also PostgreSQL's.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
        }
    }

    fn noun(word: &str) -> Option<Self> {
        Some(match word {
            "day" | "days" | "date" => Self::Day,
            "week" | "weeks" => Self::Week,
            "month" | "months" => Self::Month,
            "quarter" | "quarters" => Self::Quarter,
            "year" | "years" => Self::Year,
            _ => return None,
        })
    }
}

/// How a quantity is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

impl Comparison {
    /// The operator of SQL and of the contract.
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "<>",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
        }
    }
}

/// An aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// Number of things.
    Count,
    /// Sum.
    Sum,
    /// Mean.
    Average,
    /// Least.
    Minimum,
    /// Greatest.
    Maximum,
    /// Middle value.
    Median,
}

impl Aggregate {
    /// The word of the contract.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Average => "average",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::Median => "median",
        }
    }
}

/// What a superlative ranks by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quality {
    /// `most`, `fewest`: a quantity that the next words name.
    Amount,
    /// `highest`, `largest`: the value that the next words name.
    Size,
    /// `most expensive`, `cheapest`: a price.
    Price,
    /// `newest`, `earliest`: a time.
    Recency,
    /// `oldest`, `youngest`: an age or a birth date.
    Age,
    /// `longest`: a length or a duration.
    Length,
    /// `tallest`: a height.
    Height,
    /// `heaviest`: a weight.
    Weight,
    /// `most common`: how often it occurs.
    Frequency,
    /// `highest-rated`: a rating or a score.
    Rating,
}

/// Where a text is found inside another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Affix {
    /// At its beginning.
    Start,
    /// At its end.
    End,
    /// Anywhere.
    Inside,
}

/// What a run of words asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// An aggregate is asked for.
    Aggregate(Aggregate),
    /// `how much`: a quantity that the next words name.
    HowMuch,
    /// `the most`, `lowest`, `most expensive`.
    Superlative {
        /// The greatest value first.
        descending: bool,
        /// What is compared.
        quality: Quality,
    },
    /// `top 5`, `five` before a superlative; `bottom 3`.
    Top {
        /// How many.
        count: u32,
        /// From the top.
        descending: bool,
    },
    /// `per`, `for each`, `in each`.
    Each,
    /// `by`: a grouping or an order, as the rest has it.
    By,
    /// `monthly`, or a unit of time that stands alone.
    Grain(Grain),
    /// `more than`.
    Compare(Comparison),
    /// `cheaper than`: a price compares.
    ComparePrice(Comparison),
    /// `taller than`: what the adjective is about compares.
    CompareQuality(Comparison, Quality),
    /// `between`.
    Between,
    /// `starts with`, `contains`: a text inside another one.
    Like(Affix),
    /// A number that is no time and no rank.
    Number(f64),
    /// The moment with this index.
    Moment(usize),
    /// `never`, `without`, `not`.
    Not,
    /// `different`, `unique`.
    Distinct,
    /// `percentage of`.
    Percent,
    /// `ratio of`.
    Ratio,
    /// `list`, `show`.
    List,
    /// `which`, `what`.
    Which,
    /// `who`.
    Who,
    /// `ordered by`.
    OrderBy,
    /// `descending` or `ascending`.
    Direction {
        /// The greatest first.
        descending: bool,
    },
    /// `and`, a comma, `&`.
    And,
    /// `or`.
    Or,
    /// A full stop, a question mark, a semicolon.
    Stop,
    /// `of`, `in`, `for`, `from`, `with`: a word that only binds. The word is in the token.
    Link,
    /// Text between quotation marks.
    Quoted,
    /// Any other word.
    Word,
}

/// A run of tokens with what it asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// What it asks for.
    pub op: Op,
    /// First token.
    pub first: usize,
    /// Token after the last.
    pub end: usize,
}

/// A question as far as it can be read without a schema.
#[derive(Debug, Clone)]
pub struct Reading {
    /// Its tokens.
    pub tokens: Vec<Token>,
    /// The moments it names.
    pub moments: Vec<Found>,
    /// Its words in runs.
    pub chunks: Vec<Chunk>,
}

impl Reading {
    /// Reads a question against the clock.
    pub fn new(question: &str, clock: &Clock) -> Self {
        let tokens = tokenize(question);
        let moments = moments::find(&tokens, clock);
        let chunks = chunk(&tokens, &moments);
        Self { tokens, moments, chunks }
    }

    /// True when a number of the question is one of money: `100 rupees`.
    pub fn names_money(&self) -> bool {
        (0..self.tokens.len()).any(|at| money(&self.tokens, at))
    }

    /// The text of some tokens.
    pub fn text(&self, first: usize, end: usize) -> String {
        let words: Vec<&str> =
            self.tokens.get(first..end).unwrap_or_default().iter().map(|t| t.text.as_str()).collect();
        words.join(" ")
    }
}

fn chunk(tokens: &[Token], moments: &[Found]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        let (op, end) = match moments.iter().enumerate().find(|(_, found)| found.first == i) {
            Some((index, found)) => (Op::Moment(index), found.end),
            None => {
                if let Some((count, descending)) = latest(tokens, i) {
                    chunks.push(Chunk { op: Op::Top { count, descending: true }, first: i, end: i + 1 });
                    chunks.push(Chunk {
                        op: superlative(descending, Quality::Recency),
                        first: i + 1,
                        end: i + 2,
                    });
                    i += 2;
                    continue;
                }
                operation(tokens, i)
            }
        };
        chunks.push(Chunk { op, first: i, end });
        i = end.max(i + 1);
    }
    chunks
}

fn operation(tokens: &[Token], i: usize) -> (Op, usize) {
    let Some(token) = tokens.get(i) else { return (Op::Link, i + 1) };
    if token.kind == TokenKind::Quoted {
        return (Op::Quoted, i + 1);
    }
    // The words of `total_amt` are a name, whatever they mean elsewhere.
    if token.glued || tokens.get(i + 1).is_some_and(|next| next.glued) {
        return (Op::Word, i + 1);
    }
    if money(tokens, i) {
        return (Op::Link, i + 1);
    }
    if let Some(found) = ranked(tokens, i) {
        return found;
    }
    let fits = |words: &[&str]| {
        words.iter().enumerate().all(|(step, word)| tokens.get(i + step).is_some_and(|token| token.is(word)))
    };
    if let Some((words, op)) =
        PHRASES.iter().filter(|(words, _)| fits(words)).max_by_key(|(words, _)| words.len())
    {
        return (op.clone(), i + words.len());
    }
    if NEGATED.contains(&token.lower.as_str()) {
        return (Op::Not, i + 1);
    }
    if token.kind == TokenKind::Number {
        let times = match tokens.get(i + 1).map_or("", |next| next.lower.as_str()) {
            "thousand" => 1_000.0,
            "million" => 1_000_000.0,
            "billion" => 1_000_000_000.0,
            _ => 1.0,
        };
        let end = if times > 1.0 { i + 2 } else { i + 1 };
        return match token.text.parse::<f64>() {
            Ok(value) => (Op::Number(value * times), end),
            Err(_) => (Op::Word, i + 1),
        };
    }
    // `got an A`: a grade, not an article.
    let letter = token.text == "A"
        && i.checked_sub(1)
            .and_then(|at| tokens.get(at))
            .is_some_and(|before| before.is("an") || before.is("grade"));
    if !letter && (token.kind == TokenKind::Mark || stems::is_function_word(&token.lower)) {
        return (Op::Link, i + 1);
    }
    if let Some(value) = stems::number(&token.lower) {
        return (Op::Number(value), i + 1);
    }
    if let Some(grain) = Grain::noun(&token.lower).filter(|_| token.lower != "date") {
        return (Op::Grain(grain), i + 1);
    }
    (Op::Word, i + 1)
}

/// A currency beside its number.
fn money(tokens: &[Token], i: usize) -> bool {
    const CURRENCIES: &[&str] = &[
        "rupee", "rupees", "rs", "inr", "dollar", "dollars", "usd", "euro", "euros", "eur", "pounds", "gbp",
        "₹", "$", "€", "£",
    ];
    let number = |at: Option<usize>| {
        at.and_then(|at| tokens.get(at)).is_some_and(|token| token.kind == TokenKind::Number)
    };
    tokens.get(i).is_some_and(|token| CURRENCIES.contains(&token.lower.as_str()))
        && (number(i.checked_sub(1)) || number(Some(i + 1)))
}

/// `last 5`, `latest five`, `earliest 3`: how many, and whether the newest come first.
fn latest(tokens: &[Token], i: usize) -> Option<(u32, bool)> {
    let descending = match tokens.get(i)?.lower.as_str() {
        "last" | "latest" | "newest" => true,
        "earliest" => false,
        _ => return None,
    };
    let count = tokens.get(i + 1).filter(|token| token.kind != TokenKind::Quoted)?;
    let count = stems::number(&count.lower)?;
    let named = tokens.get(i + 2).is_some_and(|token| token.kind == TokenKind::Word);
    (named && count.fract() == 0.0 && (1.0..=10_000.0).contains(&count)).then_some((count as u32, descending))
}

/// `top five`, `five best`, `bottom 3`, `the 2 most`.
fn ranked(tokens: &[Token], i: usize) -> Option<(Op, usize)> {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let count = |at: usize| {
        tokens
            .get(at)
            .filter(|token| token.kind != TokenKind::Quoted)
            .and_then(|token| stems::number(&token.lower))
            .filter(|value| value.fract() == 0.0 && (1.0..=10_000.0).contains(value))
            .map(|value| value as u32)
    };
    let descending = match word(i) {
        "top" | "first" => true,
        "bottom" => false,
        _ => {
            let count = count(i)?;
            let next = word(i + 1);
            let superlative = matches!(
                next,
                "most"
                    | "least"
                    | "highest"
                    | "lowest"
                    | "largest"
                    | "biggest"
                    | "best"
                    | "worst"
                    | "smallest"
                    | "cheapest"
                    | "costliest"
                    | "dearest"
                    | "priciest"
                    | "greatest"
                    | "newest"
                    | "latest"
                    | "oldest"
                    | "youngest"
                    | "longest"
                    | "shortest"
                    | "tallest"
                    | "earliest"
                    | "heaviest"
                    | "fewest"
                    | "top"
            );
            return superlative
                .then(|| (Op::Top { count, descending: true }, if next == "top" { i + 2 } else { i + 1 }));
        }
    };
    let count = count(i + 1)?;
    (word(i) != "first").then_some((Op::Top { count, descending }, i + 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::clock;

    fn ops(question: &str) -> Vec<Op> {
        Reading::new(question, &clock("2026-08-20"))
            .chunks
            .into_iter()
            .map(|c| c.op)
            .filter(|op| *op != Op::Link)
            .collect()
    }

    #[test]
    fn operations_are_recognised() {
        use Op::{Aggregate as Agg, Compare, Each, Moment, Not, Number, Stop, Superlative, Top, Which, Word};
        for (question, want) in [
            ("How many bills in July 2026?", vec![Agg(Aggregate::Count), Word, Moment(0), Stop]),
            ("average price per category", vec![Agg(Aggregate::Average), Word, Each, Word]),
            ("top five products", vec![Top { count: 5, descending: true }, Word]),
            (
                "the 2 most expensive rooms",
                vec![
                    Top { count: 2, descending: true },
                    Superlative { descending: true, quality: Quality::Price },
                    Word,
                ],
            ),
            (
                "Which city has at least 3 hotels",
                vec![Which, Word, Compare(Comparison::AtLeast), Number(3.0), Word],
            ),
            ("products never sold", vec![Word, Not, Word]),
            ("population over 2 million", vec![Word, Compare(Comparison::More), Number(2_000_000.0)]),
            ("names that start with J", vec![Word, Op::Like(Affix::Start), Word]),
            (
                "trees taller than 30",
                vec![Word, Op::CompareQuality(Comparison::More, Quality::Height), Number(30.0)],
            ),
            ("authors not part of any club", vec![Word, Not, Word]),
            ("students who got an A", vec![Word, Op::Who, Word, Word]),
            ("members who haven't paid", vec![Word, Op::Who, Not, Word]),
        ] {
            assert_eq!(ops(question), want, "{question}");
        }
    }
}
