//! The journal: finished asks on their way into the store's log, beside the asks and apart from learning.
//!
//! One writer of a host appends what waits, many asks in one statement. A store that is away is tried again until it is back;
//! what finds no room meanwhile is counted and told, and no answer waits for any of it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use airlock_knowledge::store::{AskRow, Log, LogLine, Sent, Signal, SignalTool, StoreError};
use airlock_models::{Call, Models, Role};
use airlock_types::{Answer, AskId, AskRequest, Clock, DomainName};
use serde::Serialize;
use tokio::sync::{mpsc, oneshot, watch};

use crate::account::{Bookkeeper, Prior};
use crate::asker::Asker;
use crate::domain::Domain;
use crate::drive::sent;
use crate::fault::Finished;
use crate::host::Host;
use crate::learning::took_part;

/// Finished asks that wait to be appended.
const WAITING: usize = 4_096;
/// Bytes of those.
const BYTES: usize = 32 << 20;
/// Asks that are appended in one statement.
const BATCH: usize = 64;
/// Between two statements: what ends meanwhile goes into the next one.
const PACE: Duration = Duration::from_millis(50);
/// Between two attempts to append while the store is away.
const RETRY: Duration = Duration::from_secs(2);

/// What is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalOptions {
    /// Whether asks are logged at all. Without, only the uses of stored items are: they quote nothing.
    pub asks: bool,
    /// Whether what a replay needs is kept with them.
    pub record: bool,
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self { asks: true, record: true }
    }
}

/// The log of a host's finished asks.
#[derive(Clone)]
pub struct Journal {
    options: JournalOptions,
    log: Log,
    work: mpsc::Sender<Work>,
    state: Arc<State>,
}

/// Writes down what leaves for a model because of an ask and is not in its record: what is learned from it after its answer
/// has gone, and what a component asks that runs beside the one in service.
#[derive(Clone)]
pub(crate) struct Beside {
    journal: Option<Journal>,
    ask: AskId,
    domain: DomainName,
}

impl Beside {
    /// A request is about to leave.
    pub(crate) fn leaves(&self, purpose: &str, models: &Models, call: &Call) {
        let Some(journal) = self.journal.as_ref().filter(|journal| journal.options.asks) else { return };
        let request = sent(call);
        journal.add(LogLine::sent(&Sent {
            domain: &self.domain,
            ask: self.ask,
            purpose,
            role: call.role.as_str(),
            model: models.model(call.role).unwrap_or_default(),
            hash: request.hash,
            characters: request.characters,
        }));
    }
}

/// How logging goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JournalState {
    /// `on`, `off`, or `behind` while the store cannot be written.
    pub state: &'static str,
    /// Whether what a replay needs is kept.
    pub record: bool,
    /// Asks written since the start.
    pub written: u64,
    /// Asks that wait to be.
    pub waiting: u64,
    /// Asks that were not and will not be.
    pub not_logged: u64,
    /// Why the last attempt failed, while it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

#[derive(Default)]
struct State {
    written: AtomicU64,
    lost: AtomicU64,
    waiting: AtomicU64,
    bytes: AtomicUsize,
    /// Why nothing can be written now.
    trouble: Mutex<Option<String>>,
    /// How many wait for everything to be written: while any does, a store that is away is not waited for.
    hurried: watch::Sender<usize>,
}

/// One that waits for everything to be written, until it is dropped.
struct Hurry<'a>(&'a watch::Sender<usize>);

impl<'a> Hurry<'a> {
    fn begin(hurried: &'a watch::Sender<usize>) -> Self {
        hurried.send_modify(|waiting| *waiting += 1);
        Self(hurried)
    }
}

impl Drop for Hurry<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|waiting| *waiting -= 1);
    }
}

enum Work {
    Line(LogLine),
    /// Everything before is done.
    Settled(oneshot::Sender<()>),
}

impl Journal {
    /// A journal over the handle that appends.
    #[must_use]
    pub fn new(log: Log, options: JournalOptions) -> Self {
        let (work, waiting) = mpsc::channel(WAITING);
        let state = Arc::new(State::default());
        tokio::spawn(write(log.clone(), waiting, Arc::clone(&state)));
        Self { options, log, work, state }
    }

    /// How it goes.
    #[must_use]
    pub fn state(&self) -> JournalState {
        let why = self.state.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        JournalState {
            state: match (self.options.asks, &why) {
                (false, _) => "off",
                (true, None) => "on",
                (true, Some(_)) => "behind",
            },
            record: self.options.asks && self.options.record,
            written: self.state.written.load(Ordering::Relaxed),
            waiting: self.state.waiting.load(Ordering::Relaxed),
            not_logged: self.lost(),
            why,
        }
    }

    pub(crate) fn lost(&self) -> u64 {
        self.state.lost.load(Ordering::Relaxed)
    }

    /// Whether a row could be written now, tried and taken back; `None` when nothing is to be.
    pub(crate) async fn tried(&self) -> Option<Result<(), StoreError>> {
        if self.options.asks { Some(self.log.tried().await) } else { None }
    }

    /// Waits until what waits is written, or cannot be: before a store is closed.
    async fn settled(&self) {
        let (done, settled) = oneshot::channel();
        let _hurry = Hurry::begin(&self.state.hurried);
        if self.work.send(Work::Settled(done)).await.is_ok() {
            let _ = settled.await;
        }
    }

    /// Adds the use of a person's own SQL.
    pub(crate) fn signal(&self, signal: &Signal<'_>) {
        if self.options.asks {
            self.add(LogLine::new(None, None, Some(signal), &[]));
        }
    }

    fn add(&self, line: LogLine) {
        let bytes = line.bytes();
        let room = self.state.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= BYTES;
        if room && self.work.try_send(Work::Line(line)).is_ok() {
            self.state.waiting.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.state.bytes.fetch_sub(bytes, Ordering::Relaxed);
        if self.state.lost.fetch_add(1, Ordering::Relaxed).is_multiple_of(1_000) {
            tracing::error!("too much waits to be logged: what is asked from here on is not");
        }
    }
}

/// Appends what waits, until the journal is gone.
async fn write(log: Log, mut work: mpsc::Receiver<Work>, state: Arc<State>) {
    let mut batch = Vec::with_capacity(BATCH);
    let mut hurried = state.hurried.subscribe();
    while work.recv_many(&mut batch, BATCH).await > 0 {
        let (mut lines, mut settled) = (Vec::new(), Vec::new());
        for work in batch.drain(..) {
            match work {
                Work::Line(line) => lines.push(line),
                Work::Settled(done) => settled.push(done),
            }
        }
        if !lines.is_empty() {
            state.append(&log, &lines, &mut hurried).await;
        }
        for done in settled {
            let _ = done.send(());
        }
        // The sender lives in `state`.
        let _ = tokio::time::timeout(PACE, hurried.wait_for(|waiting| *waiting > 0)).await;
    }
}

impl State {
    /// Appends a batch; while the store is away again and again, unless somebody waits for everything to be
    /// written.
    async fn append(&self, log: &Log, lines: &[LogLine], hurried: &mut watch::Receiver<usize>) {
        loop {
            match log.append(lines).await {
                Ok(()) => {
                    self.is_in_trouble(None);
                    self.written.fetch_add(lines.len() as u64, Ordering::Relaxed);
                    break;
                }
                Err(error) if error.is_passing() && *hurried.borrow() == 0 => {
                    self.is_in_trouble(Some(&error));
                    // The sender lives in `self`.
                    let _ = tokio::time::timeout(RETRY, hurried.wait_for(|waiting| *waiting > 0)).await;
                }
                Err(error) if error.is_passing() => {
                    self.is_in_trouble(Some(&error));
                    self.lost.fetch_add(lines.len() as u64, Ordering::Relaxed);
                    break;
                }
                // One that the store will never take does not keep the others out.
                Err(_) => {
                    for line in lines {
                        self.append_one(log, line).await;
                    }
                    break;
                }
            }
        }
        self.waiting.fetch_sub(lines.len() as u64, Ordering::Relaxed);
        self.bytes.fetch_sub(lines.iter().map(LogLine::bytes).sum(), Ordering::Relaxed);
    }

    async fn append_one(&self, log: &Log, line: &LogLine) {
        match log.append(std::slice::from_ref(line)).await {
            Ok(()) => {
                self.written.fetch_add(1, Ordering::Relaxed);
                self.is_in_trouble(None);
            }
            Err(error) => {
                tracing::error!(ask = line.ask().map(tracing::field::display), %error, "an ask was not logged");
                self.lost.fetch_add(1, Ordering::Relaxed);
                self.is_in_trouble(Some(&error));
            }
        }
    }

    /// Keeps in mind whether writing works, and tells when that changes.
    fn is_in_trouble(&self, error: Option<&StoreError>) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        match (error, trouble.is_some()) {
            (Some(error), false) => tracing::warn!(%error, "asks cannot be logged now; they wait"),
            (None, true) => tracing::info!("asks are logged again"),
            _ => {}
        }
        *trouble = error.map(ToString::to_string);
    }
}

impl Host {
    /// The same host, logging its asks.
    #[must_use]
    pub fn with_journal(mut self, journal: Journal) -> Self {
        self.journal = Some(journal);
        self
    }

    /// How logging goes; `None` without a store.
    #[must_use]
    pub fn journal(&self) -> Option<JournalState> {
        self.journal.as_ref().map(Journal::state)
    }

    /// Waits until finished asks are logged: before the store is closed.
    pub(crate) async fn journal_settled(&self) {
        if let Some(journal) = &self.journal {
            journal.settled().await;
        }
    }

    /// Who writes down what happens in an ask. What is asked with an identity is not recorded: replies may hold what row
    /// policies keep from others.
    pub(crate) fn bookkeeper(&self, asker: &Asker, ask: AskId) -> Bookkeeper {
        match &self.journal {
            Some(journal) if journal.options.asks && journal.options.record && asker.identity.is_none() => {
                Bookkeeper::of(ask)
            }
            _ => Bookkeeper::counting(),
        }
    }

    /// Who writes down what leaves beside an ask, or after it.
    pub(crate) fn beside(&self, ask: AskId, domain: &DomainName) -> Beside {
        Beside { journal: self.journal.clone(), ask, domain: domain.clone() }
    }

    /// Hands a finished ask to the journal and returns at once.
    pub(crate) fn log_ask(
        &self,
        request: &AskRequest,
        asker: &Asker,
        domain: &Domain,
        clock: &Clock,
        prior: Option<Prior>,
        finished: &mut Finished,
    ) {
        let Some(journal) = &self.journal else { return };
        let configured = self.models().model(Role::Reasoning);
        let books = &mut finished.books;
        let record = books.account(request, domain, clock, prior, configured);
        let answer = &finished.answer;
        let by_model = answer.history.iter().any(|entry| entry.origin != "composer");
        let of_role = books.costs.iter().find(|cost| Some(cost.model.as_str()) == configured);
        let model = of_role.or(books.costs.first()).map(|cost| cost.model.as_str()).filter(|_| by_model);
        let logged = Logged::of(answer, asker);
        let row = AskRow {
            answer,
            asked_at: began(answer),
            question: answer.question.as_str(),
            sql: logged.sql.as_deref(),
            mode: request.mode,
            model,
            models: &books.costs,
            surface: asker.surface.as_str(),
            record: record.as_deref(),
            under_identity: asker.identity.is_some(),
        };
        let errors: Vec<String> = answer
            .history
            .iter()
            .filter_map(|entry| entry.error_type)
            .map(|kind| kind.as_str().to_owned())
            .collect();
        let signal = Signal {
            domain: &answer.domain,
            tool: SignalTool::Ask,
            ask: Some(answer.ask_id),
            question: logged.question,
            sql: logged.sql.as_deref(),
            tables: &answer.tables_used,
            outcome: answer.outcome.as_str(),
            error_types: &errors,
        };
        let asks = journal.options.asks;
        let uses = took_part(answer);
        if asks || !uses.is_empty() {
            journal.add(LogLine::new(
                Some(answer.ask_id),
                asks.then_some(&row),
                asks.then_some(&signal),
                &uses,
            ));
        }
    }
}

/// The words of an ask as they may be logged.
struct Logged<'a> {
    question: Option<&'a str>,
    sql: Option<String>,
}

impl<'a> Logged<'a> {
    /// What was asked with an identity keeps no literal where it is learned from, and none in the SQL, which may hold what
    /// the asker alone could see.
    fn of(answer: &'a Answer, asker: &Asker) -> Self {
        if asker.identity.is_none() {
            return Self { question: Some(answer.question.as_str()), sql: answer.sql.clone() };
        }
        let sql = answer.sql.as_deref().map(|sql| {
            // What ran was read before; a text that cannot be read again says nothing.
            airlock_gate::without_literals(sql).unwrap_or_else(|_| "(not kept)".to_owned())
        });
        Self { question: None, sql }
    }
}

/// When an ask began.
fn began(answer: &Answer) -> jiff::Timestamp {
    let now = jiff::Timestamp::now();
    now.checked_sub(Duration::from_millis(answer.latency_ms)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use airlock_knowledge::store::{Access, Dial, DialError, Dialling, Duty, Store};
    use tokio::time::timeout;

    use super::*;

    /// What takes so long never ends: a round takes less than a millisecond.
    const HANGS: Duration = Duration::from_secs(60);

    /// A server that nobody reaches.
    struct Gone;

    impl Dial for Gone {
        fn dial(&self) -> Dialling<'_> {
            Box::pin(async {
                tokio::task::yield_now().await;
                Err(DialError::Away("nobody answers".to_owned()))
            })
        }
    }

    fn journal() -> Journal {
        let access = |duty| (duty, Access { role: "nobody".to_owned(), dial: Arc::new(Gone) });
        let store = Store::new(Duty::ALL.into_iter().map(access).collect()).unwrap();
        Journal::new(store.log(), JournalOptions::default())
    }

    fn add(journal: &Journal, count: usize) {
        (0..count).for_each(|_| journal.add(LogLine::new(None, None, None, &[])));
    }

    /// Several batches wait for a store that is away, and two wait for them, while the writer is somewhere else each time:
    /// not begun, at the store, or between two attempts.
    async fn settles() {
        for round in 0..500 {
            let journal = journal();
            let lines = 3 * BATCH + round % (2 * BATCH);
            add(&journal, lines);
            for _ in 0..round % 11 {
                tokio::task::yield_now().await;
            }
            if round % 3 == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let both = async { tokio::join!(journal.settled(), journal.settled()) };
            assert!(timeout(HANGS, both).await.is_ok(), "round {round}: {:?}", journal.state());
            let JournalState { state, waiting, not_logged, .. } = journal.state();
            assert_eq!((state, waiting, not_logged), ("behind", 0, lines as u64), "round {round}");
            assert_eq!(journal.state.bytes.load(Ordering::Relaxed), 0);
        }
    }

    #[tokio::test]
    async fn what_cannot_be_written_is_given_up_when_somebody_waits_for_it_and_only_then() {
        settles().await;
        let journal = journal();
        journal.settled().await;
        add(&journal, BATCH);
        tokio::time::sleep(RETRY / 10).await;
        assert_eq!((journal.state().waiting, journal.lost()), (BATCH as u64, 0));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn whoever_waits_for_it_on_another_thread_is_let_go() {
        settles().await;
    }
}
