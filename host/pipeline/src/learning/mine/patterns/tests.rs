//! What counting finds in a little use.

use airlock_gate::Folding;
use airlock_knowledge::store::ItemId;
use airlock_types::TableRef;

use super::*;

fn column(name: &str) -> ColumnRef {
    let (table, column) = name.split_once('.').unwrap();
    ColumnRef { table: TableRef::new("shop", table), column: column.to_owned() }
}

/// Facts of `table.column` words and of `table.column = 'V'` conditions.
fn facts(sql: &str) -> Option<Facts> {
    let mut facts = Facts::default();
    let words: Vec<&str> = sql.split_whitespace().collect();
    for (at, word) in words.iter().enumerate().filter(|(_, word)| word.contains('.')) {
        let column = column(word.trim_matches(','));
        if !facts.tables.contains(&column.table) {
            facts.tables.push(column.table.clone());
        }
        if let Some(value) = words.get(at + 2).filter(|value| value.starts_with('\'')) {
            let literal = value.trim_matches('\'').to_owned();
            let (operator, column) = ("=".to_owned(), column.clone());
            let folded = Folding::default();
            facts.literals.push(ComparedLiteral { column, operator, folded, literal, span: 0..0 });
        }
        facts.columns.push(column);
    }
    Some(facts)
}

fn signal(question: &str, sql: Option<&str>, outcome: &str) -> Seen {
    let (question, sql, outcome) = (Some(question.to_owned()), sql.map(str::to_owned), outcome.to_owned());
    Seen { id: ItemId::now().to_string(), question, sql, outcome, failed: false }
}

fn corrected(question: &str, wrong: &str, right: &str) -> Told {
    Told {
        id: ItemId::now().to_string(),
        ask: ItemId::now().to_string(),
        question: Some(question.to_owned()),
        sql: Some(wrong.to_owned()),
        corrected_sql: Some(right.to_owned()),
    }
}

fn found(signals: &[Seen], feedback: &[Told]) -> Vec<(PatternKind, String)> {
    let usage = Usage {
        signals,
        feedback,
        facts: &facts,
        known: &|word| word == "bills",
        joined: &|_, _| false,
        unique: &|column| column.column == "id",
    };
    usage.patterns().into_iter().map(|pattern| (pattern.kind, pattern.says)).collect()
}

#[test]
fn what_is_seen_once_is_no_pattern() {
    let join = "SELECT bills.total FROM shop.bills JOIN shop.staff ON bills.cashier = staff.id";
    assert_eq!(found(&[signal("Who sold?", Some(join), "answered")], &[]), []);
    let once = corrected(
        "Bills in California",
        "SELECT bills.total",
        "SELECT bills.total FROM x WHERE bills.state = 'CA'",
    );
    assert_eq!(found(&[], &[once]), []);
}

#[test]
fn corrections_of_one_ask_are_one_and_what_shares_nothing_is_none() {
    let told = |right: &str| corrected("Bills", "SELECT bills.total", right);
    let says = |feedback: &[Told]| -> Vec<String> {
        found(&[], feedback)
            .into_iter()
            .filter(|(kind, _)| *kind == PatternKind::Correction)
            .map(|(_, says)| says)
            .collect()
    };
    let (one, other) = (told("SELECT bills.net"), told("SELECT bills.net , bills.tax"));
    let same_ask = Told { ask: one.ask.clone(), ..other.clone() };
    assert_eq!(says(&[one.clone(), same_ask]), Vec::<String>::new());
    assert_eq!(
        says(&[one.clone(), other]),
        ["2 answers over shop.bills were corrected; what is right reads shop.bills.net each time."]
    );
    assert_eq!(says(&[one, told("SELECT bills.tax")]), Vec::<String>::new());
}

#[test]
fn a_word_of_grammar_is_given_no_meaning() {
    let told = |word: &str| {
        let of = |n: u8| format!("{word} of {n}");
        let wrong = "SELECT bills.total";
        let right = "SELECT bills.total FROM x WHERE bills.state = 'CA'";
        found(&[], &[corrected(&of(1), wrong, right), corrected(&of(2), wrong, right)])
    };
    let term = (PatternKind::BusinessTerm, "Here `californian` means `bills.state = 'CA'`.".to_owned());
    assert!(told("californian").contains(&term), "{:?}", told("californian"));
    assert!(told("cheapest").iter().all(|(kind, _)| *kind != PatternKind::BusinessTerm));
}

#[test]
fn what_is_seen_often_is() {
    let join = "SELECT bills.total FROM shop.bills JOIN shop.staff ON bills.cashier = staff.id";
    let asks: Vec<Seen> = (0..3).map(|_| signal("Who sold?", Some(join), "answered")).collect();
    let all = found(&asks, &[]);
    assert!(
        all.contains(&(
            PatternKind::JoinPattern,
            "Each row of `bills` belongs to one of `staff` by `bills.cashier = staff.id`.".to_owned()
        )),
        "{all:?}"
    );
    assert!(all.iter().any(|(kind, _)| *kind == PatternKind::CommonQuery), "{all:?}");

    let refused: Vec<Seen> = (0..3).map(|_| signal("How many bills are overdue?", None, "refused")).collect();
    let gaps = found(&refused, &[]);
    assert!(
        matches!(gaps.as_slice(), [(PatternKind::DocumentationGap, says)] if says.contains("`overdue`")),
        "{gaps:?}"
    );
}

#[test]
fn corrections_that_agree_say_what_a_word_means() {
    let wrong = "SELECT bills.total";
    let right = "SELECT bills.total FROM x WHERE bills.state = 'CA'";
    let told =
        [corrected("Bills in California", wrong, right), corrected("Sales of California", wrong, right)];
    let all = found(&[], &told);
    assert!(
        all.contains(&(
            PatternKind::BusinessTerm,
            "Here `california` means `bills.state = 'CA'`.".to_owned()
        )),
        "{all:?}"
    );
    assert!(all.iter().any(|(kind, _)| *kind == PatternKind::Correction));

    // The word also stands where the condition is not needed.
    let other = corrected("Staff in California", "SELECT staff.id", "SELECT staff.name");
    let all = found(&[], &[told[0].clone(), told[1].clone(), other]);
    assert!(!all.iter().any(|(_, says)| says.contains("`california`")), "{all:?}");

    let told = [
        corrected("Net worth of bills", "SELECT bills.gross", "SELECT bills.net"),
        corrected("What is the worth?", "SELECT bills.gross", "SELECT bills.net"),
    ];
    assert!(
        found(&[], &told)
            .contains(&(PatternKind::ColumnClarification, "Here `worth` means `bills.net`.".to_owned()))
    );

    let usage = Usage {
        signals: &[],
        feedback: &told,
        facts: &facts,
        known: &|_| false,
        joined: &|_, _| false,
        unique: &|_| false,
    };
    let adds: Vec<Addition> = usage.patterns().into_iter().filter_map(|pattern| pattern.adds).collect();
    let word = Addition::Synonym { column: column("bills.net"), word: "worth".to_owned() };
    assert_eq!(adds, [word], "what it would add to the notes is said too");
}
