//! One trait for each stage: what its author writes, on whichever host it runs.

use crate::Host;
use crate::contract::answerer::{AnswerInput, AnswerStep};
use crate::contract::distill::{DistillInput, DistillStep, LessonCandidate};
use crate::contract::domain::{Candidate, Canonical, Finding, Opinion};
use crate::contract::generator::{GenerateInput, GenerateStep};
use crate::contract::linker::{LinkInput, LinkStep};
use crate::contract::model::Exchange;
use crate::contract::planner::{PlanInput, PlanStep};
use crate::contract::repair::{RepairInput, RepairStep};
use crate::contract::sql::Facts;
use crate::contract::types::{Clock, StageError};

/// Question to plan.
pub trait Planner {
    /// One step.
    fn run(host: &impl Host, input: PlanInput, exchanges: Vec<Exchange>) -> Result<PlanStep, StageError>;
}

/// Plan to tables and columns.
pub trait Linker {
    /// One step.
    fn run(host: &impl Host, input: LinkInput, exchanges: Vec<Exchange>) -> Result<LinkStep, StageError>;
}

/// Selection to SQL. The composer is one of these too. A draft whose `sql` is empty says that nothing was written, and its
/// `reasoning` why: the ask ends as given up. A refusal says that the data cannot answer.
pub trait Generator {
    /// One step.
    fn run(
        host: &impl Host,
        input: GenerateInput,
        exchanges: Vec<Exchange>,
    ) -> Result<GenerateStep, StageError>;
}

/// Failed attempt to the next thing to try.
pub trait Repairer {
    /// One step.
    fn run(host: &impl Host, input: RepairInput, exchanges: Vec<Exchange>) -> Result<RepairStep, StageError>;
}

/// Result to the sentence a person reads.
pub trait Answerer {
    /// One step.
    fn run(host: &impl Host, input: AnswerInput, exchanges: Vec<Exchange>) -> Result<AnswerStep, StageError>;
}

/// Finished exchange to lesson candidates.
pub trait Distiller {
    /// One step.
    fn run(
        host: &impl Host,
        input: DistillInput,
        exchanges: Vec<Exchange>,
    ) -> Result<DistillStep, StageError>;
}

/// The rules of a domain that need code. Each function has the answer that says nothing as its default.
pub trait DomainAdapter {
    /// Entities named in a question.
    fn canonicalize(
        _host: &impl Host,
        _question: String,
        _clock: Clock,
    ) -> Result<Vec<Canonical>, StageError> {
        Ok(Vec::new())
    }

    /// Findings on a text the gate approved.
    fn review(
        _host: &impl Host,
        _text: String,
        _facts: Facts,
        _clock: Clock,
    ) -> Result<Vec<Finding>, StageError> {
        Ok(Vec::new())
    }

    /// An opinion on a candidate; it can only reject.
    fn judge(_host: &impl Host, _candidate: Candidate) -> Result<Opinion, StageError> {
        Ok(Opinion::NoObjection)
    }

    /// Lesson candidates the adapter's author offers.
    fn seed_lessons(_host: &impl Host) -> Result<Vec<LessonCandidate>, StageError> {
        Ok(Vec::new())
    }
}
