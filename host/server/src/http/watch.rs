//! An ask as server-sent events: what is going on while it goes on, and its ending, which always comes.
//!
//! The ask runs beside the response, so that a client that reads slowly does not hold it up: progress that finds no room
//! is dropped, the record at the end holds everything. When the client goes away the response is dropped, and the ask
//! with it. A client that never reads loses its connection (`http/patience.rs`).

use std::convert::Infallible;
use std::time::Duration;

use airlock_pipeline::progress::{Progress, Reporter};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::problem::Problem;

/// Events that wait for a slow reader.
const EVENTS: usize = 64;
/// How often a comment shows that the connection lives.
const ALIVE: Duration = Duration::from_secs(10);

/// The events of some work, the last of them `answer` with what it gave, or `problem`.
///
/// `begin` is given where progress goes and is the work; it is dropped when the client goes away.
pub(super) fn watch<W, T>(begin: impl FnOnce(Reporter) -> W) -> Response
where
    W: Future<Output = Result<T, Problem>> + Send + 'static,
    T: Serialize + Send + 'static,
{
    let (sender, progress) = mpsc::channel(EVENTS);
    let work = super::request::in_same_request(begin(Reporter::to(sender)));
    let work = AbortOnDropHandle::new(tokio::spawn(work));
    let watched = Watched { progress, work: Some(work), request: super::request::current() };
    let mut response = Sse::new(events(watched))
        .keep_alive(KeepAlive::new().interval(ALIVE).text("working"))
        .into_response();
    // What stands between this server and a reader must not collect the events.
    response.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    response
}

struct Watched<T> {
    progress: mpsc::Receiver<Progress>,
    /// `None` once the last event was sent.
    work: Option<AbortOnDropHandle<Result<T, Problem>>>,
    request: super::request::RequestId,
}

fn events<T: Serialize + Send + 'static>(
    watched: Watched<T>,
) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(watched, |mut watched| async move {
        let work = watched.work.as_mut()?;
        let event = tokio::select! {
            // What happened before the end is told before it.
            biased;
            Some(progress) = watched.progress.recv() => named(&progress),
            ended = work => {
                watched.work = None;
                last(ended, &watched.request)
            }
        };
        Some((Ok(event), watched))
    })
}

/// The event of a piece of progress, named by its kind.
fn named(progress: &Progress) -> Event {
    let value = serde_json::to_value(progress).unwrap_or_default();
    let kind = value.get("event").and_then(|kind| kind.as_str()).unwrap_or("progress").to_owned();
    Event::default().event(kind).data(value.to_string())
}

fn last<T: Serialize>(
    ended: Result<Result<T, Problem>, tokio::task::JoinError>,
    request: &super::request::RequestId,
) -> Event {
    let problem = match ended {
        Ok(Ok(answer)) => match serde_json::to_string(&answer) {
            Ok(text) => return Event::default().event("answer").data(text),
            Err(error) => {
                tracing::error!(%error, "an answer could not be written");
                Problem::internal()
            }
        },
        Ok(Err(problem)) => problem,
        Err(error) => {
            tracing::error!(%error, "an ask ended by itself");
            Problem::internal()
        }
    };
    Event::default().event("problem").data(problem.in_request(request).to_json())
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::http::StatusCode;

    use super::*;

    /// What a reader sees, comments left out.
    async fn seen(response: Response) -> Vec<String> {
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let text = String::from_utf8(body.to_vec()).unwrap();
        text.lines().filter_map(|line| line.strip_prefix("event: ").map(str::to_owned)).collect()
    }

    #[tokio::test]
    async fn the_last_event_is_the_ending_whatever_happens() {
        let answered = watch(|_| async { Ok(serde_json::json!({"outcome": "answered"})) });
        assert_eq!(seen(answered).await, ["answer"]);
        let refused = Problem::new(StatusCode::NOT_FOUND, "unknown-domain", "no");
        assert_eq!(seen(watch(|_| async { Err::<(), _>(refused) })).await, ["problem"]);
        let panicked = watch(|_| async { if true { panic!("a bug") } else { Ok(()) } });
        assert_eq!(seen(panicked).await, ["problem"]);
    }

    #[tokio::test]
    async fn a_reader_that_goes_away_ends_the_work() {
        struct Held(Option<tokio::sync::oneshot::Sender<()>>);
        impl Drop for Held {
            fn drop(&mut self) {
                let _ = self.0.take().map(|sender| sender.send(()));
            }
        }
        let (sender, dropped) = tokio::sync::oneshot::channel();
        let held = Held(Some(sender));
        let response = watch(|_| async move {
            let _held = held;
            std::future::pending::<Result<(), Problem>>().await
        });
        drop(response);
        tokio::time::timeout(Duration::from_secs(30), dropped).await.unwrap().unwrap();
    }
}
