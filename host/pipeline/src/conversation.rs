//! What a follow-up refers to: a finished ask of the same asker in the same domain, here or at any host over the same store.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use airlock_knowledge::store::{NewTurn, Ops, StoreError, Turn as KeptTurn};
use airlock_runtime::contract::types::Turn;
use airlock_types::{Answer, AskId, DomainName};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::asker::Asker;
use crate::host::AskError;

/// Finished asks that are remembered without a store.
const REMEMBERED: usize = 1_000;
/// Finished asks that wait to be kept.
const WAITING: usize = 1_024;
/// Asks that are kept in one statement.
const BATCH: usize = 64;
/// Between two statements: what ends meanwhile goes into the next one.
const PACE: Duration = Duration::from_millis(50);
/// Time for one statement.
const DEADLINE: Duration = Duration::from_secs(10);
/// An ask that ended at another host this moment may still be on its way to the store: an id this young is looked for again.
const YOUNG: Duration = Duration::from_secs(150);
/// For so long.
const PATIENCE: Duration = Duration::from_secs(2);
/// So often.
const EVERY: Duration = Duration::from_millis(100);

/// A finished ask, and whose it is.
struct Remembered {
    domain: DomainName,
    owner: Option<String>,
    turn: Turn,
}

#[derive(Default)]
struct Memory {
    turns: HashMap<AskId, Remembered>,
    order: VecDeque<AskId>,
}

/// The finished asks that follow-ups can refer to.
#[derive(Default)]
pub(crate) struct Conversations {
    memory: Mutex<Memory>,
    store: Option<(Ops, mpsc::Sender<Work>)>,
    /// Asks that found no room among those that wait to be kept.
    unkept: AtomicU64,
}

/// What the one writer of a host does, in order: a follow-up is kept after what it follows.
enum Work {
    Keep(Box<NewTurn>),
    /// Everything before is done.
    Settled(oneshot::Sender<()>),
}

impl Conversations {
    /// Conversations that are kept in a store too.
    pub(crate) fn over(ops: Ops) -> Self {
        let (sender, work) = mpsc::channel(WAITING);
        tokio::spawn(write(ops.clone(), work));
        Self { memory: Mutex::default(), store: Some((ops, sender)), unkept: AtomicU64::new(0) }
    }

    /// The turn of an ask, when it was this asker's in this domain.
    ///
    /// # Errors
    /// When there is none, or it may be in a store that is away.
    pub(crate) async fn turn(&self, id: AskId, domain: &DomainName, asker: &Asker) -> Result<Turn, AskError> {
        {
            let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = memory.turns.get(&id) {
                let own = found.domain == *domain && found.owner == asker.owner;
                return if own { Ok(found.turn.clone()) } else { Err(AskError::UnknownAsk(id)) };
            }
        }
        let Some((ops, _)) = &self.store else { return Err(AskError::UnknownAsk(id)) };
        let until = Instant::now() + PATIENCE;
        loop {
            match ops.turn(domain, asker.owner.as_deref(), id).await {
                Ok(Some(KeptTurn { question, sql, answer, .. })) => {
                    return Ok(Turn { question, sql, answer });
                }
                Ok(None) if id.age().is_some_and(|age| age < YOUNG) && Instant::now() < until => {
                    tokio::time::sleep(EVERY).await;
                }
                Ok(None) => return Err(AskError::UnknownAsk(id)),
                // A connection that was ended may be made again at once.
                Err(error) if error.is_passing() && Instant::now() < until => {
                    tokio::time::sleep(EVERY).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "a conversation could not be looked up");
                    return Err(AskError::ConversationsAway);
                }
            }
        }
    }

    /// Remembers a finished ask, and hands it to the store's writer.
    pub(crate) fn remember(&self, asker: &Asker, follows: Option<AskId>, answer: &Answer) {
        let turn = Turn {
            question: answer.question.as_str().to_owned(),
            sql: answer.sql.clone(),
            answer: answer.answer.clone(),
        };
        if let Some((_, writer)) = &self.store {
            let Turn { question, sql, answer: sentence } = turn.clone();
            let turn = KeptTurn {
                ask: answer.ask_id.into(),
                domain: answer.domain.clone(),
                question,
                sql,
                answer: sentence,
                outcome: Some(answer.outcome),
            };
            let keep = NewTurn { owner: asker.owner.clone(), follows, turn };
            if writer.try_send(Work::Keep(Box::new(keep))).is_err() {
                let unkept = self.unkept.fetch_add(1, Ordering::Relaxed).saturating_add(1);
                // A store that cannot follow is told at the first, the second, the fourth and so on: the log must not drown.
                if unkept.is_power_of_two() {
                    tracing::warn!(
                        unkept,
                        "too many asks wait to be kept: such asks can be followed here alone"
                    );
                }
            }
        }
        let remembered = Remembered { domain: answer.domain.clone(), owner: asker.owner.clone(), turn };
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.turns.insert(answer.ask_id, remembered);
        memory.order.push_back(answer.ask_id);
        if memory.order.len() > REMEMBERED
            && let Some(oldest) = memory.order.pop_front()
        {
            memory.turns.remove(&oldest);
        }
    }

    /// Waits until what was remembered is kept.
    pub(crate) async fn settled(&self) {
        let Some((_, writer)) = &self.store else { return };
        let (done, settled) = oneshot::channel();
        if writer.send(Work::Settled(done)).await.is_ok() {
            let _ = settled.await;
        }
    }
}

/// Keeps what waits, many asks in one statement, until nobody can hand in any more.
async fn write(ops: Ops, mut work: mpsc::Receiver<Work>) {
    let mut waiting = Vec::with_capacity(BATCH);
    while work.recv_many(&mut waiting, BATCH).await > 0 {
        let mut turns: Vec<NewTurn> = Vec::new();
        for next in waiting.drain(..) {
            match next {
                Work::Keep(turn) => {
                    // What it follows must be there before it.
                    if turn.follows.is_some() {
                        keep(&ops, std::mem::take(&mut turns)).await;
                    }
                    turns.push(*turn);
                }
                Work::Settled(done) => {
                    keep(&ops, std::mem::take(&mut turns)).await;
                    let _ = done.send(());
                }
            }
        }
        keep(&ops, turns).await;
        tokio::time::sleep(PACE).await;
    }
}

/// Keeps asks at once. One that the store will never take does not keep the others out.
async fn keep(ops: &Ops, turns: Vec<NewTurn>) {
    let (Some(first), several) = (turns.first(), turns.len() > 1) else { return };
    let why = match tokio::time::timeout(DEADLINE, add(ops, &turns)).await {
        Ok(Ok(())) => return,
        Ok(Err(error)) if several && !error.is_passing() => {
            for turn in turns {
                Box::pin(keep(ops, vec![turn])).await;
            }
            return;
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it took too long".to_owned(),
    };
    let asks = turns.len();
    tracing::warn!(ask = %first.turn.ask, asks, why, "asks can be followed here alone: they were not kept");
}

/// Adds asks as soon as the store takes them: a connection that was ended is made again.
async fn add(ops: &Ops, turns: &[NewTurn]) -> Result<(), StoreError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match ops.add_turns(turns).await {
            Err(error) if error.is_passing() && Instant::now() < until => tokio::time::sleep(EVERY).await,
            ended => return ended,
        }
    }
}

impl crate::host::Host {
    /// The same host, whose conversations any host over the same store can go on with.
    #[must_use]
    pub fn with_conversations(mut self, ops: Ops) -> Self {
        self.conversations = Conversations::over(ops);
        self
    }

    /// An asker's own finished asks, newest first, those before `before`.
    ///
    /// # Errors
    /// When the store does not answer. Without a store nothing is kept.
    pub async fn history(
        &self,
        asker: &Asker,
        before: Option<AskId>,
        limit: u16,
    ) -> Result<Vec<airlock_knowledge::store::PastTurn>, StoreError> {
        match &self.conversations.store {
            Some((ops, _)) => ops.history(asker.owner.as_deref(), before, limit).await,
            None => Ok(Vec::new()),
        }
    }
}
