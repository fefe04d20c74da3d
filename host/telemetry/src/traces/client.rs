//! The way to a collector: the HTTP client that models are asked with, spoken to by the exporter of OpenTelemetry.

use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use opentelemetry_http::{HttpClient, HttpError, Request, Response};

/// Bytes of a collector's reply that are read.
const REPLY_BYTES: usize = 64 * 1024;

/// One client for every batch.
#[derive(Debug)]
pub(super) struct Client(reqwest::Client);

impl Client {
    /// A client that gives a request up after this long.
    pub(super) fn new(timeout: Duration) -> Result<Self, reqwest::Error> {
        // Whoever set a provider before did it for the whole process.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(timeout)
            .connect_timeout(timeout)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self(client))
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let sent = self
            .0
            .request(parts.method, parts.uri.to_string())
            .headers(parts.headers)
            .body(body)
            .send()
            .await
            // An address may hold a password.
            .map_err(reqwest::Error::without_url)?;
        let (status, headers) = (sent.status(), sent.headers().clone());
        let mut reply = BytesMut::new();
        let mut sent = sent;
        while let Some(piece) = sent.chunk().await.map_err(reqwest::Error::without_url)? {
            let room = REPLY_BYTES.saturating_sub(reply.len());
            reply.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
            if reply.len() >= REPLY_BYTES {
                break;
            }
        }
        let mut response = Response::new(reply.freeze());
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }
}
