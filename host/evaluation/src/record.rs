//! What is kept of one graded ask: a line of `results.jsonl`. No row of anybody's data is in it.

use airlock_knowledge::pack::GoldenOutcome;
use airlock_pipeline::golden::{Ended, Graded, Judged, Verdict};
use airlock_types::ask::{AnswerKind, HistoryEntry, Tokens};
use airlock_types::{AskId, DomainName, Mode, Outcome};
use serde::{Deserialize, Serialize};

use crate::questions::Asked;

/// One graded ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Identity of the question.
    pub id: String,
    /// The domain it was asked of.
    pub domain: DomainName,
    /// Agent or baseline.
    pub mode: Mode,
    /// How it came out.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// How the first attempt would have, when there were several.
    pub first: Option<Verdict>,
    /// In what a wrong answer may differ alone, when it looks right otherwise.
    pub presentation: Option<String>,
    /// How the ask ended; absent when it could not be begun.
    pub ended: Option<Ended>,
    /// Identity of the ask.
    pub ask_id: Option<AskId>,
    /// Texts offered as the answer, and what came of each.
    pub history: Vec<HistoryEntry>,
    /// What the answer rests on that the question did not say.
    pub assumptions: Vec<String>,
    /// What a domain's rules or the run had to remark.
    pub warnings: Vec<String>,
    /// Ids of examples that took part.
    pub examples: Vec<String>,
    /// Ids of lessons that took part.
    pub lessons: Vec<String>,
    /// Tokens, all calls together.
    pub tokens: Tokens,
    /// US dollars; null when a price is unknown.
    pub cost: Option<f64>,
    /// Milliseconds from question to record.
    pub latency_ms: u64,
}

/// What became of a question, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Right.
    Right,
    /// Answered with other values.
    OtherValues,
    /// Answered with another number of rows.
    OtherRowCount,
    /// Answered wrongly, though what differs may be presentation alone.
    Presentation,
    /// Answered from knowledge instead of rows.
    Knowledge,
    /// Refused, though it can be answered.
    FalseRefusal,
    /// Answered, though it must be refused.
    FalseAnswer,
    /// Answered, though it must be asked what is meant.
    UnclearAnswered,
    /// Refused, though it must be asked what is meant.
    UnclearRefused,
    /// Asked back, where it was not to be.
    AskedBack,
    /// Gave up.
    GaveUp,
    /// A component failed.
    Failed,
    /// Nobody can say.
    Undecided,
    /// Something was down.
    Infrastructure,
}

impl Kind {
    /// All of them, in the order they are told.
    pub const ALL: [Self; 14] = [
        Self::Right,
        Self::OtherValues,
        Self::OtherRowCount,
        Self::Presentation,
        Self::Knowledge,
        Self::FalseRefusal,
        Self::FalseAnswer,
        Self::UnclearAnswered,
        Self::UnclearRefused,
        Self::AskedBack,
        Self::GaveUp,
        Self::Failed,
        Self::Undecided,
        Self::Infrastructure,
    ];

    /// In words.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::OtherValues => "answered with other values",
            Self::OtherRowCount => "answered with another number of rows",
            Self::Presentation => "answered wrongly, perhaps by presentation alone",
            Self::Knowledge => "answered from knowledge instead of rows",
            Self::FalseRefusal => "refused, though it can be answered",
            Self::FalseAnswer => "answered, though it must be refused",
            Self::UnclearAnswered => "answered, though it must be asked what is meant",
            Self::UnclearRefused => "refused, though it must be asked what is meant",
            Self::AskedBack => "asked back",
            Self::GaveUp => "gave up",
            Self::Failed => "a component failed",
            Self::Undecided => "undecided",
            Self::Infrastructure => "infrastructure",
        }
    }
}

impl Record {
    pub(crate) fn of(asked: &Asked, mode: Mode, graded: Graded) -> Self {
        let Graded { id, verdict, first, presentation, ended, answer } = graded;
        let mut record = Self {
            id,
            domain: asked.domain.clone(),
            mode,
            verdict,
            first,
            presentation,
            ended,
            ask_id: None,
            history: Vec::new(),
            assumptions: Vec::new(),
            warnings: Vec::new(),
            examples: Vec::new(),
            lessons: Vec::new(),
            tokens: Tokens::default(),
            cost: None,
            latency_ms: 0,
        };
        if let Some(answer) = answer {
            record.ask_id = Some(answer.ask_id);
            record.history = answer.history;
            record.assumptions = answer.assumptions;
            record.warnings = answer.warnings;
            record.examples = answer.examples;
            record.lessons = answer.lessons;
            record.tokens = answer.tokens;
            record.cost = answer.cost;
            record.latency_ms = answer.latency_ms;
        }
        record
    }

    /// The same ask with another verdict.
    pub(crate) fn judged(&self, judged: Judged) -> Self {
        let Judged { verdict, first, presentation } = judged;
        Self { verdict, first, presentation, ..self.clone() }
    }

    /// Whether it counts: it is neither undecided nor nobody's answer.
    #[must_use]
    pub const fn is_decided(&self) -> bool {
        matches!(self.verdict, Verdict::Right | Verdict::Wrong { .. })
    }

    /// What became of the question.
    #[must_use]
    pub fn kind(&self, want: GoldenOutcome) -> Kind {
        let (outcome, answered_by) = match &self.ended {
            Some(ended) => (ended.outcome, ended.kind),
            None => (Outcome::Failed, AnswerKind::Data),
        };
        match &self.verdict {
            Verdict::Right => Kind::Right,
            Verdict::Undecided { .. } => Kind::Undecided,
            Verdict::Infrastructure { .. } => Kind::Infrastructure,
            Verdict::Wrong { why } => match outcome {
                Outcome::Refused if want == GoldenOutcome::Clarification => Kind::UnclearRefused,
                Outcome::Refused => Kind::FalseRefusal,
                Outcome::Clarification => Kind::AskedBack,
                Outcome::GaveUp => Kind::GaveUp,
                Outcome::Failed => Kind::Failed,
                Outcome::Answered if want == GoldenOutcome::Clarification => Kind::UnclearAnswered,
                Outcome::Answered if want == GoldenOutcome::Refused => Kind::FalseAnswer,
                Outcome::Answered if answered_by == AnswerKind::Knowledge => Kind::Knowledge,
                Outcome::Answered if self.presentation.is_some() => Kind::Presentation,
                Outcome::Answered if why.contains(" rows instead of ") => Kind::OtherRowCount,
                Outcome::Answered => Kind::OtherValues,
            },
        }
    }
}
