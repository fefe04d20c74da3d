//! Whether each name of a sentence comes from somewhere.

use airlock_plugin_sdk::words;

use crate::given::{Given, stems_of};
use crate::ground::occurrences;
use crate::times::{Origin, Time, is_month};

/// Words that are written with a capital and name nothing of the data.
const COMMON: [&str; 3] = ["i", "null", "sql"];

/// Words that open a sentence and name nothing.
const OPENERS: &str = "\
    a about according across after all altogether among an and another any as at average based before \
    behind between both but by combined compared during each either every first for from he here highest \
    however if in it its last lowest more most neither next no none not of on one only other our out \
    over overall per second she since so some that the their then there these they third this those \
    together total two under until up we what when where which while who with within without yes you \
    your";

/// Adverbs that open a sentence and name nothing. They are listed because names end as they do: Italy, Emily, Kelly.
const ADVERBS: &str = "\
    accordingly actually additionally alternatively annually apparently approximately barely basically briefly certainly clearly \
    closely collectively commonly comparatively consequently consistently conversely correspondingly currently daily \
    directly early effectively entirely equally especially essentially evenly eventually evidently exactly exclusively \
    explicitly fairly finally firstly formerly frequently fully generally globally gradually hardly historically hourly \
    implicitly importantly increasingly indirectly individually initially interestingly internally jointly largely lastly \
    lately likely locally mainly marginally merely monthly mostly namely nationally naturally nearly nominally normally \
    notably obviously occasionally officially oppositely originally overwhelmingly partially particularly partly \
    possibly potentially practically precisely predominantly presumably previously primarily principally probably \
    proportionally purely quarterly rarely really recently regionally regularly relatively remarkably respectively \
    roughly secondly seemingly separately sequentially shortly significantly similarly simply simultaneously slightly \
    solely specifically steadily strictly strikingly strongly subsequently substantially suddenly supposedly \
    surprisingly technically temporarily thirdly totally traditionally truly typically ultimately unfortunately \
    uniformly unsurprisingly unusually usually virtually weekly yearly";

/// The first name of `text` that neither the rows nor the query has, and that the question does not rightly lend: a word with a
/// capital, what stands in quotes, or a month that is none of theirs.
pub fn untraced(text: &str, given: &Given<'_>) -> Option<String> {
    let among = stems_of(text);
    let (times, phrases) = given.dated(text);
    let is_known = |word: &str| given.knows(word, &among) || COMMON.contains(&word);
    let timed = |at: usize| {
        let of_time = |(time, origin): &(Time, Origin)| time.span.contains(&at) && *origin != Origin::Nowhere;
        times.iter().any(of_time) || phrases.iter().any(|phrase| phrase.contains(&at))
    };
    let cells = || given.input.rows.iter().flatten().flatten();
    let in_cell = |at: usize| cells().any(|cell| occurrences(text, cell).any(|span| span.contains(&at)));
    let found = words::words(text);
    found.into_iter().find_map(|word| {
        let plain = word.text.strip_suffix("'s").or(word.text.strip_suffix("’s")).unwrap_or(&word.text);
        let written = text.get(word.span.clone())?;
        let before = text.get(..word.span.start)?.trim_end();
        let capital = written.starts_with(char::is_uppercase);
        let month = is_month(plain);
        if timed(word.span.start) {
            return None;
        }
        if month && capital {
            return (!in_cell(word.span.start)).then(|| written.to_owned());
        }
        let plain_opener = || {
            let opener = is_one_of(OPENERS, plain) || is_one_of(ADVERBS, plain);
            opens(before) && (opener || words::number(plain).is_some())
        };
        let quoted = before.len() + 1 >= word.span.start && before.ends_with(['"', '“', '‘']);
        let named = (capital && !plain_opener()) || quoted;
        (named && !is_known(plain)).then(|| written.to_owned())
    })
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Whether what stands before a word ends a sentence, or nothing does.
fn opens(before: &str) -> bool {
    let before = before.trim_end_matches(['"', '“', '‘', '\'', '(']).trim_end();
    before.is_empty() || before.ends_with(['.', '!', '?', ':', ';', '-', '–', ')']) || before.ends_with('\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{given, input};

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
        let unkept = given(&data);
        assert_eq!(untraced("Navkar leads in Gujarat.", &unkept).as_deref(), Some("Gujarat"));
        assert_eq!(untraced("In April Navkar led.", &unkept).as_deref(), Some("April"));
        data.sql = Some(
            "SELECT a FROM b WHERE status = 'PAID' AND state = 'Gujarat' AND day >= '2026-04-01' AND day < '2026-05-01'"
                .into(),
        );
        for (text, want) in [
            ("Navkar Traders of Pune leads with 1,200.", None),
            ("The leader is Navkar Traders, before Shree Steel's 900.", None),
            ("In April the customers of Gujarat with Paid bills were led by Navkar.", None),
            ("The leader is Acme Traders with 1,200.", Some("Acme")),
            ("Navkar Traders of Mumbai leads.", Some("Mumbai")),
            ("The leader is \"acme\".", Some("acme")),
            ("It was on Monday. Navkar leads.", Some("Monday")),
            ("Acme Traders leads with 1,200.", Some("Acme")),
            ("Acme leads. Navkar follows.", Some("Acme")),
            ("Notably, Navkar leads.", None),
            ("Italy leads with 1,200.", Some("Italy")),
            ("Navkar leads. Emily follows.", Some("Emily")),
            ("Kelly Traders leads.", Some("Kelly")),
            ("In May Navkar led.", Some("May")),
            ("July was led by Navkar.", Some("July")),
            ("In March Navkar led.", Some("March")),
            ("1. Navkar Traders\n2. Shree Steel", None),
            ("no names at all", None),
        ] {
            assert_eq!(untraced(text, &given(&data)).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn a_month_is_traced_to_a_date_that_is_written_to_the_month() {
        let rows: &[&[Option<&str>]] = &[&[Some("2026-03"), Some("1200")]];
        let data = input("Which period was best?", &[("period", "text"), ("revenue", "numeric")], rows);
        for (text, want) in [
            ("The best was March 2026 with 1,200.", None),
            ("March 2026 was best.", None),
            ("The best was February 2026 with 1,200.", Some("February")),
        ] {
            assert_eq!(untraced(text, &given(&data)).as_deref(), want, "{text}");
        }
        let mut january = input("How many bills?", &[("bills", "bigint")], &[&[Some("5")]]);
        january.sql = Some("SELECT count(*) FROM b WHERE d >= '2026-01-01' AND d < '2026-02-01'".into());
        for (text, want) in [
            ("January had 5.", None),
            ("February had 5.", Some("February")),
            ("There were 5 in December.", Some("December")),
        ] {
            assert_eq!(untraced(text, &given(&january)).as_deref(), want, "{text}");
        }
    }
}
