//! What lessons say, acted on; and what they do not say, left as it is.

use airlock_plugin_sdk::contract::generator::GenerateStep;
use airlock_plugin_sdk::contract::retrieval::Lesson;
use airlock_plugin_sdk::harness::{Recorded, table};

use super::library::library;
use super::{check, line, refuses, run};

fn taught(texts: &[&str]) -> Recorded {
    let mut host = library();
    for (at, text) in texts.iter().enumerate() {
        let (id, kind, text) = (format!("lesson:{at}"), "schema-map".to_owned(), (*text).to_owned());
        host.lessons.push(Lesson { id, kind, text, score: 1.0 });
    }
    host
}

#[test]
fn a_lesson_says_what_a_word_means() {
    let host = taught(&[
        "Here `downtowners` means `member`.",
        "Here `penalties` is computed as `sum(loan.fine)`.",
        "Here `whatsoever` asks for nothing by itself.",
        "Here `bulky` means `book.pages > 500`.",
    ]);
    check(
        &host,
        &[
            ("How many downtowners are there?", "SELECT count(*) AS member_count FROM member AS m"),
            ("How many books are there whatsoever?", "SELECT count(*) AS book_count FROM book AS b"),
            ("How many penalties are there?", "SELECT sum(l.fine) AS penalties FROM loan AS l"),
        ],
    );
    assert!(line(&host, "How many bulky books are there?").contains("pages > 500"));
}

#[test]
fn a_lesson_says_which_of_several_keys_is_meant() {
    let two_keys = |lesson: &str| {
        let host = Recorded::new()
            .table(
                table("team").columns(&[("team_id", "bigint"), ("name", "text")]).primary_key(&["team_id"]),
            )
            .table(
                table("match")
                    .columns(&[
                        ("match_id", "bigint"),
                        ("host_team_id", "bigint"),
                        ("guest_team_id", "bigint"),
                    ])
                    .primary_key(&["match_id"]),
            )
            .join("match.host_team_id", "team.team_id")
            .join("match.guest_team_id", "team.team_id");
        let (id, kind, text) = ("lesson:0".to_owned(), "schema-map".to_owned(), lesson.to_owned());
        Recorded { lessons: vec![Lesson { id, kind, text, score: 1.0 }], ..host }
    };
    let question = "How many matches does each team have?";
    let open = line(&two_keys("Nothing."), question);
    assert!(open.contains("in more than one way"), "{open}");
    let taught =
        two_keys("Each row of `match` belongs to one of `team` by `match.host_team_id = team.team_id`.");
    let settled = line(&taught, question);
    assert!(settled.contains("host_team_id") && !settled.contains("guest_team_id"), "{settled}");
    let named = line(&taught, "How many matches does each guest team have?");
    assert!(!named.contains("host_team_id"), "{named}");
}

#[test]
fn a_lesson_that_took_part_is_named() {
    let host = taught(&["Here `downtowners` means `member`.", "Here `bulky` means `book.pages > 500`."]);
    let GenerateStep::Done(draft) = run(&host, "How many downtowners are there?") else { panic!() };
    assert_eq!(draft.used, ["lesson:0"]);
    assert_eq!(draft.assumptions, ["By a lesson: Here `downtowners` means `member`."]);
}

#[test]
fn what_no_lesson_says_is_as_it_was() {
    let host = taught(&[
        "Here `downtowners` means `nowhere`.",
        "The weather was fine.",
        "Here `members` means `loan.nothing = 'X'`.",
    ]);
    refuses(&host, &[("How many downtowners are there?", &["downtowners"])]);
    for question in ["How many members are there?", "How many books are there?"] {
        assert_eq!(line(&host, question), line(&library(), question));
    }
}

#[test]
fn a_condition_by_name_restricts_together_with_what_is_said() {
    let host = taught(&["Here `fjordish` means `writer.country = 'Norway'`."]);
    check(
        &host,
        &[
            (
                "How many fjordish writers are there?",
                "SELECT count(*) AS writer_count FROM writer AS w WHERE w.country = 'Norway'",
            ),
            (
                "How many fjordish writers are in Chile?",
                "SELECT count(*) AS writer_count FROM writer AS w WHERE w.country = 'Norway' AND w.country = 'Chile'",
            ),
            (
                "How many writers are in Norway and Chile?",
                "SELECT count(*) AS writer_count FROM writer AS w WHERE w.country IN ('Norway', 'Chile')",
            ),
        ],
    );
    let two = line(&host, "How many fjordish and Chile writers are there?");
    assert!(two.starts_with("refused"), "{two}");
    let either = line(&host, "How many fjordish or Chile writers are there?");
    assert!(either.starts_with("refused") || either.contains(" OR "), "{either}");
}
