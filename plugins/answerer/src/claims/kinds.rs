//! What a word claims.

use airlock_plugin_sdk::words;

use super::sentence::Sentence;

pub(super) const NONE: &str =
    "cannot lack lacked lacking lacks neither never nil no nobody none nor not nothing nowhere without zero";
/// How often one amount is in another.
pub(super) const MULTIPLES: &str = "double doubled doubles doubling dozen half halved halves quadruple quadrupled thrice triple tripled twice";
/// Quantities that no row can bear out.
pub(super) const VAGUE: &str = "\
    bulk countless couple dozens few handful hundreds lots majority many millions minority much multiple \
    numerous plenty several some thousands various";
pub(super) const HIGH: &str = "\
    best biggest dominates dominated greatest highest largest lead leader leaders leading leads led maximum peak \
    peaked peaks strongest top topped tops";
pub(super) const LOW: &str = "bottom bottomed cheapest fewest lowest minimum smallest weakest worst";
/// Verbs whose subject stands before them.
pub(super) const LEADS: &str = "dominated dominates lead leads led topped tops";
pub(super) const LATE: &str = "latest newest recent";
pub(super) const EARLY: &str = "earliest oldest";
pub(super) const MORE: &str = "\
    above ahead better beyond bigger exceed exceeded exceeding exceeds greater higher larger more outperformed outsold \
    over surpassed surpasses";
pub(super) const LESS: &str = "behind below fewer less lower smaller under worse";
pub(super) const SAME: &str = "alike equal equalled equally equals identical same tie tied ties";
pub(super) const UP: &str = "\
    climb climbed climbing climbs gain gained gains grew grow growing grown grows growth improved improvement increase \
    increased increases increasing jumped rise risen rises rising rose soared surged up";
pub(super) const DOWN: &str = "\
    decline declined declines declining decrease decreased decreases decreasing down drop dropped dropping drops fall \
    fallen falling falls fell plunged reduced reduction shrank shrunk";
pub(super) const TOTALS: &str =
    "altogether combined jointly overall sum sums together total totaled totaling totalled totalling totals";
/// How far amounts are from each other.
pub(super) const APART: &str = "apart differ differed difference differs gap margin";
/// Verbs whose `up` says what parts make, and tells of no rise.
pub(super) const COMPOSING: &str = "add added adding adds made make makes making";
/// A rate, and the time it is of.
pub(super) const RATES: [(&str, &str); 10] = [
    ("annual", "year"),
    ("annually", "year"),
    ("daily", "day"),
    ("hourly", "hour"),
    ("monthly", "month"),
    ("nightly", "night"),
    ("quarterly", "quarter"),
    ("weekly", "week"),
    ("yearly", "year"),
    ("apiece", "each"),
];
/// Times that something may point back to.
pub(super) const SPANS: &str =
    "date dates day days month months period periods quarter time week weeks year years";
/// Letters that stand for units behind a number.
pub(super) const LETTERS: &str = "d g m s t";
/// Times that a rate may be of.
pub(super) const RATED: &str = "day hour minute month night quarter second week year";
pub(super) const NEGATIVE: &str = "deficit loss losses lost minus negative";
pub(super) const ORDER: &str = "follow followed follows next then";
pub(super) const UNITS: &str = "day days month months quarter quarters week weeks year years";
pub(super) const ORDINALS: [&str; 10] =
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
/// Words that open a question for a yes or a no.
pub(super) const AUXILIARIES: &str = "are can could did do does had has have is should was were will would";

/// What a word claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// There is none of something.
    None,
    /// Something is so.
    Yes,
    /// A number is below zero.
    Negative,
    /// Exactly one.
    One,
    /// Nothing that rows could say by themselves.
    Asked,
    Vague,
    /// The row at the upper end, or a quantity.
    Most,
    /// The row at an end of a measure.
    Extreme {
        high: bool,
        verb: bool,
    },
    /// The row at an end of time.
    Moment {
        late: bool,
    },
    /// The row at a place of the result.
    Place(Option<usize>),
    /// A number is a bound: above it, or below it.
    Bound {
        above: bool,
    },
    Exactly,
    /// One row is above or below another.
    Compared {
        above: bool,
    },
    Than,
    Same,
    Both,
    All,
    Only,
    Each,
    Total,
    /// So much for each of something.
    Per,
    /// What a number is a number of, where the word is one that else says nothing.
    Unit,
    /// A time that was named before.
    That,
    /// How far amounts are from each other.
    Apart,
    Order,
    Trend {
        up: bool,
    },
}

/// What the word at a place claims, if anything.
pub(super) fn claimed(said: &Sentence<'_>, at: usize) -> Option<Claim> {
    let word = said.word(at);
    let before = at.checked_sub(1).map_or("", |at| said.word(at));
    let behind = said.word(at + 1);
    let bound = said.number_behind(at).is_some();
    Some(match word {
        "t" if said.text.get(..said.start(at)).is_some_and(|text| text.ends_with(['\'', '’'])) => {
            Claim::None
        }
        "one" | "single" => Claim::One,
        "true" | "yes" => Claim::Yes,
        "false" => Claim::None,
        // `A quarter of them`
        "quarter" | "third" | "fourth" | "fifth" | "tenth" if before == "a" && behind == "of" => Claim::Asked,
        "least" | "most" if before == "at" => Claim::Bound { above: word == "least" },
        "most" if is_one_of(LATE, behind) => Claim::Moment { late: true },
        "most" => Claim::Most,
        "least" => Claim::Extreme { high: false, verb: false },
        "almost" | "nearly" => Claim::Bound { above: false },
        "exactly" | "precisely" => Claim::Exactly,
        // A time that the query keeps to is seen as such before.
        "this" | "next" | "last" | "past" | "previous" | "first" | "second" | "third" | "fourth"
        | "final"
            if is_one_of(UNITS, behind) =>
        {
            Claim::Asked
        }
        "up" if is_one_of(COMPOSING, before) => return None,
        "up" if behind == "to" => Claim::Bound { above: false },
        "per" if behind == "cent" => return None,
        "per" => Claim::Per,
        _ if RATES.iter().any(|(rate, _)| *rate == word) => Claim::Per,
        _ if is_one_of(RATED, word) && ["a", "an", "each", "every"].contains(&before) => Claim::Per,
        // `400 days`, `400 g`; `12 in May` is no unit.
        _ if before.starts_with(|c: char| c.is_ascii_digit())
            && (is_one_of(SPANS, word)
                || is_one_of(RATED, &words::singular(word))
                || is_one_of(LETTERS, word)) =>
        {
            Claim::Unit
        }
        _ if is_one_of(SPANS, word) && ["that", "same"].contains(&before) => Claim::That,
        "than" => Claim::Than,
        "both" => Claim::Both,
        "all" if before == "in" => Claim::Total,
        "all" => Claim::All,
        "only" => Claim::Only,
        "each" | "every" => Claim::Each,
        "any" => Claim::Asked,
        "last" | "final" => Claim::Place(None),
        _ if ORDINALS.contains(&word) => Claim::Place(ORDINALS.iter().position(|ordinal| *ordinal == word)),
        _ if is_one_of(NONE, word) => Claim::None,
        _ if is_one_of(NEGATIVE, word) => Claim::Negative,
        _ if is_one_of(MULTIPLES, word) => Claim::Asked,
        _ if is_one_of(VAGUE, word) => Claim::Vague,
        _ if is_one_of(HIGH, word) => Claim::Extreme { high: true, verb: is_one_of(LEADS, word) },
        _ if is_one_of(LOW, word) => Claim::Extreme { high: false, verb: false },
        _ if is_one_of(LATE, word) => Claim::Moment { late: true },
        _ if is_one_of(EARLY, word) => Claim::Moment { late: false },
        _ if is_one_of(MORE, word) && bound => Claim::Bound { above: true },
        _ if is_one_of(LESS, word) && bound => Claim::Bound { above: false },
        _ if is_one_of(MORE, word) => Claim::Compared { above: true },
        _ if is_one_of(LESS, word) => Claim::Compared { above: false },
        _ if is_one_of(SAME, word) => Claim::Same,
        _ if is_one_of(TOTALS, word) => Claim::Total,
        _ if is_one_of(APART, word) => Claim::Apart,
        _ if is_one_of(ORDER, word) => Claim::Order,
        _ if is_one_of(UP, word) => Claim::Trend { up: true },
        _ if is_one_of(DOWN, word) => Claim::Trend { up: false },
        _ => return None,
    })
}

pub(super) fn is_one_of(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}
