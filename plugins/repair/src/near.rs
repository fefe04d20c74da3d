//! Which of several names a wrong one stands for, if that is beyond doubt.

use airlock_plugin_sdk::words::{edit_distance, identifier_words, singular};

/// The one name that is close to `wanted`, when one is closer than all others.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(usize, &str)> = None;
    let mut rivals = false;
    for name in names {
        let Some(score) = closeness(wanted, name) else { continue };
        match best {
            Some((least, found)) if score == least => rivals |= found != name,
            Some((least, _)) if score > least => {}
            _ => {
                best = Some((score, name));
                rivals = false;
            }
        }
    }
    best.filter(|_| !rivals).map(|(_, name)| name)
}

/// How far a name is from the wanted one: 0 but for case, 1 but for plural, 2 but for abbreviation, else by edits.
/// None when it is another name altogether.
fn closeness(wanted: &str, name: &str) -> Option<usize> {
    let (a, b) = (wanted.to_ascii_lowercase(), name.to_ascii_lowercase());
    if a == b {
        return Some(0);
    }
    // `price_1` and `price_2` are a letter apart and two different things.
    if digits(&a) != digits(&b) {
        return None;
    }
    if same_words(&a, &b, |a, b| a == b) {
        return Some(1);
    }
    if same_words(&a, &b, abbreviated) {
        return Some(2);
    }
    let length = a.chars().count();
    let allowed = if length < 3 { 0 } else { (length / 4).clamp(1, 3) };
    let distance = edit_distance(&a, &b);
    (distance <= allowed).then_some(distance + 2)
}

/// Whether a database's own suggestion is near enough to be followed: it suggests whatever is nearest, also `max_amt`
/// for `min_amt`.
pub fn believable(wanted: &str, suggested: &str) -> bool {
    let (a, b) = (wanted.to_ascii_lowercase(), suggested.to_ascii_lowercase());
    let length = a.chars().count();
    digits(&a) == digits(&b)
        && (same_words(&a, &b, abbreviated) || edit_distance(&a, &b) <= (length / 4).max(1))
}

fn digits(name: &str) -> String {
    name.chars().filter(char::is_ascii_digit).collect()
}

/// `customer_names` and `cust_name`, `qty` and `quantity`: word by word the same in the singular, by this measure.
fn same_words(a: &str, b: &str, same: fn(&str, &str) -> bool) -> bool {
    let (a, b) = (identifier_words(a), identifier_words(b));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(&singular(a), &singular(b)))
}

/// The same, or one an abbreviation of the other.
fn abbreviated(a: &str, b: &str) -> bool {
    a == b || abbreviates(a, b) || abbreviates(b, a)
}

/// The same first letter, and the other letters in the same order.
pub fn abbreviates(short: &str, long: &str) -> bool {
    let mut rest = long.chars();
    short.len() >= 2
        && short.len() < long.len()
        && short.chars().next() == long.chars().next()
        && short.chars().all(|c| rest.any(|l| l == c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_one_near_name_is_taken() {
        let columns =
            ["bill_id", "bill_dt", "total_amt", "min_amt", "max_amt", "cust_id", "line_1", "line_2"];
        for (wanted, want) in [
            ("total_amount", Some("total_amt")),
            ("customer_id", Some("cust_id")),
            ("Bill_ID", Some("bill_id")),
            ("bill_date", Some("bill_dt")),
            ("totl_amt", Some("total_amt")),
            // A plural is nearer than what it might abbreviate.
            ("bill_dts", Some("bill_dt")),
            // Two are equally near.
            ("mix_amt", None),
            // A number apart is another thing.
            ("line_3", None),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(wanted, columns), want, "{wanted}");
        }
    }

    #[test]
    fn a_plural_is_nearer_than_an_abbreviation() {
        for (wanted, names, want) in [
            ("sale", ["sales", "salespersons"], Some("sales")),
            ("cust", ["customers", "customs"], None),
            ("order", ["orders", "order_lines"], Some("orders")),
        ] {
            assert_eq!(nearest(wanted, names), want, "{wanted}");
        }
    }

    #[test]
    fn a_suggestion_is_believed_within_limits() {
        for (wanted, suggested, want) in [
            ("nmae", "name", true),
            ("totl_amt", "total_amt", true),
            ("customer_id", "cust_id", true),
            ("min_amt", "max_amt", false),
            ("price_1", "price_2", false),
        ] {
            assert_eq!(believable(wanted, suggested), want, "{wanted} {suggested}");
        }
    }
}
