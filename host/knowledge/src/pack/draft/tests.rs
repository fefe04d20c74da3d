//! Drafts of small, large and hostile catalogues: what is written is a pack, whoever named the tables.

use std::time::Instant;

use airlock_types::catalogue::RelationKind;

use super::*;
use crate::testing::{column, foreign_key, relation, table};

fn catalogue(relations: Vec<Relation>) -> Arc<Catalogue> {
    let mut catalogue =
        Catalogue { search_path: vec!["public".into()], server_version: 150_000, ..Catalogue::default() };
    relations.into_iter().for_each(|relation| catalogue.insert(relation));
    Arc::new(catalogue)
}

fn draft(catalogue: &Arc<Catalogue>) -> Draft {
    Draft::of(&"shop".parse().unwrap(), catalogue, &DraftScope::Schemas).unwrap()
}

fn text<'a>(draft: &'a Draft, path: &str) -> &'a str {
    &draft.files().iter().find(|(name, _)| *name == path).unwrap().1
}

fn shop() -> Vec<Relation> {
    let mut orders = table(
        "orders: id integer*, cust_id integer, ordered_on date!, updated_at date, total_amt numeric(12,2)",
    );
    orders.foreign_keys.push(foreign_key("cust_id", "customers", "id"));
    orders.row_estimate = Some(12_345);
    let mut customers = table(
        "customers: id integer*, name text!, email text, created_at date, seen_at date, opened_on date",
    );
    customers.comment = Some("One row for each\n\"customer\" \u{202e}\\ ]".to_owned());
    let payments = table("payments: id integer*, order_id integer, qty integer, amount numeric");
    vec![orders, customers, payments]
}

#[test]
fn a_draft_says_what_is_known_guesses_what_is_likely_and_asks_for_the_rest() {
    let draft = draft(&catalogue(shop()));
    let notes = text(&draft, "notes.toml");
    for want in [
        "# public.orders: table, about 12,345 rows, key id",
        "cust_id integer -> customers",
        "purpose = \"One row for each \\\"customer\\\" \\\\ ]\"",
        "# to write: what one row is, and what the table is for.",
        "time_column = \"ordered_on\"   # guessed: the column that dates a row",
        "# to write: which column dates a row: one of \"seen_at\", \"opened_on\".",
        "label_column = \"name\"",
        "email = { class = \"personal\" }   # guessed by name",
        "total_amt = { class = \"amount\" }   # guessed by name",
    ] {
        assert!(notes.contains(want), "{want}\n{notes}");
    }
    let joins = text(&draft, "joins.toml");
    assert!(joins.contains("The 1 foreign keys"), "{joins}");
    assert!(
        joins.contains("# inferred\n# [[join]]\n# from = \"payments.order_id\"\n# to = \"orders.id\"\n"),
        "{joins}"
    );
    assert!(text(&draft, "glossary.toml").contains("# sql = \"sum(orders.total_amt)\""));
    assert_eq!(draft.summary.without_purpose, 2);
    assert_eq!((draft.summary.foreign_keys, draft.summary.guessed_joins), (1, 1));
    assert_eq!(draft.summary.classes.get(&ColumnClass::Personal), Some(&2));
}

/// Takes the hash signs off what is offered.
fn accepted(text: &str) -> String {
    let offered = |line: &str| {
        ["# [[", "# name", "# definition", "# table", "# sql", "# from", "# to = "]
            .iter()
            .any(|lead| line.starts_with(lead))
            || line.starts_with("    # \"")
    };
    text.lines()
        .map(|line| if offered(line) { line.replacen("# ", "", 1) } else { line.to_owned() } + "\n")
        .collect()
}

#[test]
fn what_is_offered_is_right_when_it_is_taken() {
    let mut relations = shop();
    relations.push(table(
        "Order Lines: Id integer*, user integer, Unit Price numeric, status text, \"q\" numeric",
    ));
    let catalogue = catalogue(relations);
    let draft = draft(&catalogue);
    let files: Vec<(&str, Vec<u8>)> = draft
        .files()
        .iter()
        .filter(|(path, _)| crate::pack::files::NAMES.contains(path))
        .map(|(path, text)| (*path, accepted(text).into_bytes()))
        .collect();
    let pack = Pack::from_files("shop", files).unwrap_or_else(|report| panic!("{report}"));
    let bound = pack.bind(&catalogue).unwrap_or_else(|report| panic!("{report}"));
    assert!(
        bound.terms.len() >= 3 && bound.terms.iter().all(|term| term.metrics.len() == 1),
        "{:?}",
        bound.terms
    );
    assert_eq!(bound.joins.len(), draft.summary.guessed_joins);
    assert_eq!(bound.exposure.columns_to_read().len(), 2, "status, and Unit, which is a text here");
}

#[test]
fn names_and_comments_of_strangers_stay_names_and_comments() {
    let mut odd = Vec::new();
    for name in [
        "Bills",
        "a.b",
        "say \"hi\"",
        "back\\slash",
        "x] [tables.y",
        "#",
        "'",
        "select",
        "größe",
        "顧客",
        "a = 1",
        "-",
        "1",
        "mit leer",
        "{}",
        "\u{1f600}",
    ] {
        let mut made =
            relation(name, vec![column(name, "text"), column("email", "text"), column("when.it", "date")]);
        made.comment =
            Some("x\"\"\"\n[tables.z]\nin_use = false\u{0}\u{1b}[31m\u{202e}\u{e0041}\\u0000".to_owned());
        made.columns.push({
            let mut labels = column("kind", "text");
            labels.enum_labels = vec!["a\nb = 1".into(), "\u{202e}".into()];
            labels
        });
        odd.push(made);
    }
    // Names that a pack has no way to spell are told and left out.
    for name in ["zero\u{200b}width", "line\nbreak", " outer ", "\u{202e}"] {
        odd.push(relation(name, vec![column("id", "integer")]));
    }
    odd.push(relation("fine", vec![column("pass\u{200d}word", "text"), column(" email", "text")]));
    let draft = draft(&catalogue(odd));
    let notes = text(&draft, "notes.toml");
    let read: toml::Table = notes.parse().unwrap();
    assert_eq!(read["tables"].as_table().unwrap().len(), 17, "{notes}");
    assert!(read["tables"].as_table().unwrap().values().all(|table| table.get("in_use").is_none()));
    assert!(notes.lines().all(|line| find_hidden(line, Place::Prose).is_none()), "{notes}");
    assert_eq!(draft.summary.unspeakable.len(), 6, "{:?}", draft.summary.unspeakable);
    assert!(draft.summary.unspeakable.contains(&"public.zero<U+200B>width".to_owned()));
}

#[test]
fn several_schemas_and_equal_names_are_told_apart() {
    let mut catalogue = Catalogue {
        search_path: vec!["public".into(), "Sales".into(), "empty".into()],
        ..Catalogue::default()
    };
    for (schema, name) in [("public", "orders"), ("Sales", "orders"), ("Sales", "Orders")] {
        let mut made = table("orders: id integer*, email text");
        made.table = TableRef::new(schema, name);
        catalogue.insert(made);
    }
    let catalogue = Arc::new(catalogue);
    let all = draft(&catalogue);
    assert_eq!(all.summary.schemas, ["public", "Sales"]);
    assert!(text(&all, "notes.toml").contains("[tables.\"Sales.Orders\"]"));
    let only = |tables: &[(&str, &str)]| {
        let tables = tables.iter().map(|(schema, name)| TableRef::new(*schema, *name)).collect();
        Draft::of(&"shop".parse().unwrap(), &catalogue, &DraftScope::Only(tables))
    };
    let some = only(&[("public", "orders"), ("Sales", "orders"), ("Sales", "Orders")]).unwrap();
    assert!(text(&some, "domain.toml").contains("    \"Sales.Orders\","));
    assert!(
        matches!(only(&[("public", "nothing")]), Err(DraftError::Unknown(name)) if name == "public.nothing")
    );
}

#[test]
fn what_is_empty_or_too_much_is_refused() {
    let name = "shop".parse().unwrap();
    let none = Draft::of(&name, &catalogue(Vec::new()), &DraftScope::Schemas);
    assert!(matches!(none, Err(DraftError::Empty)));
    let many =
        (0..=limits::TABLES).map(|at| relation(&format!("t{at}"), vec![column("id", "integer")])).collect();
    let many = Draft::of(&name, &catalogue(many), &DraftScope::Schemas);
    assert!(matches!(many, Err(DraftError::TooMany { count: 5_001, .. })));
}

#[test]
fn fifteen_hundred_tables_with_long_comments_fit_the_limit_of_a_file() {
    let relations = (0..1_500)
        .map(|at| {
            let columns = (0..40)
                .map(|column_at| column(&format!("customer_email_address_{column_at}"), "text"))
                .collect();
            let mut made = relation(&format!("table_with_a_long_name_{at}"), columns);
            made.kind = RelationKind::View;
            made.comment = Some("word ".repeat(1_000));
            made
        })
        .collect();
    let begun = Instant::now();
    let draft = draft(&catalogue(relations));
    let notes = text(&draft, "notes.toml");
    assert!(notes.len() as u64 <= limits::FILE_BYTES);
    assert_eq!(notes.matches("\npurpose = ").count(), 1_500);
    println!("drafted in {:?}", begun.elapsed());
}

#[test]
fn a_draft_is_written_whole_and_over_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let draft = draft(&catalogue(shop()));
    let to = folder.path().join("domains/shop");
    draft.write(&to).unwrap();
    let pack = Pack::read(&to).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(pack.settings.source, "shop");
    assert!(to.join("docs").is_dir());
    assert!(matches!(draft.write(&to), Err(DraftWriteError::Exists(_))));
    let nowhere = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("gone"), &nowhere).unwrap();
    assert!(matches!(draft.write(&nowhere), Err(DraftWriteError::Exists(_))));
    std::fs::write(folder.path().join("file"), "x").unwrap();
    assert!(matches!(draft.write(&folder.path().join("file/shop")), Err(DraftWriteError::Io { .. })));
    let left: Vec<_> = std::fs::read_dir(folder.path().join("domains"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(left, ["shop"], "nothing half-written stays");
}
