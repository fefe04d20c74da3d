//! The operators' side of a running host: what serves is looked at and changed over a unix socket.

mod change;
mod client;
mod protocol;
mod socket;
mod verify;

use std::sync::Arc;
use std::time::Duration;

use airlock_pipeline::{Host, Quarantined, ShadowReport, Witness};
use jiff::Timestamp;
use tokio::io::BufReader;
use tokio::net::UnixStream;
use tokio::sync::{Mutex, Semaphore, watch};
use tokio::task::JoinHandle;

use crate::boot;
use crate::config::Config;
use crate::plugins::{Entry, Event, History, Ledger, Listed, Reviewed};
use socket::Socket;

pub use change::RUNS;
pub use client::{ask, nobody};
pub use protocol::{CaseGraded, Cases, Reply, Request, Status, Verified};

/// Operators heard at once.
const CONNECTIONS: usize = 8;
/// Time to say what is wanted.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time a change under way has when the host stops.
const GRACE: Duration = Duration::from_secs(5);

/// What an operator can look at and change.
pub struct Desk {
    host: Arc<Host>,
    reviewed: Reviewed,
    history: Arc<History>,
    /// Copies of components are made and removed one at a time: taken before `changing`, and never by a way back.
    copying: Mutex<()>,
    /// One change at a time.
    changing: Mutex<()>,
}

/// Listens for operators of a host.
pub struct Operator {
    socket: Socket,
    desk: Arc<Desk>,
}

/// Operators are being heard.
pub struct Heard {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    desk: Arc<Desk>,
}

impl Operator {
    /// Opens the socket and the history of a host, and lets the host write what it changes by itself into it.
    ///
    /// # Errors
    /// When another host has them open, or they cannot be made.
    pub fn open(config: &Config, host: &Arc<Host>) -> anyhow::Result<Self> {
        let socket = Socket::bind(&config.operator_socket)?;
        let history = Arc::new(History::open(&config.data)?);
        prune(&history);
        let witness: Arc<dyn Witness> = Arc::new(Journal(Arc::clone(&history)));
        host.witness(&witness);
        let desk = Desk {
            host: Arc::clone(host),
            reviewed: boot::reviewed(config),
            history,
            copying: Mutex::new(()),
            changing: Mutex::new(()),
        };
        Ok(Self { socket, desk: Arc::new(desk) })
    }

    /// What operators of other surfaces work with.
    pub fn desk(&self) -> Arc<Desk> {
        Arc::clone(&self.desk)
    }

    /// Hears operators until told to stop.
    pub fn serve(self) -> Heard {
        let (stop, mut stopped) = watch::channel(false);
        let desk = Arc::clone(&self.desk);
        let task = tokio::spawn(async move {
            tokio::select! {
                () = accept(&self.socket, &self.desk) => {}
                _ = stopped.wait_for(|stop| *stop) => {}
            }
        });
        Heard { stop, task, desk }
    }
}

impl Heard {
    /// Hears nobody any more; a change under way is waited for, for a moment. What candidates came to so far is kept.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.task.await;
        let _ = tokio::time::timeout(GRACE, self.desk.changing.lock()).await;
        let journal = Journal(Arc::clone(&self.desk.history));
        for report in self.desk.host.shadows().end() {
            journal.shadowed(&report);
        }
        if let Err(error) = self.desk.history.settle() {
            tracing::error!(%error, "the history of components could not be written: the next host does not know all that happened");
        }
    }
}

async fn accept(socket: &Socket, desk: &Arc<Desk>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match socket.listener().accept().await {
            Ok((stream, _)) => {
                let desk = Arc::clone(desk);
                tokio::spawn(async move {
                    if let Err(error) = hear(stream, &desk).await {
                        tracing::warn!(%error, "an operator's connection ended early");
                    }
                    drop(place);
                });
            }
            Err(error) => {
                // Out of file descriptors, say: it passes.
                tracing::error!(%error, "no operator can be heard");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Hears one request. When its operator goes away, golden cases are given up; a change is made whole or not at all.
async fn hear(stream: UnixStream, desk: &Arc<Desk>) -> std::io::Result<()> {
    let by = stream.peer_cred().map_or_else(|_| "unknown".to_owned(), |who| format!("uid {}", who.uid()));
    let (from, mut to) = stream.into_split();
    let mut from = BufReader::new(from);
    let late = |_| std::io::Error::new(std::io::ErrorKind::TimedOut, "nothing was asked in time");
    let request = tokio::time::timeout(PATIENCE, protocol::receive(&mut from, protocol::REQUEST_LIMIT));
    let request = match request.await.map_err(late)? {
        Ok(Some(request)) => request,
        Ok(None) => return Ok(()),
        Err(error) => {
            let why = format!("not a request: {error}");
            return protocol::send(&mut to, &Reply::Refused { why, verified: None }).await;
        }
    };
    let (told, mut news) = tokio::sync::mpsc::channel(64);
    let work = tokio::spawn({
        let desk = Arc::clone(desk);
        async move { desk.carry_out(request, by, told).await }
    });
    while let Some(case) = news.recv().await {
        protocol::send(&mut to, &Reply::Graded(case)).await?;
    }
    let last =
        work.await.unwrap_or_else(|error| Reply::Failed { why: format!("a bug in the host: {error}") });
    protocol::send(&mut to, &last).await
}

impl Desk {
    /// Carries out what an operator of another surface wants. When they go away, golden cases are given up; a change is made
    /// whole or not at all.
    pub async fn carry_out_for(self: &Arc<Self>, request: Request, by: String) -> Reply {
        let (told, mut news) = tokio::sync::mpsc::channel(64);
        let desk = Arc::clone(self);
        let work = tokio::spawn(async move { desk.carry_out(request, by, told).await });
        while news.recv().await.is_some() {}
        work.await.unwrap_or_else(|error| Reply::Failed { why: format!("a bug in the host: {error}") })
    }

    async fn carry_out(
        &self,
        request: Request,
        by: String,
        told: tokio::sync::mpsc::Sender<CaseGraded>,
    ) -> Reply {
        match request {
            Request::Status => Reply::Status(self.status()),
            Request::Swap { stage, domains, file, verify, force, shadow } => {
                let swap = change::Swap { stage, scope: domains, file, verify, force, shadow };
                self.swap(swap, by, told).await
            }
            Request::Rollback { stage, domains } => self.rollback(stage, &domains, by).await,
        }
    }

    fn status(&self) -> Status {
        Status {
            components: Listed::of(&self.host.registry().current()),
            quarantined: self.host.quarantine().list(),
            shadows: self.host.shadows().reports(),
        }
    }
}

/// Removes the copies that the history has no use for any more.
fn prune(history: &History) {
    match history.entries() {
        Ok(entries) => history.prune(&Ledger::of(&entries).needed()),
        Err(error) => {
            tracing::warn!(error = format!("{error:#}"), "copies that nobody needs may stay");
        }
    }
}

/// Writes what the host does by itself into the history.
struct Journal(Arc<History>);

impl Journal {
    /// Writes an entry; why it is not on disk, if it is not. Then it is written with the next one, or when the host stops.
    fn write(&self, entry: &Entry) -> Option<String> {
        let error = self.0.append_or_owe(entry).err()?;
        tracing::error!(
            %error,
            stage = %entry.stage,
            domains = %entry.domains,
            "the history of components cannot be written: a host that dies now does not know what just happened"
        );
        Some(error.to_string())
    }
}

impl Witness for Journal {
    fn quarantined(&self, quarantined: &Quarantined) {
        self.write(&Entry {
            at: Timestamp::now(),
            stage: quarantined.stage,
            domains: quarantined.domains.clone(),
            by: "host".to_owned(),
            event: Event::Quarantined { quarantined: quarantined.clone() },
        });
    }

    fn shadowed(&self, report: &ShadowReport) {
        self.write(&Entry {
            at: Timestamp::now(),
            stage: report.stage,
            domains: report.domains.clone(),
            by: "host".to_owned(),
            event: Event::Shadowed { report: report.clone() },
        });
    }
}
