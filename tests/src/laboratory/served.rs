//! `airlock serve` over a laboratory.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::{Laboratory, Place};
use crate::{PATIENCE, Said, ScriptedModel, under_test};

/// What becomes of texts that a model writes over a place, each for a question of its own that begins so.
pub async fn drafted(
    place: &Place<'_>,
    asked: &str,
    texts: impl Iterator<Item = &'static str>,
) -> Vec<Value> {
    let question = |at: usize| format!("{asked} in case number {}?", 100 + at);
    let replies: Vec<(String, &str)> = (0..).map(question).zip(texts).collect();
    let said = replies.clone();
    let model = ScriptedModel::start(move |prompt| {
        let reply = said.iter().find(|(question, _)| prompt.contains(question));
        reply.map_or(Said::Status(400), |(_, reply)| Said::from(*reply))
    })
    .await;
    let laboratory = Laboratory::start(5_000).await;
    let domain = laboratory.make(place).await;
    let served = Served::start(&laboratory.config(), &model).await;
    let mut answers = Vec::new();
    for (question, text) in &replies {
        let (_, answer) = served.ask(&domain, question).await;
        assert_eq!(answer["outcome"], "answered", "{text}: {answer}");
        answers.push(answer);
    }
    answers
}

/// A running server. It ends with this.
pub struct Served {
    child: Child,
    /// Where it serves, such as `http://127.0.0.1:40123`.
    pub url: String,
    client: reqwest::Client,
}

impl Served {
    /// Starts one for this configuration, with this model.
    pub async fn start(config: &Path, model: &ScriptedModel) -> Self {
        let mut child = Command::from(under_test())
            .arg("--config")
            .arg(config)
            .args(["serve", "--json", "--listen", "127.0.0.1:0"])
            .env("AIRLOCK_MODEL_URL", &model.url)
            .env("AIRLOCK_MODEL", "scripted")
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let first = first.expect("it starts in time").unwrap().expect("it says where it serves");
        let said: Value = serde_json::from_str(&first).expect(&first);
        let url = said["page"].as_str().expect(&first).trim_end_matches('/').to_owned();
        let client = crate::client();
        Self { child, url, client }
    }

    /// Its process id.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// The report of health.
    pub async fn health(&self) -> Value {
        let response = self.client.get(format!("{}/api/health", self.url)).send().await.unwrap();
        response.json().await.unwrap()
    }

    /// Asks: status and body. Dropping the future closes the connection.
    pub async fn ask(&self, domain: &str, question: &str) -> (u16, Value) {
        let body = json!({"question": question, "domain": domain});
        let request = self.client.post(format!("{}/api/ask", self.url)).json(&body);
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        (status, response.json().await.unwrap())
    }
}
