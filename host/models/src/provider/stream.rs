//! A reply that comes in pieces: server-sent events, read as they arrive.
//!
//! A model that runs away is stopped when more came than is read of any reply, instead of being paid for until its limit; a
//! connection that breaks is told from a reply that ended.

use airlock_types::ask::Tokens;
use futures_util::StreamExt;
use reqwest::Response;
use serde_json::Value;

use super::{Attempt, BODY_LIMIT, Endpoint, Protocol, Raw, SAID, message_of, unread, why};
use crate::error::ModelError;
use crate::key::Key;
use crate::reply::READ;

/// Whether a response is a stream of events, as it was asked to be. Endpoints that know none answer as a whole.
pub(super) fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

/// Reads the events to their end.
pub(super) async fn read(
    response: Response,
    protocol: Protocol,
    endpoint: &Endpoint,
    key: Option<&Key>,
) -> Attempt {
    let unreadable = |why: String| ModelError::Unreadable { endpoint: endpoint.to_string(), why };
    let (mut lines, mut reply) = (Lines::default(), Gathered::new(protocol));
    let mut chunks = response.bytes_stream();
    let mut bytes = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => {
                let error = unreadable(format!("the reply broke off: {}", why(&error)));
                return Attempt::Again { error, after: None };
            }
        };
        bytes += chunk.len();
        if bytes > BODY_LIMIT {
            return Attempt::Failed(unreadable(format!("the reply is larger than {BODY_LIMIT} bytes")));
        }
        for data in lines.take(&chunk) {
            match reply.take(&data) {
                Ok(()) => {}
                Err(Wrong::Said(event)) => {
                    let message = airlock_types::text::shorten(&message_of(event.as_bytes(), key), SAID);
                    let error = ModelError::Busy { endpoint: endpoint.to_string(), message };
                    return Attempt::Again { error, after: None };
                }
                Err(Wrong::Unreadable(why)) => return Attempt::Failed(unreadable(why)),
            }
        }
        if reply.ended || reply.is_too_long() {
            return Attempt::Reply(reply.into_raw());
        }
    }
    if reply.finished {
        return Attempt::Reply(reply.into_raw());
    }
    let error = unreadable("the reply broke off before its end".to_owned());
    Attempt::Again { error, after: None }
}

/// Bytes as they come, put together into the data of events.
#[derive(Default)]
struct Lines {
    open: Vec<u8>,
}

impl Lines {
    /// The data lines that are complete now. Both protocols write one to an event.
    fn take(&mut self, chunk: &[u8]) -> Vec<String> {
        self.open.extend_from_slice(chunk);
        let mut found = Vec::new();
        while let Some(end) = self.open.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.open.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            if let Some(data) = line.strip_prefix("data:") {
                found.push(data.trim().to_owned());
            }
        }
        found
    }
}

/// Why an event is no part of a reply.
enum Wrong {
    /// The endpoint says in this event that something went wrong on its side.
    Said(String),
    Unreadable(String),
}

/// What came so far.
struct Gathered {
    protocol: Protocol,
    text: String,
    characters: usize,
    tokens: Tokens,
    truncated: bool,
    /// The reply is whole, though more may be said about it.
    finished: bool,
    /// Nothing more will come.
    ended: bool,
}

impl Gathered {
    fn new(protocol: Protocol) -> Self {
        let tokens = Tokens::default();
        Self {
            protocol,
            text: String::new(),
            characters: 0,
            tokens,
            truncated: false,
            finished: false,
            ended: false,
        }
    }

    fn is_too_long(&self) -> bool {
        self.characters > READ
    }

    fn into_raw(self) -> Raw {
        Raw { truncated: self.truncated || self.characters > READ, text: self.text, tokens: self.tokens }
    }

    fn take(&mut self, data: &str) -> Result<(), Wrong> {
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            (self.finished, self.ended) = (true, true);
            return Ok(());
        }
        let event: Value = serde_json::from_str(data).map_err(|error| Wrong::Unreadable(unread(&error)))?;
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Wrong::Said(data.to_owned()));
        }
        match self.protocol {
            Protocol::OpenaiCompatible => self.take_completion(&event),
            Protocol::Anthropic => self.take_message(&event),
        }
        Ok(())
    }

    fn take_completion(&mut self, event: &Value) {
        if let Some(content) = event.pointer("/choices/0/delta/content").and_then(Value::as_str) {
            self.push(content);
        }
        if let Some(reason) = event.pointer("/choices/0/finish_reason").and_then(Value::as_str) {
            self.finished = true;
            self.truncated = reason == "length";
        }
        self.count(event.get("usage"), ["prompt_tokens", "completion_tokens"]);
    }

    fn take_message(&mut self, event: &Value) {
        const COUNTS: [&str; 2] = ["input_tokens", "output_tokens"];
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => self.count(event.pointer("/message/usage"), COUNTS),
            "content_block_start" => {
                let is_text = event.pointer("/content_block/type").and_then(Value::as_str) == Some("text");
                if is_text && !self.text.is_empty() {
                    self.push("\n");
                }
            }
            // Deltas of thinking have another word for their text.
            "content_block_delta" => {
                if let Some(text) = event.pointer("/delta/text").and_then(Value::as_str) {
                    self.push(text);
                }
            }
            "message_delta" => {
                let reason = event.pointer("/delta/stop_reason").and_then(Value::as_str);
                self.truncated = self.truncated || reason == Some("max_tokens");
                self.finished = self.finished || reason.is_some();
                self.count(event.get("usage"), COUNTS);
            }
            "message_stop" => (self.finished, self.ended) = (true, true),
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        self.characters += text.chars().count();
        self.text.push_str(text);
    }

    /// Takes the counts that are there: each is the sum so far, and a later one replaces it.
    fn count(&mut self, usage: Option<&Value>, [input, output]: [&str; 2]) {
        let number = |key: &str| usage.and_then(|usage| usage.get(key)).and_then(Value::as_u64);
        self.tokens.input = number(input).unwrap_or(self.tokens.input);
        self.tokens.output = number(output).unwrap_or(self.tokens.output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_put_together_wherever_the_bytes_are_cut() {
        let stream = "event: x\r\ndata: {\"a\": \"größe\"}\r\n\r\n: ping\ndata:[DONE]\n\n";
        for at in 0..stream.len() {
            let mut lines = Lines::default();
            let (before, after) = stream.as_bytes().split_at(at);
            let found: Vec<String> = lines.take(before).into_iter().chain(lines.take(after)).collect();
            assert_eq!(found, ["{\"a\": \"größe\"}", "[DONE]"], "cut at {at}");
        }
    }
}
