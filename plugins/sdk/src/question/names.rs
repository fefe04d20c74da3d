//! Names of a catalogue taken apart into the words they stand for.

/// Shortenings found in schemas of every trade, and what they stand for. Sorted; a test holds that.
const SHORT: &[(&str, &str)] = &[
    ("acct", "account"),
    ("addr", "address"),
    ("amt", "amount"),
    ("approx", "approximate"),
    ("appt", "appointment"),
    ("attr", "attribute"),
    ("auth", "author"),
    ("avg", "average"),
    ("bal", "balance"),
    ("bldg", "building"),
    ("cat", "category"),
    ("cd", "code"),
    ("cnt", "count"),
    ("co", "company"),
    ("comm", "commission"),
    ("corp", "corporation"),
    ("cred", "credit"),
    ("crtd", "created"),
    ("ctry", "country"),
    ("curr", "current"),
    ("cust", "customer"),
    ("dept", "department"),
    ("desc", "description"),
    ("descr", "description"),
    ("dest", "destination"),
    ("dev", "device"),
    ("disc", "discount"),
    ("dob", "birth date"),
    ("doc", "document"),
    ("dt", "date"),
    ("emp", "employee"),
    ("eng", "engine"),
    ("est", "estimated"),
    ("fname", "first name"),
    ("freq", "frequency"),
    ("fst", "first"),
    ("gov", "government"),
    ("gpa", "gpa"),
    ("grp", "group"),
    ("hosp", "hospital"),
    ("hr", "hour"),
    ("hrs", "hour"),
    ("img", "image"),
    ("info", "information"),
    ("inst", "instructor"),
    ("inv", "invoice"),
    ("lang", "language"),
    ("lat", "latitude"),
    ("lname", "last name"),
    ("lng", "longitude"),
    ("loc", "location"),
    ("lon", "longitude"),
    ("lst", "last"),
    ("max", "maximum"),
    ("med", "medicine"),
    ("mfr", "manufacturer"),
    ("mgr", "manager"),
    ("min", "minimum"),
    ("mod", "modified"),
    ("mon", "month"),
    ("msg", "message"),
    ("mth", "month"),
    ("nbr", "number"),
    ("nm", "name"),
    ("no", "number"),
    ("num", "number"),
    ("ord", "order"),
    ("org", "organization"),
    ("orig", "original"),
    ("pat", "patient"),
    ("pct", "percent"),
    ("perc", "percent"),
    ("phn", "phone"),
    ("pmt", "payment"),
    ("po", "purchase order"),
    ("pop", "population"),
    ("pos", "position"),
    ("prc", "price"),
    ("prob", "problem"),
    ("prod", "product"),
    ("prof", "professor"),
    ("proj", "project"),
    ("pub", "publication"),
    ("qty", "quantity"),
    ("rcvd", "received"),
    ("recv", "received"),
    ("ref", "reference"),
    ("reg", "registration"),
    ("req", "request"),
    ("sal", "salary"),
    ("sched", "schedule"),
    ("sec", "section"),
    ("sem", "semester"),
    ("seq", "sequence"),
    ("sku", "sku"),
    ("srv", "service"),
    ("stat", "status"),
    ("stmt", "statement"),
    ("stu", "student"),
    ("sub", "subject"),
    ("supp", "supplier"),
    ("svc", "service"),
    ("tel", "telephone"),
    ("temp", "temperature"),
    ("tm", "time"),
    ("tot", "total"),
    ("trans", "transaction"),
    ("ts", "timestamp"),
    ("tx", "transaction"),
    ("txn", "transaction"),
    ("uni", "university"),
    ("univ", "university"),
    ("upd", "updated"),
    ("usr", "user"),
    ("val", "value"),
    ("vend", "vendor"),
    ("vol", "volume"),
    ("wh", "warehouse"),
    ("wt", "weight"),
    ("yr", "year"),
    ("zip", "zip"),
];

/// Words that name columns everywhere; they let `custname` be read as `cust` and `name`. Sorted; a test holds that.
const COMMON: &[&str] = &[
    "address", "amount", "author", "birth", "city", "close", "code", "cost", "count", "country", "course",
    "customer", "daily", "date", "day", "email", "end", "first", "full", "high", "hire", "id", "item",
    "join", "key", "last", "level", "low", "month", "name", "number", "offering", "open", "order", "paper",
    "phone", "postal", "price", "product", "program", "quantity", "rate", "rating", "salary", "share",
    "shares", "start", "state", "status", "street", "student", "symbol", "tax", "time", "title", "total",
    "type", "unit", "user", "value", "year",
];

/// Bytes of the longest piece of a name: of those above and of the shortenings. A test holds that.
const LONGEST: usize = 8;

/// The meaning of a shortening, if it is a known one.
pub fn expansion(word: &str) -> Option<&'static str> {
    let at = SHORT.binary_search_by_key(&word, |(short, _)| short).ok()?;
    SHORT.get(at).map(|(_, long)| *long)
}

fn is_common(word: &str) -> bool {
    COMMON.binary_search(&word).is_ok()
}

/// Takes a name of the catalogue apart: `sbTxDateTime`, `prod_name`, `custid`. In lower case, shortenings written out.
pub fn name_words(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut current = String::new();
    let mut before = '\0';
    for c in name.chars().take(200) {
        let hump = c.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit());
        if !c.is_alphanumeric() || hump {
            parts.push(std::mem::take(&mut current));
        }
        if c.is_alphanumeric() {
            current.extend(c.to_lowercase());
        }
        before = c;
    }
    parts.push(current);
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .flat_map(|part| segment(&part))
        .flat_map(|part| match expansion(&part) {
            Some(long) => long.split(' ').map(str::to_owned).collect::<Vec<_>>(),
            None => vec![part],
        })
        .collect()
}

/// `custname` to `cust`, `name` when every piece is a known one; else the word as it is.
fn segment(word: &str) -> Vec<String> {
    let whole = vec![word.to_owned()];
    if word.len() < 5 || !word.is_ascii() || is_common(word) || expansion(word).is_some() {
        return whole;
    }
    // `best[i]` holds the fewest pieces that make up the first `i` bytes.
    let mut best: Vec<Option<Vec<&str>>> = vec![None; word.len() + 1];
    if let Some(first) = best.first_mut() {
        *first = Some(Vec::new());
    }
    // Most places are not reached by any pieces, and nothing is looked for from there.
    for start in 0..word.len() {
        let Some(Some(pieces)) = best.get(start).cloned() else { continue };
        for end in start + 2..=word.len().min(start + LONGEST) {
            let Some(piece) = word.get(start..end) else { continue };
            if !(is_common(piece) || (piece.len() >= 3 && expansion(piece).is_some()) || piece == "tx") {
                continue;
            }
            let fewer = best
                .get(end)
                .is_none_or(|known| known.as_ref().is_none_or(|known| known.len() > pieces.len() + 1));
            if fewer && let Some(slot) = best.get_mut(end) {
                *slot = Some([pieces.as_slice(), &[piece]].concat());
            }
        }
    }
    match best.pop().flatten() {
        Some(pieces) if pieces.len() > 1 => pieces.into_iter().map(str::to_owned).collect(),
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_searched_is_sorted() {
        assert!(COMMON.is_sorted_by(|a, b| a < b));
        assert!(SHORT.is_sorted_by(|(a, _), (b, _)| a < b));
    }

    #[test]
    fn no_piece_is_longer_than_what_is_looked_for() {
        let pieces = COMMON.iter().copied().chain(SHORT.iter().map(|(short, _)| *short));
        assert_eq!(pieces.map(str::len).max(), Some(LONGEST));
    }

    #[test]
    fn names_are_taken_apart() {
        for (name, want) in [
            ("sbTxDateTime", "sb transaction date time"),
            ("prod_name", "product name"),
            ("custid", "customer id"),
            ("OrderID", "order id"),
            ("total_amt", "total amount"),
            ("dob", "birth date"),
            ("status", "status"),
            ("firstname", "first name"),
            ("lastname", "last name"),
            ("description", "description"),
            ("timestamp", "timestamp"),
            ("custorderitemid", "customer order item id"),
            ("orderdatetimekey", "order date time key"),
            ("idnumbers", "idnumbers"),
        ] {
            assert_eq!(name_words(name).join(" "), want);
        }
    }
}
