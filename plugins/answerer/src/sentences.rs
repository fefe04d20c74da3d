//! A text sentence by sentence: those that are borne out stay.

use std::ops::Range;

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::words;

use crate::claims::Claims;
use crate::given::Given;
use crate::ground::occurrences;
use crate::{names, pairs, trace};

/// Words that open a sentence which speaks of the one before it.
const LEANING: [&str; 25] = [
    "also",
    "and",
    "but",
    "followed",
    "he",
    "her",
    "his",
    "however",
    "instead",
    "it",
    "its",
    "meanwhile",
    "moreover",
    "next",
    "she",
    "similarly",
    "so",
    "such",
    "that",
    "their",
    "them",
    "then",
    "these",
    "they",
    "this",
];

/// What stays of a text, and why each sentence that does not was left out. A sentence that leans on one which was left out
/// goes with it.
pub fn borne(text: &str, given: &Given<'_>) -> (String, Vec<String>) {
    let claims = Claims::of(given);
    let (mut kept, mut left_out) = (String::new(), Vec::new());
    let mut broken = false;
    for span in sentences(text, given.input) {
        let sentence = text.get(span).unwrap_or_default();
        let leans =
            words::words(sentence).first().is_some_and(|first| LEANING.contains(&first.text.as_str()));
        let flaw = if broken && leans {
            Some("it leans on a sentence that is left out".to_owned())
        } else {
            flaw(sentence, &kept, given, &claims)
        };
        broken = flaw.is_some();
        match flaw {
            Some(why) => left_out.push(why),
            None => kept.push_str(sentence),
        }
    }
    (kept.trim().to_owned(), left_out)
}

/// Why a sentence cannot be used behind what was said before it.
fn flaw(sentence: &str, before: &str, given: &Given<'_>, claims: &Claims<'_>) -> Option<String> {
    if let Some(number) = trace::untraced(sentence, given) {
        return Some(format!("{number} is in neither the rows nor the query"));
    }
    if let Some(name) = names::untraced(sentence, given) {
        return Some(format!("{name} is a name that neither the rows nor the query has"));
    }
    if let Some(word) = claims.unborne(sentence, before) {
        return Some(format!("the rows do not bear out `{word}`"));
    }
    let number = pairs::mispaired(&format!("{before}{sentence}"), given)?;
    Some(format!("{number} stands beside the name of another row"))
}

/// The sentences and lines of a text, with the space behind them. A full stop inside a value of the rows, behind a number that
/// opens a line, or before a small letter ends none.
fn sentences(text: &str, input: &AnswerInput) -> Vec<Range<usize>> {
    let cells: Vec<Range<usize>> = input
        .rows
        .iter()
        .flatten()
        .flatten()
        .filter(|cell| cell.contains(['.', '!', '?']))
        .flat_map(|cell| occurrences(text, cell).collect::<Vec<_>>())
        .collect();
    let mut found = Vec::new();
    let (mut start, mut line) = (0, 0);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let behind = text.get(end..).unwrap_or_default();
        let stops = matches!(c, '.' | '!' | '?')
            && behind.starts_with(char::is_whitespace)
            && !behind.trim_start().starts_with(char::is_lowercase)
            && !cells.iter().any(|cell| cell.contains(&at) && end < cell.end)
            && text
                .get(line..at)
                .is_some_and(|head| head.contains(|c: char| !c.is_ascii_digit() && c != ' '));
        if c == '\n' {
            line = end;
        }
        if stops || c == '\n' {
            found.push(start..end);
            start = end;
        }
    }
    found.push(start..text.len());
    found.retain(|span: &Range<usize>| text.get(span.clone()).is_some_and(|text| !text.trim().is_empty()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{given, input};

    fn left_out(text: &str, data: &AnswerInput) -> Vec<String> {
        borne(text, &given(data)).1
    }

    #[test]
    fn good_prose_stays() {
        let products: &[&[Option<&str>]] = &[
            &[Some("Hammer 500 g"), Some("1200"), Some("90.50")],
            &[Some("Nails"), Some("900"), Some("40")],
            &[Some("Nails long"), Some("7"), Some("40")],
        ];
        let products = input(
            "Which 3 products sold most?",
            &[("name", "text"), ("units", "bigint"), ("revenue", "numeric")],
            products,
        );
        let products = AnswerInput {
            sql: Some("SELECT name, units, revenue FROM products ORDER BY units DESC LIMIT 3".into()),
            ..products
        };
        for text in [
            "Hammer 500 g leads with 1,200 units, followed by Nails with 900.",
            "With 1,200 units, Hammer 500 g leads; Nails follows with 900.",
            "1,200 of Hammer 500 g and 900 of Nails were sold.",
            "Hammer 500 g leads. It sold 1,200 for 90.50.",
            "Nails long sold 7, Nails 900.",
            "Nails and Nails long brought 40 each.",
            "All 3 sold: Hammer 500 g 1,200, Nails 900, Nails long 7.",
            "1. Hammer 500 g: 1,200\n2. Nails: 900",
            "The most was 1,200.",
            "Hammer 500 g is 300 ahead of Nails.",
            "The 3 products that sold most are Hammer 500 g (1,200 units), Nails (900) and Nails long (7).",
            "The top 3 products are:\n- Hammer 500 g: 1,200 units\n- Nails: 900 units\n- Nails long: 7 units",
            "Together, the 3 products sold 2,107 units.",
            "Hammer 500 g has the highest revenue at 90.50.",
            "Hammer 500 g sold more units than Nails.",
        ] {
            assert_eq!(left_out(text, &products), Vec::<String>::new(), "{text}");
        }
        let customers: &[&[Option<&str>]] = &[
            &[Some("Navkar Traders"), Some("Pune"), Some("1200")],
            &[Some("Shree Steel"), Some("Surat"), Some("900")],
        ];
        let mut customers = input(
            "Which customers of Gujarat bought most in April?",
            &[("customer_name", "text"), ("city", "text"), ("revenue", "numeric")],
            customers,
        );
        customers.sql = Some(
            "SELECT customer_name, city, revenue FROM customers JOIN bills USING (id) WHERE status = 'PAID' AND state = 'Gujarat' \
             AND day >= '2026-04-01' AND day < '2026-05-01' ORDER BY revenue DESC"
                .into(),
        );
        for text in [
            "Navkar Traders of Pune leads with 1,200.",
            "The leader is Navkar Traders, before Shree Steel's 900.",
            "In April the customers of Gujarat with Paid bills were led by Navkar Traders.",
            "In April Navkar Traders led.",
            "Notably, Navkar Traders leads.",
            "1. Navkar Traders\n2. Shree Steel",
            "Navkar Traders bought the most in April, with revenue of 1,200.",
            "The customer who bought most in April is Navkar Traders from Pune, with 1,200, followed by Shree Steel from Surat \
             with 900.",
        ] {
            assert_eq!(left_out(text, &customers), Vec::<String>::new(), "{text}");
        }
        let mut single =
            input("How many bills were raised in July 2026?", &[("count", "bigint")], &[&[Some("214")]]);
        assert_eq!(left_out("214 bills were raised in July 2026.", &single).len(), 1);
        single.sql =
            Some("SELECT count(*) FROM bills WHERE day >= '2026-07-01' AND day < '2026-08-01'".into());
        for text in [
            "214 bills were raised in July 2026.",
            "There were 214 bills raised in July 2026.",
            "In July 2026, a total of 214 bills were raised.",
            "The number of bills raised in July 2026 is 214.",
        ] {
            assert_eq!(left_out(text, &single), Vec::<String>::new(), "{text}");
        }
        let mut average =
            input("What is the average amount?", &[("avg", "numeric")], &[&[Some("3428.8677")]]);
        average.sql = Some("SELECT avg(amount) FROM bills".into());
        assert_eq!(left_out("The average amount is 3,428.87.", &average), Vec::<String>::new());
    }

    #[test]
    fn what_follows_from_the_rows_stays_and_its_like_goes() {
        let mut others: Vec<String> = Vec::new();
        let rows: &[&[Option<&str>]] = &[
            &[Some("Hammer"), Some("13"), Some("700")],
            &[Some("Nails"), Some("20"), Some("500")],
            &[Some("Saw"), Some("4"), Some("300")],
        ];
        let mut products = input(
            "How did each product sell?",
            &[("product", "text"), ("bills", "bigint"), ("revenue", "numeric")],
            rows,
        );
        products.sql = Some(
            "SELECT product, count(*) AS bills, sum(amount) AS revenue FROM sales GROUP BY product".into(),
        );
        for (text, stays) in [
            ("Hammer accounts for 46.7% of the total.", true),
            ("Hammer accounts for 46.7% of total revenue.", true),
            ("Hammer makes up 46.7% and Nails 33.3% of revenue.", true),
            ("Hammer makes up 33.3% and Nails 46.7% of revenue.", false),
            ("Saw's share of revenue is 20%.", true),
            ("Saw's share of revenue is 33.3%.", false),
            ("Hammer and Nails together make 1,200.", true),
            ("Hammer and Nails made 1,200 combined.", true),
            ("Hammer and Nails brought 1,200 in total, of which 700 is Hammer's.", true),
            ("Hammer and Saw together make 1,200.", false),
            ("Hammer sold 1,200.", false),
            ("Saw sold 200.", false),
            ("Hammer brought 700 from 13 bills.", true),
            ("Hammer brought 13 from 700 bills.", false),
            ("Hammer has revenue of 13.", false),
            ("The most bills, 20, are of Nails.", true),
            ("Revenue was lowest for Saw.", true),
            ("Revenue was lowest for Nails.", false),
            ("Revenue was least for Saw, at 300.", true),
            ("Hammer earned 700 in March.", false),
            ("Hammer brought 700 a month.", false),
            ("Hammer brought $700.", false),
        ] {
            let kept = borne(text, &given(&products)).0;
            others.extend(
                (kept.is_empty() == stays).then(|| format!("{text} {:?}", left_out(text, &products))),
            );
        }
        let rows: &[&[Option<&str>]] = &[
            &[Some("2026-01-01"), Some("500")],
            &[Some("2026-02-01"), Some("300")],
            &[Some("2026-03-01"), Some("900")],
            &[Some("2026-04-01"), Some("400")],
        ];
        let mut months = input("Sales by month?", &[("month", "date"), ("sales", "numeric")], rows);
        months.sql = Some(
            "SELECT date_trunc('month', day)::date AS month, sum(amount) AS sales FROM bills GROUP BY 1 ORDER BY 1"
                .into(),
        );
        for (text, stays) in [
            ("Sales were highest in March.", true),
            ("Sales were highest in March 2026, at 900.", true),
            ("Sales were highest in April.", false),
            ("Sales peaked at 900 in March and were lowest in February.", true),
            ("The peak was 900, in March.", true),
            ("The peak was 400, in April.", false),
            ("Sales rose from January to March.", true),
            ("Sales rose by 80% from January to March.", true),
            ("Sales rose by 44.4% from January to March.", false),
            ("Sales grew from 300 in February to 900 in March, then fell to 400 in April.", true),
            ("Sales dropped from January to March.", false),
            ("Sales fell from March to April.", true),
            ("In March, sales were 900.", true),
            ("In March, 400 were sold.", false),
            ("March accounts for 42.9% of the total.", true),
            ("April accounts for 42.9% of the total.", false),
            ("January and February together make 800.", true),
            ("In March 2025, sales were 900.", false),
            ("In 2025, sales were highest in March.", false),
            ("In 2026, sales were highest in March.", true),
        ] {
            let kept = borne(text, &given(&months)).0;
            others
                .extend((kept.is_empty() == stays).then(|| format!("{text} {:?}", left_out(text, &months))));
        }
        assert!(others.is_empty(), "{}", others.join("\n"));
    }

    #[test]
    fn what_is_not_borne_out_goes_and_the_rest_stays() {
        let rows: &[&[Option<&str>]] =
            &[&[Some("Navkar Pvt. Ltd."), Some("1200")], &[Some("Shree Steel"), Some("900")]];
        let mut data =
            input("Which customers bought most?", &[("customer", "text"), ("revenue", "numeric")], rows);
        data.sql = Some(
            "SELECT customer, sum(revenue) AS revenue FROM bills WHERE d >= '2026-01-01' AND d < '2026-02-01' GROUP BY 1"
                .into(),
        );
        for (text, want) in [
            (
                "Navkar Pvt. Ltd. leads with 1,200. Revenue is up from last year.",
                "Navkar Pvt. Ltd. leads with 1,200.",
            ),
            ("Navkar Pvt. Ltd. leads with 1,200. That is 12% more.", "Navkar Pvt. Ltd. leads with 1,200."),
            (
                "In February Navkar Pvt. Ltd. led. It bought 1,200. In January Shree Steel bought 900.",
                "In January Shree Steel bought 900.",
            ),
            ("Most customers bought 900. Shree Steel bought 900.", "Shree Steel bought 900."),
            ("Shree Steel leads with 900. Navkar Pvt. Ltd. bought 1,200.", "Navkar Pvt. Ltd. bought 1,200."),
            (
                "- Navkar Pvt. Ltd.: 1,200\n- acme: 900\n- Shree Steel: 900",
                "- Navkar Pvt. Ltd.: 1,200\n- Shree Steel: 900",
            ),
            ("No customers bought. Shree Steel bought 900!", "Shree Steel bought 900!"),
            ("Shree Steel bought 900. Navkar Pvt. Ltd. bought 900.", "Shree Steel bought 900."),
            ("The answer is clear.", ""),
        ] {
            assert_eq!(borne(text, &given(&data)).0, want, "{text}");
        }
    }
}
