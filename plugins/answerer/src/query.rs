//! What a query's text asks for: what it reads, the literals it compares with, the times it keeps to, and whether it cuts its
//! rows.
//!
//! A question's words are no evidence that the query had them. What the query surely keeps to is (`kept`): a literal that only
//! stands in its text is not.

mod clauses;
mod comparison;
mod kept;
mod plain;
mod said;
mod sides;
mod tokens;

use std::collections::BTreeSet;

use airlock_plugin_sdk::question::names::expansion;
use airlock_plugin_sdk::question::stems::{kin, stem};
use airlock_plugin_sdk::time::{Date, Days};
use airlock_plugin_sdk::words;

use self::comparison::{Condition, Test};
use self::kept::Kept;
pub use self::plain::{Ended, Measure, Plain, Relation};
pub use self::said::{Said, is_excluding};
use self::sides::{Text, is_mark};
use self::tokens::{Kind, Token, tokens};
use crate::dates;
use crate::decimal::Decimal;

/// Words of the grammar, which name nothing of the data.
const KEYWORDS: &str = "\
    all and as asc between by case cast collate cross current_date current_timestamp date desc distinct else end \
    except exists extract false fetch filter first following for from full group groups having ilike in inner \
    intersect interval is join lateral left like limit natural next not null nulls offset on only or order outer \
    over partition preceding range recursive right rows select set then timestamp timestamptz true unbounded union \
    using values when where window with within";

/// Functions, and what people call what they give.
const FUNCTIONS: [(&str, &str); 7] = [
    ("avg", "average mean"),
    ("count", "count number total"),
    ("max", "maximum highest largest latest"),
    ("min", "minimum lowest smallest earliest"),
    ("sum", "sum total"),
    ("abs", "absolute"),
    ("median", "median"),
];

/// Words of a sentence that turn what stands beside them round.
const EXCLUDING: [&str; 12] = [
    "except",
    "excluding",
    "exclude",
    "excluded",
    "neither",
    "never",
    "no",
    "non",
    "not",
    "other",
    "outside",
    "without",
];

/// A literal that the query compares something with, wherever it does so.
struct Literal {
    /// Stems of its words.
    stems: BTreeSet<String>,
    number: Option<Decimal>,
    text: String,
    operator: String,
    /// The part of a date that is compared: `extract(year FROM day) = 2026`.
    part: Option<&'static str>,
    /// What is compared is another than it.
    negative: bool,
}

/// What a query's text asks for.
#[derive(Default)]
pub struct Query {
    /// Stems of what it reads and calls.
    names: BTreeSet<String>,
    literals: Vec<Literal>,
    /// The days that its ranges begin and end with.
    days: Vec<Date>,
    /// What it surely keeps to.
    kept: Kept,
    plain: Option<Plain>,
    /// It is a condition and no query.
    is_condition: bool,
    /// Relations it reads, as far as FROM and JOIN show.
    relations: usize,
    /// The columns of its result, each with the stems of what it is computed from; none where the text does not show it.
    targets: Vec<BTreeSet<String>>,
    /// Rows it stops at.
    limit: Option<u64>,
    /// It leaves rows or groups out by their rank or by HAVING.
    picks: bool,
    denies: bool,
    compares: bool,
    divides: bool,
    sorts: bool,
    falling: bool,
    text: String,
}

impl Query {
    /// Reads a text.
    pub fn of(sql: &str) -> Self {
        let read = tokens(sql);
        let is = |at: usize, word: &str| read.get(at).is_some_and(|token| token.is(word));
        let mut query = Self { days: dates::of_query(sql), text: sql.to_lowercase(), ..Self::default() };
        let refused = tokens::refused(&read);
        for (at, token) in read.iter().enumerate() {
            match token.kind {
                Kind::Word => {
                    let called = read.get(at + 1).is_some_and(|next| next.text == "(");
                    let function = FUNCTIONS.iter().find(|(name, _)| called && token.is(name));
                    if let Some((_, said)) = function {
                        query.names.extend(said.split(' ').map(stem));
                    }
                    let alias = at > 0 && is(at - 1, "as");
                    if !alias && function.is_none() && !is_keyword(&token.text) {
                        query.names.extend(name_stems(&token.text));
                    }
                    query.note(&read, at);
                }
                Kind::Text | Kind::Number => {
                    query.literals.extend(literal(&read, at, &refused));
                }
                Kind::Mark => {
                    query.divides |= token.text == "/";
                    query.compares |= ["<", ">", "<=", ">=", "-"].contains(&token.text.as_str());
                    query.denies |= ["<>", "!="].contains(&token.text.as_str());
                }
            }
        }
        query.denies |= query.literals.iter().any(|literal| {
            literal.operator == "=" && literal.number.is_some_and(|number| number.equals(Decimal::ZERO))
        });
        query.targets = targets(&read);
        let whole = match read.as_slice() {
            [whole @ .., end] if is_mark(end, ";") => whole,
            whole => whole,
        };
        query.kept = Kept::of(whole);
        query.plain = Plain::of(whole, &query.kept.links).filter(|_| !query.kept.unread);
        query
    }

    /// Reads a condition that stands alone.
    pub fn of_condition(sql: &str) -> Self {
        Self { kept: Kept::of_conditions(&tokens(sql)), is_condition: true, ..Self::of(sql) }
    }

    /// What its one value is, where it is a query of the plainest shape and all of its conditions were read.
    pub fn plain(&self) -> Option<&Plain> {
        self.plain.as_ref()
    }

    /// What a keyword says of the whole.
    fn note(&mut self, read: &[Token], at: usize) {
        let word = read.get(at).map_or("", |token| token.text.as_str());
        let next = read.get(at + 1);
        let number = |token: Option<&Token>| token.and_then(|token| token.text.parse::<u64>().ok());
        match word {
            "from" | "join" if !tokens::in_call(read, at) => self.relations += 1,
            "limit" => self.limit = number(next).or(self.limit),
            "fetch" => self.limit = number(read.get(at + 2)).or(self.limit),
            "having" | "offset" | "rank" | "dense_rank" | "row_number" | "ntile" => self.picks = true,
            "lag" | "lead" => self.compares = true,
            "not" | "except" | "null" | "false" => self.denies = true,
            "order" => self.sorts = true,
            "desc" => self.falling = true,
            _ => {}
        }
        if ["rank", "dense_rank", "row_number"].contains(&word) {
            self.sorts = true;
        }
    }

    /// Whether a word names something it reads, or a value it keeps to. `among` has the stems of the sentence that the word
    /// stands in: of alternatives it must name all, and what is left out may be named where it says so.
    pub fn bears(&self, word: &str, among: &BTreeSet<String>) -> bool {
        let word = stem(word);
        self.reads(&word) || self.keeps_to(&word, among)
    }

    /// Whether a stem is of a value that it keeps to.
    pub fn keeps_to(&self, part: &str, among: &BTreeSet<String>) -> bool {
        let told = |value: &Text| value.stems.iter().any(|part| among.contains(part));
        self.kept.conditions.iter().any(|condition| match &condition.test {
            Test::One(values) => {
                values.iter().any(|value| value.stems.contains(part))
                    && (values.len() == 1 || values.iter().all(told))
            }
            Test::Not(values) => excludes(among) && values.iter().any(|value| value.stems.contains(part)),
            _ => false,
        })
    }

    /// Whether a stem is of a value that it leaves out.
    pub fn refuses(&self, part: &str) -> bool {
        self.literals.iter().any(|literal| literal.negative && literal.stems.contains(part))
    }

    /// Whether a stem is one of its names, or of their family: `paid` where payments are read. Beside a count of one relation a
    /// relative is no proof.
    fn reads(&self, part: &str) -> bool {
        self.names.contains(part) || (!self.counts_one() && self.names.iter().any(|name| kin(name, part)))
    }

    /// Whether it keeps to a text, by all of its words.
    pub fn bears_text(&self, text: &str, among: &BTreeSet<String>) -> bool {
        let told: Vec<String> = words::words(text).into_iter().map(|word| word.text).collect();
        let whole = |value: &Text| told.iter().all(|word| value.stems.contains(&stem(word)));
        let kept = |condition: &Condition| match &condition.test {
            Test::One(values) | Test::Not(values) => values.iter().any(whole),
            _ => false,
        };
        !told.is_empty()
            && self.kept.conditions.iter().any(kept)
            && told.iter().all(|word| self.bears(word, among))
    }

    /// Whether it names a word, or a value by it.
    pub fn names(&self, word: &str) -> bool {
        self.names.contains(&stem(word))
    }

    /// Whether it keeps to what lies so beside this number (the number itself taken in where `inclusive`), or to the number in
    /// any way.
    pub fn bounds(&self, number: Decimal, side: Option<(bool, bool)>) -> bool {
        let so = |condition: &Condition| match (&condition.test, side) {
            (Test::Bound { above, inclusive, number: known }, Some(side)) => {
                side == (*above, *inclusive) && known.equals(number) && !is_key(&condition.side.name)
            }
            (Test::Bound { number: known, .. }, None) => known.equals(number),
            (Test::One(values), None) => values
                .iter()
                .any(|value| Decimal::parse(&value.written).is_some_and(|known| known.equals(number))),
            (Test::Part(_, known), None) => {
                of_count(u64::from(*known)).is_some_and(|known| known.equals(number))
            }
            _ => false,
        };
        self.kept.conditions.iter().any(so)
            || (side.is_none() && self.limit.and_then(of_count).is_some_and(|limit| limit.equals(number)))
    }

    /// Whether it keeps to exactly these days; a side that is absent is open.
    pub fn lasts(&self, from: Option<Date>, until: Option<Date>) -> bool {
        (from.is_some() || until.is_some()) && self.kept.period() == Some((from, until))
    }

    /// The years that its dates and numbers name.
    pub fn years(&self) -> BTreeSet<i32> {
        let written = self.literals.iter().filter_map(|literal| {
            let number = literal.text.get(..4)?.parse::<i32>().ok()?;
            (1000..=9999).contains(&number).then_some(number)
        });
        written.chain(self.days.iter().map(|day| day.year())).collect()
    }

    /// Whether a date or a number of a month that it compares with is of this month.
    pub fn has_month(&self, month: u8) -> bool {
        let numbered = |literal: &Literal| {
            literal.part == Some("month") && literal.text.parse::<u8>().is_ok_and(|number| number == month)
        };
        let written =
            |literal: &Literal| literal.text.get(4..7).is_some_and(|part| part == format!("-{month:02}"));
        self.days.iter().any(|day| day.month() == month)
            || self.literals.iter().any(|literal| numbered(literal) || written(literal))
    }

    /// Whether it keeps to this month of whatever year.
    pub fn keeps_to_month(&self, month: u8) -> bool {
        let lasts = |year: &i32| {
            let days = Date::new(*year, month, 1).map(Days::month);
            days.is_some_and(|days| self.lasts(Some(days.from), Some(days.until)))
        };
        self.kept.month() == Some(u32::from(month)) || self.years().iter().any(lasts)
    }

    /// Whether it asks for what is not there, or is another.
    pub fn denies(&self) -> bool {
        self.denies
    }

    /// Whether it compares one amount with another.
    pub fn compares(&self) -> bool {
        self.compares
    }

    /// Whether it divides, or averages.
    pub fn divides(&self) -> bool {
        self.divides || self.names.contains(&stem("average"))
    }

    /// Whether it takes this unit of time out of a date.
    pub fn has_unit(&self, unit: &str) -> bool {
        self.text.contains(&format!("'{unit}'")) || self.text.contains(&format!("extract({unit} "))
    }

    /// Whether it looks for this end of an order.
    pub fn sorts(&self, high: bool) -> bool {
        let called = if high { "maximum" } else { "minimum" };
        self.names.contains(&stem(called)) || (self.sorts && self.falling == high)
    }

    /// Whether it counts the rows of one relation, so that each word beside the count would narrow it.
    pub fn counts_one(&self) -> bool {
        self.relations < 2
            && self.targets.len() == 1
            && self.targets.iter().all(|target| target.contains(&stem("count")))
    }

    /// Whether so many rows may be fewer than there are.
    pub fn cuts(&self, rows: u64) -> bool {
        self.picks || self.limit.is_some_and(|limit| rows >= limit)
    }

    /// Whether it reads and keeps to all that another does.
    pub fn holds(&self, other: &Self) -> bool {
        let kept = |condition: &Condition| self.kept.conditions.iter().any(|mine| mine.is(condition));
        other.names.is_subset(&self.names)
            && !(other.is_condition && other.kept.unread)
            && other.kept.conditions.iter().all(kept)
    }

    /// What a column of the result is computed from.
    pub fn target(&self, column: usize) -> Option<&BTreeSet<String>> {
        self.targets.get(column)
    }
}

fn of_count(number: u64) -> Option<Decimal> {
    Decimal::parse(&number.to_string())
}

/// Whether a sentence of these stems says that it leaves something out.
fn excludes(among: &BTreeSet<String>) -> bool {
    EXCLUDING.iter().any(|other| among.contains(&stem(other)))
}

/// Whether a column holds keys: what lies above one says nothing of an amount.
fn is_key(name: &str) -> bool {
    words::identifier_words(name).iter().any(|part| ["code", "id", "no"].contains(&part.as_str()))
}

fn is_keyword(word: &str) -> bool {
    KEYWORDS.split(' ').any(|known| known == word)
}

/// Stems of a name's words, shortenings written out too.
pub fn name_stems(name: &str) -> impl Iterator<Item = String> + use<> {
    let parts = words::identifier_words(name);
    let long: Vec<String> = parts.iter().filter_map(|part| expansion(part)).map(stem).collect();
    parts.into_iter().map(|part| stem(&part)).chain(long)
}

/// The literal at a place, where something is compared with it.
fn literal(read: &[Token], at: usize, refused: &BTreeSet<usize>) -> Option<Literal> {
    let token = read.get(at)?;
    let compared = tokens::comparison(read, at)?;
    // The parts of a date are no words.
    let dated = Date::parse(&token.text).is_some() || Date::parse(&format!("{}-01", token.text)).is_some();
    let read = if dated { Vec::new() } else { words::words(&token.text) };
    Some(Literal {
        stems: read.iter().map(|word| stem(&word.text)).collect(),
        number: Decimal::parse(&token.text),
        text: token.text.clone(),
        part: compared.part,
        negative: compared.negative != refused.contains(&at),
        operator: compared.operator,
    })
}

/// The stems of each item between SELECT and FROM of a query that is not nested, without the names before a dot.
fn targets(read: &[Token]) -> Vec<BTreeSet<String>> {
    let Some(select) = read.iter().rposition(|token| token.depth == 0 && token.is("select")) else {
        return Vec::new();
    };
    let many = read.iter().filter(|token| token.depth == 0 && token.is("select")).count() > 1;
    let from = read.iter().skip(select).position(|token| token.depth == 0 && token.is("from"));
    let list = read.get(select + 1..from.map_or(read.len(), |from| select + from)).unwrap_or_default();
    if many || list.iter().any(|token| token.text == "*" && token.depth == 0) {
        return Vec::new();
    }
    let relation: BTreeSet<String> = from
        .and_then(|from| read.get(select + from + 1))
        .map(|token| name_stems(&token.text).collect())
        .unwrap_or_default();
    list.split(|token| token.depth == 0 && token.text == ",")
        .map(|item| {
            let mut stems = BTreeSet::new();
            for (at, token) in item.iter().enumerate() {
                let next = item.get(at + 1).map_or("", |next| next.text.as_str());
                let alias = at > 0 && item.get(at - 1).is_some_and(|before| before.is("as"));
                let function = FUNCTIONS.iter().find(|(name, _)| next == "(" && token.is(name));
                if let Some((_, said)) = function {
                    // Beside a sum, a total is the sum.
                    let own = said.split(' ').filter(|word| *word != "total" || !token.is("count"));
                    stems.extend(own.map(stem));
                } else if token.kind == Kind::Word && next != "." && !alias && !is_keyword(&token.text) {
                    stems.extend(name_stems(&token.text));
                }
                // Rows are counted, not a column.
                if token.is("count") && item.get(at + 2).is_some_and(|argument| argument.text == "*") {
                    stems.extend(relation.iter().cloned());
                }
            }
            stems
        })
        .collect()
}

#[cfg(test)]
mod tests;
