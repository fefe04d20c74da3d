//! Recorded replies: what a model said, kept by the request it was said to, and played back in place of a model.
//!
//! The key of a request is the SHA-256 of a canonical JSON text of all that a model is told: role, standing instructions,
//! prompt, shape and limit of the reply. Neither the model nor its endpoint is part of it, so that a recording is played
//! without knowing who made it. What is kept is the reply as it came, so that cleaning is done anew each time.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use airlock_types::ContentHash;
use airlock_types::ask::Tokens;
use serde::{Deserialize, Serialize};

use crate::error::ModelError;
use crate::models::{Call, Shape};
use crate::provider::Raw;

/// Most bytes of one recorded exchange that are read.
const FILE_LIMIT: u64 = 16 << 20;

/// What a model is told.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    role: String,
    system: String,
    prompt: String,
    shape: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<String>,
    max_output_tokens: Option<u32>,
    /// Absent for the likeliest reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variant: Option<u32>,
}

/// What it said.
#[derive(Debug, Serialize, Deserialize)]
struct Said {
    model: String,
    text: String,
    truncated: bool,
    tokens: Tokens,
}

/// One exchange, as its file holds it.
#[derive(Debug, Serialize, Deserialize)]
struct Exchange {
    key: ContentHash,
    request: Request,
    reply: Said,
}

impl Request {
    fn of(call: &Call) -> Self {
        let (shape, schema) = match &call.shape {
            Shape::Text => ("text", None),
            Shape::Sql => ("sql", None),
            Shape::Json(schema) => ("json", Some(schema.clone())),
        };
        Self {
            role: call.role.as_str().to_owned(),
            system: call.system.clone(),
            prompt: call.prompt.clone(),
            shape: shape.to_owned(),
            schema,
            max_output_tokens: call.max_output_tokens,
            variant: (call.variant > 0).then_some(call.variant),
        }
    }

    /// Fields stand in the order of the type, without white space: one text for one request.
    fn key(&self) -> ContentHash {
        ContentHash::of(serde_json::to_vec(self).unwrap_or_default())
    }
}

/// One exchange of a finished ask, as its record keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchanged {
    /// SHA-256 of the canonical request.
    pub key: ContentHash,
    /// The model that answered, or that was to.
    pub model: String,
    /// What it said, without its reasoning; none when there was no reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the provider cut it.
    #[serde(default)]
    pub truncated: bool,
    /// As the provider counted.
    pub tokens: Tokens,
}

impl Call {
    /// The key of what is told to the model, by which a recorded reply to it is found.
    #[must_use]
    pub fn key(&self) -> ContentHash {
        Request::of(self).key()
    }
}

/// A folder of recorded exchanges, a file each, named by the key.
#[derive(Debug)]
pub(crate) struct Replies {
    folder: PathBuf,
    /// The exchanges of one ask, in place of the folder.
    ask: Option<BTreeMap<ContentHash, Exchanged>>,
}

impl Replies {
    /// The recordings of a folder; it is made when something is kept.
    pub(crate) fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), ask: None }
    }

    /// The exchanges of one ask. To the same request the same was said: the first.
    pub(crate) fn of_ask(exchanges: &[Exchanged]) -> Self {
        let by_key = exchanges.iter().rev().map(|exchanged| (exchanged.key, exchanged.clone()));
        Self { folder: PathBuf::from("the record of the ask"), ask: Some(by_key.collect()) }
    }

    fn file(&self, key: ContentHash) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }

    /// What was said to this call when it was recorded, and the model that said it.
    pub(crate) fn find(&self, call: &Call) -> Result<(Raw, String), ModelError> {
        let key = call.key();
        if let Some(ask) = &self.ask {
            return said_in(ask, key, &self.folder);
        }
        let file = self.file(key);
        let unreadable = |why: String| ModelError::Recording { file: file.display().to_string(), why };
        let size = match fs::metadata(&file) {
            Ok(about) => about.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(ModelError::NotRecorded { key, folder: self.folder.display().to_string() });
            }
            Err(error) => return Err(unreadable(error.to_string())),
        };
        if size > FILE_LIMIT {
            return Err(unreadable(format!("it is larger than {FILE_LIMIT} bytes")));
        }
        let bytes = fs::read(&file).map_err(|error| unreadable(error.to_string()))?;
        let exchange: Exchange =
            serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
        if exchange.key != key || exchange.request.key() != key {
            return Err(unreadable("its request is not the one that its name says".to_owned()));
        }
        let Said { model, text, truncated, tokens } = exchange.reply;
        Ok((Raw { text, truncated, tokens }, model))
    }

    /// Keeps what was said. The first reply to a request stays: a recording does not change under those who play it.
    pub(crate) fn keep(&self, call: &Call, raw: &Raw, model: &str) -> Result<(), ModelError> {
        let request = Request::of(call);
        let key = request.key();
        let file = self.file(key);
        let unwritable = |why: String| ModelError::Recording { file: file.display().to_string(), why };
        if file.exists() {
            return Ok(());
        }
        let reply = Said {
            model: model.to_owned(),
            text: raw.text.clone(),
            truncated: raw.truncated,
            tokens: raw.tokens,
        };
        let mut text = serde_json::to_vec_pretty(&Exchange { key, request, reply })
            .map_err(|error| unwritable(error.to_string()))?;
        text.push(b'\n');
        write(&self.folder, &file, &text).map_err(|error| unwritable(error.to_string()))
    }
}

/// What was said in an ask.
fn said_in(
    ask: &BTreeMap<ContentHash, Exchanged>,
    key: ContentHash,
    folder: &Path,
) -> Result<(Raw, String), ModelError> {
    let missing = || ModelError::NotRecorded { key, folder: folder.display().to_string() };
    let Exchanged { model, text, error, truncated, tokens, .. } = ask.get(&key).ok_or_else(missing)?.clone();
    match (text, error) {
        (Some(text), _) => Ok((Raw { text, truncated, tokens }, model)),
        (None, Some(message)) => Err(ModelError::Recorded { message }),
        (None, None) => Err(missing()),
    }
}

/// Writes a file whole or not at all, for the eyes of its owner: prompts may hold rows.
fn write(folder: &Path, file: &Path, text: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    fs::create_dir_all(folder)?;
    let half = file.with_extension(format!("{}.part", std::process::id()));
    let mut out = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&half)?;
    out.write_all(text)?;
    drop(out);
    fs::rename(&half, file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Role;

    fn call() -> Call {
        Call {
            role: Role::Reasoning,
            system: "s".to_owned(),
            prompt: "p".to_owned(),
            shape: Shape::Sql,
            max_output_tokens: Some(9),
            until: None,
            variant: 0,
        }
    }

    #[test]
    fn the_key_is_of_all_that_a_model_is_told_and_of_nothing_else() {
        let key = |call: &Call| Request::of(call).key();
        let plain = key(&call());
        // Written down, so that a change of the key does not go unnoticed: recordings would be worth nothing.
        let text = r#"{"role":"reasoning","system":"s","prompt":"p","shape":"sql","max_output_tokens":9}"#;
        assert_eq!(plain, ContentHash::of(text));
        assert_eq!(plain, key(&Call { until: Some(std::time::Instant::now()), ..call() }));
        for other in [
            Call { role: Role::Fast, ..call() },
            Call { system: "t".to_owned(), ..call() },
            Call { prompt: "q".to_owned(), ..call() },
            Call { shape: Shape::Text, ..call() },
            Call { variant: 1, ..call() },
            Call { shape: Shape::Json("{}".to_owned()), ..call() },
            Call { max_output_tokens: None, ..call() },
        ] {
            assert_ne!(plain, key(&other), "{other:?}");
        }
    }

    #[test]
    fn what_was_said_in_an_ask_is_said_again_and_what_failed_fails_again() {
        let kept = |call: &Call, text: Option<&str>, error: Option<&str>| Exchanged {
            key: call.key(),
            model: "m".to_owned(),
            text: text.map(str::to_owned),
            error: error.map(str::to_owned),
            truncated: false,
            tokens: Tokens::default(),
        };
        let other = Call { prompt: "q".to_owned(), ..call() };
        let replies = Replies::of_ask(&[
            kept(&call(), Some("first"), None),
            kept(&call(), Some("second"), None),
            kept(&other, None, Some("it was down")),
        ]);
        assert_eq!(replies.find(&call()).unwrap().0.text, "first");
        assert_eq!(replies.find(&other).unwrap_err().to_string(), "it was down");
        let never = Call { prompt: "r".to_owned(), ..call() };
        assert!(matches!(replies.find(&never), Err(ModelError::NotRecorded { .. })));
    }

    #[test]
    fn what_was_kept_is_found_and_what_was_not_is_named_by_its_key() {
        let folder = std::env::temp_dir().join(format!("airlock-replies-{}", std::process::id()));
        let replies = Replies::of(&folder);
        let ModelError::NotRecorded { key, .. } = replies.find(&call()).unwrap_err() else { panic!() };
        assert_eq!(key, Request::of(&call()).key());
        let raw = |text: &str| Raw {
            text: text.to_owned(),
            truncated: false,
            tokens: Tokens { input: 3, output: 4 },
        };
        replies.keep(&call(), &raw("SELECT 1"), "m").unwrap();
        replies.keep(&call(), &raw("SELECT 2"), "m").unwrap();
        let (found, model) = replies.find(&call()).unwrap();
        assert_eq!((found.text.as_str(), found.tokens.output, model.as_str()), ("SELECT 1", 4, "m"));
        // A file under another name is not taken for what its name says.
        let other = Call { prompt: "q".to_owned(), ..call() };
        fs::copy(replies.file(key), replies.file(Request::of(&other).key())).unwrap();
        assert!(matches!(replies.find(&other), Err(ModelError::Recording { .. })));
        fs::remove_dir_all(folder).unwrap();
    }
}
