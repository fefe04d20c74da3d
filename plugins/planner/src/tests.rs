//! Questions and the plans they must get.

use airlock_plugin_sdk::Planner;
use airlock_plugin_sdk::contract::planner::{PlanInput, PlanStep};
use airlock_plugin_sdk::contract::retrieval::Passage;
use airlock_plugin_sdk::harness::{Recorded, clock, input_turn, table};

use super::Grammar;

fn run(question: &str) -> PlanStep {
    Grammar::run(&Recorded::new(), input(question), Vec::new()).unwrap()
}

fn input(question: &str) -> PlanInput {
    PlanInput {
        question: question.into(),
        clock: clock("2026-08-20"),
        prior: None,
        choice: None,
        model_available: false,
        attributes: Vec::new(),
    }
}

/// A plan in one line: measures; filters; groups; order; limit; time.
fn line(question: &str) -> String {
    let plan = match run(question) {
        PlanStep::Done(plan) => plan,
        PlanStep::Unanswerable(no) => return format!("no: {}", no.reason),
        PlanStep::Unclear(unclear) => return format!("unclear: {}", unclear.options.join(" | ")),
        PlanStep::Ask(_) => return "asks".into(),
    };
    let mut parts: Vec<String> =
        plan.measures.iter().map(|m| format!("{}({})", m.function, m.target)).collect();
    parts.extend(
        plan.filters
            .iter()
            .map(|f| format!("{} {} {}", f.target, f.operator, f.values.join(",")).trim().to_owned()),
    );
    parts.extend(plan.grouping.iter().map(|g| format!("per {}", g.target)));
    parts.extend(
        plan.order.iter().map(|o| format!("{} {}", if o.descending { "desc" } else { "asc" }, o.target)),
    );
    parts.extend(plan.limit.map(|limit| format!("limit {limit}")));
    parts.extend(
        plan.time.iter().map(|t| {
            format!("{}..{}", t.from.clone().unwrap_or_default(), t.until.clone().unwrap_or_default())
        }),
    );
    parts.join("; ")
}

#[test]
fn questions_become_plans() {
    for (question, want) in [
        ("How many bills were raised in July 2026?", "count(bills); 2026-07-01..2026-08-01"),
        ("What is the average price per category?", "average(price); per category"),
        (
            "Which five products sold the most units in 2026?",
            "list(products sold); desc units; limit 5; 2026-01-01..2027-01-01",
        ),
        ("top 5 countries by number of customers", "count(customers); desc customers; limit 5"),
        ("monthly revenue this year", "list(revenue); per monthly; 2026-01-01..2027-01-01"),
        ("members who have never borrowed", "list(members); borrowed missing"),
        ("students with a GPA above 3.5", "list(students); gpa > 3.5"),
    ] {
        assert_eq!(line(question), want, "{question}");
    }
}

#[test]
fn what_is_no_question_is_told_so() {
    for (question, want) in [
        ("", "no: The question is empty"),
        ("hello there", "no: This is a greeting"),
        ("delete all bills", "no: This asks to change data (`delete`)"),
        ("Please drop the customers table", "no: This asks to change data (`drop`)"),
        (
            "Wie viele Kunden haben wir?",
            "no: Without a model only English is read; this question looks German.",
        ),
        (
            "¿Cuántos clientes tenemos en el 2024?",
            "no: Without a model only English is read; this question looks Spanish.",
        ),
        ("我们有多少客户?", "no: Without a model only English is read; this question is in another script."),
        ("\u{1}\u{2}x", "no: The question holds control characters"),
        ("??!", "no: There are no words"),
    ] {
        let got = line(question);
        assert!(got.starts_with(want), "{question}: {got}");
    }
    for question in [
        "How many orders were deleted?",
        "What changes were made in 2024?",
        "list die castings",
        "show le mans races",
    ] {
        assert!(!line(question).starts_with("no: "), "{question}: {}", line(question));
    }
}

#[test]
fn a_rank_by_nothing_is_asked_back_with_measures_of_the_glossary() {
    let host = Recorded::new()
        .table(
            table("bills").columns(&[("bill_id", "bigint"), ("cust_id", "bigint")]).primary_key(&["bill_id"]),
        )
        .table(table("customers").columns(&[("cust_id", "bigint")]).primary_key(&["cust_id"]))
        .join("bills.cust_id", "customers.cust_id")
        .metric("stock value", &[], "products", "sum(products.price)", "")
        .metric("revenue", &[], "bills", "sum(bills.total_amt)", "")
        .metric("number of bills", &[], "bills", "count(*)", "");
    let unclear = |question: &str| match Grammar::run(&host, input(question), Vec::new()).unwrap() {
        PlanStep::Unclear(unclear) => unclear.options,
        _ => Vec::new(),
    };
    assert_eq!(
        unclear("who are our best customers?"),
        ["Top 5 customers by revenue", "Top 5 customers by number of bills"]
    );
    for question in ["best month for sales in 2025", "top products by revenue"] {
        assert!(unclear(question).is_empty(), "{question}");
    }
    assert!(line("who are our best customers?").starts_with("list("), "no measure, nothing to offer");
}

#[test]
fn no_list_of_a_plan_is_longer_than_the_contract_allows() {
    let question = format!("number of bills {}", "and number of bills ".repeat(150));
    let PlanStep::Done(plan) = run(&question) else { panic!() };
    for length in [plan.steps.len(), plan.measures.len(), plan.keywords.len(), plan.filters.len()] {
        assert!(length <= 64, "{length}");
    }
    let years: Vec<String> = (1900..2050).map(|year| format!("in {year}")).collect();
    let PlanStep::Done(plan) = run(&format!("bills {}", years.join(" and "))) else { panic!() };
    assert!(plan.time.len() <= 64 && plan.assumptions.len() <= 64, "{}", plan.time.len());
}

#[test]
fn a_question_of_meaning_is_knowledge() {
    for (question, want) in [
        ("What does revenue mean?", "knowledge"),
        ("How is churn calculated?", "knowledge"),
        ("What is the mean price?", "data"),
        ("How many customers do we have?", "data"),
    ] {
        let PlanStep::Done(plan) = run(question) else { panic!("{question}") };
        assert_eq!(plan.intent, want, "{question}");
    }
}

#[test]
fn what_the_glossary_or_a_document_says_is_no_question_for_rows() {
    let mut host = Recorded::new()
        .term("churn", &[], "Customers who have not ordered for a year.")
        .metric("bills raised", &[], "bills", "count(*)", "")
        .metric("revenue", &["turnover"], "bills", "sum(bills.total)", "");
    if let Some(term) = host.terms.last_mut() {
        term.definition = "The totals of all bills, tax included.".into();
    }
    for (source, text) in [
        (
            "docs/returns.md",
            "Returns: goods may be returned within thirty days. Opened paint is not taken back.",
        ),
        ("docs/bills.md", "A cancelled bill keeps its number. It counts as raised."),
    ] {
        host.passages.push(Passage { source: source.into(), text: text.into(), score: 0.0 });
    }
    let told = |question: &str| match Grammar::run(&host, input(question), Vec::new()).unwrap() {
        PlanStep::Done(plan) => {
            let explained = plan.attributes.iter().any(|attribute| attribute.key == "explained");
            format!("{}{}", plan.intent, if explained { ", explained" } else { "" })
        }
        PlanStep::Unanswerable(no) => no.reason,
        other => format!("{other:?}"),
    };
    for question in [
        "What is churn?",
        "What is the meaning of churn?",
        "Is tax included in revenue?",
        "How are cancelled bills counted?",
        "What is a cancelled bill?",
        "What is the returns policy?",
        "How long may goods be returned?",
        "Is opened paint taken back?",
    ] {
        assert_eq!(told(question), "knowledge", "{question}");
    }
    assert_eq!(told("What is the revenue?"), "data, explained");
    for question in ["How many bills were raised in 2025?", "bills by month", "goods in 2025"] {
        assert_eq!(told(question), "data", "{question}");
    }
    assert_eq!(told("opened paint"), "data, explained");
    for (question, what) in [
        ("What is a voided bill?", "what something is or means"),
        ("Is postage included in revenue?", "how something is treated"),
    ] {
        assert!(told(question).starts_with(&format!("This asks {what}")), "{question}: {}", told(question));
    }
}

#[test]
fn no_number_of_rows_is_refused() {
    for (question, want) in [
        ("Which -3 products were ordered the most?", "-3"),
        ("Which 0 products were ordered the most?", "0"),
        ("top 0 products by revenue", "0"),
        ("List 2.5 products", "2.5"),
    ] {
        let got = line(question);
        assert!(
            got.starts_with(&format!("no: The question asks for {want} of something")),
            "{question}: {got}"
        );
    }
    for question in
        ["Which 3 products were ordered the most?", "products with 0 orders", "temperatures below -3 degrees"]
    {
        assert!(!line(question).starts_with("no: "), "{question}: {}", line(question));
    }
}

#[test]
fn a_follow_up_keeps_the_words_of_what_it_follows() {
    let mut input = input("and in 2025?");
    input.prior = Some(input_turn("How many bills were raised in July 2026?", "SELECT 1"));
    let PlanStep::Done(plan) = Grammar::run(&Recorded::new(), input, Vec::new()).unwrap() else { panic!() };
    assert_eq!(plan.keywords, ["bills"]);
    assert_eq!(plan.time.len(), 1);
}

#[test]
fn a_follow_up_may_name_nothing_but_a_step_of_time() {
    for question in ["and by month?", "monthly", "only the top 5"] {
        let mut input = input(question);
        input.prior = Some(input_turn("How many bills were raised in 2026?", "SELECT 1"));
        let step = Grammar::run(&Recorded::new(), input, Vec::new()).unwrap();
        assert!(matches!(step, PlanStep::Done(_)), "{question}: {step:?}");
        assert!(matches!(run(question), PlanStep::Unanswerable(_)), "{question}");
    }
}
