//! A domain in service: its pack, its data source, its catalogue, its gate and its knowledge.

use std::sync::Arc;

use airlock_database::{DatabaseError, Scope, Source};
use airlock_gate::{AllowedFunction, Approved, Gate, Policy};
use airlock_knowledge::pack::{GoldenOutcome, PackScope, RowsToModel};
use airlock_knowledge::{ColumnClass, Curated, Knowledge, Pack, PackReport};
use airlock_runtime::contract::types::TableRef as ContractTable;
use airlock_types::{Catalogue, ColumnRef, DomainName, TableRef};
use thiserror::Error;

/// Values of one column that are indexed at most.
const VALUES: u32 = 5_000;

/// Golden questions suggested to newcomers.
const SUGGESTIONS: usize = 6;

/// Why a domain is not in service.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DomainError {
    /// The data source cannot be read.
    #[error("domain `{domain}`: its data source cannot be read: {error}")]
    Source {
        /// The domain.
        domain: DomainName,
        /// Why.
        error: DatabaseError,
    },
    /// There is nothing to ask about.
    #[error(
        "domain `{0}`: the reader sees none of its relations: check `schemas` or `only` in domain.toml, and what the \
         reader role is granted"
    )]
    Empty(DomainName),
    /// The pack and the data source do not fit.
    #[error("{0}")]
    Pack(PackReport),
}

/// A domain in service. Made once, shared by every ask, replaced as a whole.
pub struct Domain {
    name: DomainName,
    knowledge: Knowledge,
    catalogue: Arc<Catalogue>,
    gate: Gate,
    source: Source,
    suggestions: Vec<String>,
}

/// What of the data source belongs to a pack's domain.
#[must_use]
pub fn scope(pack: &Pack) -> Scope {
    match &pack.settings.scope {
        PackScope::Schemas(schemas) => Scope { schemas: schemas.clone(), only: Vec::new() },
        PackScope::Only(tables) => Scope {
            schemas: Vec::new(),
            only: tables
                .iter()
                .map(|table| {
                    TableRef::new(
                        table.value.schema.clone().unwrap_or_else(|| "public".to_owned()),
                        table.value.name.clone(),
                    )
                })
                .collect(),
        },
    }
}

/// What a pack says to the gate.
#[must_use]
pub fn policy(pack: &Pack) -> Policy {
    Policy {
        row_cap: pack.settings.row_cap,
        allowed_functions: pack
            .settings
            .allowed_functions
            .iter()
            .map(|function| AllowedFunction {
                signature: function.value.signature.clone(),
                body: Some(function.value.body),
            })
            .collect(),
        ..Policy::default()
    }
}

impl Domain {
    /// Puts a pack in service over its data source: reads the catalogue, holds the pack against it, reads the values
    /// that the pack lets be indexed.
    ///
    /// # Errors
    /// [`DomainError`]; a pack that does not fit is reported whole.
    pub async fn open(pack: &Pack, source: Source) -> Result<Self, DomainError> {
        let name = pack.name.clone();
        let unread = |error| DomainError::Source { domain: name.clone(), error };
        let catalogue = Arc::new(source.catalogue(&scope(pack)).await.map_err(unread)?);
        if catalogue.is_empty() {
            return Err(DomainError::Empty(name));
        }
        let bound = pack.bind(&catalogue).map_err(DomainError::Pack)?;
        let mut values: Vec<(ColumnRef, Vec<String>)> = Vec::new();
        for column in bound.exposure.columns_to_read() {
            let found = source.distinct_values(&column, VALUES).await.map_err(unread)?;
            values.push((column, found));
        }
        let curated = Curated::of_pack(pack, &bound);
        let gate = Gate::new(Arc::clone(&catalogue), policy(pack));
        let knowledge = Knowledge::from_bound(pack, bound, Arc::clone(&catalogue), values, curated);
        let suggestions = pack
            .golden
            .iter()
            .filter(|case| case.outcome == GoldenOutcome::Answered)
            .take(SUGGESTIONS)
            .map(|case| case.question.as_str().to_owned())
            .collect();
        Ok(Self { name, knowledge, catalogue, gate, source, suggestions })
    }

    /// The domain's name.
    #[must_use]
    pub const fn name(&self) -> &DomainName {
        &self.name
    }

    /// What is known about it.
    #[must_use]
    pub const fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// Its relations.
    #[must_use]
    pub const fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Its gate.
    #[must_use]
    pub const fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Its data source.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// Questions a newcomer can begin with: golden cases that have an answer.
    #[must_use]
    pub fn suggestions(&self) -> &[String] {
        &self.suggestions
    }

    /// Rows an answer has at most.
    #[must_use]
    pub fn row_cap(&self) -> u32 {
        self.knowledge.settings().row_cap
    }

    /// Time zone and first month of the fiscal year.
    #[must_use]
    pub fn calendar(&self) -> (&str, u8) {
        let settings = self.knowledge.settings();
        (&settings.time_zone, settings.fiscal_year_start)
    }

    /// Class of a column.
    #[must_use]
    pub fn class(&self, column: &ColumnRef) -> ColumnClass {
        self.knowledge.exposure().class(column)
    }

    pub(crate) fn knows(&self, table: &ContractTable) -> bool {
        self.knowledge.view(&TableRef::new(&table.schema, &table.name)).is_some()
    }

    /// Whether rows of this text may be shown to a model: the domain permits it, and no personal or secret column took
    /// part in any way.
    pub(crate) fn rows_may_reach_model(&self, approved: &Approved) -> bool {
        self.knowledge.settings().egress.rows_to_model == RowsToModel::Head
            && approved
                .facts()
                .columns
                .iter()
                .all(|column| !matches!(self.class(column), ColumnClass::Personal | ColumnClass::Secret))
    }
}
