//! Words of a question: tokens, plurals, numbers in words, and how far two spellings are apart.

use std::ops::Range;

/// A word and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Lower case.
    pub text: String,
    /// Byte range in the question.
    pub span: Range<usize>,
}

/// The words of a text: runs of letters and digits, apostrophes inside them dropped with what follows (`shop's`
/// is `shop`). A number keeps its separators: `1,000` and `2.5` are one word each.
#[must_use]
pub fn words(text: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, first)) = chars.next() {
        if !first.is_alphanumeric() {
            continue;
        }
        let mut end = start + first.len_utf8();
        while let Some(&(at, c)) = chars.peek() {
            let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
            let digits_around = matches!(c, ',' | '.')
                && text.get(start..at).is_some_and(|seen| seen.ends_with(|d: char| d.is_ascii_digit()))
                && rest.starts_with(|d: char| d.is_ascii_digit());
            if !(c.is_alphanumeric() || digits_around) {
                break;
            }
            end = at + c.len_utf8();
            chars.next();
        }
        let word = text.get(start..end).unwrap_or_default().to_lowercase();
        if let Some(&(at, c)) = chars.peek()
            && matches!(c, '\'' | '’')
        {
            let tail = text.get(at + c.len_utf8()..).unwrap_or_default();
            if tail.starts_with(['s', 'S']) && !tail.chars().nth(1).is_some_and(char::is_alphanumeric) {
                chars.next();
                chars.next();
            }
        }
        found.push(Word { text: word, span: start..end });
    }
    found
}

/// The words of an identifier: `cust_id`, `custId` and `CUST-ID` are all `cust`, `id`.
#[must_use]
pub fn identifier_words(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut fresh = true;
    let mut before_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            fresh = true;
            continue;
        }
        if fresh || (c.is_uppercase() && before_lower) {
            parts.push(String::new());
        }
        fresh = false;
        before_lower = c.is_lowercase() || c.is_ascii_digit();
        if let Some(last) = parts.last_mut() {
            last.extend(c.to_lowercase());
        }
    }
    parts
}

/// Plurals that no ending shows.
const IRREGULAR: [(&str, &str); 9] = [
    ("people", "person"),
    ("children", "child"),
    ("men", "man"),
    ("women", "woman"),
    ("feet", "foot"),
    ("mice", "mouse"),
    ("indices", "index"),
    ("criteria", "criterion"),
    ("leaves", "leaf"),
];

/// The singular of a lower-case word; a word that is none stays as it is.
#[must_use]
pub fn singular(word: &str) -> String {
    if let Some((_, one)) = IRREGULAR.iter().find(|(many, _)| *many == word) {
        return (*one).to_owned();
    }
    let keeps = word.len() < 4
        || ["ss", "us", "is", "news", "series", "species"].iter().any(|ending| word.ends_with(ending));
    if keeps {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies")
        && stem.len() > 1
    {
        return format!("{stem}y");
    }
    for ending in ["sses", "shes", "ches", "xes", "zes"] {
        if word.ends_with(ending) {
            return word.strip_suffix("es").unwrap_or(word).to_owned();
        }
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

/// Whether two words are the same but for case and number.
#[must_use]
pub fn same(a: &str, b: &str) -> bool {
    singular(&a.to_lowercase()) == singular(&b.to_lowercase())
}

/// Words that carry no subject, in lower case.
const FILLER: [&str; 74] = [
    "a", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could",
    "did", "do", "does", "each", "every", "for", "from", "get", "give", "had", "has", "have", "how", "i",
    "if", "in", "into", "is", "it", "its", "let", "list", "made", "make", "many", "me", "much", "my", "of",
    "on", "or", "our", "out", "over", "please", "s", "show", "so", "tell", "than", "that", "the", "their",
    "them", "there", "these", "they", "this", "to", "us", "was", "we", "were", "what", "which", "who",
    "with", "would", "you",
];

/// Whether a lower-case word says nothing about the subject of a question.
#[must_use]
pub fn is_filler(word: &str) -> bool {
    FILLER.binary_search(&word).is_ok()
}

/// The words that carry the subject: lower case, singular, in order, each once.
#[must_use]
pub fn content_words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in words(text) {
        let stem = singular(&word.text);
        if !is_filler(&word.text) && !found.contains(&stem) {
            found.push(stem);
        }
    }
    found
}

/// A count in digits or words: `5`, `1,000`, `five`, `twenty-five`, `two hundred`, `a dozen`.
#[must_use]
pub fn number(text: &str) -> Option<u64> {
    let text = text.trim().to_lowercase();
    let digits: String = text.chars().filter(|c| *c != ',').collect();
    if !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()) {
        return digits.parse().ok();
    }
    let mut total = 0_u64;
    let mut current = 0_u64;
    let mut seen = false;
    for word in text.split(|c: char| c == '-' || c.is_whitespace()).filter(|w| !w.is_empty() && *w != "and") {
        match word {
            "a" | "an" if !seen => current = 1,
            "hundred" => current = current.max(1).checked_mul(100)?,
            "dozen" => current = current.max(1).checked_mul(12)?,
            "thousand" => {
                total = total.checked_add(current.max(1).checked_mul(1_000)?)?;
                current = 0;
            }
            "million" => {
                total = total.checked_add(current.max(1).checked_mul(1_000_000)?)?;
                current = 0;
            }
            _ => current = current.checked_add(small_number(word)?)?,
        }
        // An article alone is not a number.
        seen = seen || !matches!(word, "a" | "an");
    }
    seen.then(|| total.checked_add(current)).flatten()
}

fn small_number(word: &str) -> Option<u64> {
    const ONES: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let find = |list: &[&str]| list.iter().position(|known| *known == word).map(|at| at as u64);
    find(&ONES).or_else(|| find(&TENS).map(|at| (at + 2) * 10))
}

/// The one name that a word may have been meant for: near enough for its length, and nearer than any other.
#[must_use]
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let word = word.to_lowercase();
    let allowed = match word.chars().count() {
        0..=3 => return None,
        4..=5 => 1,
        _ => 2,
    };
    let mut best: Option<(usize, String)> = None;
    let mut shared = false;
    for name in names {
        let name = name.to_lowercase();
        let distance = edit_distance(&word, &name);
        if distance == 0 || distance > allowed || name.chars().next() != word.chars().next() {
            continue;
        }
        match &best {
            Some((known, _)) if *known < distance => {}
            Some((known, other)) if *known == distance => shared |= !same(other, &name),
            _ => {
                best = Some((distance, name));
                shared = false;
            }
        }
    }
    best.filter(|_| !shared).map(|(_, name)| name)
}

/// Edits that turn one spelling into the other: insert, delete, replace, or swap two neighbours. Case counts.
#[must_use]
pub fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, to) in b.iter().enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut best =
                (at(&last, j + 1) + 1).min(at(&row, j) + 1).min(at(&last, j) + usize::from(from != to));
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(to) && b.get(j - 1) == Some(from);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = last;
        last = row;
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_are_split_with_their_places() {
        for (text, want) in [
            ("How many bills?", vec!["how", "many", "bills"]),
            ("the shop's 1,000 bills of 2.5 kg.", vec!["the", "shop", "1,000", "bills", "of", "2.5", "kg"]),
            ("cust_id", vec!["cust", "id"]),
            ("", vec![]),
            ("Größe 5", vec!["größe", "5"]),
        ] {
            assert_eq!(texts(text), want, "{text}");
        }
        let text = "our Bills";
        assert_eq!(&text[words(text)[1].span.clone()], "Bills");
    }

    #[test]
    fn identifiers_fall_into_words() {
        for (name, want) in [
            ("cust_id", vec!["cust", "id"]),
            ("custId", vec!["cust", "id"]),
            ("CUST-ID", vec!["cust", "id"]),
            ("line2Total", vec!["line2", "total"]),
        ] {
            assert_eq!(identifier_words(name), want, "{name}");
        }
    }

    #[test]
    fn plurals_become_singular() {
        for (word, want) in [
            ("bills", "bill"),
            ("categories", "category"),
            ("purchases", "purchase"),
            ("boxes", "box"),
            ("branches", "branch"),
            ("status", "status"),
            ("people", "person"),
            ("address", "address"),
            ("gas", "gas"),
        ] {
            assert_eq!(singular(word), want, "{word}");
        }
        assert!(same("Bills", "bill"));
    }

    #[test]
    fn fillers_are_sorted_for_the_search() {
        assert!(FILLER.is_sorted());
        assert_eq!(content_words("How many of our bills are there, bill by bill?"), ["bill"]);
    }

    #[test]
    fn numbers_are_read_in_digits_and_words() {
        for (text, want) in [
            ("5", Some(5)),
            ("1,000", Some(1_000)),
            ("five", Some(5)),
            ("twenty-five", Some(25)),
            ("two hundred and five", Some(205)),
            ("three thousand", Some(3_000)),
            ("a dozen", Some(12)),
            ("a", None),
            ("bills", None),
            ("99999999999999999999999", None),
        ] {
            assert_eq!(number(text), want, "{text}");
        }
    }

    #[test]
    fn a_slip_finds_the_one_name_near_it() {
        let names = ["products", "bill", "bills", "customers", "price"];
        for (word, want) in [
            ("prodcuts", Some("products")),
            ("custmers", Some("customers")),
            ("bils", Some("bill")),
            ("prize", Some("price")),
            ("dog", None),
            ("weather", None),
            ("products", None),
        ] {
            assert_eq!(nearest(word, names).as_deref(), want, "{word}");
        }
    }

    #[test]
    fn distances_count_edits() {
        for (a, b, want) in [
            ("", "", 0),
            ("abc", "abc", 0),
            ("abc", "", 3),
            ("total_amt", "total_amount", 3),
            ("custmoer", "customer", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(edit_distance(a, b), want, "{a} {b}");
        }
    }
}
