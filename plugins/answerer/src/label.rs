//! Column names in words.

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::question::names::expansion;
use airlock_plugin_sdk::words;

/// Names that PostgreSQL gives by itself, or that say nothing but how; and what to say instead.
const GENERIC: [(&str, &str); 10] = [
    ("?column?", "answer"),
    ("avg", "average"),
    ("coalesce", "answer"),
    ("count", "count"),
    ("max", "highest value"),
    ("min", "lowest value"),
    ("result", "answer"),
    ("round", "answer"),
    ("sum", "total"),
    ("value", "answer"),
];

/// Shortenings that are words themselves or stand for several: written out only where the long word is near.
const OPEN: [&str; 38] = [
    "auth", "cat", "co", "comm", "cred", "curr", "dest", "dev", "disc", "doc", "eng", "est", "hosp", "hrs",
    "inst", "inv", "lat", "loc", "med", "mod", "mon", "no", "ord", "org", "pat", "po", "pop", "pos", "prob",
    "prof", "pub", "ref", "reg", "sal", "sec", "stat", "sub", "temp",
];

/// What a column is called when its name says nothing.
pub fn generic(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    GENERIC.iter().find(|(known, _)| *known == name).map(|(_, said)| *said)
}

/// A column's name in words, shortenings written out; empty when the name says nothing.
pub fn label(name: &str, input: &AnswerInput) -> String {
    if generic(name).is_some() {
        return String::new();
    }
    let mut parts = words::identifier_words(name);
    // `num_bills` and `bills_count` count bills.
    let counts = |word: &str| ["cnt", "count", "num", "number", "no"].contains(&word);
    if let [first, rest @ ..] = parts.as_slice()
        && counts(first)
        && is_plural(rest)
    {
        parts = rest.iter().skip_while(|word| *word == "of").cloned().collect();
    } else if let [rest @ .., last] = parts.as_slice()
        && counts(last)
        && is_plural(rest)
    {
        parts = rest.to_vec();
    }
    parts.iter().map(|part| written_out(part, input)).collect::<Vec<_>>().join(" ")
}

/// Whether the words end with a plural, as `units` and `total bills` do.
pub fn is_plural(parts: &[String]) -> bool {
    parts.last().is_some_and(|last| words::singular(last) != *last)
}

/// Whether a label names things that can be counted: `bills`, `units sold`.
pub fn names_many(label: &str) -> bool {
    let parts: Vec<String> = label.split(' ').map(str::to_owned).collect();
    match parts.as_slice() {
        [rest @ .., last] if is_participle(last) => is_plural(rest),
        parts => is_plural(parts),
    }
}

/// `raised`, `sold`: what was done with what stands before it.
pub fn is_participle(word: &str) -> bool {
    const STRONG: [&str; 12] =
        ["bought", "built", "given", "held", "left", "lost", "made", "paid", "sent", "sold", "taken", "won"];
    (word.len() > 4 && word.ends_with("ed")) || STRONG.contains(&word)
}

/// With a capital first letter.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn written_out(part: &str, input: &AnswerInput) -> String {
    let near = |long: &str| {
        let texts = [Some(input.question.as_str()), input.sql.as_deref()];
        texts.iter().flatten().any(|text| words::words(text).iter().any(|word| words::same(&word.text, long)))
    };
    match expansion(part) {
        Some(long) if !OPEN.contains(&part) || near(long) => long.to_owned(),
        _ => part.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::input;

    #[test]
    fn names_are_read_as_words() {
        let mut input = input("Which category is it?", &[], &[]);
        input.sql = Some("SELECT 1 FROM purchase_orders".into());
        for (name, want) in [
            ("emp_nm", "employee name"),
            ("supp_name", "supplier name"),
            ("qty", "quantity"),
            ("cat_name", "category name"),
            ("auth_code", "auth code"),
            ("customers_count", "customers"),
            ("book_count", "book count"),
            ("num_publications", "publications"),
            ("number_of_bills", "bills"),
            ("bill_no", "bill no"),
            ("count", ""),
            ("?column?", ""),
            ("stockReceived", "stock received"),
        ] {
            assert_eq!(label(name, &input), want, "{name}");
        }
    }

    #[test]
    fn labels_of_many_things_are_known() {
        for (label, want) in [
            ("bills", true),
            ("units sold", true),
            ("stock received", false),
            ("status", false),
            ("revenue", false),
        ] {
            assert_eq!(names_many(label), want, "{label}");
        }
    }
}
