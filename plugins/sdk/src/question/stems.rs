//! Forms of one word brought together: stems, families, function words, numbers in words.

use std::collections::BTreeSet;

use super::tokens::{TokenKind, tokenize};

/// Verbs and plurals whose forms no rule gives. Sorted; a test holds that.
const IRREGULAR: &[(&str, &str)] = &[
    ("address", "address"),
    ("analyses", "analysis"),
    ("are", "be"),
    ("been", "be"),
    ("began", "begin"),
    ("born", "birth"),
    ("borrowed", "borrow"),
    ("bought", "buy"),
    ("built", "build"),
    ("business", "business"),
    ("came", "come"),
    ("canceled", "cancel"),
    ("cancelled", "cancel"),
    ("centre", "center"),
    ("centres", "center"),
    ("children", "child"),
    ("chosen", "choose"),
    ("cited", "cite"),
    ("citing", "cite"),
    ("colour", "color"),
    ("colours", "color"),
    ("criteria", "criterion"),
    ("data", "data"),
    ("did", "do"),
    ("does", "do"),
    ("done", "do"),
    ("feet", "foot"),
    ("flew", "fly"),
    ("flown", "fly"),
    ("gave", "give"),
    ("given", "give"),
    ("got", "get"),
    ("grew", "grow"),
    ("had", "have"),
    ("has", "have"),
    ("held", "hold"),
    ("indices", "index"),
    ("is", "be"),
    ("led", "lead"),
    ("left", "leave"),
    ("lent", "lend"),
    ("less", "less"),
    ("lost", "lose"),
    ("made", "make"),
    ("men", "man"),
    ("met", "meet"),
    ("movies", "movi"),
    ("news", "news"),
    ("paid", "pay"),
    ("people", "person"),
    ("ran", "run"),
    ("rated", "rate"),
    ("sent", "send"),
    ("series", "series"),
    ("sold", "sell"),
    ("species", "species"),
    ("spent", "spend"),
    ("spoken", "speak"),
    ("taken", "take"),
    ("taught", "teach"),
    ("taxes", "tax"),
    ("took", "take"),
    ("was", "be"),
    ("were", "be"),
    ("women", "woman"),
    ("won", "win"),
    ("written", "write"),
    ("wrote", "write"),
];

/// A light stem: the same for `order`, `orders`, `ordered` and `ordering`. Only ever compared with another stem.
pub fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    if let Ok(at) = IRREGULAR.binary_search_by_key(&word.as_str(), |(from, _)| from) {
        return IRREGULAR.get(at).map_or(word, |(_, to)| short(to));
    }
    let base = singular(&word);
    let cut = |suffix: &str, least: usize| {
        base.strip_suffix(suffix)
            .filter(|rest| rest.chars().count() >= least && rest.chars().any(|c| "aeiouy".contains(c)))
    };
    let base = match cut("ing", 3).or_else(|| cut("ed", 3)) {
        Some(rest) => undouble(rest).to_owned(),
        None => base,
    };
    short(&base)
}

/// The forms of a stem that no rule gives.
pub(super) fn forms(stem: &str) -> impl Iterator<Item = &'static str> {
    IRREGULAR.iter().filter(move |(_, to)| short(to) == stem).map(|(from, _)| *from)
}

/// A base form without its silent `e`, and with `i` for `y`.
fn short(base: &str) -> String {
    let rest = |letter: char| base.strip_suffix(letter).filter(|rest| rest.chars().count() >= 4);
    match (rest('e'), rest('y')) {
        (Some(rest), _) => rest.to_owned(),
        (_, Some(rest)) => format!("{rest}i"),
        _ => base.to_owned(),
    }
}

/// The singular of a plural by the regular rules.
fn singular(word: &str) -> String {
    let count = word.chars().count();
    if count < 4 || !word.is_ascii() {
        return if count == 3
            && word.ends_with('s')
            && !word.ends_with("ss")
            && word.is_ascii()
            && !matches!(word, "gas" | "bus" | "yes" | "was" | "has" | "his" | "its" | "gps")
        {
            word.trim_end_matches('s').to_owned()
        } else {
            word.to_owned()
        };
    }
    if let Some(rest) = word.strip_suffix("ies") {
        return format!("{rest}y");
    }
    for suffix in ["sses", "xes", "ches", "shes", "zes"] {
        if word.ends_with(suffix) {
            return word.strip_suffix("es").unwrap_or(word).to_owned();
        }
    }
    if let Some(rest) = word.strip_suffix("uses")
        && rest.chars().last().is_some_and(|c| !"aeio".contains(c))
        && rest.chars().count() >= 2
    {
        return format!("{rest}us");
    }
    if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word.to_owned();
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

/// `shipp` of `shipped` to `ship`; `sell` and `pass` stay.
fn undouble(word: &str) -> &str {
    let mut ends = word.chars().rev();
    match (ends.next(), ends.next()) {
        (Some(a), Some(b)) if a == b && !"lsz".contains(a) && !"aeiou".contains(a) => {
            word.strip_suffix(a).unwrap_or(word)
        }
        _ => word,
    }
}

/// Endings by which English makes one word of another.
const DERIVED: &[&str] = &[
    "", "ment", "er", "or", "ion", "ation", "ee", "al", "ance", "ence", "i", "ier", "e", "s", "ant", "ent",
    "at", "ic", "ing", "ed", "ication", "isher", "our", "ar", "ly", "sh", "cation", "ship", "abl", "ur", "y",
    "ied", "ies", "ition",
];

/// True when two stems are of one family: `enroll` and `enrollment`, `suppli` and `supplier`.
pub fn kin(a: &str, b: &str) -> bool {
    // `hir` of `hired` and `hire`.
    if a == b || a.strip_suffix('e') == Some(b) || b.strip_suffix('e') == Some(a) {
        return true;
    }
    let same = |(x, y): &(char, char)| x == y || (matches!(x, 'i' | 'y') && matches!(y, 'i' | 'y'));
    let common: usize = a.chars().zip(b.chars()).take_while(same).map(|(x, _)| x.len_utf8()).sum();
    let whole = common == a.len() || common == b.len();
    if common < 3 || (common < 5 && !whole) || (common < 4 && a.len().max(b.len()) < 5) {
        return false;
    }
    // Few letters in common prove little: `state` is not of the family of `station`.
    let close = ["", "er", "or", "ment", "ee", "e", "s", "i"];
    let known = |rest: &str| if common < 5 { close.contains(&rest) } else { DERIVED.contains(&rest) };
    let rest = |word: &str| word.get(common..).is_some_and(known);
    rest(a) && rest(b)
}

/// Stems of the words of a text, each once; function words left out.
pub fn content_stems(text: &str) -> BTreeSet<String> {
    tokenize(text)
        .into_iter()
        .filter(|token| token.kind != TokenKind::Mark && !is_function_word(&token.lower))
        .map(|token| token.stem)
        .collect()
}

/// Stems of the content words of a text in their order.
pub fn content_words(text: &str) -> Vec<String> {
    tokenize(text)
        .into_iter()
        .filter(|token| token.kind != TokenKind::Mark && !is_function_word(&token.lower))
        .map(|token| token.stem)
        .collect()
}

/// Words that carry no content of their own. Sorted; a test holds that.
const FUNCTION: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "both",
    "but", "by", "can", "could", "did", "do", "does", "done", "during", "each", "every", "for", "from",
    "had", "has", "have", "having", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its",
    "just", "me", "my", "of", "on", "or", "other", "our", "ours", "out", "own", "per", "please", "s",
    "shall", "she", "should", "so", "some", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "to", "up", "upon", "us", "via", "was", "we", "were", "what", "when", "where",
    "which", "who", "whom", "whose", "will", "with", "within", "would", "you", "your",
];

/// True for words such as `the` and `of`.
pub fn is_function_word(word: &str) -> bool {
    FUNCTION.binary_search(&word).is_ok()
}

/// Words that only say that something is there, was made, or is asked for. Sorted; a test holds that.
const LIGHT: &[&str] = &[
    "across",
    "along",
    "among",
    "amongst",
    "associated",
    "available",
    "been",
    "belong",
    "belonging",
    "belongs",
    "between",
    "calculate",
    "called",
    "came",
    "come",
    "comes",
    "compute",
    "conducted",
    "contain",
    "contains",
    "corresponding",
    "count",
    "create",
    "created",
    "current",
    "currently",
    "data",
    "database",
    "determine",
    "display",
    "each",
    "enter",
    "entered",
    "entire",
    "ever",
    "exist",
    "existing",
    "exists",
    "fetch",
    "find",
    "following",
    "get",
    "give",
    "given",
    "go",
    "got",
    "happen",
    "happened",
    "identify",
    "include",
    "included",
    "includes",
    "including",
    "issue",
    "issued",
    "itself",
    "know",
    "let",
    "like",
    "list",
    "live",
    "lives",
    "living",
    "located",
    "lying",
    "made",
    "make",
    "makes",
    "many",
    "much",
    "name",
    "named",
    "need",
    "now",
    "number",
    "occur",
    "occurred",
    "occurs",
    "one",
    "ones",
    "only",
    "place",
    "placed",
    "posted",
    "provide",
    "raise",
    "raised",
    "record",
    "recorded",
    "records",
    "register",
    "registered",
    "related",
    "report",
    "reside",
    "resides",
    "respectively",
    "result",
    "results",
    "retrieve",
    "return",
    "rows",
    "say",
    "see",
    "show",
    "still",
    "submitted",
    "system",
    "take",
    "taken",
    "tell",
    "themselves",
    "together",
    "took",
    "total",
    "us",
    "use",
    "used",
    "using",
    "want",
    "wants",
    "went",
    "whole",
    "whose",
    "written",
];

/// True for words such as `raised` or `existing` that ask for nothing more than the noun beside them.
pub fn is_light(word: &str) -> bool {
    LIGHT.binary_search(&word).is_ok()
}

/// Verbs that say how two things belong together and nothing about which of them: `teaches`, `placed`, `sold`.
const RELATION: &[&str] = &[
    "achieve",
    "act",
    "affiliate",
    "appear",
    "assign",
    "associate",
    "attend",
    "belong",
    "book",
    "borrow",
    "bring",
    "buy",
    "carry",
    "cite",
    "come",
    "compete",
    "complete",
    "conduct",
    "contain",
    "cover",
    "deliver",
    "direct",
    "drive",
    "earn",
    "employ",
    "enroll",
    "generate",
    "give",
    "handle",
    "have",
    "hold",
    "host",
    "join",
    "lead",
    "live",
    "locate",
    "make",
    "manage",
    "offer",
    "operate",
    "order",
    "organize",
    "own",
    "participate",
    "perform",
    "place",
    "play",
    "post",
    "present",
    "process",
    "produce",
    "publish",
    "purchase",
    "receive",
    "record",
    "register",
    "release",
    "ride",
    "run",
    "score",
    "sell",
    "serve",
    "show",
    "speak",
    "spend",
    "star",
    "stock",
    "study",
    "submit",
    "supply",
    "take",
    "teach",
    "trade",
    "treat",
    "undergo",
    "visit",
    "win",
    "work",
    "write",
];

/// True for words such as `written` and `placed`.
pub fn is_participle(word: &str) -> bool {
    word.ends_with("ed")
        || matches!(
            word,
            "made"
                | "written"
                | "given"
                | "taken"
                | "sold"
                | "bought"
                | "taught"
                | "paid"
                | "held"
                | "led"
                | "run"
                | "sent"
                | "won"
                | "spent"
        )
}

/// True for the stem of a verb such as `teach`: beside two things that one key connects it adds nothing.
pub fn is_relation(stemmed: &str) -> bool {
    // A stem begins as its verb does.
    let near = |verb: &&&str| verb.chars().next() == stemmed.chars().next();
    RELATION.iter().filter(near).any(|verb| stem(verb) == stemmed)
}

/// The value of a number in digits or words up to a thousand (`five`, `twelve`, `twenty`).
pub fn number(word: &str) -> Option<f64> {
    const WORDS: &[(&str, f64)] = &[
        ("zero", 0.0),
        ("one", 1.0),
        ("two", 2.0),
        ("three", 3.0),
        ("four", 4.0),
        ("five", 5.0),
        ("six", 6.0),
        ("seven", 7.0),
        ("eight", 8.0),
        ("nine", 9.0),
        ("ten", 10.0),
        ("eleven", 11.0),
        ("twelve", 12.0),
        ("thirteen", 13.0),
        ("fourteen", 14.0),
        ("fifteen", 15.0),
        ("sixteen", 16.0),
        ("eighteen", 18.0),
        ("twenty", 20.0),
        ("thirty", 30.0),
        ("forty", 40.0),
        ("fifty", 50.0),
        ("sixty", 60.0),
        ("hundred", 100.0),
        ("thousand", 1000.0),
        ("dozen", 12.0),
    ];
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return word.parse().ok().filter(|value: &f64| value.is_finite());
    }
    WORDS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_searched_is_sorted() {
        assert!(IRREGULAR.is_sorted());
        for words in [FUNCTION, LIGHT] {
            assert!(words.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn stems_of_relations_are_known() {
        assert!(RELATION.iter().all(|verb| is_relation(&stem(verb))));
        assert!(!is_relation("bill"));
    }

    #[test]
    fn stems_bring_forms_together() {
        for (a, b) in [
            ("orders", "ordered"),
            ("categories", "category"),
            ("statuses", "status"),
            ("courses", "course"),
            ("houses", "house"),
            ("placed", "place"),
            ("shipped", "ship"),
            ("selling", "sold"),
            ("boxes", "box"),
            ("cities", "city"),
            ("supplied", "supply"),
            ("salaries", "salary"),
            ("addresses", "address"),
            ("purchases", "purchased"),
            ("received", "receive"),
            ("employees", "employee"),
            ("movies", "movie"),
            ("quantities", "quantity"),
            ("bills", "bill"),
            ("enrolled", "enroll"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
        for (a, b) in
            [("bill", "billing address"), ("staff", "stuff"), ("sale", "salary"), ("product", "production")]
        {
            assert_ne!(stem(a), stem(b), "{a} {b}");
        }
    }

    #[test]
    fn families() {
        for (a, b) in [
            ("enrolled", "enrollments"),
            ("supplied", "supplier"),
            ("located", "location"),
            ("employs", "employee"),
            ("published", "publisher"),
            ("hired", "hire"),
        ] {
            assert!(kin(&stem(a), &stem(b)), "{a} {b}: {} {}", stem(a), stem(b));
        }
        for (a, b) in [("order", "ordinary"), ("state", "station"), ("price", "prize")] {
            assert!(!kin(&stem(a), &stem(b)), "{a} {b}");
        }
    }
}
