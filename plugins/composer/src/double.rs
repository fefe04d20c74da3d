//! Two questions in one, each for one number: `what is the average of these, and what is the average of those`.

use airlock_plugin_sdk::Clock;
use airlock_plugin_sdk::question::grammar::Reading;
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::TokenKind;

use crate::print;

/// Words of the second question that speak of the first one's answer.
const BACK: &[&str] =
    &["them", "they", "their", "those", "these", "it", "its", "each", "he", "she", "his", "her", "that"];

/// Both questions, when there are two. A time that only the first one names holds for both.
pub fn halves(question: &str, clock: &Clock) -> Option<(String, String)> {
    let reading = Reading::new(question, clock);
    let tokens = &reading.tokens;
    let asks = |at: usize| {
        let word = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
        match word(at) {
            "what" => true,
            "how" => matches!(word(at + 1), "many" | "much"),
            _ => false,
        }
    };
    let and =
        (1..tokens.len()).find(|at| tokens.get(*at).is_some_and(|token| token.is("and")) && asks(at + 1))?;
    let back = tokens.get(and + 1..)?.iter().any(|token| BACK.contains(&token.lower.as_str()));
    if !asks(0) || back {
        return None;
    }
    let cut = tokens.get(and)?;
    let first = question.get(..cut.start)?.trim_end().trim_end_matches(',').to_owned();
    let mut second = question.get(cut.end..)?.trim().trim_end_matches(['?', '.', '!']).to_owned();
    let own = reading.moments.iter().any(|moment| moment.first > and);
    if let Some(moment) = reading.moments.iter().find(|moment| moment.end <= and).filter(|_| !own) {
        // `what is …, and how many …`: whether the time still holds is not said.
        if tokens.first().map(|token| &token.lower) != tokens.get(and + 1).map(|token| &token.lower) {
            return None;
        }
        second = format!("{second} {}", reading.text(moment.first, moment.end));
    }
    Some((first, second))
}

/// Two queries of one number each, side by side.
pub fn beside(first: (&str, &str), second: (&str, &str)) -> Option<String> {
    let (mut a, mut b) = (name(first.0), name(second.0));
    if a == b {
        a.push_str("_first");
        b.push_str("_second");
    }
    let one = |sql: &str, name: &str| {
        scalar(sql)
            .then(|| format!("(\n    {}\n) AS {}", sql.replace('\n', "\n    "), print::identifier(name)))
    };
    Some(format!("SELECT {}, {}", one(first.1, &a)?, one(second.1, &b)?))
}

/// What a number is called after: the content words of its question.
fn name(question: &str) -> String {
    let words: Vec<String> = airlock_plugin_sdk::question::tokens::tokenize(question)
        .into_iter()
        .filter(|token| token.kind == TokenKind::Word && !stems::is_function_word(&token.lower))
        .map(|token| token.lower)
        .filter(|word| word.chars().all(|c| c.is_ascii_alphanumeric()))
        .take(4)
        .collect();
    if words.is_empty() { "number".into() } else { words.join("_") }
}

/// True for a query that gives one row of one column: an aggregate and no groups.
fn scalar(sql: &str) -> bool {
    let mut lines = sql.lines();
    let Some(head) = lines.next().and_then(|line| line.strip_prefix("SELECT ")) else { return false };
    let aggregate = ["sum(", "count(", "avg(", "min(", "max(", "round(avg(", "100.0 * count("];
    let mut depth = 0_i32;
    let one = head.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth > 0 || c != ','
    });
    let whole = lines.all(|line| !["GROUP BY", "LIMIT", "HAVING"].iter().any(|word| line.starts_with(word)));
    one && depth == 0 && whole && aggregate.iter().any(|start| head.starts_with(start))
}

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::harness::clock;

    use super::{halves, scalar};

    #[test]
    fn two_questions_are_told_apart() {
        for (question, want) in [
            (
                "What's the average stay in 2026, and what is the longest stay?",
                Some(("What's the average stay in 2026", "what is the longest stay in 2026")),
            ),
            ("How many wards and how many beds in 2025?", Some(("How many wards", "how many beds in 2025"))),
            ("What is the ward with most beds, and how many of them are free?", None),
            ("What is the income in 2025, and how many wards are there?", None),
            ("What are the name and age?", None),
            ("Show wards and what is free", None),
        ] {
            let want = want.map(|(a, b): (&str, &str)| (a.to_owned(), b.to_owned()));
            assert_eq!(halves(question, &clock("2026-08-20")), want, "{question}");
        }
    }

    #[test]
    fn only_one_number_stands_beside_another() {
        for (sql, want) in [
            ("SELECT count(*) AS n\nFROM wards", true),
            ("SELECT round(avg(w.beds), 2) AS n\nFROM wards AS w", true),
            ("SELECT w.beds, count(*) AS n\nFROM wards AS w\nGROUP BY w.beds", false),
            ("SELECT count(*) AS n\nFROM wards AS w\nGROUP BY w.beds", false),
            ("SELECT w.beds\nFROM wards AS w", false),
        ] {
            assert_eq!(scalar(sql), want, "{sql}");
        }
    }
}
