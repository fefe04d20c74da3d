//! Times of questions against a fixed clock.

use super::*;
use crate::CivilTime;
use crate::question::tokens::tokenize;

fn clock() -> Clock {
    Clock {
        now: "2026-08-20T06:00:00Z".into(),
        time_zone: "Asia/Kolkata".into(),
        local: CivilTime { year: 2026, month: 8, day: 20, hour: 11, minute: 30, second: 0, weekday: 4 },
        fiscal_year_start: 4,
    }
}

fn read(question: &str) -> String {
    let days = |date: Option<Date>| date.map_or("..".to_owned(), |date| date.to_string());
    find(&tokenize(question), &clock())
        .iter()
        .map(|found| format!("{} {}", days(found.period.from), days(found.period.until)))
        .collect::<Vec<_>>()
        .join(" | ")
}

#[test]
fn times_resolve_against_the_clock() {
    for (question, want) in [
        ("How many bills were raised in July 2026?", "2026-07-01 2026-08-01"),
        ("July 2026 - number of bills?", "2026-07-01 2026-08-01"),
        ("total revenue in 2023", "2023-01-01 2024-01-01"),
        ("revenue from 2023 to now", "2023-01-01 2026-08-21"),
        ("revenue from March 2025 till date", "2025-03-01 2026-08-21"),
        ("show me 2025 revenue", "2025-01-01 2026-01-01"),
        ("our 2025 sales in Pune", "2025-01-01 2026-01-01"),
        ("give me 2000 bills sold", ""),
        ("For the year 2023, how much", "2023-01-01 2024-01-01"),
        ("sales last month", "2026-07-01 2026-08-01"),
        ("sales last quarter", "2026-04-01 2026-07-01"),
        ("sales this year", "2026-01-01 2027-01-01"),
        ("sales YTD", "2026-01-01 2026-08-21"),
        ("sales year to date", "2026-01-01 2026-08-21"),
        ("trailing twelve months of revenue", "2025-08-20 2026-08-21"),
        ("yesterday", "2026-08-19 2026-08-20"),
        ("between March and May 2025", "2025-03-01 2025-06-01"),
        ("from Jan 1, 2023 to Mar 31, 2023", "2023-01-01 2023-04-01"),
        ("between 2023-04-01 and 2023-04-03", "2023-04-01 2023-04-04"),
        ("since March", "2026-03-01 .."),
        ("after 2022", "2023-01-01 .."),
        ("before 4 July 2024", ".. 2024-07-04"),
        ("on or after Apr 1, 2023", "2023-04-01 .."),
        ("this fiscal year", "2026-04-01 2027-04-01"),
        ("last fiscal year", "2025-04-01 2026-04-01"),
        ("FY25", "2025-04-01 2026-04-01"),
        ("in the 1st quarter of 2023", "2023-01-01 2023-04-01"),
        ("in Q4", "2025-10-01 2026-01-01"),
        ("in the past 30 days", "2026-07-22 2026-08-21"),
        ("in the last 7 days", "2026-08-14 2026-08-21"),
        ("Q1 FY 2026-27", "2026-04-01 2026-07-01"),
        ("in Q4 of this fiscal year", "2027-01-01 2027-04-01"),
        ("revenue in 2025-26", "2025-04-01 2026-04-01"),
        ("bills on 15/07/2026", "2026-07-15 2026-07-16"),
        ("bills on 05/07/2026", "2026-07-05 2026-07-06"),
        ("revenue in 07/2026", "2026-07-01 2026-08-01"),
        ("last 3 calendar months", "2026-05-01 2026-08-01"),
        ("last week", "2026-08-10 2026-08-17"),
        ("last week (exclusive of the current week)", "2026-08-10 2026-08-17"),
        ("in December", "2025-12-01 2026-01-01"),
        ("the past 7 days, inclusive of today", "2026-08-14 2026-08-21"),
        ("in the past 30 days, inclusive of 30 days ago?", "2026-07-21 2026-08-21"),
        ("two months ago", "2026-06-01 2026-07-01"),
        ("2024 versus 2025", "2024-01-01 2025-01-01 | 2025-01-01 2026-01-01"),
        ("in the first half of last year", "2025-01-01 2025-07-01"),
        ("the last 10 calendar months (not including the current month)", "2025-10-01 2026-08-01"),
    ] {
        assert_eq!(read(question), want, "{question}");
    }
}

#[test]
fn other_numbers_and_words_are_no_times() {
    for question in [
        "more than 2000 points",
        "students who may drop",
        "the last customer",
        "top 5 products",
        "products over 1990 rupees",
        "the most recent order",
        "\"1984\"",
        "with 2020 members or more",
    ] {
        assert_eq!(read(question), "", "{question}");
    }
}
