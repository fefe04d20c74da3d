//! What follows from an attempt that failed.

use airlock_runtime::contract::repair::ProbeFinding;
use airlock_types::ask::HistoryEntry;
use airlock_types::{ErrorType, Failure, Mode};

use crate::ask::{ATTEMPTS, Ask, State};
use crate::fault::Fault;
use crate::progress::Progress;
use crate::record::Ending;
use crate::took::Took;

impl Ask<'_> {
    /// Books a failed attempt and says what follows from its kind.
    pub(crate) fn failed(
        &mut self,
        origin: &'static str,
        failure: Failure,
        took: Took,
        row_count: Option<u64>,
        probe: Option<ProbeFinding>,
    ) -> State {
        self.book(origin, &failure, took, row_count);
        if let Some(standing) = self.standing.take() {
            return self.stand(standing);
        }
        let attempt = self.attempt();
        State::End(match failure.error_type {
            ErrorType::Forbidden => {
                Ending::Refused(format!("The query that was written is not allowed: {}", failure.message))
            }
            ErrorType::PermissionDenied => Ending::Failed(Fault::Database(failure)),
            kind if !kind.repairable() => Ending::GaveUp(failure.message),
            _ if self.request.mode == Mode::Baseline => {
                Ending::GaveUp(format!("The single attempt of the baseline failed: {}", failure.message))
            }
            _ if self.duplicates >= 2 => {
                Ending::GaveUp(format!("{} Trying further would not change it.", failure.message))
            }
            _ if attempt >= ATTEMPTS => Ending::GaveUp(format!(
                "{ATTEMPTS} attempts failed, the last one because: {}",
                failure.message
            )),
            _ => return State::Repair { failure, probe },
        })
    }

    /// Writes a failed attempt down, and what an operator must know of whatever follows into the log.
    pub(crate) fn book(
        &mut self,
        origin: &'static str,
        failure: &Failure,
        took: Took,
        row_count: Option<u64>,
    ) {
        let message = &failure.message;
        match failure.error_type {
            ErrorType::Forbidden => tracing::warn!(ask = %self.id, message, "a draft was out of bounds"),
            ErrorType::PermissionDenied => {
                tracing::error!(ask = %self.id, message, "the reader role may not read what the catalogue lists");
            }
            _ => {}
        }
        self.note_attempt(&failure.sql, origin, took, row_count, Some(failure));
        self.desk.books.failed(failure);
        let attempt = self.attempt();
        self.desk.reporter.tell(Progress::Failed {
            attempt,
            error_type: failure.error_type,
            message: failure.message.clone(),
        });
    }

    /// Writes a text into the history, with what speaks against it.
    pub(crate) fn note_attempt(
        &mut self,
        sql: &str,
        origin: &str,
        took: Took,
        row_count: Option<u64>,
        failure: Option<&Failure>,
    ) {
        self.history.push(HistoryEntry {
            sql: sql.to_owned(),
            origin: origin.to_owned(),
            error_type: failure.map(|failure| failure.error_type),
            message: failure.map(|failure| failure.message.clone()),
            hint: failure.and_then(|failure| failure.hint.clone()),
            sqlstate: failure.and_then(|failure| failure.sqlstate.clone()),
            duration_ms: took.running,
            wait_ms: took.waiting,
            row_count,
        });
        self.positions.push(failure.and_then(|failure| failure.position));
    }

    /// Why a text is not tried again: what its twin failed of says more than that it had one.
    pub(crate) fn tried_before(&self, sql: &str) -> String {
        let canonical = canonical_of(sql);
        let is_twin = |entry: &&HistoryEntry| {
            entry.error_type != Some(ErrorType::DuplicateDraft) && canonical_of(&entry.sql) == canonical
        };
        let why = self.history.iter().find(is_twin).and_then(|entry| entry.message.as_deref());
        let why = why.map(|why| format!(", which failed: {}", why.trim().trim_end_matches('.')));
        format!(
            "This is the same query as an earlier attempt{}. It was not run again.",
            why.unwrap_or_default()
        )
    }

    /// What is broken ends an ask, unless it broke while something better than an answer that stands was looked for.
    pub(crate) fn fault(&mut self, fault: Fault) -> State {
        let Some(standing) = self.standing.take() else { return State::End(Ending::Failed(fault)) };
        tracing::warn!(ask = %self.id, %fault, "the first text is answered as it stands");
        if let (true, Fault::Component(error)) = (self.desk.live, &fault) {
            self.desk.host.quarantine().observe(self.desk.host.registry(), error);
        }
        self.stand(standing)
    }
}

/// The text by which drafts are compared; one that cannot be read is compared as it is.
pub(crate) fn canonical_of(sql: &str) -> String {
    airlock_gate::canonical(sql).unwrap_or_else(|_| sql.to_owned())
}
