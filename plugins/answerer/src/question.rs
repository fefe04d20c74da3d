//! Turning the shape of a question into the shape of its answer.

use airlock_plugin_sdk::words;

use crate::label::is_participle;

/// Words of a question that are repeated in its answer.
const LONGEST: usize = 16;

/// The sentence for a single number, where the question has one of the plain shapes.
///
/// `how many N were X` and `what was the N` are the two; anything else is answered from the column's name.
pub fn answer_one(question: &str, value: &str) -> Option<String> {
    let calm = calm(question);
    let words: Vec<&str> = calm.trim().trim_end_matches(['?', '.', '!', ' ']).split_whitespace().collect();
    if asks_for_several(&words) || words.len() > LONGEST {
        return None;
    }
    how_many(&words, value).or_else(|| what_is(&words, value))
}

/// Whether the question wants the ends of an order: the top, the most, the highest.
pub fn wants_the_top(question: &str) -> bool {
    const TOP: [&str; 8] = ["best", "biggest", "greatest", "highest", "largest", "leading", "most", "top"];
    let words = words::words(question);
    let word = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    (0..words.len()).any(|at| {
        // `at most five` and `the most recent` ask for no top.
        let most = word(at) == "most" && (word(at + 1) == "recent" || (at > 0 && word(at - 1) == "at"));
        TOP.contains(&word(at)) && !most
    })
}

/// The plural by which the question calls what a label names: `customers` for `customer name`.
pub fn plural_of(question: &str, label: &str) -> Option<String> {
    const TAILS: [&str; 6] = ["code", "id", "name", "no", "number", "title"];
    let thing = label.split(' ').rfind(|word| !TAILS.contains(word))?;
    words::words(question)
        .into_iter()
        .map(|word| word.text)
        .find(|word| words::same(word, thing) && words::singular(word) != *word)
}

/// Ends a text with a full stop and single spaces.
pub fn sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.ends_with(['.', '!', '?', '…']) { text } else { format!("{text}.") }
}

/// A question in capitals, in small letters.
fn calm(question: &str) -> String {
    let loud = question.chars().any(char::is_alphabetic) && !question.chars().any(char::is_lowercase);
    if loud { question.to_lowercase() } else { question.to_owned() }
}

/// More than the one value that came.
fn asks_for_several(words: &[&str]) -> bool {
    let asks = |word: &&str| ["how", "what", "which", "who", "when", "where"].contains(word);
    words.iter().any(|word| ["per", "each", "every", "versus", "vs", "compared"].contains(word))
        || words.iter().skip(1).any(asks)
}

fn how_many(words: &[&str], value: &str) -> Option<String> {
    let [how, many, rest @ ..] = words else { return None };
    let counted = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit() || b == b',');
    if !how.eq_ignore_ascii_case("how") || !many.eq_ignore_ascii_case("many") || !counted {
        return None;
    }
    let end = rest.iter().position(|word| VERBS.contains(word) || PREPOSITIONS.contains(word));
    let (noun, tail) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
    let (Noun { text: noun, many }, done) = Noun::read(noun, value)?;
    let (are, were, have) = if many { ("are", "were", "have") } else { ("is", "was", "has") };
    let there =
        |tail: &[&str]| Some(sentence(&format!("There {are} {value} {noun}{done} {}", tail.join(" "))));
    match tail {
        ["are", "there", tail @ ..] => there(tail),
        ["were", "there", tail @ ..] => {
            Some(sentence(&format!("There {were} {value} {noun}{done} {}", tail.join(" "))))
        }
        [] => there(&[]),
        // With a verb of its own behind it, as in `customers from Pune bought`, it would be no sentence.
        [preposition, rest @ ..]
            if PREPOSITIONS.contains(preposition)
                && !rest
                    .iter()
                    .any(|word| VERBS.contains(word) || is_participle(word) || is_subject(word)) =>
        {
            there(tail)
        }
        ["do", "we" | "you", "have"] => there(&[]),
        ["do", "we" | "you", "have", preposition, ..] if PREPOSITIONS.contains(preposition) => {
            there(tail.get(3..)?)
        }
        // The subject stands first, so the number can take the place of the question word.
        [verb @ ("are" | "were"), next, ..] if done.is_empty() && goes_on(next) => {
            let verb = if *verb == "are" { are } else { were };
            let rest = tail.get(1..)?.join(" ");
            // One employee is a manager, not managers.
            let one = one_of(next).filter(|_| !many);
            let rest = match (one, rest.strip_prefix(next)) {
                (Some(one), Some(behind)) => format!("{one}{behind}"),
                _ => rest,
            };
            Some(sentence(&format!("{value} {noun} {verb} {rest}")))
        }
        ["have", next, ..] if done.is_empty() && (AFTER_HAVE.contains(next) || is_participle(next)) => {
            Some(sentence(&format!("{value} {noun} {have} {}", tail.get(1..)?.join(" "))))
        }
        _ => done.is_empty().then(|| sentence(&format!("{value} {noun}"))),
    }
}

/// What is counted.
struct Noun {
    text: String,
    many: bool,
}

impl Noun {
    /// The noun in the number that the value asks for, and the participle behind it: `bills`, ` raised`.
    fn read(words: &[&str], value: &str) -> Option<(Self, String)> {
        let (noun, done) = match words {
            [noun @ .., last] if !noun.is_empty() && is_participle(last) => (noun, format!(" {last}")),
            noun => (noun, String::new()),
        };
        let [before @ .., head] = noun else { return None };
        let one = words::singular(head);
        // Without a plural at its end it is no noun, or there is more in it than that.
        if one == *head || before.len() > 2 || (value == "1" && before.contains(&"of")) {
            return None;
        }
        let many = value != "1";
        let head = if many { (*head).to_owned() } else { one };
        let text = before.iter().copied().chain([head.as_str()]).collect::<Vec<_>>().join(" ");
        Some((Self { text, many }, done))
    }
}

/// What one of many is: `a manager` of `managers`. Absent where the word is no plural.
fn one_of(word: &str) -> Option<String> {
    const ADVERBS: [&str; 8] =
        ["always", "besides", "indoors", "nowadays", "outdoors", "overseas", "perhaps", "sometimes"];
    let one = words::singular(word);
    let article = if one.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    (one != word && !ADVERBS.contains(&word)).then(|| format!("{article} {one}"))
}

/// Whether a word behind `are` says something of the subject, and is no subject itself: `raised`, `running`, `in`.
fn goes_on(word: &str) -> bool {
    let article = ["a", "an", "the", "her", "his", "its", "my", "our", "their", "these"].contains(&word);
    word.starts_with(char::is_lowercase) && !article && !is_subject(word)
}

fn is_subject(word: &str) -> bool {
    ["i", "it", "me", "they", "us", "we", "you"].contains(&word)
}

fn what_is(words: &[&str], value: &str) -> Option<String> {
    let first = words.first()?.to_lowercase().replace('’', "'");
    let (verb, rest) = match words {
        [_, rest @ ..] if first == "what's" => ("is", rest),
        [_, verb @ ("is" | "was" | "are" | "were"), rest @ ..] if first == "what" => (*verb, rest),
        _ => return None,
    };
    let [article, rest @ ..] = rest else { return None };
    // A comma, `and`, `by` or `or` asks for more than the one value that came.
    let several = rest.iter().any(|word| word.ends_with(',') || ["and", "by", "or"].contains(word));
    if !["the", "our", "my", "their"].contains(article) || several || rest.is_empty() {
        return None;
    }
    Some(sentence(&format!("The {} {verb} {value}", rest.join(" "))))
}

/// Verbs that end the noun of `how many`.
const VERBS: [&str; 15] = [
    "are", "were", "is", "was", "do", "did", "does", "have", "has", "had", "can", "could", "will", "would",
    "should",
];

/// Words that begin what is said of a noun.
const PREPOSITIONS: [&str; 12] =
    ["above", "after", "at", "before", "below", "between", "during", "from", "in", "on", "with", "without"];

/// Words behind `have` that show it to be no helper of another subject's verb.
const AFTER_HAVE: [&str; 14] = [
    "a", "an", "any", "at", "been", "both", "fewer", "less", "more", "never", "no", "not", "only", "neither",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_questions_shape_their_answers() {
        for (question, value, want) in [
            ("How many bills were raised in July 2026?", "214", Some("214 bills were raised in July 2026.")),
            ("How many bills were raised today?", "1", Some("1 bill was raised today.")),
            ("How many customers do we have?", "312", Some("There are 312 customers.")),
            ("How many customers do we have in Pune?", "1", Some("There is 1 customer in Pune.")),
            ("how many open bills are there in July?", "3", Some("There are 3 open bills in July.")),
            ("how many bills were there in July?", "3", Some("There were 3 bills in July.")),
            ("HOW MANY BILLS", "65", Some("There are 65 bills.")),
            ("How many bills in July?", "65", Some("There are 65 bills in July.")),
            ("How many bills raised in July?", "65", Some("There are 65 bills raised in July.")),
            ("How many employees are managers?", "1", Some("1 employee is a manager.")),
            ("How many employees are managers in Pune?", "1", Some("1 employee is a manager in Pune.")),
            ("How many shops are always open?", "1", Some("1 shop is always open.")),
            ("How many employees are managers?", "2", Some("2 employees are managers.")),
            ("How many products are running low?", "12", Some("12 products are running low.")),
            (
                "How many customers have never bought cement?",
                "9",
                Some("9 customers have never bought cement."),
            ),
            ("How many units did we lose to damage in 2026?", "45", Some("45 units.")),
            ("How many units are we missing?", "45", Some("45 units.")),
            ("How many bills are Kavita and Ravi owed?", "45", Some("45 bills.")),
            ("How many customers bought cement?", "45", None),
            ("How many bills did each customer raise?", "45", None),
            ("How many customers from Pune bought cement?", "45", Some("45 customers.")),
            ("How many boxes of nails are there?", "5", Some("There are 5 boxes of nails.")),
            ("How many boxes of nails are there?", "1", None),
            ("How many units on average?", "4.50", None),
            (
                "What was our total revenue in 2023?",
                "1,234.50",
                Some("The total revenue in 2023 was 1,234.50."),
            ),
            ("What's the average bill?", "about 3,428.87", Some("The average bill is about 3,428.87.")),
            ("What are the total sales?", "2", Some("The total sales are 2.")),
            ("What is the average and the total?", "2", None),
            ("What is the revenue and how many bills?", "2", None),
            ("Revenue by month", "2", None),
            ("How many", "2", None),
        ] {
            assert_eq!(answer_one(question, value).as_deref(), want, "{question}");
        }
    }

    #[test]
    fn a_wish_for_the_top_is_known() {
        for (question, want) in [
            ("Top 5 products", true),
            ("Which customer bought the most?", true),
            ("The most recent bills", false),
            ("Products with at most 5 units", false),
            ("Units by product", false),
        ] {
            assert_eq!(wants_the_top(question), want, "{question}");
        }
    }

    #[test]
    fn the_question_lends_its_plural() {
        for (question, label, want) in [
            ("Which customers owe us?", "customer name", Some("customers")),
            ("Which customer owes us?", "customer name", None),
            ("List the employees", "employee name", Some("employees")),
            ("List them", "name", None),
        ] {
            assert_eq!(plural_of(question, label).as_deref(), want, "{question}");
        }
    }
}
