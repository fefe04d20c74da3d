//! Against a server on loopback that speaks the real protocols: retries, rotation, deadlines, spare, replies.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use airlock_models::{Call, ModelError, Models, ModelsConfig, Role, Shape};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};

/// Status, body and `Retry-After` of one reply.
type Said = (u16, Value, Option<&'static str>);

/// What the server says next, and what it was asked.
#[derive(Clone, Default)]
struct Script {
    replies: Arc<Mutex<VecDeque<Said>>>,
    seen: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
    delay: Option<Duration>,
}

async fn speak(State(script): State<Script>, headers: HeaderMap, body: axum::Json<Value>) -> Response {
    script.seen.lock().unwrap().push((headers, body.0));
    if let Some(delay) = script.delay {
        tokio::time::sleep(delay).await;
    }
    let (status, body, retry_after) =
        script.replies.lock().unwrap().pop_front().unwrap_or((500, json!({"error": "script is over"}), None));
    let mut response = (StatusCode::from_u16(status).unwrap(), axum::Json(body)).into_response();
    if let Some(seconds) = retry_after {
        response.headers_mut().insert("retry-after", seconds.parse().unwrap());
    }
    response
}

async fn serve(script: Script) -> String {
    let router = Router::new()
        .route("/v1/chat/completions", post(speak))
        .route("/v1/messages", post(speak))
        .with_state(script);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

fn said(text: &str) -> Value {
    json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
           "usage": {"prompt_tokens": 12, "completion_tokens": 3}})
}

fn call() -> Call {
    Call {
        role: Role::Reasoning,
        system: "Write SQL.".to_owned(),
        prompt: "How many bills?".to_owned(),
        shape: Shape::Sql,
        max_output_tokens: None,
        until: None,
        variant: 0,
    }
}

fn models(toml: &str) -> Models {
    let config: ModelsConfig = toml::from_str(toml).unwrap();
    Models::from_config(&config, |name| match name {
        "FIRST_KEY" => Some("sk-first".to_owned()),
        "SPARE_KEY" => Some("sk-spare".to_owned()),
        _ => None,
    })
    .unwrap()
}

fn one(url: &str) -> Models {
    models(&format!(
        r#"deadline_seconds = 120
        [providers.main]
        url = "{url}"
        key_env = "FIRST_KEY"
        spare_key_env = "SPARE_KEY"
        [roles.reasoning]
        provider = "main"
        model = "m"
        [prices.m]
        input = 1.0
        output = 2.0"#
    ))
}

fn script(replies: impl IntoIterator<Item = Said>) -> Script {
    Script { replies: Arc::new(Mutex::new(replies.into_iter().collect())), ..Script::default() }
}

#[tokio::test]
async fn a_reply_is_cleaned_counted_and_priced() {
    let script = script([(200, said("<think>no</think>```sql\nSELECT count(*) FROM bills\n```"), None)]);
    let models = one(&serve(script.clone()).await);
    let reply = models.ask(&call()).await.unwrap();
    assert_eq!(reply.sql.as_deref(), Some("SELECT count(*) FROM bills"));
    assert_eq!((reply.tokens.input, reply.tokens.output), (12, 3));
    assert_eq!(reply.cost, Some(0.000_018));
    let seen = script.seen.lock().unwrap();
    let (headers, body) = &seen[0];
    assert_eq!(headers["authorization"], "Bearer sk-first");
    assert_eq!(body["temperature"], 0);
}

#[tokio::test]
async fn a_burst_is_waited_out_with_the_same_key() {
    let busy = json!({"error": {"message": "tokens per minute (TPM) exceeded"}});
    let script = script([(429, busy, Some("0")), (503, json!({}), Some("0")), (200, said("SELECT 1"), None)]);
    let models = one(&serve(script.clone()).await);
    assert!(models.ask(&call()).await.is_ok());
    let seen = script.seen.lock().unwrap();
    assert_eq!(seen.len(), 3);
    assert!(seen.iter().all(|(headers, _)| headers["authorization"] == "Bearer sk-first"));
}

#[tokio::test]
async fn a_spent_daily_quota_moves_to_the_spare_key_and_stays_there() {
    let spent = json!({"error": {"message": "Rate limit reached on tokens per day (TPD) for sk-first"}});
    let script = script([
        (429, spent.clone(), Some("600")),
        (200, said("SELECT 1"), None),
        (200, said("SELECT 2"), None),
        (429, spent, None),
    ]);
    let models = one(&serve(script.clone()).await);
    models.ask(&call()).await.unwrap();
    models.ask(&call()).await.unwrap();
    let error = models.ask(&call()).await.unwrap_err();
    assert!(matches!(error, ModelError::QuotaSpent { .. }), "{error}");
    let used: Vec<String> = script
        .seen
        .lock()
        .unwrap()
        .iter()
        .map(|(headers, _)| headers["authorization"].to_str().unwrap().to_owned())
        .collect();
    assert_eq!(used, ["Bearer sk-first", "Bearer sk-spare", "Bearer sk-spare", "Bearer sk-spare"]);
}

#[tokio::test]
async fn what_a_provider_says_of_an_error_is_for_the_log_and_without_the_key() {
    let echo = script([(401, json!({"error": {"message": "Incorrect API key: sk-first"}}), None)]);
    let models = one(&serve(echo).await);
    let error = models.ask(&call()).await.unwrap_err();
    assert_eq!(
        error,
        ModelError::Answered {
            endpoint: error_endpoint(&error),
            status: 401,
            message: "Incorrect API key: ***".to_owned()
        }
    );
    assert!(error.in_full().ends_with("it said: Incorrect API key: ***"), "{}", error.in_full());

    // Whatever it sends, and with whatever status, whoever asked reads none of it.
    let page = format!("<html>org-4711 {}</html>", "x".repeat(10_000));
    for (status, body) in [
        (400, json!({"error": {"message": "org-4711, sk-first: SELECT card FROM customers"}})),
        (401, json!({"error": "org-4711"})),
        (403, json!({"org": "org-4711"})),
        (429, json!({"error": {"message": "org-4711: limit per day"}})),
        (500, json!(page)),
        (200, json!({"org": "org-4711", "choices": "org-4711"})),
    ] {
        let replies = vec![(status, body, None); 8];
        let error = one(&serve(script(replies)).await).ask(&call()).await.unwrap_err();
        let (told, log) = (error.to_string(), error.in_full());
        assert!(!told.contains("4711") && !told.contains("SELECT"), "{status}: {told}");
        assert_eq!(log.contains("4711"), status != 200, "{status}: {log}");
        assert!(!log.contains("sk-first") && log.chars().count() < 600, "{status}: {log}");
    }
}

fn error_endpoint(error: &ModelError) -> String {
    match error {
        ModelError::Answered { endpoint, .. } => endpoint.clone(),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_slow_model_is_given_up_at_the_deadline() {
    let script = Script { delay: Some(Duration::from_secs(3_000)), ..Script::default() };
    let models = one(&serve(script).await);
    let mut call = call();
    call.until = Some(std::time::Instant::now() + Duration::from_millis(300));
    let error = models.ask(&call).await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
}

#[tokio::test]
async fn a_model_that_is_down_is_named_and_the_spare_answers() {
    // Nobody listens on the first port.
    let gone = "127.0.0.1:1";
    let error = one(&format!("http://{gone}")).ask(&call()).await.unwrap_err();
    assert!(matches!(&error, ModelError::Unreachable { endpoint, .. } if endpoint == gone), "{error}");

    let up = serve(script([(
        200,
        json!({"content": [{"type": "thinking", "text": ""}, {"type": "text", "text": "SELECT 1"}],
        "stop_reason": "max_tokens", "usage": {"input_tokens": 5, "output_tokens": 1}}),
        None,
    )]))
    .await;
    let models = models(&format!(
        r#"[providers.main]
        url = "http://{gone}"
        [providers.other]
        kind = "anthropic"
        url = "{up}"
        [roles.reasoning]
        provider = "main"
        model = "m"
        spare = {{ provider = "other", model = "n" }}"#
    ));
    let reply = models.ask(&call()).await.unwrap();
    assert_eq!((reply.model.as_str(), reply.sql.as_deref(), reply.truncated), ("n", Some("SELECT 1"), true));
    assert_eq!(reply.cost, None);
}

#[tokio::test]
async fn what_is_no_reply_of_the_protocol_is_told() {
    for body in [json!({}), json!({"choices": []}), json!([1, 2]), json!("<html>")] {
        let models = one(&serve(script([(200, body.clone(), None)])).await);
        let error = models.ask(&call()).await.unwrap_err();
        assert!(matches!(error, ModelError::Unreadable { .. }), "{body}: {error}");
    }
    let models =
        one(&serve(script([(200, json!({"choices": [{"message": {"reasoning_content": "hm"}}]}), None)]))
            .await);
    assert_eq!(models.ask(&call()).await.unwrap().sql, None);
}

#[test]
fn a_bad_configuration_names_its_key() {
    for (toml, want) in [
        ("[roles.clever]\nprovider = \"x\"\nmodel = \"m\"", "models.roles.clever"),
        ("[roles.fast]\nprovider = \"x\"\nmodel = \"m\"", "[models.providers.x]"),
        ("[providers.x]\nurl = \"nowhere\"", "models.providers.x.url"),
        ("[providers.x]\nurl = \"http://h\"\nkey_env = \"ABSENT\"", "ABSENT"),
        ("deadline_seconds = 0", "models.deadline_seconds"),
    ] {
        let config: ModelsConfig = toml::from_str(toml).unwrap();
        let error = Models::from_config(&config, |_| None).err().unwrap();
        assert!(error.to_string().contains(want), "{error}");
    }
}

#[tokio::test]
async fn what_is_recorded_stands_in_for_the_model_and_what_is_not_is_named() {
    let folder = std::env::temp_dir().join(format!("airlock-recording-{}", std::process::id()));
    let script = script([(200, said("<think>no</think>SELECT 1"), None)]);
    let url = serve(script.clone()).await;
    let recorder = models(&format!(
        "record = {folder:?}\n[providers.main]\nurl = {url:?}\n[roles.reasoning]\nprovider = \"main\"\nmodel = \"m\""
    ));
    let spoken = recorder.ask(&call()).await.unwrap();

    let player = |folder: &std::path::Path| {
        let mut config = ModelsConfig::recorded(folder);
        config.prices = toml::from_str("m = { input = 1.0, output = 2.0 }").unwrap();
        Models::from_config(&config, |_| None).unwrap()
    };
    let models = player(&folder);
    assert!(models.available());
    let played = models.ask(&call()).await.unwrap();
    assert_eq!((&played.text, &played.sql, played.tokens), (&spoken.text, &spoken.sql, spoken.tokens));
    // Who said it is kept, so that its price is known.
    assert_eq!((played.model.as_str(), played.cost), ("m", Some(0.000_018)));
    let other = Call { prompt: "How many customers?".to_owned(), ..call() };
    let error = models.ask(&other).await.unwrap_err();
    let ModelError::NotRecorded { key, .. } = &error else { panic!("{error}") };
    assert!(error.to_string().contains(&key.to_string()));
    assert_eq!(script.seen.lock().unwrap().len(), 1);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_recording_has_a_folder_and_an_endpoint_has_none() {
    for (provider, want) in [
        ("kind = \"recorded\"", "folder"),
        ("url = \"http://127.0.0.1:1\"\nfolder = \"x\"", "folder"),
        ("kind = \"openai-compatible\"", "url"),
    ] {
        let config: ModelsConfig = toml::from_str(&format!("[providers.main]\n{provider}")).unwrap();
        let error = Models::from_config(&config, |_| None).err().unwrap().to_string();
        assert!(error.contains(want), "{provider}: {error}");
    }
}

/// A server that says these pieces, one after the other, as a stream of events.
async fn streamed(pieces: &'static [&'static str]) -> (String, Arc<Mutex<Vec<Value>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let answer = move |body: String| {
        seen.lock().unwrap().push(serde_json::from_str(&body).unwrap());
        async move {
            let pieces =
                futures_util::stream::iter(pieces.iter().map(|piece| Ok::<_, std::io::Error>(*piece)));
            Response::builder()
                .header("content-type", "text/event-stream; charset=utf-8")
                .body(axum::body::Body::from_stream(pieces))
                .unwrap()
        }
    };
    let router = Router::new().fallback(post(answer));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, asked)
}

fn of_kind(kind: &str, url: &str) -> Models {
    models(&format!(
        "[providers.main]\nkind = \"{kind}\"\nurl = \"{url}\"\n[roles.reasoning]\nprovider = \"main\"\nmodel = \"m\""
    ))
}

#[tokio::test]
async fn a_reply_in_pieces_is_put_together_in_either_protocol() {
    let openai: &[&str] = &[
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"SEL\"},\"finish_reason\":null}],\"usage\":null}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"ECT 1\"}}]}\n\ndata: {\"choices\":[{\"delta\":",
        "{},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n",
    ];
    let anthropic: &[&str] = &[
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":12,\"output_tokens\":1}}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"SELECT wrong\"}}\n\ndata: {\"type\":\"ping\"}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"SELECT 1\"}}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    ];
    for (kind, pieces) in [("openai-compatible", openai), ("anthropic", anthropic)] {
        let (url, asked) = streamed(pieces).await;
        let reply = of_kind(kind, &url).ask(&call()).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.truncated), ("SELECT 1", false), "{kind}");
        assert_eq!((reply.tokens.input, reply.tokens.output), (12, 3), "{kind}");
        assert_eq!(asked.lock().unwrap()[0]["stream"], true, "{kind}");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_errs_or_runs_away_is_told_apart() {
    let (url, asked) = streamed(&["data: {\"choices\":[{\"delta\":{\"content\":\"SELECT\"}}]}\n\n"]).await;
    let error = of_kind("openai-compatible", &url).ask(&call()).await.unwrap_err();
    assert!(error.to_string().contains("broke off"), "{error}");
    assert_eq!(asked.lock().unwrap().len(), 4, "a broken connection is worth another try");

    let (url, _) = streamed(&[
        "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
    ])
    .await;
    let error = of_kind("anthropic", &url).ask(&call()).await.unwrap_err();
    assert!(
        matches!(&error, ModelError::Busy { message, .. } if message == "Overloaded (overloaded_error)"),
        "{error}"
    );

    let (url, _) = streamed(&["data: {\"error\":{\"message\":\"sk-first has no credit\"}}\n\n"]).await;
    let error = one(&url).ask(&call()).await.unwrap_err();
    assert!(
        matches!(&error, ModelError::Busy { message, .. } if message == "*** has no credit"),
        "{error:?}"
    );

    let (url, _) = streamed(&["data: nonsense\n\n"]).await;
    let error = of_kind("openai-compatible", &url).ask(&call()).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreadable { .. }), "{error}");

    let (url, _) = streamed(&[
        "data: {\"choices\":[{\"delta\":{\"content\":\"SELECT 1\"},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n",
    ])
    .await;
    assert!(of_kind("openai-compatible", &url).ask(&call()).await.unwrap().truncated);

    let piece: &'static str = Box::leak(
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", "x".repeat(1_000))
            .into_boxed_str(),
    );
    let endless: &'static [&'static str] = Box::leak(vec![piece; 3_000].into_boxed_slice());
    let (url, _) = streamed(endless).await;
    let reply = of_kind("openai-compatible", &url).ask(&call()).await.unwrap();
    assert!(reply.truncated && reply.text.len() <= 64 * 1024, "{}", reply.text.len());
}

#[tokio::test]
async fn an_endpoint_that_knows_no_stream_is_asked_for_the_whole_from_then_on() {
    let refused = json!({"error": {"message": "Unknown parameter: 'stream_options'."}});
    let script = script([(400, refused, None), (200, said("SELECT 1"), None), (200, said("SELECT 2"), None)]);
    let models = one(&serve(script.clone()).await);
    models.ask(&call()).await.unwrap();
    models.ask(&call()).await.unwrap();
    let asked: Vec<bool> =
        script.seen.lock().unwrap().iter().map(|(_, body)| body["stream"] == true).collect();
    assert_eq!(asked, [true, false, false]);
}

#[tokio::test]
async fn a_wait_that_the_deadline_does_not_leave_is_not_begun_and_a_spare_keeps_to_the_deadline() {
    let script = script([(429, json!({"error": {"message": "slow down"}}), Some("3600"))]);
    let error = one(&serve(script.clone()).await).ask(&call()).await.unwrap_err();
    assert!(matches!(error, ModelError::Busy { .. }), "{error}");
    assert_eq!(script.seen.lock().unwrap().len(), 1);

    let silent = Script { delay: Some(Duration::from_secs(3_000)), ..Script::default() };
    let (first, second) = (serve(silent.clone()).await, serve(silent).await);
    let models = models(&format!(
        r#"deadline_seconds = 1
        [providers.main]
        url = "{first}"
        [providers.other]
        url = "{second}"
        [roles.reasoning]
        provider = "main"
        model = "m"
        spare = {{ provider = "other", model = "n" }}"#
    ));
    let call = Call { until: Some(std::time::Instant::now() + Duration::from_secs(3_000)), ..call() };
    let asked = tokio::time::timeout(Duration::from_secs(240), models.ask(&call)).await;
    assert!(asked.expect("the deadline is kept").unwrap_err().is_timeout());
}
