//! A domain's adapter in an ask: the entities that a question names, and its findings on each text before it runs.
//!
//! A domain without an adapter loses nothing. One whose adapter fails is not asked any further: rules that cannot be heard are
//! not rules that agree.

use std::sync::Arc;

use airlock_gate::Approved;
use airlock_runtime::contract::domain::{Canonical, Finding, Severity};
use airlock_runtime::contract::retrieval::ValueHit;
use airlock_runtime::contract::types::{Attribute, Clock, StageError};
use airlock_runtime::{CallError, CallErrorKind, Component, Stage};
use airlock_types::{ColumnRef, ErrorType, Failure};
use serde_json::json;

use crate::context::Block;
use crate::convert;
use crate::domain::Domain;
use crate::drive::Desk;
use crate::fault::Fault;
use crate::progress::Progress;
use crate::services::{self, DomainServices};

/// Entities of one question that are passed on: half of the attributes that a record may have.
const ENTITIES: usize = 16;
/// Warnings of one text.
const WARNINGS: usize = 8;

/// Something that a question names in its own words, under its governed key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entity {
    kind: String,
    matched: String,
    key: String,
    /// Columns that hold keys of this kind, as the notes of the pack say; the preferred one first.
    columns: Vec<ColumnRef>,
}

impl Entity {
    /// What stages are told: `canonical:KIND`, and a JSON object of `key`, `matched` and `columns`.
    fn attribute(&self) -> Attribute {
        let column = |column: &ColumnRef| json!({"schema": column.table.schema, "table": column.table.name, "column": column.column});
        let columns: Vec<_> = self.columns.iter().map(column).collect();
        let value = json!({"key": self.key, "matched": self.matched, "columns": columns});
        Attribute { key: format!("canonical:{}", self.kind), value: value.to_string() }
    }

    fn line(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(ToString::to_string).collect();
        let place = if columns.is_empty() {
            String::new()
        } else {
            format!(", a value of {}", columns.join(" or of "))
        };
        format!("\"{}\" in the question is the {} '{}'{place}\n", self.matched, self.kind, self.key)
    }
}

/// The entities of one question.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entities(Arc<[Entity]>);

impl Entities {
    /// What an adapter returned, as far as the question bears it out.
    fn of(found: Vec<Canonical>, question: &str, domain: &Domain) -> Self {
        let mut entities: Vec<Entity> = Vec::new();
        for Canonical { kind, matched, key } in found {
            let plain = !matched.trim().is_empty() && convert::is_word(&kind);
            if !plain || !question.contains(&matched) {
                tracing::warn!(domain = %domain.name(), kind, "the adapter named an entity that the question does not name");
                continue;
            }
            // One run of words stands for one thing.
            if entities.len() < ENTITIES && !entities.iter().any(|known| known.matched == matched) {
                let columns = domain.knowledge().entity_columns(&kind).to_vec();
                entities.push(Entity { kind, matched, key, columns });
            }
        }
        Self(entities.into())
    }

    /// For the inputs of stages.
    pub(crate) fn attributes(&self) -> Vec<Attribute> {
        self.0.iter().map(Entity::attribute).collect()
    }

    /// For the prompt of a model.
    pub(crate) fn block(&self) -> Option<Block> {
        let text: String = self.0.iter().map(Entity::line).collect();
        Block::new("entities", "reviewed", &text)
    }

    /// For look-ups of values: a key is a value of its columns, found by the words of the question that it stands for.
    pub(crate) fn values(&self, query: &str) -> Vec<ValueHit> {
        let named = self.0.iter().filter(|entity| query.contains(&entity.matched));
        named
            .flat_map(|entity| {
                entity.columns.iter().map(|column| ValueHit {
                    column: convert::column(column),
                    value: entity.key.clone(),
                    score: 1.0,
                    matched: entity.matched.clone(),
                })
            })
            .collect()
    }
}

/// What an adapter had to say about a text.
pub(crate) enum Reviewed {
    /// It must not run as it is.
    Blocked(Failure),
    /// It may; the sentences travel with the answer.
    Allowed(Vec<String>),
}

impl Desk<'_> {
    /// Hears what the question names, and lets every later stage know.
    ///
    /// # Errors
    /// When the adapter fails.
    pub(crate) async fn canonicalize(
        &mut self,
        domain: &Arc<Domain>,
        question: &str,
        clock: &Clock,
    ) -> Result<(), Fault> {
        let Some(adapter) = self.adapter()? else { return Ok(()) };
        let mark = self.timeline.stage(Stage::Domain, &adapter);
        let called =
            self.host.runtime().canonicalize(&adapter, Arc::clone(&self.services), question, clock).await;
        let heard = heard(called);
        self.timeline.close_with(mark, &heard);
        self.entities = Entities::of(heard?, question, domain);
        let services = DomainServices::new(Arc::clone(domain)).with_entities(self.entities.clone());
        self.services = Arc::new(services);
        Ok(())
    }

    /// Hears the adapter on a text that the gate approved.
    ///
    /// # Errors
    /// When the adapter fails.
    pub(crate) async fn review(&mut self, approved: &Approved, clock: &Clock) -> Result<Reviewed, Fault> {
        let Some(adapter) = self.adapter()? else { return Ok(Reviewed::Allowed(Vec::new())) };
        let facts = services::facts(approved);
        let services = Arc::clone(&self.services);
        let mark = self.timeline.stage(Stage::Domain, &adapter);
        let called = self.host.runtime().review(&adapter, services, approved.text(), &facts, clock).await;
        let heard = heard(called);
        self.timeline.close_with(mark, &heard);
        Ok(weigh(heard?, approved.text()))
    }

    /// The adapter of the domain, noted as having taken part; none when the domain has none.
    fn adapter(&mut self) -> Result<Option<Component>, Fault> {
        let Some(adapter) = self.stages.component(Stage::Domain, &self.domain).cloned() else {
            return Ok(None);
        };
        self.reporter.tell(Progress::Stage { stage: Stage::Domain.as_str() });
        self.note(Stage::Domain, &adapter);
        if self.live && self.host.quarantine().bars(Stage::Domain, adapter.digest()) {
            return Err(Fault::Quarantined(Stage::Domain));
        }
        Ok(Some(adapter))
    }
}

/// What was said; nothing when the adapter has no such rules.
fn heard<T>(called: Result<Vec<T>, CallError>) -> Result<Vec<T>, Fault> {
    match called {
        Err(error) if matches!(*error.kind, CallErrorKind::Stage(StageError::Unsupported(_))) => {
            Ok(Vec::new())
        }
        Err(error) => {
            tracing::error!(%error, "the domain's adapter failed, so the question is not answered");
            Err(Fault::Component(error))
        }
        Ok(said) => Ok(said),
    }
}

/// One block is enough to stop a text; all of them are told, so that one repair can heed them all.
fn weigh(findings: Vec<Finding>, sql: &str) -> Reviewed {
    let (blocks, warns): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(|finding| finding.severity == Severity::Block);
    if blocks.is_empty() {
        return Reviewed::Allowed(warns.into_iter().take(WARNINGS).map(|finding| finding.message).collect());
    }
    let messages: Vec<String> =
        blocks.iter().map(|finding| format!("{}: {}", finding.code, finding.message)).collect();
    let hints: Vec<&str> = blocks.iter().filter_map(|finding| finding.hint.as_deref()).collect();
    let mut failure = Failure::new(ErrorType::Finding, messages.join(" "), sql);
    failure.hint = (!hints.is_empty()).then(|| hints.join(" "));
    Reviewed::Blocked(failure)
}

#[cfg(test)]
mod tests {
    use airlock_types::TableRef;

    use super::*;

    fn entity() -> Entity {
        let table = TableRef::new("fleet", "machines");
        Entity {
            kind: "machine".into(),
            matched: "sn 412".into(),
            key: "MK-00412".into(),
            columns: vec![ColumnRef { table, column: "machine_key".into() }],
        }
    }

    #[test]
    fn stages_are_told_the_key_its_words_and_its_column() {
        let attribute = entity().attribute();
        assert_eq!(attribute.key, "canonical:machine");
        assert_eq!(
            attribute.value,
            r#"{"key":"MK-00412","matched":"sn 412","columns":[{"schema":"fleet","table":"machines","column":"machine_key"}]}"#
        );
        let entities = Entities(Arc::new([entity()]));
        let block = entities.block().unwrap();
        assert_eq!((block.kind, block.vouched_by), ("entities", "reviewed"));
        assert_eq!(
            block.text,
            "\"sn 412\" in the question is the machine 'MK-00412', a value of fleet.machines.machine_key"
        );
        assert!(Entities::default().block().is_none());
    }

    #[test]
    fn a_key_is_found_by_its_words_only() {
        let entities = Entities(Arc::new([entity()]));
        assert_eq!(entities.values("downtime of sn 412").len(), 1);
        assert_eq!(entities.values("downtime of sn 413").len(), 0);
    }

    #[test]
    fn one_block_stops_a_text_and_all_of_them_are_told() {
        let finding = |code: &str, severity, hint: Option<&str>| Finding {
            code: code.into(),
            severity,
            message: format!("{code} is so."),
            hint: hint.map(str::to_owned),
        };
        let (a, b) = (finding("a", Severity::Block, Some("Do A.")), finding("b", Severity::Block, None));
        let warn = finding("c", Severity::Warn, None);
        let Reviewed::Blocked(failure) = weigh(vec![warn.clone(), a, b], "SELECT 1") else {
            panic!("two findings block")
        };
        assert_eq!(failure.error_type, ErrorType::Finding);
        assert_eq!(failure.message, "a: a is so. b: b is so.");
        assert_eq!(failure.hint.as_deref(), Some("Do A."));
        assert!(failure.repairable && failure.sql == "SELECT 1");
        let Reviewed::Allowed(warnings) = weigh(vec![warn], "SELECT 1") else {
            panic!("a warning blocks nothing")
        };
        assert_eq!(warnings, ["c is so."]);
    }
}
