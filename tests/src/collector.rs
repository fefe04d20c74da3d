//! A collector of traces on a port of its own: takes OTLP over HTTP as protobuf and reads it by the wire format alone, so
//! that what is tested is what is on the wire.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;

use crate::eventually;

/// How a collector treats what it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Takes it.
    Takes,
    /// Answers 503.
    Refuses,
    /// Never answers.
    Hangs,
}

/// One span, as it came.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Span {
    /// 32 hexadecimal digits.
    pub trace: String,
    /// 16 hexadecimal digits.
    pub id: String,
    /// The span that it is within; empty for the first one.
    pub parent: String,
    /// Its name.
    pub name: String,
    /// 1 internal, 3 client.
    pub kind: u64,
    /// Nanoseconds since 1970.
    pub begun: u64,
    /// Nanoseconds since 1970.
    pub ended: u64,
    /// Attributes, as text.
    pub attributes: BTreeMap<String, String>,
    /// Events with their attributes.
    pub events: Vec<(String, BTreeMap<String, String>)>,
    /// Traces and spans that it is linked with.
    pub links: Vec<(String, String)>,
    /// Whether its status is an error.
    pub is_error: bool,
}

#[derive(Default)]
struct Received {
    spans: Vec<Span>,
    resource: BTreeMap<String, String>,
    headers: Vec<HeaderMap>,
    bodies: Vec<Vec<u8>>,
}

#[derive(Clone)]
struct Shared {
    manner: Manner,
    received: Arc<Mutex<Received>>,
}

/// A running collector.
pub struct Collector {
    /// Its address, without the path of the signal.
    pub url: String,
    received: Arc<Mutex<Received>>,
    server: tokio::task::JoinHandle<()>,
}

impl Collector {
    /// A collector of this manner.
    pub async fn start(manner: Manner) -> Self {
        let received = Arc::new(Mutex::new(Received::default()));
        let shared = Shared { manner, received: Arc::clone(&received) };
        let router = Router::new().route("/v1/traces", post(take)).with_state(shared);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Self { url, received, server }
    }

    /// The spans of a trace, once they are there. The first span ends last, so nothing comes after it.
    pub async fn trace(&self, trace: &str) -> Vec<Span> {
        eventually("the trace comes", async || {
            let spans = self.received.lock().unwrap().spans.clone();
            let spans: Vec<Span> = spans.into_iter().filter(|span| span.trace == trace).collect();
            let is_whole = spans.iter().any(|span| span.parent.is_empty());
            if is_whole { Ok(spans) } else { Err(format!("{trace} has {} spans", spans.len())) }
        })
        .await
    }

    /// Every span so far.
    #[must_use]
    pub fn spans(&self) -> Vec<Span> {
        self.received.lock().unwrap().spans.clone()
    }

    /// Attributes of the service.
    #[must_use]
    pub fn resource(&self) -> BTreeMap<String, String> {
        self.received.lock().unwrap().resource.clone()
    }

    /// Headers of each request.
    #[must_use]
    pub fn headers(&self) -> Vec<HeaderMap> {
        self.received.lock().unwrap().headers.clone()
    }

    /// What came, as it came.
    #[must_use]
    pub fn bodies(&self) -> Vec<Vec<u8>> {
        self.received.lock().unwrap().bodies.clone()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn take(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    {
        let mut received = shared.received.lock().unwrap();
        received.headers.push(headers);
        received.bodies.push(body.to_vec());
        if shared.manner == Manner::Takes {
            // ExportTraceServiceRequest: resource spans.
            for resource_spans in messages(&body, 1) {
                for resource in messages(resource_spans, 1) {
                    received.resource.extend(attributes(resource, 1));
                }
                for scope_spans in messages(resource_spans, 2) {
                    let spans: Vec<Span> = messages(scope_spans, 2).into_iter().map(span).collect();
                    received.spans.extend(spans);
                }
            }
        }
    }
    match shared.manner {
        Manner::Takes => (StatusCode::OK, Vec::new()).into_response(),
        Manner::Refuses => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Manner::Hangs => std::future::pending().await,
    }
}

/// What stands in one field of a message.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
        shift += 7;
    }
}

/// The fields of a message, in their order.
fn fields(bytes: &[u8]) -> Vec<(u64, Value<'_>)> {
    let (mut at, mut out) = (0, Vec::new());
    while at < bytes.len() {
        let tag = varint(bytes, &mut at);
        let value = match tag & 7 {
            0 => Value::Number(varint(bytes, &mut at)),
            1 => {
                at += 8;
                Value::Number(u64::from_le_bytes(bytes[at - 8..at].try_into().unwrap()))
            }
            2 => {
                let length = usize::try_from(varint(bytes, &mut at)).unwrap();
                at += length;
                Value::Bytes(&bytes[at - length..at])
            }
            5 => {
                at += 4;
                Value::Number(u64::from(u32::from_le_bytes(bytes[at - 4..at].try_into().unwrap())))
            }
            other => panic!("the wire type {other} is none of protobuf 3"),
        };
        out.push((tag >> 3, value));
    }
    out
}

fn messages(bytes: &[u8], field: u64) -> Vec<&[u8]> {
    let found = fields(bytes).into_iter().filter(|(number, _)| *number == field);
    found
        .filter_map(|(_, value)| match value {
            Value::Bytes(bytes) => Some(bytes),
            Value::Number(_) => None,
        })
        .collect()
}

fn number(bytes: &[u8], field: u64) -> u64 {
    let found = fields(bytes).into_iter().find(|(number, _)| *number == field);
    match found {
        Some((_, Value::Number(number))) => number,
        _ => 0,
    }
}

fn text(bytes: &[u8], field: u64) -> String {
    messages(bytes, field).first().map(|text| String::from_utf8(text.to_vec()).unwrap()).unwrap_or_default()
}

fn hex(bytes: &[u8], field: u64) -> String {
    messages(bytes, field)
        .first()
        .map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect())
        .unwrap_or_default()
}

fn attributes(bytes: &[u8], field: u64) -> BTreeMap<String, String> {
    messages(bytes, field)
        .into_iter()
        .map(|pair| (text(pair, 1), messages(pair, 2).first().map(|any| value(any)).unwrap_or_default()))
        .collect()
}

/// An `AnyValue` as text.
fn value(any: &[u8]) -> String {
    match fields(any).into_iter().next() {
        Some((1, Value::Bytes(text))) => String::from_utf8(text.to_vec()).unwrap(),
        Some((2, Value::Number(truth))) => (truth == 1).to_string(),
        Some((3, Value::Number(whole))) => whole.to_string(),
        Some((4, Value::Number(bits))) => f64::from_bits(bits).to_string(),
        Some((5, Value::Bytes(list))) => {
            messages(list, 1).into_iter().map(value).collect::<Vec<_>>().join(",")
        }
        _ => String::new(),
    }
}

fn span(bytes: &[u8]) -> Span {
    Span {
        trace: hex(bytes, 1),
        id: hex(bytes, 2),
        parent: hex(bytes, 4),
        name: text(bytes, 5),
        kind: number(bytes, 6),
        begun: number(bytes, 7),
        ended: number(bytes, 8),
        attributes: attributes(bytes, 9),
        events: messages(bytes, 11).into_iter().map(|event| (text(event, 2), attributes(event, 3))).collect(),
        links: messages(bytes, 13).into_iter().map(|link| (hex(link, 1), hex(link, 2))).collect(),
        is_error: messages(bytes, 15).first().is_some_and(|status| number(status, 3) == 2),
    }
}
