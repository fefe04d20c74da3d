//! Whether each name of a sentence comes from somewhere.

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::time::MONTHS;
use airlock_plugin_sdk::words;

/// Words that are written with a capital and name nothing of the data.
const COMMON: [&str; 10] =
    ["i", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "null", "sql"];

/// The first name of `text` that neither the rows, nor the question, nor the query has: a word with a capital that does not
/// open a sentence, or what stands in quotes.
pub fn untraced(text: &str, input: &AnswerInput) -> Option<String> {
    let known = known(input);
    let is_known = |word: &words::Word| {
        let plain = word.text.strip_suffix("'s").or(word.text.strip_suffix("’s")).unwrap_or(&word.text);
        known.iter().any(|known| known == plain || *known == words::singular(plain))
            || COMMON.contains(&plain)
            || MONTHS.iter().any(|month| month.to_lowercase().starts_with(plain) && plain.len() > 2)
    };
    let found = words::words(text);
    found.into_iter().find_map(|word| {
        let written = text.get(word.span.clone())?;
        let before = text.get(..word.span.start)?.trim_end();
        let named = written.starts_with(char::is_uppercase) && !opens(before);
        let quoted = before.len() + 1 >= word.span.start && before.ends_with(['"', '“', '‘']);
        ((named || quoted) && !is_known(&word)).then(|| written.to_owned())
    })
}

/// Whether what stands before a word ends a sentence, or nothing does.
fn opens(before: &str) -> bool {
    let before = before.trim_end_matches(['"', '“', '‘', '\'', '(']).trim_end();
    before.is_empty() || before.ends_with(['.', '!', '?', ':', ';', '-', '–', ')']) || before.ends_with('\n')
}

/// Every word of the rows, the question, the query, its columns and what was assumed, in lower case.
fn known(input: &AnswerInput) -> Vec<String> {
    let cells = input.rows.iter().flatten().flatten().map(String::as_str);
    let columns = input.columns.iter().map(|column| column.name.as_str());
    let texts = cells
        .chain(columns)
        .chain([input.question.as_str()])
        .chain(input.sql.as_deref())
        .chain(input.assumptions.iter().map(String::as_str));
    let mut known = Vec::new();
    for text in texts {
        for word in words::words(text) {
            known.extend(words::identifier_words(&word.text));
            known.push(words::singular(&word.text));
            known.push(word.text);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::input;

    #[test]
    fn names_are_traced_or_named() {
        let rows: &[&[Option<&str>]] = &[
            &[Some("Navkar Traders"), Some("Pune"), Some("1200")],
            &[Some("Shree Steel"), Some("Surat"), Some("900")],
        ];
        let mut data = input(
            "Which customers of Gujarat bought most in April?",
            &[("customer_name", "text"), ("city", "text"), ("revenue", "numeric")],
            rows,
        );
        data.sql = Some("SELECT a FROM b WHERE status = 'PAID'".into());
        for (text, want) in [
            ("Navkar Traders of Pune leads with 1,200.", None),
            ("The leader is Navkar Traders, before Shree Steel's 900.", None),
            ("In April the customers of Gujarat with Paid bills were led by Navkar.", None),
            ("The leader is Acme Traders with 1,200.", Some("Acme")),
            ("Navkar Traders of Mumbai leads.", Some("Mumbai")),
            ("The leader is \"acme\".", Some("acme")),
            ("It was on Monday. Navkar leads.", None),
            ("1. Navkar Traders\n2. Shree Steel", None),
            ("no names at all", None),
        ] {
            assert_eq!(untraced(text, &data).as_deref(), want, "{text}");
        }
    }
}
