//! Questions and the tables they must reach, over three schemas.

use airlock_plugin_sdk::Linker;
use airlock_plugin_sdk::contract::linker::{LinkInput, LinkStep};
use airlock_plugin_sdk::contract::planner::Plan;
use airlock_plugin_sdk::harness::{Recorded, clock, table};

use super::Funnel;

fn clinic() -> Recorded {
    Recorded::new()
        .table(
            table("patients")
                .columns(&[("patient_id", "bigint"), ("full_name", "text"), ("town", "text")])
                .primary_key(&["patient_id"]),
        )
        .table(
            table("doctors")
                .columns(&[("doctor_id", "bigint"), ("full_name", "text"), ("speciality", "text")])
                .primary_key(&["doctor_id"]),
        )
        .table(
            table("visits")
                .purpose("One row for each time a patient was seen")
                .synonyms(&["appointment"])
                .columns(&[
                    ("visit_id", "bigint"),
                    ("patient_id", "bigint"),
                    ("doctor_id", "bigint"),
                    ("visit_dt", "date"),
                    ("fee_amt", "numeric"),
                ])
                .primary_key(&["visit_id"]),
        )
        .table(table("tbl_visit_old").dead().columns(&[("visit_id", "bigint"), ("fee", "numeric")]))
        .table(table("app_settings").columns(&[("setting_key", "text"), ("setting_value", "text")]))
        .join("visits.patient_id", "patients.patient_id")
        .join("visits.doctor_id", "doctors.doctor_id")
        .values("doctors.speciality", &["Cardiology", "Paediatrics"])
        .metric("takings", &["income"], "visits", "sum(visits.fee_amt)", "")
}

fn link(host: &Recorded, question: &str, keywords: &[&str], width: u32) -> LinkStep {
    let plan = Plan {
        intent: "data".into(),
        steps: Vec::new(),
        keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
        measures: Vec::new(),
        filters: Vec::new(),
        time: Vec::new(),
        grouping: Vec::new(),
        order: Vec::new(),
        limit: None,
        assumptions: Vec::new(),
        attributes: Vec::new(),
    };
    let input = LinkInput {
        question: question.into(),
        clock: clock("2026-08-20"),
        plan,
        width,
        failure: None,
        model_available: false,
        attributes: Vec::new(),
    };
    Funnel::run(host, input, Vec::new()).unwrap()
}

#[test]
fn the_tables_a_question_needs_are_selected() {
    let host = clinic();
    for (question, keywords, want) in [
        ("How many patients do we have?", &["patients"][..], &["patients"][..]),
        ("appointments per doctor", &["appointments", "doctor"], &["visits", "doctors"]),
        (
            "which speciality had the most patients",
            &["speciality", "patients"],
            &["doctors", "patients", "visits"],
        ),
        ("income from cardiology", &["income", "cardiology"], &["visits", "doctors"]),
    ] {
        let LinkStep::Done(selection) = link(&host, question, keywords, 5) else { panic!("{question}") };
        let names: Vec<&str> = selection.tables.iter().map(|t| t.table.name.as_str()).collect();
        for table in want {
            assert!(names.contains(table), "{question}: {names:?}");
        }
        assert!(!names.contains(&"tbl_visit_old"), "{question}");
        assert!(selection.tables.iter().all(|t| t.reason.ends_with('.')));
    }
}

#[test]
fn what_a_term_stands_for_is_looked_for_in_its_place() {
    let question = "What is the NVD this week?";
    let LinkStep::Nothing(no) = link(&clinic(), question, &["nvd"], 5) else { panic!() };
    assert_eq!(no.unknown_words, ["nvd"]);
    let host = clinic().term("NVD", &[], "NVD = number of visits by a doctor");
    let LinkStep::Done(selection) = link(&host, question, &["nvd"], 5) else { panic!() };
    let names: Vec<&str> = selection.tables.iter().take(2).map(|t| t.table.name.as_str()).collect();
    assert!(names.contains(&"visits") && names.contains(&"doctors"), "{names:?}");
    assert!(selection.attributes.is_empty(), "{:?}", selection.attributes);
    // A term that the question does not name in full says nothing about it.
    let host = clinic().term("NVD of children", &[], "visits by young patients");
    assert!(matches!(link(&host, question, &["nvd"], 5), LinkStep::Nothing(_)));
}

#[test]
fn the_width_holds_and_the_best_comes_first() {
    let LinkStep::Done(selection) = link(&clinic(), "patients by doctor", &["patients", "doctor"], 1) else {
        panic!()
    };
    assert_eq!(selection.tables.len(), 1);
    let LinkStep::Done(selection) = link(&clinic(), "visits", &["visits"], 5) else { panic!() };
    assert_eq!(selection.tables[0].table.name, "visits");
    assert!(selection.joins.iter().all(|join| join.from.name == "visits"));
}

#[test]
fn of_a_wide_table_the_columns_that_matter_are_chosen() {
    let more: Vec<String> = (0..30).map(|at| format!("filler{at}")).collect();
    let wide = |name: &str, own: &[(&'static str, &'static str)]| {
        let columns = own.iter().copied().chain(more.iter().map(|name| (name.as_str(), "text")));
        table(name).columns(&columns.collect::<Vec<_>>()).primary_key(&[own[0].0])
    };
    let host = Recorded::new()
        .table(wide(
            "shipments",
            &[
                ("shipment_id", "bigint"),
                ("carrier_id", "bigint"),
                ("sent_on", "date"),
                ("weight", "numeric"),
            ],
        ))
        .table(wide("carriers", &[("carrier_id", "bigint"), ("label", "text")]))
        .table(
            table("depots").columns(&[("depot_id", "bigint"), ("town", "text")]).primary_key(&["depot_id"]),
        )
        .join("shipments.carrier_id", "carriers.carrier_id");
    let columns = |question: &str, keywords: &[&str]| -> Vec<(String, Vec<String>)> {
        let LinkStep::Done(selection) = link(&host, question, keywords, 2) else { panic!("{question}") };
        let tables = selection.tables.into_iter().map(|chosen| (chosen.table.name, chosen.columns));
        tables.collect()
    };
    let found = columns("weight of shipments", &["weight", "shipments"]);
    assert_eq!(
        found[0],
        ("shipments".into(), ["shipment_id", "carrier_id", "sent_on", "weight"].map(String::from).into())
    );
    assert_eq!(found[1], ("carriers".into(), vec!["carrier_id".into()]), "a neighbour brings its keys");
    let found = columns("list the depots", &["depots"]);
    assert_eq!(found[0], ("depots".into(), Vec::new()), "a narrow one is taken whole");
}

#[test]
fn what_nothing_knows_is_told() {
    let LinkStep::Nothing(no) =
        link(&clinic(), "favourite colour of the staff", &["favourite", "colour", "staff"], 5)
    else {
        panic!()
    };
    assert_eq!(no.unknown_words, ["favourite", "colour", "staff"]);
    assert!(matches!(
        link(&clinic(), "volcano eruptions", &["volcano", "eruptions"], 5),
        LinkStep::Nothing(_)
    ));
}
