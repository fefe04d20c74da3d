//! Serials in running text: found in any spelling, turned into the one governed key.

/// A serial that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serial<'t> {
    /// The text it was read from.
    pub matched: &'t str,
    /// The governed key, such as `MK-00412`.
    pub key: String,
}

impl Serial<'_> {
    /// Whether the text has the key itself, as the governed column spells it.
    #[must_use]
    pub fn is_key(&self) -> bool {
        self.matched == self.key
    }
}

/// Serials of one text; nobody asks about more machines at once.
const SERIALS: usize = 16;
/// Marks between the word and the digits: `Serial no. #412`.
const MARKS: usize = 4;
/// The largest serial that a key of five digits holds.
const LARGEST: u32 = 99_999;
/// Words that announce a serial, longer ones first.
const WORDS: [&str; 5] = ["serial", "s.n.", "s/n", "sn", "mk"];
/// Words that may follow `serial`.
const NUMBER_WORDS: [&str; 4] = ["number", "num", "no", "nr"];

/// All serials of a text, in its order.
#[must_use]
pub fn find(text: &str) -> Vec<Serial<'_>> {
    let mut found = Vec::new();
    let mut before = None;
    let mut until = 0;
    for (start, c) in text.char_indices() {
        let begins =
            start >= until && !before.is_some_and(|before: char| before.is_alphanumeric() || before == '_');
        before = Some(c);
        if !begins {
            continue;
        }
        if let Some((number, rest)) = text.get(start..).and_then(read)
            && let Some(matched) = text.get(start..text.len() - rest.len())
        {
            until = start + matched.len();
            found.push(Serial { matched, key: format!("MK-{number:05}") });
        }
        if found.len() == SERIALS {
            break;
        }
    }
    found
}

/// Reads a serial that stands at the beginning of a text; gives its number and what follows.
fn read(text: &str) -> Option<(u32, &str)> {
    let word = WORDS.iter().find(|word| starts_with(text, word))?;
    let mut rest = text.get(word.len()..)?;
    if *word == "serial" {
        let spaced = rest.trim_start_matches(is_mark);
        let number = NUMBER_WORDS.iter().find(|word| starts_with(spaced, word) && spaced.len() < rest.len());
        rest = number.map_or(Some(rest), |word| spaced.get(word.len()..))?;
        // `serials` is a word of its own.
        rest.starts_with(is_mark).then_some(())?;
    }
    let digits = rest.trim_start_matches(is_mark);
    (rest.chars().count() - digits.chars().count() <= MARKS).then_some(())?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let number: u32 = digits.get(..end)?.parse().ok()?;
    (1..=LARGEST).contains(&number).then_some(())?;
    let rest = digits.get(end..)?;
    if let Some(rest) = issue(rest) {
        return Some((number, rest));
    }
    (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')).then_some((number, rest))
}

/// What follows the letter of the plate's issue, if one stands here: `-A`, `/B`, `C`.
fn issue(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(['-', '/', '\u{2010}', '\u{2011}', '\u{2013}']).unwrap_or(text);
    let mut chars = rest.chars();
    chars.next().filter(char::is_ascii_alphabetic)?;
    let rest = chars.as_str();
    (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')).then_some(rest)
}

fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

fn is_mark(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | ':' | '.' | '#' | '/' | '\u{2010}' | '\u{2011}' | '\u{2013}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_gives_the_same_key() {
        for matched in [
            "SN-00412",
            "sn 412",
            "S/N 00412-A",
            "SN00412",
            "s/n:412",
            "Serial no. 412",
            "S.N. 00412",
            "sn0412/B",
            "serial #412",
            "serial number 412",
            "MK-00412",
            "mk 412",
            "SN - 412",
            "SN\u{2011}00412",
            "sn412c",
        ] {
            for text in
                [format!("Downtime of {matched} in 2025?"), matched.to_owned(), format!("({matched}).")]
            {
                let found = find(&text);
                assert_eq!(found, [Serial { matched, key: "MK-00412".into() }], "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_serial_is_left_alone() {
        for text in [
            "",
            "How many machines?",
            "revenue in 2025",
            "snow 412",
            "asn 412",
            "serials 412",
            "serial killers 412",
            "SN 1234567",
            "SN-0",
            "SN",
            "sn412ab",
            "sn_412",
            "MK",
            "RC-24-0412",
            "\u{1f69c} 412",
            "sn .....412",
        ] {
            assert_eq!(find(text), [], "{text}");
        }
    }

    #[test]
    fn several_are_found_in_their_order_and_their_number_is_limited() {
        let keys: Vec<String> =
            find("sn 412, MK-00423 and S/N 7-B").into_iter().map(|serial| serial.key).collect();
        assert_eq!(keys, ["MK-00412", "MK-00423", "MK-00007"]);
        assert_eq!(find(&"sn 412 ".repeat(1_000)).len(), SERIALS);
    }

    #[test]
    fn the_key_itself_is_told_from_other_spellings() {
        let of = |text: &'static str| find(text).first().map(Serial::is_key);
        assert_eq!((of("MK-00412"), of("mk-00412"), of("SN-00412")), (Some(true), Some(false), Some(false)));
    }
}
