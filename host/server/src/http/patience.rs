//! Clients that are too slow: one that takes nothing of an answer loses its connection, and a body arrives in time as a
//! whole, however small its pieces.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::StreamExt;
use futures_util::stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Time for the whole of a request's body.
const BODY: Duration = Duration::from_secs(30);

/// A connection that breaks when a write waits too long.
pub struct Patient<S> {
    stream: S,
    patience: Duration,
    /// Since when something waits to be taken.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    /// The connection with this much patience for each write.
    pub const fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, waiting: None }
    }

    fn progress<T>(&mut self, context: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.waiting = None;
            return polled;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing of its answer")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.progress(context, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.progress(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.progress(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.progress(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// Ends a body that has not arrived as a whole in time.
pub async fn whole_body(request: Request, next: Next) -> Response {
    use axum::body::HttpBody;
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    next.run(request.map(|body| within(body, BODY))).await
}

fn within(body: Body, time: Duration) -> Body {
    let end = Instant::now() + time;
    Body::from_stream(stream::unfold(Some(body.into_data_stream()), move |pieces| async move {
        let mut pieces = pieces?;
        match tokio::time::timeout_at(end, pieces.next()).await {
            Ok(None) => None,
            Ok(Some(Ok(piece))) => Some((Ok(piece), Some(pieces))),
            Ok(Some(Err(error))) => Some((Err(io::Error::other(error)), None)),
            Err(_) => {
                let late = io::Error::new(io::ErrorKind::TimedOut, "the body took too long to arrive");
                Some((Err(late), None))
            }
        }
    }))
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn who_takes_nothing_loses_the_connection_and_who_takes_slowly_does_not() {
        let (here, mut there) = tokio::io::duplex(16);
        let mut patient = Patient::new(here, Duration::from_secs(3));
        let reading = tokio::spawn(async move {
            let mut taken = 0;
            let mut piece = [0; 8];
            while taken < 64 {
                tokio::time::sleep(Duration::from_millis(10)).await;
                taken += tokio::io::AsyncReadExt::read(&mut there, &mut piece).await.unwrap();
            }
            there
        });
        patient.write_all(&[1; 64]).await.unwrap();
        let _open = reading.await.unwrap();
        let error = patient.write_all(&[1; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_body_that_drips_is_ended() {
        let drip = stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            Some((Ok::<_, io::Error>("x"), ()))
        });
        let body = within(Body::from_stream(drip), Duration::from_millis(100));
        assert!(axum::body::to_bytes(body, usize::MAX).await.is_err());
        let whole = within(Body::from("whole"), Duration::from_secs(60));
        assert_eq!(axum::body::to_bytes(whole, 100).await.unwrap(), "whole");
    }
}
