//! Stems that are looked for in many texts: words that cannot have one of them are passed over without being taken apart.

use std::collections::BTreeSet;

use super::stems::{content_stems, forms, is_function_word, stem};

/// Bytes of a text that is surely read to its end.
const SHORT: usize = 2_000;

/// How a word begins: its first two letters, with `y` as `i`, which forms of one word exchange.
type Beginning = [Option<char>; 2];

/// Stems that are looked for.
#[derive(Debug, Clone)]
pub struct Sought {
    stems: BTreeSet<String>,
    beginnings: BTreeSet<Beginning>,
}

impl Sought {
    /// These stems.
    pub fn new<'a>(stems: impl IntoIterator<Item = &'a str>) -> Self {
        let stems: BTreeSet<String> = stems.into_iter().map(str::to_owned).collect();
        let mut beginnings: BTreeSet<Beginning> = stems.iter().map(|stem| beginning(stem)).collect();
        beginnings.extend(stems.iter().flat_map(|stem| forms(stem)).map(beginning));
        Self { stems, beginnings }
    }

    /// Those of them that [`content_stems`] finds in a text.
    pub fn within(&self, text: &str) -> BTreeSet<&str> {
        let plain = text.len() <= SHORT && !text.contains(is_special);
        if !plain {
            return content_stems(text).iter().filter_map(|stem| self.find(stem)).collect();
        }
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty() && self.may_be(word))
            .map(str::to_lowercase)
            .filter(|word| !is_function_word(word))
            .filter_map(|word| self.find(&stem(&word)))
            .collect()
    }

    fn find(&self, stem: &str) -> Option<&str> {
        self.stems.get(stem).map(String::as_str)
    }

    /// Whether a word may have one of the stems.
    fn may_be(&self, word: &str) -> bool {
        // The lower case of other letters hangs on where they stand.
        !word.is_ascii() || self.beginnings.contains(&beginning(word))
    }
}

/// What makes more of a word than letters: quotation marks, apostrophes, digits.
fn is_special(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '"' | '`' | '\'' | '\u{2018}' | '\u{2019}' | '\u{201c}')
}

fn beginning(word: &str) -> Beginning {
    let mut letters = word.chars().flat_map(char::to_lowercase).map(|c| if c == 'y' { 'i' } else { c });
    [letters.next(), letters.next()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: &[&str] = &[
        "",
        "Paid bills of people who bought ties, pies and shirts; see orders' statuses",
        "The man and the men; women WERE here",
        "adding added adds; shipping shipped ships, categories buses analyses gas",
        "unit_price of the product in stock; sold, selling, SELLS",
        "'New York' and \"paid\" by 3 customers, 1st of 10",
        "Größe der Kiste, naïve café; ΟΔΟΣ",
        "x, ox, xs, y, try trying tried",
        "ran running won took taken taught left grew given",
    ];

    #[test]
    fn what_is_found_is_what_taking_apart_finds() {
        let words: BTreeSet<String> = TEXTS.iter().flat_map(|text| content_stems(text)).collect();
        let mut found = 0;
        for stem in &words {
            let sought = Sought::new([stem.as_str(), "nothing"]);
            for text in TEXTS {
                let want: BTreeSet<&str> =
                    content_stems(text).contains(stem).then_some(stem.as_str()).into_iter().collect();
                assert_eq!(sought.within(text), want, "{stem} in {text}");
                found += want.len();
            }
        }
        assert!(found > words.len() - 1, "{found}");
    }

    #[test]
    fn forms_without_a_rule_are_found() {
        for (text, stem_of) in
            [("people", "person"), ("she sold it", "sell"), ("Feet", "foot"), ("was paid", "pay")]
        {
            let stem = stem(stem_of);
            assert_eq!(Sought::new([stem.as_str()]).within(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_long_text_is_read_as_far_as_any() {
        let text = format!("{} order", "a b ".repeat(2_000));
        assert!(!content_stems(&text).contains("order"));
        assert!(Sought::new(["order"]).within(&text).is_empty());
    }
}
