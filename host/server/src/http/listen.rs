//! Connections: how many at once, how long a request may take to arrive and an answer to be taken, and how they end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt;

use super::patience::Patient;
use super::tls::Tls;

/// Connections at once. Further ones wait in the system's queue, which is bounded too.
const CONNECTIONS: usize = 512;
/// Time for the head of a request, and for the next one on a connection that is kept open.
const HEAD: Duration = Duration::from_secs(10);
/// Time for a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Time in which a client takes something of an answer that waits for it.
const TAKE: Duration = Duration::from_secs(30);
/// Bytes of a request's head.
const HEAD_BYTES: usize = 32 * 1024;
/// Pause after a failure to accept, such as no file handle being free.
const PAUSE: Duration = Duration::from_millis(50);

/// The other end of a connection, beside every request that came by it.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// Serves until `stop` is done, then finishes the requests that are under way.
pub async fn serve(listener: TcpListener, tls: Option<&Tls>, router: Router, stop: impl Future<Output = ()>) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES);
    let open = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let acceptor = tls.map(Tls::acceptor);
    let mut stop = std::pin::pin!(stop);
    loop {
        let place = tokio::select! {
            () = &mut stop => break,
            place = Arc::clone(&places).acquire_owned() => place,
        };
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let line = Line { http: http.clone(), router: router.clone(), peer, open: open.watcher() };
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            match acceptor {
                None => line.talk(stream).await,
                Some(acceptor) => line.talk_by_tls(acceptor, stream).await,
            }
            drop(place);
        });
    }
    drop(listener);
    open.shutdown().await;
}

/// One connection.
struct Line {
    http: http1::Builder,
    router: Router,
    peer: SocketAddr,
    open: Watcher,
}

impl Line {
    async fn talk_by_tls(self, acceptor: tokio_rustls::TlsAcceptor, stream: TcpStream) {
        match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => self.talk(stream).await,
            Ok(Err(error)) => tracing::debug!(peer = %self.peer, %error, "no TLS with a client"),
            Err(_) => tracing::debug!(peer = %self.peer, "a client was too slow to begin TLS"),
        }
    }

    async fn talk(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let peer = Peer(self.peer);
        let service = self.router.map_request(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            request
        });
        let stream = TokioIo::new(Patient::new(stream, TAKE));
        let connection = self.http.serve_connection(stream, TowerToHyperService::new(service));
        // A connection that breaks or is too slow is the client's affair.
        if let Err(error) = self.open.watch(connection).await {
            tracing::debug!(%error, "a connection ended");
        }
    }
}
