//! Business rules written as sentences: `MRR = monthly recurring revenue`, `blue eyes refers to colour = 'Blue'`, `match names
//! with ILIKE`. What is plain is used; what is not is left alone.

use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::question::grammar::Comparison;
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::{TokenKind, tokenize};

/// Longest phrase that a rule gives a meaning to, in content words.
const WORDS: usize = 8;
/// Rules that are read at most.
const RULES: usize = 64;

/// A column as a rule names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The table, where the rule says so.
    pub table: Option<String>,
    /// The column.
    pub column: String,
}

/// What a phrase stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Meaning {
    /// A column.
    Column(Place),
    /// A column with one text.
    Equals(Place, String),
    /// A column with a number.
    Compare(Place, Comparison, f64),
    /// A column without a value.
    Null(Place),
}

/// A phrase and all that it stands for at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Stems of its content words.
    pub words: Vec<String>,
    /// What they mean.
    pub meanings: Vec<Meaning>,
}

/// The rules near a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules {
    /// Short names and the words they stand for.
    pub short: Vec<(String, String)>,
    /// Phrases and conditions.
    pub rules: Vec<Rule>,
    /// Texts are found inside other texts, not only when they are equal.
    pub inside: bool,
}

impl Rules {
    /// Reads the definitions of terms that have no SQL of their own.
    pub fn read(host: &impl Host, question: &str) -> Self {
        let mut rules = Self::default();
        for term in host.near_terms(question, 50) {
            if term.metric_sql.is_none() && term.filter_sql.is_none() && term.table.is_none() {
                rules.sentence(&term.definition);
                // The definition of a short name may be its words and nothing more.
                if shortened(&term.name) && plain(&term.definition) {
                    rules.short.push((term.name.clone(), term.definition.clone()));
                }
            }
        }
        rules.rules.truncate(RULES);
        rules
    }

    fn sentence(&mut self, text: &str) {
        let lower = text.to_lowercase();
        self.inside |= lower.contains("wildcard") || (lower.contains("like") && lower.contains('%'));
        for clause in clauses(text) {
            self.clause(clause);
        }
    }

    fn clause(&mut self, clause: &str) {
        for verb in [" refers to ", " refer to ", " means ", " stands for "] {
            if let Some((left, right)) = clause.split_once(verb) {
                let right = right.trim_start_matches("refers to ").trim();
                let words = stems::content_words(left);
                if words.is_empty() || words.len() > WORDS {
                    return;
                }
                match conditions(right) {
                    Some(meanings) => self.rules.push(Rule { words, meanings }),
                    None if shortened(left.trim()) && plain(right) => {
                        self.short.push((left.trim().to_owned(), right.to_owned()));
                    }
                    None => {}
                }
                return;
            }
        }
        let Some((left, right)) = clause.split_once('=') else { return };
        let name = left.split('(').next().unwrap_or_default().trim();
        // `AR (Activity Ratio) = …` and `MoMC = month-over-month change = …`: the first words after the sign.
        let right = right.split('=').next().unwrap_or_default();
        let right = right.split(", with ").next().unwrap_or_default().trim();
        if shortened(name) && plain(right) {
            self.short.push((name.to_owned(), right.to_owned()));
        }
    }

    /// The question without sentences that only say how texts are matched.
    pub fn directed(question: &str) -> String {
        let told = |sentence: &str| {
            let lower = sentence.trim().to_lowercase();
            let leads = ["match ", "use ", "filter "].iter().any(|lead| lower.starts_with(lead));
            leads
                && (lower.contains("case insensitiv")
                    || lower.contains("case-insensitiv")
                    || lower.contains("wildcard"))
        };
        let kept: Vec<&str> = question.split_inclusive(['.', '?', '!']).filter(|part| !told(part)).collect();
        if kept.is_empty() { question.to_owned() } else { kept.concat().trim_end().to_owned() }
    }

    /// The question with short names written out, and what was put for them.
    pub fn expand(&self, question: &str) -> (String, Vec<String>) {
        let mut text = question.to_owned();
        let mut told = Vec::new();
        for (short, long) in &self.short {
            let found = tokenize(&text).into_iter().find(|token| token.text == *short);
            if let Some(token) = found {
                text.replace_range(token.start..token.end, long);
                told.push(format!("`{short}` was read as {long}."));
            }
            // Said again, it is what was computed already.
            let again = tokenize(&text).into_iter().find(|token| token.text == *short);
            if let Some(token) = again {
                text.replace_range(token.start..token.end, long);
            }
        }
        (text, told)
    }
}

/// Clauses of a rule: sentences and what semicolons part.
fn clauses(text: &str) -> Vec<&str> {
    text.split(['\n', ';'])
        .flat_map(|part| part.split(". "))
        .map(|clause| clause.trim().trim_end_matches('.'))
        .filter(|clause| !clause.is_empty() && clause.len() < 400)
        .take(RULES)
        .collect()
}

/// A name of capitals such as `ACP` or `MoMC`.
fn shortened(name: &str) -> bool {
    let capitals = name.chars().filter(char::is_ascii_uppercase).count();
    (2..=8).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
        && capitals * 2 > name.len()
}

/// Words that a question could hold, and no formula.
fn plain(text: &str) -> bool {
    let simple = |c: char| c.is_alphanumeric() || matches!(c, ' ' | ',' | '-' | '\'');
    !text.is_empty() && text.chars().all(simple) && text.split_whitespace().count() <= 20
}

/// The conditions of `colour = 'Blue' AND eye_colour_id = colour.id`; keys that only join say nothing more. None when a
/// part is not understood.
fn conditions(text: &str) -> Option<Vec<Meaning>> {
    let lower = text.to_lowercase();
    if lower.contains(" between ") {
        return between(text).map(|meaning| meaning.to_vec());
    }
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = text.trim().trim_end_matches('.');
    loop {
        let lower = rest.to_lowercase();
        let cut =
            [" and ", " where "].iter().filter_map(|word| lower.find(word).map(|at| (at, word.len()))).min();
        match cut.filter(|(at, _)| rest.is_char_boundary(*at)) {
            Some((at, length)) => {
                parts.push(rest.get(..at)?);
                rest = rest.get(at + length..)?;
            }
            None => {
                parts.push(rest);
                break;
            }
        }
    }
    let single = parts.len() == 1;
    let mut found = Vec::new();
    for part in parts {
        match condition(part.trim())? {
            Some(Meaning::Column(_)) if !single => return None,
            Some(meaning) => found.push(meaning),
            None => {}
        }
    }
    (!found.is_empty()).then_some(found)
}

/// One comparison; the inner None is a join.
fn condition(text: &str) -> Option<Option<Meaning>> {
    if let Some(name) = text.to_lowercase().strip_suffix(" is null") {
        return Some(Some(Meaning::Null(place(text.get(..name.len())?)?)));
    }
    for (sign, comparison) in [
        ("<=", Comparison::AtMost),
        (">=", Comparison::AtLeast),
        ("<>", Comparison::Unequal),
        ("!=", Comparison::Unequal),
        ("=", Comparison::Equal),
        ("<", Comparison::Less),
        (">", Comparison::More),
    ] {
        let Some((left, right)) = text.split_once(sign) else { continue };
        let (left, right) = (place(left)?, right.trim());
        let quoted = right
            .strip_prefix(['\'', '"'])
            .and_then(|rest| rest.strip_suffix(['\'', '"']))
            .filter(|inner| !inner.is_empty() && !inner.contains('\''));
        return match (quoted, right.parse::<f64>()) {
            (Some(value), _) if comparison == Comparison::Equal => {
                Some(Some(Meaning::Equals(left, value.to_owned())))
            }
            (None, Ok(value)) if value.is_finite() => Some(Some(Meaning::Compare(left, comparison, value))),
            _ if comparison == Comparison::Equal && place(right).is_some() => Some(None),
            _ => None,
        };
    }
    place(text).map(|place| Some(Meaning::Column(place)))
}

fn between(text: &str) -> Option<[Meaning; 2]> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [column, word, low, and, high] = words.as_slice() else { return None };
    if !word.eq_ignore_ascii_case("between") || !and.eq_ignore_ascii_case("and") {
        return None;
    }
    let place = place(column)?;
    Some([
        Meaning::Compare(place.clone(), Comparison::AtLeast, low.parse().ok()?),
        Meaning::Compare(place, Comparison::AtMost, high.parse().ok()?),
    ])
}

/// A name, perhaps with its table's before it.
fn place(text: &str) -> Option<Place> {
    let name = |text: &str| {
        let text = text.trim().trim_matches(['"', '`']);
        let sound = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
        sound.then(|| text.to_owned())
    };
    match text.trim().split_once('.') {
        Some((table, column)) => Some(Place { table: Some(name(table)?), column: name(column)? }),
        None => Some(Place { table: None, column: name(text)? }),
    }
}

/// Where a phrase stands in a question: its words one after the other, with only binding words and marks between.
pub fn found(
    words: &[String],
    tokens: &[airlock_plugin_sdk::question::tokens::Token],
) -> Option<(usize, usize)> {
    (0..tokens.len()).find_map(|first| {
        let mut at = first;
        for (index, word) in words.iter().enumerate() {
            let mut token = tokens.get(at)?;
            while index > 0 && (token.kind == TokenKind::Mark || stems::is_function_word(&token.lower)) {
                at += 1;
                token = tokens.get(at)?;
            }
            let same = token.stem == *word
                || (token.kind == TokenKind::Quoted
                    && stems::content_words(&token.text).as_slice() == std::slice::from_ref(word));
            if !same {
                return None;
            }
            at += 1;
        }
        Some((first, at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Rules {
        let mut rules = Rules::default();
        rules.sentence(text);
        rules
    }

    #[test]
    fn sentences_are_read_where_they_are_plain() {
        let place = |table: Option<&str>, column: &str| Place {
            table: table.map(str::to_owned),
            column: column.into(),
        };
        for (text, want) in [
            (
                "red cars refers to paint = 'Red' and paint_id = paint.id",
                vec![Meaning::Equals(place(None, "paint"), "Red".into())],
            ),
            (
                "over two tons refers to cars.weight_kg > 2000;",
                vec![Meaning::Compare(place(Some("cars"), "weight_kg"), Comparison::More, 2000.0)],
            ),
            ("no owner refers to owner_id IS NULL", vec![Meaning::Null(place(None, "owner_id"))]),
            ("plates refers to plate_no", vec![Meaning::Column(place(None, "plate_no"))]),
            (
                "from 3 to 5 refers to doors BETWEEN 3 AND 5",
                vec![
                    Meaning::Compare(place(None, "doors"), Comparison::AtLeast, 3.0),
                    Meaning::Compare(place(None, "doors"), Comparison::AtMost, 5.0),
                ],
            ),
        ] {
            assert_eq!(read(text).rules[0].meanings, want, "{text}");
        }
        for text in ["the fastest refers to MAX(speed)", "x refers to SUM(a) / SUM(b)", "Be kind."] {
            assert!(read(text).rules.is_empty(), "{text}");
        }
    }

    #[test]
    fn short_names_are_written_out() {
        let rules = read("ASP = average selling price, with tax. TNC = total new customers");
        let (text, told) = rules.expand("What is the ASP per shop?");
        assert_eq!(text, "What is the average selling price per shop?");
        assert_eq!(told.len(), 1);
        assert!(read("ABC = (a / b) * 100").short.is_empty());
        assert!(read("Match all strings using wildcard operators").inside);
    }
}
