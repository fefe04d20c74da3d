//! Whoever looks at finished asks for the operators: traces and metrics are made of what is handed over here.

use std::sync::Arc;

use airlock_types::{Answer, Mode};

use crate::asker::Asker;
use crate::fault::Finished;
use crate::golden::Judged;
use crate::host::Host;
use crate::learning::without_rows;
use crate::timeline::{Recorder, Timeline};

/// Looks at finished asks. Called before the answer is given: it must return at once, and do elsewhere what takes time.
pub trait Observer: Send + Sync {
    /// An ask ended.
    fn ended(&self, observed: &Arc<Observed>);

    /// Whether what is said to models is to be kept in the timeline.
    fn wants_content(&self) -> bool {
        false
    }
}

/// A finished ask as an observer sees it.
#[derive(Debug, Clone)]
pub struct Observed {
    /// Its record without rows.
    pub answer: Answer,
    /// Agent or baseline.
    pub mode: Mode,
    /// Who asked; nobody for a golden case.
    pub asker: Option<Asker>,
    /// The kind of fault that ended it, when one did.
    pub fault: Option<&'static str>,
    /// What was done.
    pub timeline: Timeline,
    /// How it came out, when it was a golden case.
    pub grade: Option<Grade>,
}

/// The grade of a golden case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grade {
    /// The case.
    pub case: String,
    /// How it came out.
    pub judged: Judged,
}

impl Host {
    /// The same host, with somebody who looks at its asks beside those who do already.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// The same host, whose answers say where their trace is: `{trace_id}` in the address stands for the trace.
    #[must_use]
    pub fn with_trace_url(mut self, template: String) -> Self {
        self.trace_url = Some(template);
        self
    }

    /// A timeline for a new ask, where anybody looks at it.
    pub(crate) fn recorder(&self) -> Recorder {
        if self.observers.is_empty() {
            return Recorder::idle();
        }
        Recorder::begin(self.observers.iter().any(|observer| observer.wants_content()))
    }

    /// Where the trace of an ask can be looked at.
    pub(crate) fn trace_url(&self, trace_id: &str) -> Option<String> {
        Some(self.trace_url.as_ref()?.replace("{trace_id}", trace_id))
    }

    /// Hands a finished ask to those who look.
    pub(crate) fn observed(
        &self,
        finished: &mut Finished,
        mode: Mode,
        asker: Option<&Asker>,
        grade: Option<Grade>,
    ) {
        let Some(timeline) = finished.timeline.take() else { return };
        let observed = Arc::new(Observed {
            answer: without_rows(&finished.answer),
            mode,
            asker: asker.cloned(),
            fault: finished.fault.as_ref().map(crate::fault::Fault::kind),
            timeline,
            grade,
        });
        for observer in &self.observers {
            observer.ended(&observed);
        }
    }
}
