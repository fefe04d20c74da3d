//! What of a configuration decides how questions come out, what they cost and how long they take.

use std::collections::BTreeMap;

use airlock_types::ContentHash;
use serde_json::{Value, json};

use crate::config::Config;

/// Its hash. Keys and passwords have no part in it, and neither has what only says how much is done at once or beside asks.
pub(super) fn hash(config: &Config) -> ContentHash {
    let sources: BTreeMap<&String, u128> =
        config.sources.iter().map(|(name, source)| (name, source.statement_timeout.as_millis())).collect();
    let models = &config.models;
    // Recorded replies may be moved: what they hold is known by the requests, and not by their folder.
    let providers: BTreeMap<&String, Value> = models
        .providers
        .iter()
        .map(|(name, provider)| (name, json!([provider.kind.as_str(), address(&provider.url)])))
        .collect();
    let roles: BTreeMap<&String, Value> = models
        .roles
        .iter()
        .map(|(name, role)| {
            let spare = role.spare.as_ref().map(|spare| (&spare.provider, &spare.model));
            (name, json!([role.provider, role.model, role.max_output_tokens, spare]))
        })
        .collect();
    let embedder = &config.embedder;
    let said = json!({
        "deadline_ms": config.ask_deadline.as_millis(),
        "sources": sources,
        "providers": providers,
        "roles": roles,
        "prices": models.prices,
        "model_deadline_ms": models.deadline().map(|deadline| deadline.as_millis()).ok(),
        "embedder": [
            format!("{:?}", embedder.kind), embedder.path, embedder.url.as_deref().map(address), embedder.model,
            embedder.dimension, embedder.query_prefix,
        ],
        "rerank": [config.rerank.path, config.rerank.pairs],
        "recall": config.learning.recall,
    });
    ContentHash::of(said.to_string())
}

/// An address without a password that it may hold.
fn address(url: &str) -> String {
    let Ok(mut address) = reqwest::Url::parse(url) else { return url.to_owned() };
    // Only an address that has no place for a name or a password refuses.
    let _ = address.set_username("").and_then(|()| address.set_password(None));
    address.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::environment::Environment;

    const FILE: &str = r#"
        [sources.shop]
        url = "postgresql://reader:secret@localhost/shop"
        [models]
        deadline_seconds = 30
        [models.providers.p]
        url = "http://one.example"
        key = "k-1"
        [models.roles.reasoning]
        provider = "p"
        model = "m"
        [models.prices]
        m = { input = 1.0, output = 2.0 }
    "#;

    fn of(text: &str) -> ContentHash {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("airlock.toml");
        std::fs::write(&file, text).unwrap();
        hash(&Config::read(Some(&file), &Environment::of(&[])).unwrap())
    }

    #[test]
    fn what_changes_answers_cost_or_latency_is_another_configuration() {
        let before = of(FILE);
        for (this, that) in [
            ("input = 1.0", "input = 3.0"),
            ("one.example", "two.example"),
            ("deadline_seconds = 30", "deadline_seconds = 31"),
            ("model = \"m\"", "model = \"n\""),
            ("[models]", "[learning]\nrecall = false\n[models]"),
            (
                "[models]",
                "[embedder]\nkind = \"openai-compatible\"\nurl = \"http://e.example\"\nmodel = \"e\"\n[models]",
            ),
            ("[models]", "statement_timeout_ms = 1000\n[models]"),
        ] {
            assert_ne!(of(&FILE.replacen(this, that, 1)), before, "{that}");
        }
        for (this, that) in [
            ("k-1", "k-2"),
            (":secret@", ":other@"),
            ("//one.example", "//name:word@one.example"),
            ("[models]", "connections = 9\n[models]"),
            ("[models]", "[domains]\nvalues_refresh_seconds = 600\n[models]"),
        ] {
            assert_eq!(of(&FILE.replacen(this, that, 1)), before, "{that}");
        }
    }
}
