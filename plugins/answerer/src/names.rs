//! Whether each name of a sentence comes from somewhere.

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::time::{Date, MONTHS};
use airlock_plugin_sdk::words;

use crate::dates;
use crate::label::label;

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

/// The first name of `text` that neither the rows, nor the question, nor the query has: a word with a capital, what stands in
/// quotes, or a month that no date of them is in.
pub fn untraced(text: &str, input: &AnswerInput) -> Option<String> {
    let (known, months) = (known(input), months(input));
    let is_known = |word: &str| {
        known.iter().any(|known| known == word || *known == words::singular(word)) || COMMON.contains(&word)
    };
    let found = words::words(text);
    found.into_iter().find_map(|word| {
        let plain = word.text.strip_suffix("'s").or(word.text.strip_suffix("’s")).unwrap_or(&word.text);
        let written = text.get(word.span.clone())?;
        let before = text.get(..word.span.start)?.trim_end();
        let capital = written.starts_with(char::is_uppercase);
        let month = MONTHS.iter().any(|month| month.eq_ignore_ascii_case(plain));
        let plain_opener =
            || opens(before) && !month && (is_one_of(OPENERS, plain) || is_one_of(ADVERBS, plain));
        let quoted = before.len() + 1 >= word.span.start && before.ends_with(['"', '“', '‘']);
        let named = (capital && !plain_opener()) || quoted;
        let of_a_date = || capital && months.iter().any(|month| month.starts_with(plain) && plain.len() > 2);
        (named && !is_known(plain) && !of_a_date()).then(|| written.to_owned())
    })
}

/// The months, in lower case, of the dates that stand in the rows, the question and what was assumed, written to the day or
/// to the month, and of the days that the query means.
pub fn months(input: &AnswerInput) -> Vec<String> {
    let texts = input.rows.iter().flatten().flatten().chain(&input.assumptions);
    let mut numbers: Vec<u8> =
        input.sql.iter().flat_map(|sql| dates::of_query(sql)).map(Date::month).collect();
    for text in texts.chain([&input.question]) {
        for written in text.split(|c: char| !c.is_ascii_digit() && c != '-') {
            if let Some(date) = Date::parse(written) {
                numbers.push(date.month());
            } else if let Some(first) = Date::parse(&format!("{written}-01")) {
                numbers.push(first.month());
            }
        }
    }
    for (at, column) in input.columns.iter().enumerate() {
        if column.name.to_lowercase().contains("month") {
            let cells = input.rows.iter().filter_map(|row| row.get(at)?.as_deref());
            numbers.extend(cells.filter_map(|cell| cell.parse::<u8>().ok()));
        }
    }
    let name = |number: &u8| MONTHS.get(usize::from(number.checked_sub(1)?)).map(|name| name.to_lowercase());
    numbers.iter().filter_map(name).collect()
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Whether what stands before a word ends a sentence, or nothing does.
fn opens(before: &str) -> bool {
    let before = before.trim_end_matches(['"', '“', '‘', '\'', '(']).trim_end();
    before.is_empty() || before.ends_with(['.', '!', '?', ':', ';', '-', '–', ')']) || before.ends_with('\n')
}

/// Every word of the rows, the question, the query, its columns as they are and written out, and what was assumed, in lower
/// case.
pub fn known(input: &AnswerInput) -> Vec<String> {
    let cells = input.rows.iter().flatten().flatten().map(String::as_str);
    let columns = input.columns.iter().map(|column| column.name.as_str());
    let labels: Vec<String> = input.columns.iter().map(|column| label(&column.name, input)).collect();
    let texts = cells
        .chain(columns)
        .chain(labels.iter().map(String::as_str))
        .chain([input.question.as_str()])
        .chain(input.sql.as_deref())
        .chain(input.assumptions.iter().map(String::as_str));
    let mut known = Vec::new();
    for text in texts {
        for word in words::words(text) {
            known.extend(words::identifier_words(&word.text));
            known.push(words::singular(&word.text));
            known.push(word.text);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::input;

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
        data.sql = Some("SELECT a FROM b WHERE status = 'PAID' AND day < '2026-04-01'".into());
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
            ("In March Navkar led.", None),
            ("1. Navkar Traders\n2. Shree Steel", None),
            ("no names at all", None),
        ] {
            assert_eq!(untraced(text, &data).as_deref(), want, "{text}");
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
            assert_eq!(untraced(text, &data).as_deref(), want, "{text}");
        }
        let mut january = input("How many bills?", &[("bills", "bigint")], &[&[Some("5")]]);
        january.sql = Some("SELECT count(*) FROM b WHERE d >= '2026-01-01' AND d < '2026-02-01'".into());
        for (text, want) in [
            ("January had 5.", None),
            ("February had 5.", Some("February")),
            ("There were 5 in December.", Some("December")),
        ] {
            assert_eq!(untraced(text, &january).as_deref(), want, "{text}");
        }
    }
}
