//! Turning the shape of a question into the shape of its answer.

/// The sentence for a single value, where the question has one of the plain shapes.
///
/// `how many N were X` and `what was the N` are the two; anything else is answered from the column's name.
pub fn answer_one(question: &str, value: &str) -> Option<String> {
    let words: Vec<&str> =
        question.trim().trim_end_matches(['?', '.', '!', ' ']).split_whitespace().collect();
    how_many(&words, value).or_else(|| what_is(&words, value))
}

fn how_many(words: &[&str], value: &str) -> Option<String> {
    let [how, many, rest @ ..] = words else { return None };
    if !how.eq_ignore_ascii_case("how") || !many.eq_ignore_ascii_case("many") {
        return None;
    }
    let verb = rest.iter().position(|word| VERBS.contains(&word.to_ascii_lowercase().as_str()))?;
    let (noun, tail) = rest.split_at_checked(verb)?;
    let ([verb, tail @ ..], false) = (tail, noun.is_empty()) else { return None };
    let noun = noun.join(" ");
    let plural_value = value != "1" && value.bytes().all(|b| b.is_ascii_digit() || b == b',');
    let be = ["are", "were"].contains(&verb.to_ascii_lowercase().as_str());
    match tail {
        [there, tail @ ..] if be && plural_value && there.eq_ignore_ascii_case("there") => {
            Some(sentence(&format!("There {} {value} {noun} {}", verb.to_ascii_lowercase(), tail.join(" "))))
        }
        // `were raised in July`: the subject stands first, so the number can take the place of the question word.
        [participle, ..] if be && plural_value && participle.ends_with("ed") => {
            Some(sentence(&format!("{value} {noun} {} {}", verb.to_ascii_lowercase(), tail.join(" "))))
        }
        _ => Some(sentence(&format!("The number of {noun} is {value}"))),
    }
}

fn what_is(words: &[&str], value: &str) -> Option<String> {
    let [what, verb, article, rest @ ..] = words else { return None };
    let verb = verb.to_ascii_lowercase();
    let article = article.to_ascii_lowercase();
    let shaped = what.eq_ignore_ascii_case("what")
        && ["is", "was"].contains(&verb.as_str())
        && ["the", "our", "my", "their"].contains(&article.as_str());
    // A question with a comma, `and`, `per` or `each` asks for more than the one value that came.
    let several = rest.iter().any(|word| {
        word.ends_with(',')
            || ["and", "per", "by", "each", "or"].contains(&word.to_ascii_lowercase().as_str())
    });
    if !shaped || several || rest.is_empty() {
        return None;
    }
    Some(sentence(&format!("The {} {verb} {value}", rest.join(" "))))
}

/// Ends a text with a full stop and single spaces.
pub fn sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.ends_with(['.', '!', '?']) { text } else { format!("{text}.") }
}

/// Verbs that end the noun of `how many`.
const VERBS: [&str; 15] = [
    "are", "were", "is", "was", "do", "did", "does", "have", "has", "had", "can", "could", "will", "would",
    "should",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_questions_shape_their_answers() {
        for (question, value, want) in [
            ("How many bills were raised in July 2026?", "214", Some("214 bills were raised in July 2026.")),
            ("How many bills were raised today?", "1", Some("The number of bills is 1.")),
            ("How many customers do we have?", "312", Some("The number of customers is 312.")),
            ("how many open bills are there in July?", "3", Some("There are 3 open bills in July.")),
            (
                "What was our total revenue in 2023?",
                "1,234.50",
                Some("The total revenue in 2023 was 1,234.50."),
            ),
            ("What is the average and the total?", "2", None),
            ("Revenue by month", "2", None),
            ("How many", "2", None),
            ("How many bills", "2", None),
        ] {
            assert_eq!(answer_one(question, value).as_deref(), want, "{question}");
        }
    }
}
