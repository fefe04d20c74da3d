//! What components may look up: a domain's catalogue, knowledge and gate, in the contract's words.

use std::sync::Arc;

use airlock_gate::{Approved, Rejection};
use airlock_knowledge::{Join, TableView};
use airlock_runtime::Services;
use airlock_runtime::contract::catalog;
use airlock_runtime::contract::log::Level;
use airlock_runtime::contract::retrieval;
use airlock_runtime::contract::sql;
use airlock_runtime::contract::types::{Attribute, TableRef};

use crate::adapter::Entities;
use crate::convert;
use crate::domain::Domain;

/// What the ids of examples and lessons begin with where components see them, so that a draft's list of what it used can
/// be told apart.
pub(crate) const EXAMPLE: &str = "example:";
pub(crate) const LESSON: &str = "lesson:";

/// Services of one domain. A component never sees another one's.
pub struct DomainServices {
    domain: Arc<Domain>,
    /// What the question at hand names, as the domain's adapter found.
    entities: Entities,
}

impl DomainServices {
    /// The services of `domain`.
    #[must_use]
    pub fn new(domain: Arc<Domain>) -> Self {
        Self { domain, entities: Entities::default() }
    }

    /// The same for a question that names these entities.
    pub(crate) fn with_entities(self, entities: Entities) -> Self {
        Self { entities, ..self }
    }
}

fn host_table(table: &TableRef) -> airlock_types::TableRef {
    airlock_types::TableRef::new(&table.schema, &table.name)
}

fn size(k: u32) -> usize {
    usize::try_from(k).unwrap_or(usize::MAX)
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn join(join: &Join) -> catalog::Join {
    catalog::Join {
        from: convert::table(&join.from),
        from_columns: join.from_columns.clone(),
        to: convert::table(&join.to),
        to_columns: join.to_columns.clone(),
        origin: join.origin.as_str().to_owned(),
        verified: join.verified(),
        many_to_one: join.many_to_one,
        optional: join.optional,
    }
}

fn summary(view: &TableView) -> catalog::TableSummary {
    catalog::TableSummary {
        table: convert::table(&view.table),
        kind: view.kind.as_str().to_owned(),
        description: view.description.clone(),
        row_estimate: view.row_estimate,
    }
}

fn rejected(rejection: &Rejection) -> sql::Rejection {
    sql::Rejection {
        code: rejection.code.as_str().to_owned(),
        message: rejection.message.clone(),
        hint: rejection.hint.clone(),
        position: rejection.position,
    }
}

/// Facts of an approved text.
pub(crate) fn facts(approved: &Approved) -> sql::Facts {
    let facts = approved.facts();
    sql::Facts {
        tables: facts.tables.iter().map(convert::table).collect(),
        columns: facts.columns.iter().map(convert::column).collect(),
        functions: facts.functions.clone(),
        literals: facts
            .literals
            .iter()
            .map(|literal| sql::ComparedLiteral {
                column: convert::column(&literal.column),
                operator: literal.comparison(),
                literal: literal.literal.clone(),
                start: offset(literal.span.start),
                end: offset(literal.span.end),
            })
            .collect(),
    }
}

impl Services for DomainServices {
    fn tables(&self) -> Vec<catalog::TableSummary> {
        self.domain.knowledge().views().iter().map(summary).collect()
    }

    fn describe(&self, table: &TableRef) -> Option<catalog::TableDetail> {
        let knowledge = self.domain.knowledge();
        let table = host_table(table);
        let view = knowledge.view(&table)?;
        let columns = view.columns.iter().map(|column| catalog::ColumnInfo {
            name: column.name.clone(),
            sql_type: column.sql_type.clone(),
            family: column.family.as_str().to_owned(),
            nullable: column.nullable,
            description: column.description.clone(),
            class: column.class.as_str().to_owned(),
            enum_labels: column.enum_labels.clone(),
            samples: column.samples.clone(),
            synonyms: column.synonyms.clone(),
        });
        let covers = view.covers.iter().flat_map(|covers| {
            [("covers-from", &covers.from), ("covers-until", &covers.until)]
                .into_iter()
                .filter_map(|(key, value)| Some(Attribute { key: key.to_owned(), value: value.clone()? }))
        });
        let relation = self.domain.catalogue().relation(&table);
        let keys = relation
            .into_iter()
            .flat_map(|relation| &relation.unique_keys)
            .map(|key| Attribute { key: "unique-key".to_owned(), value: key.join("\t") });
        Some(catalog::TableDetail {
            summary: summary(view),
            columns: columns.collect(),
            primary_key: view.primary_key.clone(),
            joins: knowledge.joins_of(&table).map(join).collect(),
            not_for: view.not_for.clone(),
            in_use: view.in_use,
            synonyms: view.synonyms.clone(),
            time_column: view.time_column.clone(),
            label_column: view.label_column.clone(),
            attributes: covers.chain(keys).collect(),
        })
    }

    fn join_path(&self, from: &TableRef, to: &TableRef, max_hops: u32) -> Vec<catalog::Join> {
        self.domain
            .knowledge()
            .join_path(&host_table(from), &host_table(to), size(max_hops))
            .iter()
            .map(join)
            .collect()
    }

    fn server_version(&self) -> u32 {
        self.domain.catalogue().server_version
    }

    fn find_tables(&self, query: &str, k: u32) -> Vec<retrieval::TableHit> {
        let hits = self.domain.tables(query, size(k)).into_iter();
        hits.map(|hit| retrieval::TableHit {
            table: convert::table(&hit.table),
            score: hit.score,
            matched: hit.matched,
        })
        .collect()
    }

    fn find_columns(&self, query: &str, k: u32) -> Vec<retrieval::ColumnHit> {
        let hits = self.domain.knowledge().columns(query, size(k)).into_iter();
        hits.map(|hit| retrieval::ColumnHit {
            column: convert::column(&hit.column),
            score: hit.score,
            matched: hit.matched,
        })
        .collect()
    }

    fn find_values(&self, query: &str, k: u32) -> Vec<retrieval::ValueHit> {
        let hits = self.domain.knowledge().values(query, size(k)).into_iter();
        let hits = hits.map(|hit| retrieval::ValueHit {
            column: convert::column(&hit.column),
            value: hit.value.to_string(),
            score: hit.score,
            matched: hit.matched,
        });
        self.entities.values(query).into_iter().chain(hits).take(size(k)).collect()
    }

    fn find_examples(&self, query: &str, k: u32) -> Vec<retrieval::Example> {
        let hits = self.domain.examples(query, size(k)).into_iter();
        hits.map(|hit| retrieval::Example {
            id: format!("{EXAMPLE}{}", hit.example.id),
            question: hit.example.question.clone(),
            sql: hit.example.sql.clone(),
            score: hit.score,
        })
        .collect()
    }

    fn find_lessons(&self, query: &str, k: u32) -> Vec<retrieval::Lesson> {
        let hits = self.domain.lessons(query, size(k)).into_iter();
        hits.map(|hit| retrieval::Lesson {
            id: format!("{LESSON}{}", hit.lesson.id),
            kind: hit.lesson.kind.as_str().to_owned(),
            text: hit.lesson.text.clone(),
            score: hit.score,
        })
        .collect()
    }

    fn find_terms(&self, query: &str, k: u32) -> Vec<retrieval::Term> {
        let hits = self.domain.knowledge().glossary(query, size(k)).into_iter();
        hits.map(|hit| retrieval::Term {
            name: hit.term.name.clone(),
            synonyms: hit.term.synonyms.clone(),
            definition: hit.term.definition.clone(),
            table: hit.term.table.as_ref().map(convert::table),
            metric_sql: hit.term.metric_sql.clone(),
            filter_sql: hit.term.filter_sql.clone(),
            matched: hit.matched,
            score: hit.score,
        })
        .collect()
    }

    fn find_passages(&self, query: &str, k: u32) -> Vec<retrieval::Passage> {
        let hits = self.domain.passages(query, size(k)).into_iter();
        hits.map(|hit| retrieval::Passage { source: hit.source, text: hit.text, score: hit.score }).collect()
    }

    fn check(&self, text: &str) -> Result<sql::Facts, sql::Rejection> {
        self.domain
            .gate()
            .check(text)
            .map(|approved| facts(&approved))
            .map_err(|rejection| rejected(&rejection))
    }

    fn outline(&self, text: &str) -> Result<Vec<sql::Node>, sql::Rejection> {
        let nodes = airlock_gate::outline(text).map_err(|rejection| rejected(&rejection))?;
        Ok(nodes
            .into_iter()
            .map(|node| sql::Node {
                kind: node.kind.as_str().to_owned(),
                start: node.start,
                end: node.end,
                parent: node.parent,
                name: node.name,
            })
            .collect())
    }

    fn log(&self, level: Level, message: &str, fields: &[(String, String)]) {
        let domain = self.domain.name();
        let fields = fields.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ");
        match level {
            Level::Trace => tracing::trace!(target: "component", %domain, fields, "{message}"),
            Level::Debug => tracing::debug!(target: "component", %domain, fields, "{message}"),
            Level::Info => tracing::info!(target: "component", %domain, fields, "{message}"),
            Level::Warn => tracing::warn!(target: "component", %domain, fields, "{message}"),
            Level::Error => tracing::error!(target: "component", %domain, fields, "{message}"),
        }
    }
}
