//! What leaves for a model: the blocks that are shown are the bytes that are sent, the record accounts for all of them, and
//! what a domain keeps to itself stays here, whatever a component asks for.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use airlock_tests::{Airlock, NOW, ScriptedModel};
use airlock_types::ContentHash;
use serde_json::{Value, json};

async fn shown(airlock: &Airlock, body: &Value) -> (u16, Value) {
    let request = airlock_tests::client().post(format!("{}/api/context", airlock.url));
    let response =
        request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_str(&response.text().await.unwrap()).unwrap())
}

#[tokio::test]
async fn what_is_shown_is_what_is_sent_and_what_is_recorded() {
    let question = "How many bills were paid in July 2026?";
    let model =
        ScriptedModel::start(|_| "SELECT count(*) AS paid FROM bills WHERE status = 'PAID'".into()).await;
    let airlock = Airlock::with_model(&model).await;
    let asked = model.prompts().len();

    let (status, context) = shown(&airlock, &json!({"question": question, "now": NOW})).await;
    assert_eq!(status, 200, "{context}");
    assert_eq!(model.prompts().len(), asked, "to show what would be sent, nothing is sent");
    let kinds: Vec<&str> =
        context["blocks"].as_array().unwrap().iter().map(|block| block["kind"].as_str().unwrap()).collect();
    for kind in ["tables", "other-tables", "joins", "values"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    let text = context["text"].as_str().unwrap();
    assert_eq!(text.matches("<<<").count(), 2 * kinds.len(), "{text}");
    let values =
        context["blocks"].as_array().unwrap().iter().find(|block| block["kind"] == "values").unwrap();
    assert!(
        values["text"].as_str().unwrap().contains("public.bills.status has the value 'PAID'"),
        "{values}"
    );

    // Without a model this language is refused; with one it is planned, and shown, as it would be asked.
    let foreign = json!({"question": "Quante bills abbiamo nel sistema?", "now": NOW});
    let (_, foreign) = shown(&airlock, &foreign).await;
    assert_eq!(foreign["blocks"][0]["kind"], "tables", "{foreign}");

    let (status, answer) = airlock.ask(question).await;
    assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{answer}");
    let prompts: Vec<String> = model.prompts().split_off(asked);
    assert!(
        prompts.iter().any(|prompt| prompt.contains(text.trim_end())),
        "{text}\n\nis not in\n\n{prompts:?}"
    );

    let record = answer["context"].as_array().unwrap();
    for block in context["blocks"].as_array().unwrap() {
        let used = record
            .iter()
            .find(|used| used["hash"] == block["hash"])
            .unwrap_or_else(|| panic!("{block} {record:?}"));
        assert_eq!((&used["kind"], &used["characters"]), (&block["kind"], &block["characters"]));
    }
    let requests: Vec<&Value> = record.iter().filter(|used| used["kind"] == "request").collect();
    assert_eq!(requests.len(), prompts.len(), "every request is accounted for");
    for prompt in &prompts {
        let hash = json!(ContentHash::of(prompt).to_string());
        let used = requests
            .iter()
            .find(|used| used["hash"] == hash)
            .unwrap_or_else(|| panic!("{prompt} {record:?}"));
        assert_eq!(used["characters"], prompt.chars().count());
    }

    let command = airlock.command(&["context", "--json", "--now", NOW, question], "");
    let lines: Vec<Value> = String::from_utf8_lossy(&command.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(&Value::Array(lines), &context["blocks"], "the command line shows the same");
}

#[tokio::test]
async fn what_cannot_be_shown_is_told() {
    let airlock = Airlock::demo().await;
    for (body, status, word) in [
        (json!({"question": ""}), 422, "question"),
        (json!({"question": "pay\u{200b}ments"}), 422, "zero-width"),
        (json!({"question": "How many bills?", "domain": "nowhere"}), 404, "nowhere"),
        (json!({"question": "How many bills?", "now": "yesterday"}), 422, "now"),
        (json!({"kwestion": 1}), 400, "kwestion"),
    ] {
        let (got, problem) = shown(&airlock, &body).await;
        assert_eq!(got, status, "{body}: {problem}");
        assert!(problem.to_string().contains(word), "{body}: {problem}");
    }
}

#[tokio::test]
async fn a_question_about_meaning_is_answered_from_glossary_and_documents_with_their_sources() {
    let airlock = Airlock::demo().await;
    for (question, said) in [
        ("How is revenue defined?", "revenue: What was billed"),
        ("What does turnover mean?", "revenue: What was billed"),
        ("What does UPI mean?", "docs/conventions.md: Money that came in: "),
    ] {
        let (status, answer) = airlock.ask(question).await;
        assert_eq!((status, answer["outcome"].as_str()), (200, Some("answered")), "{question}: {answer}");
        assert_eq!((answer["kind"].as_str(), &answer["sql"]), (Some("knowledge"), &Value::Null), "{answer}");
        assert!(answer["answer"].as_str().unwrap().starts_with(said), "{question}: {answer}");
    }
    // Nobody wrote down what this is, and another text that says what something means is no answer.
    for question in ["What does churned mean?", "How is churn calculated?"] {
        let (status, answer) = airlock.ask(question).await;
        assert_eq!((status, answer["outcome"].as_str()), (200, Some("refused")), "{question}: {answer}");
        assert!(answer["reason"].as_str().unwrap().contains("churn"), "{answer}");
    }
}
