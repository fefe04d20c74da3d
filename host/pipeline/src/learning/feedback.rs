//! Somebody's verdict on an answer: it is recorded, it counts for what took part, and it makes candidates. It decides nothing.

use airlock_knowledge::store::{
    AskedRow, Content, Distill, ExampleContent, Feedback, FeedbackVerdict, GoldenContent, Ingested, ItemId,
    Log, NewCandidate, Origin, StoreError, Use, UseEvent,
};
use airlock_types::AskId;
use airlock_types::text::{Place, find_hidden};
use serde_json::json;
use thiserror::Error;

use super::used;
use crate::domain::Domain;

/// What somebody thinks of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The ask.
    pub ask: AskId,
    /// Whether the answer is right.
    pub right: bool,
    /// SQL that would be right.
    pub sql: Option<String>,
    /// In their words.
    pub note: Option<String>,
    /// Who.
    pub who: Option<String>,
}

/// Why a verdict is not recorded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FeedbackError {
    /// It answered nothing that could be judged.
    #[error("the ask ended as {0} and has no SQL: there is nothing to call right")]
    NothingToJudge(String),
    /// Right and corrected at once.
    #[error("sql: an answer that is right needs no other SQL: say `wrong`, or leave it out")]
    RightAndCorrected,
    /// The gate.
    #[error("sql: the gate refuses it: {0}")]
    Sql(String),
    /// A character in the note that nobody can see.
    #[error("note: it holds a {0}: type it again without")]
    Hidden(String),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FeedbackError {
    /// The field that it is about.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::NothingToJudge(_) | Self::Store(_) => "verdict",
            Self::RightAndCorrected | Self::Sql(_) => "sql",
            Self::Hidden(_) => "note",
        }
    }
}

/// What became of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Recorded {
    /// The verdict's row.
    pub feedback: ItemId,
    /// Candidates that were handed in: those that were not known before.
    pub candidates: Vec<ItemId>,
}

impl Judgement {
    /// The SQL that is right, if any is: what was said, without comments, or what was answered by.
    pub(super) fn right_sql(&self, asked: &AskedRow) -> Option<String> {
        if self.right {
            return asked.sql.clone();
        }
        let said = self.sql.as_ref()?;
        Some(
            airlock_gate::without_comments(said).map_or_else(|_| said.clone(), |text| text.trim().to_owned()),
        )
    }

    fn check_note(&self) -> Result<(), FeedbackError> {
        match self.note.as_deref().and_then(|note| find_hidden(note, Place::Prose)) {
            Some(found) => Err(FeedbackError::Hidden(found.to_string())),
            None => Ok(()),
        }
    }

    const fn verdict(&self) -> FeedbackVerdict {
        match (self.right, &self.sql) {
            (true, _) => FeedbackVerdict::Right,
            (false, Some(_)) => FeedbackVerdict::Corrected,
            (false, None) => FeedbackVerdict::Wrong,
        }
    }

    /// Records it, and hands in what it speaks for: a golden case of what is right, an example of what was corrected; nothing of
    /// an ask that was answered under an identity, of which neither SQL nor note is kept, and nothing by SQL that touches what
    /// nobody may learn.
    ///
    /// # Errors
    /// [`FeedbackError`]; a corrected SQL that the gate refuses is not recorded.
    pub async fn record(
        &self,
        asked: &AskedRow,
        domain: &Domain,
        (log, distill): (&Log, &Distill),
        surface: &str,
    ) -> Result<Recorded, FeedbackError> {
        match &self.sql {
            Some(_) if self.right => return Err(FeedbackError::RightAndCorrected),
            None if self.right && asked.sql.is_none() => {
                return Err(FeedbackError::NothingToJudge(asked.outcome.clone()));
            }
            _ => self.check_note()?,
        }
        let right = self.right_sql(asked);
        let corrected = right.as_deref().filter(|_| !self.right);
        if let Some(sql) = corrected {
            domain.gate().check(sql).map_err(|rejection| FeedbackError::Sql(rejection.message))?;
        }
        let feedback = log
            .feedback(&Feedback {
                domain: &asked.domain,
                ask: self.ask,
                verdict: self.verdict(),
                corrected_sql: corrected.filter(|_| !asked.under_identity),
                note: self.note.as_deref().filter(|_| !asked.under_identity),
                who: self.who.as_deref(),
                surface,
            })
            .await?;
        let event = if self.right { UseEvent::Succeeded } else { UseEvent::Failed };
        let uses: Vec<Use<'_>> = used(&asked.lessons, &asked.examples)
            .map(|item| Use { domain: &asked.domain, item, ask: Some(self.ask), event })
            .collect();
        log.uses(&uses).await?;
        let mut candidates = Vec::new();
        // What was answered to somebody in particular is told to nobody else, nor is what nobody may learn of.
        let right = right.filter(|sql| !asked.under_identity && domain.guarded_in(sql).is_none());
        for content in right.map(|sql| self.speaks_for(asked, &sql)).into_iter().flatten() {
            let content = content.without_comments();
            let made_by = self.who.as_deref().unwrap_or(surface);
            let new = NewCandidate::new(asked.domain.clone(), content, Origin::Feedback, made_by);
            let evidence = json!({"ask": self.ask.to_string(), "verdict": self.verdict().as_str()});
            let new = NewCandidate { evidence, ..new };
            if distill.ingest(&new).await? == Ingested::Stored {
                candidates.push(new.id);
            }
        }
        Ok(Recorded { feedback, candidates })
    }

    /// Records the verdict and nothing else: nothing is proposed by it, and nothing that took part is counted.
    ///
    /// # Errors
    /// [`FeedbackError`].
    pub async fn record_verdict(
        &self,
        asked: &AskedRow,
        log: &Log,
        surface: &str,
    ) -> Result<ItemId, FeedbackError> {
        if self.right && asked.sql.is_none() {
            return Err(FeedbackError::NothingToJudge(asked.outcome.clone()));
        }
        self.check_note()?;
        let feedback = Feedback {
            domain: &asked.domain,
            ask: self.ask,
            verdict: self.verdict(),
            corrected_sql: None,
            note: self.note.as_deref(),
            who: self.who.as_deref(),
            surface,
        };
        Ok(log.feedback(&feedback).await?)
    }

    fn speaks_for(&self, asked: &AskedRow, sql: &str) -> Vec<Content> {
        let (question, sql) = (asked.question.clone(), sql.to_owned());
        let mut contents: Vec<Content> = vec![
            GoldenContent {
                question: question.clone(),
                sql: Some(sql.clone()),
                accepted_sql: Vec::new(),
                ordered: false,
                now: None,
            }
            .into(),
        ];
        // What is right was proposed by the ask itself, if it may be learned at all.
        if !self.right {
            contents.push(ExampleContent { question, sql, scope: Vec::new() }.into());
        }
        contents
    }
}
