//! A library: two keys to one table, a bridge, names without separators.

use airlock_plugin_sdk::harness::{Recorded, column, table};

use super::{check, refuses};

pub(super) fn library() -> Recorded {
    Recorded::new()
        .table(
            table("book")
                .columns(&[
                    ("bookid", "bigint"),
                    ("title", "text"),
                    ("pubyear", "integer"),
                    ("pages", "integer"),
                    ("homebranchid", "bigint"),
                ])
                .primary_key(&["bookid"]),
        )
        .table(
            table("writer")
                .columns(&[("writerid", "bigint"), ("fullname", "text"), ("country", "text")])
                .primary_key(&["writerid"]),
        )
        .table(
            table("book_writer")
                .columns(&[("bookid", "bigint"), ("writerid", "bigint")])
                .primary_key(&["bookid", "writerid"]),
        )
        .table(
            table("branch")
                .columns(&[("branchid", "bigint"), ("name", "text"), ("town", "text")])
                .primary_key(&["branchid"]),
        )
        .table(
            table("member")
                .columns(&[
                    ("memberid", "bigint"),
                    ("fullname", "text"),
                    ("joined_on", "date"),
                    ("birthdate", "date"),
                    ("branchid", "bigint"),
                ])
                .primary_key(&["memberid"])
                .synonyms(&["reader"]),
        )
        .table(
            table("loan")
                .columns(&[
                    ("loanid", "bigint"),
                    ("bookid", "bigint"),
                    ("memberid", "bigint"),
                    ("loandate", "date"),
                    ("returned_on", "date"),
                    ("fine", "numeric"),
                ])
                .primary_key(&["loanid"])
                .synonyms(&["borrowing"]),
        )
        .join("book_writer.bookid", "book.bookid")
        .join("book_writer.writerid", "writer.writerid")
        .join("book.homebranchid", "branch.branchid")
        .join("member.branchid", "branch.branchid")
        .join("loan.bookid", "book.bookid")
        .join("loan.memberid", "member.memberid")
        .values("branch.town", &["Leeds", "York"])
        .values("writer.country", &["Norway", "Chile"])
}

#[test]
fn questions_of_a_library() {
    check(
        &library(),
        &[
            ("How many books are there?", "SELECT count(*) AS book_count FROM book AS b"),
            (
                "titles of books with more than 300 pages",
                "SELECT b.title FROM book AS b WHERE b.pages > 300 ORDER BY b.title, b.bookid",
            ),
            (
                "How many loans were there per branch?",
                "refused: The question can be read in more than one way: the tables join in more than one way (loan.bookid or loan.memberid).",
            ),
            (
                "Which writer has written the most books?",
                "SELECT w.fullname, count(DISTINCT b.bookid) AS book_count FROM book_writer AS bw JOIN writer AS w ON w.writerid = bw.writerid JOIN book AS b ON b.bookid = bw.bookid GROUP BY w.fullname, w.writerid ORDER BY book_count DESC, w.writerid LIMIT 1",
            ),
            (
                "How many readers joined in 2025?",
                "SELECT count(*) AS member_count FROM member AS m WHERE m.joined_on >= DATE '2025-01-01' AND m.joined_on < DATE '2026-01-01'",
            ),
            (
                "average fine per month in 2026",
                "refused: The question can be read in more than one way: loan has several dates (`loandate`, `returned_on`).",
            ),
            ("What is the average fine?", "SELECT avg(l.fine) AS average_fine FROM loan AS l"),
            (
                "How many members does each branch have?",
                "SELECT b.name, count(*) AS member_count FROM member AS m JOIN branch AS b ON b.branchid = m.branchid GROUP BY b.name, b.branchid ORDER BY member_count DESC, b.name, b.branchid",
            ),
            (
                "What is the average number of loans per member?",
                "SELECT avg(loan_count) AS average_loan_count FROM ( SELECT count(*) AS loan_count FROM loan AS l JOIN member AS m ON m.memberid = l.memberid GROUP BY m.fullname, m.memberid ) AS counts",
            ),
            (
                "members in Leeds",
                "SELECT m.fullname FROM member AS m JOIN branch AS b ON b.branchid = m.branchid WHERE b.town = 'Leeds' ORDER BY m.fullname, m.memberid",
            ),
            (
                "Which members have never borrowed a book?",
                "SELECT m.fullname FROM member AS m WHERE NOT EXISTS ( SELECT 1 FROM loan AS l JOIN book AS b ON b.bookid = l.bookid WHERE m.memberid = l.memberid) ORDER BY m.fullname, m.memberid",
            ),
            (
                "How many members have never had a loan?",
                "SELECT count(*) AS member_count FROM member AS m WHERE NOT EXISTS ( SELECT 1 FROM loan AS l WHERE m.memberid = l.memberid)",
            ),
            (
                "Who is the youngest member?",
                "SELECT m.fullname, m.birthdate FROM member AS m ORDER BY m.birthdate DESC NULLS LAST, m.memberid LIMIT 1",
            ),
            (
                "books by pages in descending order",
                "SELECT b.title, b.pages FROM book AS b ORDER BY b.pages DESC NULLS LAST, b.title, b.bookid",
            ),
            (
                "List all books ordered by pages in descending order",
                "SELECT b.title, b.pages FROM book AS b ORDER BY b.pages DESC NULLS LAST, b.title, b.bookid",
            ),
        ],
    );
}

#[test]
fn a_library_knows_no_weather() {
    refuses(
        &library(),
        &[
            ("How many books were returned because of rain?", &["because", "rain"]),
            ("Who wrote the novel \"Dune\"?", &["novel"]),
            ("ebook downloads per branch", &["ebook", "downloads"]),
        ],
    );
}

/// Loans with a state that is spelled like a binding word, and a contract between members and books.
fn states() -> Recorded {
    let mut state = column("state", "text");
    state.enum_labels = vec!["in".into(), "out".into(), "lost".into()];
    Recorded::new()
        .table(
            table("member")
                .columns(&[("memberid", "bigint"), ("fullname", "text"), ("since_on", "date")])
                .primary_key(&["memberid"]),
        )
        .table(table("book").columns(&[("bookid", "bigint"), ("title", "text")]).primary_key(&["bookid"]))
        .table(
            table("loan")
                .columns(&[
                    ("loanid", "bigint"),
                    ("bookid", "bigint"),
                    ("memberid", "bigint"),
                    ("starts_on", "date"),
                ])
                .column(state)
                .primary_key(&["loanid"]),
        )
        .table(
            table("librarian")
                .columns(&[("librarianid", "bigint"), ("fullname", "text"), ("hired_on", "date")])
                .primary_key(&["librarianid"]),
        )
        .join("loan.bookid", "book.bookid")
        .join("loan.memberid", "member.memberid")
        .values("book.title", &["Dune", "Emma"])
}

#[test]
fn a_binding_word_may_be_a_state() {
    check(
        &states(),
        &[
            ("How many loans are out?", "SELECT count(*) AS loan_count FROM loan AS l WHERE l.state = 'out'"),
            (
                "How many loans are still in?",
                "SELECT count(*) AS loan_count FROM loan AS l WHERE l.state = 'in'",
            ),
            (
                "How many loans are not out?",
                "SELECT count(*) AS loan_count FROM loan AS l WHERE l.state IS DISTINCT FROM 'out'",
            ),
            (
                "How many out loans are there?",
                "SELECT count(*) AS loan_count FROM loan AS l WHERE l.state = 'out'",
            ),
            (
                "How many loans were in 2025?",
                "SELECT count(*) AS loan_count FROM loan AS l WHERE l.starts_on >= DATE '2025-01-01' AND l.starts_on < DATE '2026-01-01'",
            ),
            ("How many members are out?", "refused: Nothing in this data is known by `out`."),
            (
                "loans out by member",
                "SELECT m.fullname, count(*) AS loan_count FROM loan AS l JOIN member AS m ON m.memberid = l.memberid WHERE l.state = 'out' GROUP BY m.fullname, m.memberid ORDER BY loan_count DESC, m.fullname, m.memberid",
            ),
            ("How many loans do we have out?", "refused: Nothing in this data is known by `out`."),
        ],
    );
}

#[test]
fn a_time_said_of_a_deed_is_that_of_the_deed() {
    check(
        &states(),
        &[
            (
                "Which members hired \"Dune\" in 2025?",
                "SELECT m.fullname FROM member AS m WHERE EXISTS ( SELECT 1 FROM loan AS l JOIN book AS b ON b.bookid = l.bookid WHERE m.memberid = l.memberid AND b.title = 'Dune' AND l.starts_on >= DATE '2025-01-01' AND l.starts_on < DATE '2026-01-01') ORDER BY m.fullname, m.memberid",
            ),
            (
                "Which members borrowed Dune in 2025?",
                "SELECT m.fullname FROM member AS m WHERE EXISTS ( SELECT 1 FROM loan AS l JOIN book AS b ON b.bookid = l.bookid WHERE m.memberid = l.memberid AND b.title = 'Dune' AND l.starts_on >= DATE '2025-01-01' AND l.starts_on < DATE '2026-01-01') ORDER BY m.fullname, m.memberid",
            ),
            (
                "How many members borrowed Dune in 2025?",
                "SELECT count(*) AS member_count FROM member AS m WHERE EXISTS ( SELECT 1 FROM loan AS l JOIN book AS b ON b.bookid = l.bookid WHERE m.memberid = l.memberid AND b.title = 'Dune' AND l.starts_on >= DATE '2025-01-01' AND l.starts_on < DATE '2026-01-01')",
            ),
            (
                "In 2025, which members borrowed Dune?",
                "SELECT m.fullname FROM member AS m WHERE EXISTS ( SELECT 1 FROM loan AS l JOIN book AS b ON b.bookid = l.bookid WHERE m.memberid = l.memberid AND b.title = 'Dune' AND l.starts_on >= DATE '2025-01-01' AND l.starts_on < DATE '2026-01-01') ORDER BY m.fullname, m.memberid",
            ),
            (
                "Which members who joined in 2025 borrowed Dune?",
                "SELECT m.fullname FROM member AS m WHERE m.since_on >= DATE '2025-01-01' AND m.since_on < DATE '2026-01-01' AND EXISTS ( SELECT 1 FROM loan AS l JOIN book AS b ON b.bookid = l.bookid WHERE m.memberid = l.memberid AND b.title = 'Dune') ORDER BY m.fullname, m.memberid",
            ),
            (
                "Which members since 2025 borrowed Dune?",
                "SELECT m.fullname FROM member AS m WHERE m.since_on >= DATE '2025-01-01' AND EXISTS ( SELECT 1 FROM loan AS l JOIN book AS b ON b.bookid = l.bookid WHERE m.memberid = l.memberid AND b.title = 'Dune') ORDER BY m.fullname, m.memberid",
            ),
            ("How many members joined in 2025?", "refused: Nothing in this data is known by `joined`."),
            (
                "Which members never borrowed Dune in 2025?",
                "refused: Without a model this kind of question is not composed: what was not done, by what it was done to.",
            ),
            (
                "Which books did members borrow in 2025?",
                "SELECT b.title FROM book AS b WHERE EXISTS ( SELECT 1 FROM loan AS l JOIN member AS m ON m.memberid = l.memberid WHERE b.bookid = l.bookid AND l.starts_on >= DATE '2025-01-01' AND l.starts_on < DATE '2026-01-01') ORDER BY b.title, b.bookid",
            ),
        ],
    );
}
