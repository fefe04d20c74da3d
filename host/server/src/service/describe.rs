//! What a domain and its tables look like to somebody who is about to ask: the same on every surface.

use airlock_knowledge::TableView;
use airlock_pipeline::Domain;
use airlock_types::{ContentHash, DomainName};
use serde::Serialize;
use utoipa::ToSchema;

/// A domain in a few words.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Summary {
    /// Its name, which requests give.
    #[schema(value_type = String)]
    domain: DomainName,
    /// Its name for people.
    title: String,
    /// What it is about.
    description: String,
    /// How many tables it has.
    tables: usize,
    /// SHA-256 of its pack.
    #[schema(value_type = String)]
    pack: ContentHash,
    /// Questions to begin with.
    examples: Vec<String>,
}

/// A relation with its columns, its keys and its joins.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Table {
    /// The schema.
    schema: String,
    /// The name in it.
    name: String,
    /// `table`, `view` and so on.
    kind: &'static str,
    /// What it holds.
    description: String,
    /// What it must not be used for.
    not_for: String,
    /// False: dead, never chosen.
    in_use: bool,
    /// Rows, as the planner estimates them; null where PostgreSQL has not counted yet, and of views.
    row_estimate: Option<u64>,
    /// Columns of the primary key, in its order.
    primary_key: Vec<String>,
    /// The columns, in the table's order.
    columns: Vec<Column>,
    /// How it is joined to others.
    joins: Vec<Join>,
}

/// A column.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Column {
    /// Its name.
    name: String,
    /// As PostgreSQL prints it.
    #[serde(rename = "type")]
    sql_type: String,
    /// Whether it may be NULL.
    nullable: bool,
    /// What it means.
    description: String,
    /// `plain`, `amount`, `personal` or `secret`.
    class: &'static str,
    /// Labels of its type, or a few values that may be seen.
    values: Vec<String>,
}

/// How two relations are joined.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Join {
    /// Schema and name.
    from: String,
    /// The columns there.
    from_columns: Vec<String>,
    /// Schema and name.
    to: String,
    /// The columns there, in the same order.
    to_columns: Vec<String>,
    /// Who says so: `foreign-key`, `manual` (a person wrote it) or `inferred` (guessed from names and types).
    origin: &'static str,
    /// Whether it is more than a guess.
    verified: bool,
}

impl Summary {
    /// Of a domain.
    pub fn of(domain: &Domain) -> Self {
        let settings = domain.knowledge().settings();
        Self {
            domain: domain.name().clone(),
            title: settings.title.clone(),
            description: settings.description.clone(),
            tables: domain.knowledge().views().len(),
            pack: domain.knowledge().pack_hash(),
            examples: domain.suggestions().map(str::to_owned).collect(),
        }
    }
}

impl Table {
    /// Of a relation of a domain.
    pub fn of(domain: &Domain, view: &TableView) -> Self {
        let columns = view.columns.iter().map(|column| Column {
            name: column.name.clone(),
            sql_type: column.sql_type.clone(),
            nullable: column.nullable,
            description: column.description.clone(),
            class: column.class.as_str(),
            values: if column.enum_labels.is_empty() { &column.samples } else { &column.enum_labels }.clone(),
        });
        let joins = domain.knowledge().joins_of(&view.table).map(|join| Join {
            from: join.from.to_string(),
            from_columns: join.from_columns.clone(),
            to: join.to.to_string(),
            to_columns: join.to_columns.clone(),
            origin: join.origin.as_str(),
            verified: join.verified(),
        });
        Self {
            schema: view.table.schema.clone(),
            name: view.table.name.clone(),
            kind: view.kind.as_str(),
            description: view.description.clone(),
            not_for: view.not_for.clone(),
            in_use: view.in_use,
            row_estimate: view.row_estimate,
            primary_key: view.primary_key.clone(),
            columns: columns.collect(),
            joins: joins.collect(),
        }
    }
}
