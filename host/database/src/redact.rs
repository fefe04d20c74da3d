//! Values of rows are cut out of what the server says before a model or an asker reads it.
//!
//! Names and positions pass. An error with a position was raised while the text was read, so all it can quote is the text.
//! Without a position PostgreSQL may quote data (`invalid input syntax for type integer: "..."`, also through
//! `col::regclass`), so a quoted piece stays only when the query itself holds it, and of the rest only PostgreSQL's own
//! words. Text that code of the database raised (`RAISE`) can be anything and is withheld.

mod words;

use crate::wire::ServerError;

/// What stands for a value that was cut out.
const CUT: &str = "…";

/// The message without values of rows. `sql` is the text that failed.
pub(crate) fn message(error: &ServerError, sql: &str) -> String {
    if raised_by_user_code(error) {
        return "a function of the database raised an error; its text is withheld because it may quote rows"
            .to_owned();
    }
    if error.position.is_some() {
        return match &error.detail {
            Some(detail) if error.code.starts_with("42") => format!("{} ({detail})", error.message),
            _ => error.message.clone(),
        };
    }
    // Bytes in a wrong encoding are shown without quotes.
    if matches!(error.code.as_str(), "22021" | "22P05" | "22P03" | "22P04") {
        return match error.message.split_once("0x") {
            Some((before, _)) => format!("{before}{CUT}"),
            None => error.message.clone(),
        };
    }
    // A syntax error without a position is one of data that is read as a path, a pattern or an hstore: it quotes scraps.
    let of_data = error.code.starts_with('2') || error.code == "42601";
    without_foreign_quotes(&error.message, of_data, speaks_of_values(&error.code), sql)
}

/// Whether a message of this code may have been made of values, when it has no position. One about rights names relations
/// and functions; one about sessions, limits of the server or connections has no row to speak of.
fn speaks_of_values(code: &str) -> bool {
    const CLASSES: [&str; 14] =
        ["0A", "20", "21", "22", "23", "2B", "2F", "34", "38", "39", "42", "44", "54", "XX"];
    code != "42501" && CLASSES.iter().any(|class| code.starts_with(class))
}

/// The hint, which names things and quotes nothing, unless user code wrote it.
pub(crate) fn hint(error: &ServerError) -> Option<String> {
    error.hint.clone().filter(|_| !raised_by_user_code(error))
}

fn raised_by_user_code(error: &ServerError) -> bool {
    // P0001 to P0004 are RAISE, ASSERT and their like; RAISE can choose any other code, but not its routine. The other
    // routines pass on what a script or another server said.
    const PASSING_ON: &[&str] =
        &["exec_stmt_raise", "exec_stmt_assert", "throw_tcl_error", "pgfdw_report_error", "dblink_res_error"];
    error.code.starts_with("P0")
        || PASSING_ON.contains(&error.routine.as_str())
        || ["PLy", "plperl", "pltcl"].iter().any(|language| error.routine.starts_with(language))
}

/// Cuts what stands between the first and the last quote, for data can hold quotes itself, so pairs mean nothing; and
/// outside them, in a message that may speak of values, whatever are not PostgreSQL's own words.
fn without_foreign_quotes(message: &str, literals_only: bool, of_values: bool, sql: &str) -> String {
    let outside = |text: &str| if of_values { words::own(text) } else { text.to_owned() };
    let (Some(first), Some(last)) = (message.find('"'), message.rfind('"')) else {
        return outside(message);
    };
    let (Some(before), Some(quoted), Some(after)) =
        (message.get(..first), message.get(first + 1..last), message.get(last + 1..))
    else {
        return outside(message.split('"').next().unwrap_or_default()) + CUT;
    };
    let literal = format!("'{}'", quoted.replace('\'', "''"));
    let own = sql.contains(&literal) || (!literals_only && is_word_of(quoted, sql));
    let quoted = if own { quoted } else { CUT };
    format!("{}\"{quoted}\"{}", outside(before), outside(after))
}

/// Whether the text holds this, not as a part of a longer word: a letter is in every text.
fn is_word_of(quoted: &str, sql: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !quoted.is_empty()
        && sql.match_indices(quoted).any(|(at, _)| {
            let before = sql.get(..at).and_then(|before| before.chars().next_back());
            let after = sql.get(at + quoted.len()..).and_then(|after| after.chars().next());
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_rows_go_and_literals_of_the_query_stay() {
        let sql = "SELECT total::int, to_date('2026-13-45', 'YYYY-MM-DD') FROM bills WHERE n = 'abc'";
        for (code, position, text, want) in [
            (
                "22P02",
                None,
                r#"invalid input syntax for type integer: "Ada Lovelace""#,
                r#"invalid input syntax for type integer: "…""#,
            ),
            (
                "22P02",
                None,
                r#"invalid input syntax for type integer: "a "quoted" name""#,
                r#"invalid input syntax for type integer: "…""#,
            ),
            (
                "22P02",
                Some(8),
                r#"invalid input syntax for type integer: "abc""#,
                r#"invalid input syntax for type integer: "abc""#,
            ),
            (
                "22P02",
                None,
                r#"invalid input syntax for type integer: "abc""#,
                r#"invalid input syntax for type integer: "abc""#,
            ),
            (
                "22P02",
                None,
                r#"invalid input syntax for type integer: "total""#,
                r#"invalid input syntax for type integer: "…""#,
            ),
            (
                "22008",
                None,
                r#"date/time field value out of range: "2026-13-45""#,
                r#"date/time field value out of range: "2026-13-45""#,
            ),
            ("22007", None, r#"invalid value "xx" for "YYYY""#, r#"invalid value "…""#),
            ("22003", None, "integer out of range", "integer out of range"),
            (
                "23505",
                None,
                r#"duplicate key value violates unique constraint "k""#,
                r#"duplicate key value violates unique constraint "…""#,
            ),
            ("42P01", None, r#"relation "Ada Lovelace" does not exist"#, r#"relation "…" does not exist"#),
            ("42P01", Some(3), r#"relation "bils" does not exist"#, r#"relation "bils" does not exist"#),
            ("42501", None, "permission denied for table bills", "permission denied for table bills"),
            (
                "22021",
                None,
                r#"invalid byte sequence for encoding "UTF8": 0x41 0x42"#,
                r#"invalid byte sequence for encoding "UTF8": …"#,
            ),
            ("22P02", None, r#"odd " quote"#, r#"odd …"#),
            (
                "42601",
                None,
                r#"syntax error at or near "n" of jsonpath input"#,
                r#"syntax error at or near "…" of jsonpath input"#,
            ),
            (
                "42601",
                None,
                r#"syntax error in hstore, near "E" at position 0"#,
                r#"syntax error in hstore, near "…" at position …"#,
            ),
            ("42P01", None, r#"relation "ill" does not exist"#, r#"relation "…" does not exist"#),
            ("42P01", None, r#"relation "bills" does not exist"#, r#"relation "bills" does not exist"#),
            (
                "2201B",
                None,
                "invalid regular expression: quantifier operand invalid",
                "invalid regular expression: quantifier operand invalid",
            ),
            ("22008", None, "date field value out of range: 2026-02-30", "date field value out of range: …"),
        ] {
            let error =
                ServerError { code: code.into(), message: text.into(), position, ..ServerError::default() };
            assert_eq!(message(&error, sql), want, "{code} {text}");
        }
    }

    #[test]
    fn what_user_code_raises_is_withheld_whatever_its_code() {
        for (code, routine) in [("P0001", "exec_stmt_raise"), ("22012", "exec_stmt_raise"), ("P0004", "")] {
            let error = ServerError {
                code: code.into(),
                routine: routine.into(),
                message: "Ada Lovelace owes 12".into(),
                hint: Some("ask Ada".into()),
                ..ServerError::default()
            };
            assert!(!message(&error, "").contains("Ada"));
            assert_eq!(hint(&error), None);
        }
    }

    #[test]
    fn the_detail_helps_where_it_can_only_speak_of_the_text() {
        let mut error = ServerError {
            code: "42P01".into(),
            message: "invalid reference".into(),
            detail: Some("it cannot be referenced from this part of the query".into()),
            position: Some(4),
            ..ServerError::default()
        };
        assert!(message(&error, "").contains("cannot be referenced"));
        error.position = None;
        assert!(!message(&error, "").contains("cannot be referenced"));
    }
}
