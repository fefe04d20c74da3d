//! The words of English that ask for an operation: `how many`, `average`, `per`, `more than`, `never`.

use super::moments::{self, Found};
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
    /// `between`.
    Between,
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

const fn superlative(descending: bool, quality: Quality) -> Op {
    Op::Superlative { descending, quality }
}

/// Phrases and what they ask for; of two that fit, the longer one counts.
const PHRASES: &[(&[&str], Op)] = &[
    (&["how", "many"], Op::Aggregate(Aggregate::Count)),
    (&["number", "of"], Op::Aggregate(Aggregate::Count)),
    (&["total", "number", "of"], Op::Aggregate(Aggregate::Count)),
    (&["count", "of"], Op::Aggregate(Aggregate::Count)),
    (&["total", "count", "of"], Op::Aggregate(Aggregate::Count)),
    (&["count", "the", "number", "of"], Op::Aggregate(Aggregate::Count)),
    (&["how", "much"], Op::HowMuch),
    (&["total"], Op::Aggregate(Aggregate::Sum)),
    (&["sum", "of"], Op::Aggregate(Aggregate::Sum)),
    (&["total", "sum", "of"], Op::Aggregate(Aggregate::Sum)),
    (&["sum"], Op::Aggregate(Aggregate::Sum)),
    (&["combined"], Op::Aggregate(Aggregate::Sum)),
    (&["overall"], Op::Link),
    (&["average"], Op::Aggregate(Aggregate::Average)),
    (&["avg"], Op::Aggregate(Aggregate::Average)),
    (&["mean"], Op::Aggregate(Aggregate::Average)),
    (&["median"], Op::Aggregate(Aggregate::Median)),
    (&["min"], Op::Aggregate(Aggregate::Minimum)),
    (&["max"], Op::Aggregate(Aggregate::Maximum)),
    (&["minimum"], Op::Aggregate(Aggregate::Minimum)),
    (&["maximum"], Op::Aggregate(Aggregate::Maximum)),
    (&["most"], superlative(true, Quality::Amount)),
    (&["the", "most", "number", "of"], superlative(true, Quality::Amount)),
    (&["highest", "number", "of"], superlative(true, Quality::Amount)),
    (&["largest", "number", "of"], superlative(true, Quality::Amount)),
    (&["greatest", "number", "of"], superlative(true, Quality::Amount)),
    (&["lowest", "number", "of"], superlative(false, Quality::Amount)),
    (&["smallest", "number", "of"], superlative(false, Quality::Amount)),
    (&["fewest"], superlative(false, Quality::Amount)),
    (&["least"], superlative(false, Quality::Amount)),
    (&["highest"], superlative(true, Quality::Size)),
    (&["largest"], superlative(true, Quality::Size)),
    (&["biggest"], superlative(true, Quality::Size)),
    (&["greatest"], superlative(true, Quality::Size)),
    (&["best"], superlative(true, Quality::Size)),
    (&["top"], superlative(true, Quality::Size)),
    (&["lowest"], superlative(false, Quality::Size)),
    (&["smallest"], superlative(false, Quality::Size)),
    (&["worst"], superlative(false, Quality::Size)),
    (&["most", "expensive"], superlative(true, Quality::Price)),
    (&["priciest"], superlative(true, Quality::Price)),
    (&["costliest"], superlative(true, Quality::Price)),
    (&["least", "expensive"], superlative(false, Quality::Price)),
    (&["cheapest"], superlative(false, Quality::Price)),
    (&["newest"], superlative(true, Quality::Recency)),
    (&["latest"], superlative(true, Quality::Recency)),
    (&["most", "recent"], superlative(true, Quality::Recency)),
    (&["most", "recently"], superlative(true, Quality::Recency)),
    (&["earliest"], superlative(false, Quality::Recency)),
    (&["last"], superlative(true, Quality::Recency)),
    (&["oldest"], superlative(true, Quality::Age)),
    (&["youngest"], superlative(false, Quality::Age)),
    (&["longest"], superlative(true, Quality::Length)),
    (&["shortest"], superlative(false, Quality::Length)),
    (&["tallest"], superlative(true, Quality::Height)),
    (&["heaviest"], superlative(true, Quality::Weight)),
    (&["lightest"], superlative(false, Quality::Weight)),
    (&["most", "common"], superlative(true, Quality::Frequency)),
    (&["most", "commonly"], superlative(true, Quality::Frequency)),
    (&["most", "frequent"], superlative(true, Quality::Frequency)),
    (&["most", "frequently"], superlative(true, Quality::Frequency)),
    (&["most", "often"], superlative(true, Quality::Frequency)),
    (&["least", "common"], superlative(false, Quality::Frequency)),
    (&["for", "each"], Op::Each),
    (&["for", "every"], Op::Each),
    (&["in", "each"], Op::Each),
    (&["in", "each", "of", "the"], Op::Each),
    (&["in", "every"], Op::Each),
    (&["by", "each"], Op::Each),
    (&["of", "each"], Op::Each),
    (&["from", "each"], Op::Each),
    (&["to", "each"], Op::Each),
    (&["at", "each"], Op::Each),
    (&["on", "each"], Op::Each),
    (&["within", "each"], Op::Each),
    (&["with", "each"], Op::Each),
    (&["for", "each", "of", "the"], Op::Each),
    (&["each"], Op::Each),
    (&["every"], Op::Each),
    (&["per"], Op::Each),
    (&["grouped", "by"], Op::Each),
    (&["broken", "down", "by"], Op::Each),
    (&["split", "by"], Op::Each),
    (&["by"], Op::By),
    (&["in", "terms", "of"], Op::By),
    (&["according", "to"], Op::By),
    (&["based", "on"], Op::By),
    (&["daily"], Op::Grain(Grain::Day)),
    (&["weekly"], Op::Grain(Grain::Week)),
    (&["monthly"], Op::Grain(Grain::Month)),
    (&["quarterly"], Op::Grain(Grain::Quarter)),
    (&["yearly"], Op::Grain(Grain::Year)),
    (&["annually"], Op::Grain(Grain::Year)),
    (&["annual"], Op::Grain(Grain::Year)),
    (&["over", "the", "years"], Op::Grain(Grain::Year)),
    (&["cheaper", "than"], Op::ComparePrice(Comparison::Less)),
    (&["less", "expensive", "than"], Op::ComparePrice(Comparison::Less)),
    (&["more", "expensive", "than"], Op::ComparePrice(Comparison::More)),
    (&["costlier", "than"], Op::ComparePrice(Comparison::More)),
    (&["dearer", "than"], Op::ComparePrice(Comparison::More)),
    (&["pricier", "than"], Op::ComparePrice(Comparison::More)),
    (&["bigger", "than"], Op::Compare(Comparison::More)),
    (&["in", "excess", "of"], Op::Compare(Comparison::More)),
    (&["more", "than"], Op::Compare(Comparison::More)),
    (&["greater", "than"], Op::Compare(Comparison::More)),
    (&["higher", "than"], Op::Compare(Comparison::More)),
    (&["larger", "than"], Op::Compare(Comparison::More)),
    (&["above"], Op::Compare(Comparison::More)),
    (&["over"], Op::Compare(Comparison::More)),
    (&["exceeding"], Op::Compare(Comparison::More)),
    (&["exceeds"], Op::Compare(Comparison::More)),
    (&[">"], Op::Compare(Comparison::More)),
    (&["at", "least"], Op::Compare(Comparison::AtLeast)),
    (&["no", "less", "than"], Op::Compare(Comparison::AtLeast)),
    (&["no", "fewer", "than"], Op::Compare(Comparison::AtLeast)),
    (&["greater", "than", "or", "equal", "to"], Op::Compare(Comparison::AtLeast)),
    (&[">="], Op::Compare(Comparison::AtLeast)),
    (&["less", "than"], Op::Compare(Comparison::Less)),
    (&["fewer", "than"], Op::Compare(Comparison::Less)),
    (&["lower", "than"], Op::Compare(Comparison::Less)),
    (&["smaller", "than"], Op::Compare(Comparison::Less)),
    (&["below"], Op::Compare(Comparison::Less)),
    (&["under"], Op::Compare(Comparison::Less)),
    (&["<"], Op::Compare(Comparison::Less)),
    (&["at", "most"], Op::Compare(Comparison::AtMost)),
    (&["no", "more", "than"], Op::Compare(Comparison::AtMost)),
    (&["up", "to"], Op::Compare(Comparison::AtMost)),
    (&["less", "than", "or", "equal", "to"], Op::Compare(Comparison::AtMost)),
    (&["<="], Op::Compare(Comparison::AtMost)),
    (&["exactly"], Op::Compare(Comparison::Equal)),
    (&["equal", "to"], Op::Compare(Comparison::Equal)),
    (&["equals"], Op::Compare(Comparison::Equal)),
    (&["="], Op::Compare(Comparison::Equal)),
    (&["not", "equal", "to"], Op::Compare(Comparison::Unequal)),
    (&["different", "from"], Op::Compare(Comparison::Unequal)),
    (&["different", "than"], Op::Compare(Comparison::Unequal)),
    (&["other", "than"], Op::Not),
    (&["<>"], Op::Compare(Comparison::Unequal)),
    (&["!="], Op::Compare(Comparison::Unequal)),
    (&["between"], Op::Between),
    (&["never"], Op::Not),
    (&["not"], Op::Not),
    (&["without"], Op::Not),
    (&["without", "any"], Op::Not),
    (&["no"], Op::Not),
    (&["not", "any"], Op::Not),
    (&["lacking"], Op::Not),
    (&["excluding"], Op::Not),
    (&["except"], Op::Not),
    (&["distinct"], Op::Distinct),
    (&["different"], Op::Distinct),
    (&["unique"], Op::Distinct),
    (&["percentage", "of"], Op::Percent),
    (&["percentage"], Op::Percent),
    (&["percent", "of"], Op::Percent),
    (&["percent"], Op::Percent),
    (&["proportion", "of"], Op::Percent),
    (&["share", "of"], Op::Percent),
    (&["ratio", "of"], Op::Ratio),
    (&["ratio", "between"], Op::Ratio),
    (&["ratio"], Op::Ratio),
    (&["list"], Op::List),
    (&["list", "all"], Op::List),
    (&["show"], Op::List),
    (&["show", "me"], Op::List),
    (&["give"], Op::List),
    (&["give", "me"], Op::List),
    (&["display"], Op::List),
    (&["return"], Op::List),
    (&["find"], Op::List),
    (&["get"], Op::List),
    (&["tell", "me"], Op::List),
    (&["which"], Op::Which),
    (&["what"], Op::Which),
    (&["who"], Op::Who),
    (&["ordered", "by"], Op::OrderBy),
    (&["order", "by"], Op::OrderBy),
    (&["sorted", "by"], Op::OrderBy),
    (&["sort", "by"], Op::OrderBy),
    (&["order", "the", "results", "by"], Op::OrderBy),
    (&["order", "results", "by"], Op::OrderBy),
    (&["order", "them", "by"], Op::OrderBy),
    (&["sort", "the", "results", "by"], Op::OrderBy),
    (&["ordered", "from", "highest", "to", "lowest"], Op::Direction { descending: true }),
    (&["ordered", "from", "lowest", "to", "highest"], Op::Direction { descending: false }),
    (&["ordered", "alphabetically"], Op::Direction { descending: false }),
    (&["sorted", "alphabetically"], Op::Direction { descending: false }),
    (&["ordered", "in", "descending", "order"], Op::Direction { descending: true }),
    (&["ordered", "in", "ascending", "order"], Op::Direction { descending: false }),
    (&["in", "descending", "order"], Op::Direction { descending: true }),
    (&["descending"], Op::Direction { descending: true }),
    (&["from", "highest", "to", "lowest"], Op::Direction { descending: true }),
    (&["highest", "to", "lowest"], Op::Direction { descending: true }),
    (&["highest", "first"], Op::Direction { descending: true }),
    (&["in", "ascending", "order"], Op::Direction { descending: false }),
    (&["ascending"], Op::Direction { descending: false }),
    (&["from", "lowest", "to", "highest"], Op::Direction { descending: false }),
    (&["lowest", "to", "highest"], Op::Direction { descending: false }),
    (&["lowest", "first"], Op::Direction { descending: false }),
    (&["alphabetically"], Op::Direction { descending: false }),
    (&["in", "alphabetical", "order"], Op::Direction { descending: false }),
    (&["and"], Op::And),
    (&[","], Op::And),
    (&["&"], Op::And),
    (&["or"], Op::Or),
    (&["."], Op::Stop),
    (&["?"], Op::Stop),
    (&["!"], Op::Stop),
    (&[";"], Op::Stop),
];

/// Phrases that negate by one token each.
const NEGATED: &[&str] =
    &["haven't", "hasn't", "didn't", "don't", "doesn't", "isn't", "aren't", "wasn't", "weren't", "hadn't"];

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
        return (token.text.parse().map_or(Op::Word, Op::Number), i + 1);
    }
    if token.kind == TokenKind::Mark || stems::is_function_word(&token.lower) {
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
            ("members who haven't paid", vec![Word, Op::Who, Not, Word]),
        ] {
            assert_eq!(ops(question), want, "{question}");
        }
    }
}
