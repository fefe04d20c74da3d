//! One message as it came in, on either transport: read, or answered with what is wrong with it. Silence would leave its
//! client waiting.

use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, CustomRequest, ErrorData,
    InitializeRequestParams, JsonRpcError, RequestId,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A mark that some clients put before UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// Characters of an id that is repeated in a reply.
const ID: usize = 200;

/// What a client sent.
#[derive(Debug)]
pub enum Frame {
    /// A message of the protocol.
    Message(Box<ClientJsonRpcMessage>),
    /// A notification that nobody knows, or a reply that nobody waits for: neither is ever answered.
    Ignored,
    /// What is wrong with it.
    Wrong(Box<JsonRpcError>),
}

impl Frame {
    /// Reads one message.
    pub fn read(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
        if let Ok(message) = serde_json::from_slice::<ClientJsonRpcMessage>(bytes) {
            return match &message {
                ClientJsonRpcMessage::Request(request) => match misfit(&request.request) {
                    Some(why) => Self::unfit(Some(request.id.clone()), &why),
                    None => Self::Message(Box::new(message)),
                },
                _ => Self::Message(Box::new(message)),
            };
        }
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(fields)) => Self::unread(&fields),
            Ok(Value::Array(_)) => Self::invalid(None, "send one message at a time, not a list of them"),
            Ok(_) => Self::invalid(None, "a message is a JSON object"),
            Err(error) => {
                let what = format!("The message is not JSON in UTF-8: {error}.");
                Self::wrong(None, ErrorData::parse_error(what, None))
            }
        }
    }

    /// The answer to a message that is longer than any may be.
    pub fn too_long(limit: usize) -> Self {
        Self::invalid(None, &format!("a message has at most {limit} bytes, and this one was not read"))
    }

    /// The answer to a request whose id is that of another one under way.
    pub fn twice(id: RequestId) -> Self {
        let why = "another one with this `id` is under way, and a cancellation could not tell them apart";
        Self::invalid(Some(id), why)
    }

    /// Whether it opens a session.
    pub fn is_initialize(&self) -> bool {
        self.request().is_some_and(|(_, request)| matches!(request, ClientRequest::InitializeRequest(_)))
    }

    /// The id of a request.
    pub fn id(&self) -> Option<&RequestId> {
        self.request().map(|(id, _)| id)
    }

    fn request(&self) -> Option<(&RequestId, &ClientRequest)> {
        let Self::Message(message) = self else { return None };
        let ClientJsonRpcMessage::Request(request) = &**message else { return None };
        Some((&request.id, &request.request))
    }

    /// An object that is no message.
    fn unread(fields: &Map<String, Value>) -> Self {
        let id = fields.get("id").and_then(id);
        let Some(method) = fields.get("method") else {
            // Two sides that answer each other's broken answers would never stop.
            if fields.contains_key("result") || fields.contains_key("error") {
                return Self::Ignored;
            }
            return Self::invalid(id, "`method` is missing");
        };
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Self::invalid(id, "`jsonrpc` must be \"2.0\"");
        }
        if !method.is_string() {
            return Self::invalid(id, "`method` must be a text");
        }
        match fields.get("id") {
            None => Self::Ignored,
            Some(_) if id.is_none() => Self::invalid(None, "`id` must be a text or a whole number"),
            Some(_) => match fields.get("params") {
                Some(Value::Object(_)) => Self::unfit(id, "params is not what it must be."),
                Some(_) => Self::unfit(id, "params must be an object, or left out."),
                None => Self::invalid(id, "it is no message of this protocol"),
            },
        }
    }

    fn invalid(id: Option<RequestId>, why: &str) -> Self {
        Self::wrong(id, ErrorData::invalid_request(format!("Not a request: {why}."), None))
    }

    fn unfit(id: Option<RequestId>, why: &str) -> Self {
        Self::wrong(id, ErrorData::invalid_params(why.to_owned(), None))
    }

    fn wrong(id: Option<RequestId>, error: ErrorData) -> Self {
        Self::Wrong(Box::new(JsonRpcError::new(id, error)))
    }
}

fn id(value: &Value) -> Option<RequestId> {
    match value {
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        Value::String(text) if text.chars().count() <= ID => Some(RequestId::String(text.as_str().into())),
        _ => None,
    }
}

/// Why a request of a known method has not its parameters. The SDK takes such a one for a method that it does not know.
fn misfit(request: &ClientRequest) -> Option<String> {
    let ClientRequest::CustomRequest(CustomRequest { method, params, .. }) = request else { return None };
    let why = match method.as_str() {
        "tools/call" => call_misfit(params.as_ref()),
        "initialize" => params_misfit::<InitializeRequestParams>(params.as_ref()),
        "ping" | "server/discover" => "params must be an object, or left out".to_owned(),
        _ => return None,
    };
    Some(format!("{method}: {why}."))
}

fn call_misfit(params: Option<&Value>) -> String {
    let Some(params) = params else {
        return "params is missing: an object with `name` and `arguments`".to_owned();
    };
    let Some(fields) = params.as_object() else {
        return "params must be an object with `name` and `arguments`".to_owned();
    };
    match fields.get("name") {
        None => return "params.name is missing: the name of a tool".to_owned(),
        Some(Value::String(_)) => {}
        Some(_) => return "params.name must be a text: the name of a tool".to_owned(),
    }
    if fields.get("arguments").is_some_and(|arguments| !arguments.is_object() && !arguments.is_null()) {
        return "params.arguments must be an object, one field for each argument".to_owned();
    }
    params_misfit::<CallToolRequestParams>(Some(params))
}

fn params_misfit<T: DeserializeOwned>(params: Option<&Value>) -> String {
    match T::deserialize(params.unwrap_or(&Value::Null)) {
        Err(error) => format!("params is not what it must be ({error})"),
        Ok(_) => "params is not what it must be".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_answered_with_what_is_wrong() {
        for (text, code, id, said) in [
            ("{nope", -32700, None, "not JSON"),
            ("", -32700, None, "not JSON"),
            ("5", -32600, None, "a JSON object"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, None, "one message at a time"),
            ("{}", -32600, None, "`method` is missing"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, Some(1), "`jsonrpc`"),
            (r#"{"id":1,"method":"ping"}"#, -32600, Some(1), "`jsonrpc`"),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600, Some(1), "`method`"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, None, "`id`"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, None, "`id`"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":1}"#, -32600, Some(1), "no message"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602, Some(1), "params is missing"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, -32602, Some(1), "params must"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, -32602, Some(1), "params.name"),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}"#,
                -32602,
                Some(1),
                "params.name must",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":"x"}}"#,
                -32602,
                Some(1),
                "params.arguments must",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","_meta":5}}"#,
                -32602,
                Some(1),
                "params is not",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#,
                -32602,
                Some(1),
                "protocolVersion",
            ),
        ] {
            let Frame::Wrong(error) = Frame::read(text.as_bytes()) else { panic!("{text} was read") };
            assert_eq!(error.error.code.0, code, "{text}: {error:?}");
            assert_eq!(error.id, id.map(RequestId::Number), "{text}");
            assert!(error.error.message.contains(said), "{text}: {}", error.error.message);
        }
        assert!(matches!(
            Frame::read(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"),
            Frame::Wrong(_)
        ));
    }

    #[test]
    fn messages_are_read_and_what_wants_no_answer_gets_none() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"ask","arguments":null}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"somebody/elses"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
        ] {
            assert!(matches!(Frame::read(text.as_bytes()), Frame::Message(_)), "{text}");
        }
        for text in [r#"{"jsonrpc":"1.0","id":1,"result":5}"#, r#"{"id":{},"error":"x"}"#] {
            assert!(matches!(Frame::read(text.as_bytes()), Frame::Ignored), "{text}");
        }
        let begin = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":
            {"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        assert!(Frame::read(begin.as_bytes()).is_initialize());
        assert!(!Frame::read(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).is_initialize());
    }
}
