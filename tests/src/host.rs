//! A host of its own over a demo's source and store: `airlock serve`, with a configuration that a test changes.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};

use serde_json::{Value, json};

use crate::{Airlock, NOW, under_test};

/// A server beside a demo.
pub struct Host {
    child: Child,
    /// Where it serves.
    pub url: String,
    /// Its configuration.
    pub config: PathBuf,
    client: reqwest::Client,
}

impl Host {
    /// Starts one whose files are called `name`.
    #[must_use]
    pub fn over(airlock: &Airlock, name: &str, change: impl FnOnce(&mut toml::Table)) -> Self {
        let mut config: toml::Table =
            std::fs::read_to_string(airlock.data.path().join("airlock.toml")).unwrap().parse().unwrap();
        let own = airlock.data.path().join(name);
        let server = config["server"].as_table_mut().unwrap();
        server.insert("data".to_owned(), own.display().to_string().into());
        server.insert("operator_socket".to_owned(), own.join("o.sock").display().to_string().into());
        change(&mut config);
        let file = airlock.data.path().join(format!("{name}.toml"));
        std::fs::write(&file, toml::to_string(&config).unwrap()).unwrap();
        let mut child = under_test()
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"])
            .arg(&file)
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(file.with_extension("log")).unwrap())
            .spawn()
            .unwrap();
        let mut first = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut first).unwrap();
        let said: Value = serde_json::from_str(&first).unwrap_or_else(|_| {
            panic!("{first}{}", std::fs::read_to_string(file.with_extension("log")).unwrap_or_default())
        });
        let url = said["page"].as_str().unwrap().trim_end_matches('/').to_owned();
        let client = crate::client();
        Self { child, url, config: file, client }
    }

    /// Asks: status and body.
    pub async fn ask(&self, question: &str) -> (u16, Value) {
        let request =
            self.client.post(format!("{}/api/ask", self.url)).header("content-type", "application/json");
        let body = json!({"question": question, "now": NOW}).to_string();
        let response = request.body(body).send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap())
    }

    /// Gets a path: status and body.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        let response = self.client.get(format!("{}{path}", self.url)).send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap())
    }

    /// Runs a command of the binary against its configuration.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Output {
        under_test().args(arguments).env("AIRLOCK_CONFIG", &self.config).output().unwrap()
    }

    /// What it logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.config.with_extension("log")).unwrap()
    }

    /// Kills it, as a crash would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
