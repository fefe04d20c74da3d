//! Texts that may stand for one another: what a comparison finds, and which value a misspelt one means.

use airlock_gate::{ComparedLiteral, Folding};

/// Values that a column has at most for an abbreviation of one to be told.
pub(super) const FEW: usize = 20;

/// Whether a comparison finds a stored value.
pub(super) fn finds(literal: &ComparedLiteral, stored: &str) -> bool {
    let (wanted, compared) = (&literal.literal, literal.folded.of(stored));
    match literal.operator.as_str() {
        "LIKE" => like(wanted, &compared),
        "ILIKE" => like(&wanted.to_lowercase(), &compared.to_lowercase()),
        _ => compared == *wanted,
    }
}

/// Whether a comparison is with a pattern that stands for several values.
pub(super) fn is_pattern(literal: &ComparedLiteral) -> bool {
    literal.operator.ends_with("LIKE") && literal.literal.contains(['%', '_', '\\'])
}

/// Whether a comparison finds nothing whatever is stored: `lower(name) = 'Pune'`.
pub(super) fn finds_nothing(literal: &ComparedLiteral) -> bool {
    literal.folded.case.is_some() && literal.operator != "ILIKE" && as_folded(literal) != literal.literal
}

/// A literal with the letters that what it is compared with has.
pub(super) fn as_folded(literal: &ComparedLiteral) -> String {
    Folding { trimmed: false, ..literal.folded }.of(&literal.literal)
}

/// Whether a text is like a pattern, as LIKE has it.
fn like(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where the last `%` was, and how much of the text it stands for so far.
    let mut any: Option<(usize, usize)> = None;
    while t < text.len() {
        let (escaped, wanted) = match pattern.get(p) {
            Some('\\') => (true, pattern.get(p + 1)),
            other => (false, other),
        };
        match (wanted, text.get(t)) {
            (Some('%'), _) if !escaped => {
                any = Some((p, t));
                p += 1;
            }
            (Some(wanted), Some(c)) if wanted == c || (*wanted == '_' && !escaped) => {
                p += if escaped { 2 } else { 1 };
                t += 1;
            }
            _ => match &mut any {
                Some((at, from)) => {
                    *from += 1;
                    (p, t) = (*at + 1, *from);
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|c| *c == '%')
}

/// The one of a few values that a text without its vowels stands for: `CRD` is `CARD` where nothing else is near. Another letter
/// in a short text makes another thing of it (`USD`, `AUD`), and so does a consonant more (`NET`, `NEFT`).
pub(super) fn unabbreviated<'a>(wanted: &str, values: &[&'a str]) -> Option<&'a str> {
    let wanted = wanted.trim().to_lowercase();
    let plain = wanted.chars().all(char::is_alphabetic) && wanted.chars().count() >= 3;
    if !plain || values.len() > FEW {
        return None;
    }
    let is_meant = |value: &&&str| {
        let mut rest = wanted.chars().peekable();
        let value = value.trim().to_lowercase();
        // A letter stands for itself, or is a vowel that was left out behind the first letter.
        let left_out =
            |(at, c): (usize, char)| rest.next_if_eq(&c).is_some() || (at > 0 && "aeiou".contains(c));
        value.chars().enumerate().all(left_out) && rest.peek().is_none()
    };
    let mut meant = values.iter().filter(is_meant);
    let only = meant.next().filter(|_| meant.next().is_none())?;
    let rival = |value: &&str| value != only && edit_distance(&value.trim().to_lowercase(), &wanted) <= 1;
    (!values.iter().any(rival)).then_some(*only)
}

/// The one value that is near enough to be meant; none when several are. A number more or less is another thing.
///
/// One letter may be another from four letters on. Two may from eight on, where the first one is the same (`Southern` is not
/// `Northern`); in six or seven letters only vowels may, `y` among them: `UNPAYED` is `UNPAID`, and `Austria` not `Australia`.
pub(super) fn nearest<'a>(wanted: &str, values: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let consonants = |text: &str| text.chars().filter(|c| !"aeiouy".contains(*c)).collect::<String>();
    let (folded, numbers) = (wanted.to_lowercase(), digits(wanted));
    let length = folded.chars().count();
    let usual = (length / 4).min(2);
    let widest = if length < 6 { usual } else { 2 };
    let mut near: Vec<(usize, &str)> = Vec::new();
    for value in values {
        // The length is cheap to compare, and a column may have thousands of values.
        let value_folded = value.to_lowercase();
        if value_folded.chars().count().abs_diff(length) > widest || digits(&value_folded) != numbers {
            continue;
        }
        let distance = edit_distance(&value_folded, &folded);
        if distance <= widest && !near.iter().any(|(_, known)| *known == value) {
            near.push((distance, value));
        }
    }
    let mut within = near.iter().filter(|(distance, _)| *distance <= usual);
    let (distance, only) = match (within.next(), near.as_slice()) {
        (Some(only), _) => within.next().is_none().then_some(*only)?,
        (None, [only]) if consonants(&only.1.to_lowercase()) == consonants(&folded) => *only,
        _ => return None,
    };
    let begins = only.to_lowercase().chars().next() == folded.chars().next();
    (distance < 2 || begins).then_some(only)
}

/// Letters that are put in, left out, replaced, or swapped with their neighbour.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let mut best =
                (at(&last, j + 1) + 1).min(at(&row, j) + 1).min(at(&last, j) + usize::from(from != to));
            if i > 0 && j > 0 && a.get(i - 1) == Some(to) && b.get(j - 1) == Some(from) {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    at(&last, b.len())
}

#[cfg(test)]
pub(super) mod tests {
    use airlock_gate::Letters;
    use airlock_types::{ColumnRef, TableRef};

    use super::*;

    /// A literal as a text of `bills` compares a column with it.
    pub(in crate::spelling) fn compared(column: &str, operator: &str, literal: &str) -> ComparedLiteral {
        let column = ColumnRef { table: TableRef::new("public", "bills"), column: column.to_owned() };
        ComparedLiteral {
            column,
            operator: operator.to_owned(),
            folded: Folding::default(),
            literal: literal.to_owned(),
            span: 0..1,
        }
    }

    fn folded(case: Letters, operator: &str, literal: &str) -> ComparedLiteral {
        let folded = Folding { case: Some(case), trimmed: false };
        ComparedLiteral { folded, ..compared("status", operator, literal) }
    }

    #[test]
    fn a_comparison_finds_what_postgresql_would() {
        for (literal, stored, want) in [
            (compared("status", "=", "PAID"), "PAID", true),
            (compared("status", "=", "paid"), "PAID", false),
            (folded(Letters::Lower, "=", "paid"), "PAID", true),
            (folded(Letters::Lower, "=", "PAID"), "PAID", false),
            (folded(Letters::Upper, "IN", "PAID"), "Paid", true),
            (folded(Letters::Initials, "=", "Not Yet"), "not YET", true),
            (compared("status", "LIKE", "pa%"), "paid", true),
            (compared("status", "LIKE", "pa%"), "Paid", false),
            (compared("status", "ILIKE", "PA_D"), "paid", true),
            (compared("status", "ILIKE", "paid"), "PAID", true),
            (compared("status", "LIKE", "%a%d"), "paid dead", true),
            (compared("status", "LIKE", "%a%x"), "paid dead", false),
            (compared("status", "LIKE", "10\\%"), "10%", true),
            (compared("status", "LIKE", "10\\%"), "10x", false),
            (compared("status", "LIKE", "%"), "", true),
            (compared("status", "LIKE", "_"), "", false),
        ] {
            assert_eq!(finds(&literal, stored), want, "{literal:?} {stored}");
        }
        for (literal, want) in [
            (folded(Letters::Lower, "=", "UPI"), true),
            (folded(Letters::Lower, "LIKE", "%UPI%"), true),
            (folded(Letters::Lower, "ILIKE", "%UPI%"), false),
            (folded(Letters::Lower, "=", "upi"), false),
            (folded(Letters::Upper, "=", "UPI 2"), false),
            (compared("status", "=", "UPI"), false),
        ] {
            assert_eq!(finds_nothing(&literal), want, "{literal:?}");
        }
    }

    #[test]
    fn only_left_out_vowels_abbreviate() {
        let values = ["CARD", "CASH", "UPI", "NEFT", "CHEQUE"];
        for (wanted, want) in [
            ("CRD", Some("CARD")),
            ("csh", Some("CASH")),
            ("chq", Some("CHEQUE")),
            // Another letter is another thing, and so is one more that is no vowel.
            ("Upy", None),
            ("NET", None),
            ("CD", None),
            ("PI", None),
            ("ARD", None),
            ("", None),
        ] {
            assert_eq!(unabbreviated(wanted, &values), want, "{wanted}");
        }
        // Several would do, something else is as near, or there are too many to tell.
        assert_eq!(unabbreviated("CRD", &["CARD", "CORD"]), None);
        assert_eq!(unabbreviated("CRD", &["CARD", "CRX"]), None);
        assert_eq!(unabbreviated("USD", &["AUD", "EUR"]), None);
        let many: Vec<String> = (0..FEW).map(|n| format!("value {n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).chain(["CARD"]).collect();
        assert_eq!(unabbreviated("CRD", &many), None);
    }

    #[test]
    fn only_one_value_that_is_near_is_meant() {
        let values = [
            "Machine Learning",
            "Data Science",
            "Pune",
            "Puna",
            "Model 10",
            "Model 11",
            "PAID",
            "UNPAID",
            "Australia",
            "Northern",
            "Closed",
        ];
        for (wanted, want) in [
            ("Machnie Learning", Some("Machine Learning")),
            ("data sciense", Some("Data Science")),
            ("Pume", Some("Pune")),
            ("Punn", None),
            // Two letters of seven: vowels alone, and no other value as near.
            ("UNPAYED", Some("UNPAID")),
            ("UNPAYD", Some("UNPAID")),
            ("Austria", None),
            ("Southern", None),
            ("Norhtren", Some("Northern")),
            ("unclosed", None),
            ("Model 12", None),
            ("Physics", None),
            ("", None),
        ] {
            assert_eq!(nearest(wanted, values.into_iter()), want, "{wanted}");
        }
    }
}
