//! A small catalogue and a little knowledge, built by hand or read from JSON.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::contract::catalog::{ColumnInfo, Join, TableDetail, TableSummary};
use crate::contract::retrieval::{Example, Lesson, Passage, Term};
use crate::contract::sql::{Facts, Node, Rejection};
use crate::contract::types::{Attribute, ColumnRef, TableRef};

/// What the host would answer. Retrieval is by shared words; `check` and `outline` answer what was recorded for a
/// text, and otherwise approve everything with empty facts and no nodes.
///
/// It reads and writes as JSON, so that answers of a real host can be recorded in a file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Recorded {
    /// Relations in full.
    pub tables: Vec<TableDetail>,
    /// Glossary terms.
    pub terms: Vec<Term>,
    /// Verified questions.
    pub examples: Vec<Example>,
    /// Lessons.
    pub lessons: Vec<Lesson>,
    /// Values of indexed columns.
    pub values: Vec<(ColumnRef, String)>,
    /// Passages of documents.
    pub passages: Vec<Passage>,
    /// Verdicts by text.
    pub checks: BTreeMap<String, Result<Facts, Rejection>>,
    /// Outlines by text.
    pub outlines: BTreeMap<String, Result<Vec<Node>, Rejection>>,
    /// Version of the server; 150000 unless set.
    pub server_version: Option<u32>,
    /// Log lines a stage wrote: level, message, fields.
    #[serde(skip)]
    pub logged: RefCell<Vec<(crate::Level, String, Vec<Attribute>)>>,
}

impl Recorded {
    /// A host that knows nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads answers that were recorded as JSON.
    ///
    /// # Errors
    /// When the text is not the JSON of a `Recorded`.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Adds a relation.
    #[must_use]
    pub fn table(mut self, table: TableDraft) -> Self {
        self.tables.push(table.detail);
        self
    }

    /// Adds a verified many-to-one join, such as `("payments.bill_id", "bills.bill_id")`. Both relations are told.
    #[must_use]
    pub fn join(self, from: &str, to: &str) -> Self {
        let ((from, from_column), (to, to_column)) = (column_parts(from), column_parts(to));
        self.join_as(Join {
            from,
            from_columns: vec![from_column],
            to,
            to_columns: vec![to_column],
            origin: "foreign-key".into(),
            verified: true,
            many_to_one: true,
            optional: false,
        })
    }

    /// Adds any join.
    #[must_use]
    pub fn join_as(mut self, join: Join) -> Self {
        for table in &mut self.tables {
            if table.summary.table == join.from || table.summary.table == join.to {
                table.joins.push(join.clone());
            }
        }
        self
    }

    /// Adds a glossary term without a metric.
    #[must_use]
    pub fn term(self, name: &str, synonyms: &[&str], definition: &str) -> Self {
        self.term_as(Term {
            name: name.into(),
            synonyms: strings(synonyms),
            definition: definition.into(),
            table: None,
            metric_sql: None,
            filter_sql: None,
            matched: String::new(),
            score: 0.0,
        })
    }

    /// Adds a measure: its relation, its expression and the condition it implies, empty for none.
    #[must_use]
    pub fn metric(self, name: &str, synonyms: &[&str], table: &str, sql: &str, filter: &str) -> Self {
        self.term_as(Term {
            name: name.into(),
            synonyms: strings(synonyms),
            definition: String::new(),
            table: Some(table_ref(table)),
            metric_sql: Some(sql.into()),
            filter_sql: (!filter.is_empty()).then(|| filter.into()),
            matched: String::new(),
            score: 0.0,
        })
    }

    /// Adds any term.
    #[must_use]
    pub fn term_as(mut self, term: Term) -> Self {
        self.terms.push(term);
        self
    }

    /// Adds a verified question; its id is `example-N`.
    #[must_use]
    pub fn example(mut self, question: &str, sql: &str) -> Self {
        let id = format!("example-{}", self.examples.len() + 1);
        self.examples.push(Example { id, question: question.into(), sql: sql.into(), score: 0.0 });
        self
    }

    /// Adds values of an indexed column, such as `("bills.status", &["PAID", "CANCELLED"])`.
    #[must_use]
    pub fn values(mut self, column: &str, values: &[&str]) -> Self {
        let (table, column) = column_parts(column);
        for value in values {
            self.values.push((ColumnRef { table: table.clone(), column: column.clone() }, (*value).into()));
        }
        self
    }

    /// Records the gate's verdict on a text.
    #[must_use]
    pub fn verdict(mut self, text: &str, verdict: Result<Facts, Rejection>) -> Self {
        self.checks.insert(text.into(), verdict);
        self
    }

    /// Records that the grammar cannot read a text.
    #[must_use]
    pub fn unreadable(mut self, text: &str) -> Self {
        let rejection =
            Rejection { code: "syntax".into(), message: "syntax error".into(), hint: None, position: None };
        self.outlines.insert(text.into(), Err(rejection));
        self
    }
}

/// A relation under construction.
#[derive(Debug, Clone)]
pub struct TableDraft {
    detail: TableDetail,
}

/// Starts a relation: `bills` is in schema `public`, `sales.bills` where it says.
#[must_use]
pub fn table(name: &str) -> TableDraft {
    TableDraft {
        detail: TableDetail {
            summary: TableSummary {
                table: table_ref(name),
                kind: "table".into(),
                description: String::new(),
                row_estimate: None,
            },
            columns: Vec::new(),
            primary_key: Vec::new(),
            joins: Vec::new(),
            not_for: String::new(),
            in_use: true,
            synonyms: Vec::new(),
            time_column: None,
            label_column: None,
            attributes: Vec::new(),
        },
    }
}

impl TableDraft {
    /// What it is for.
    #[must_use]
    pub fn purpose(mut self, text: &str) -> Self {
        self.detail.summary.description = text.into();
        self
    }

    /// What it must not be used for.
    #[must_use]
    pub fn not_for(mut self, text: &str) -> Self {
        self.detail.not_for = text.into();
        self
    }

    /// A dead relation.
    #[must_use]
    pub fn dead(mut self) -> Self {
        self.detail.in_use = false;
        self
    }

    /// How many rows the planner expects.
    #[must_use]
    pub fn rows(mut self, estimate: u64) -> Self {
        self.detail.summary.row_estimate = Some(estimate);
        self
    }

    /// Words people use for it.
    #[must_use]
    pub fn synonyms(mut self, words: &[&str]) -> Self {
        self.detail.synonyms = strings(words);
        self
    }

    /// Adds columns that may be null, each as `("name", "type")`.
    #[must_use]
    pub fn columns(mut self, columns: &[(&str, &str)]) -> Self {
        self.detail.columns.extend(columns.iter().map(|(name, sql_type)| column(name, sql_type)));
        self
    }

    /// Adds one column as given; [`column`] makes one to start from.
    #[must_use]
    pub fn column(mut self, column: ColumnInfo) -> Self {
        self.detail.columns.push(column);
        self
    }

    /// The primary key; its columns are not null.
    #[must_use]
    pub fn primary_key(mut self, columns: &[&str]) -> Self {
        for column in &mut self.detail.columns {
            column.nullable &= !columns.contains(&column.name.as_str());
        }
        self.detail.primary_key = strings(columns);
        self
    }

    /// The column that dates a row.
    #[must_use]
    pub fn time_column(mut self, name: &str) -> Self {
        self.detail.time_column = Some(name.into());
        self
    }

    /// The column that names a row to a person.
    #[must_use]
    pub fn label_column(mut self, name: &str) -> Self {
        self.detail.label_column = Some(name.into());
        self
    }

    /// Adds an attribute, such as `covers-from`.
    #[must_use]
    pub fn attribute(mut self, key: &str, value: &str) -> Self {
        self.detail.attributes.push(Attribute { key: key.into(), value: value.into() });
        self
    }
}

/// A nullable column with the family its type has.
#[must_use]
pub fn column(name: &str, sql_type: &str) -> ColumnInfo {
    ColumnInfo {
        name: name.into(),
        sql_type: sql_type.into(),
        family: family(sql_type).into(),
        nullable: true,
        description: String::new(),
        class: "plain".into(),
        enum_labels: Vec::new(),
        samples: Vec::new(),
        synonyms: Vec::new(),
    }
}

/// `bills` or `sales.bills` as a reference; the schema is `public` unless written.
#[must_use]
pub fn table_ref(name: &str) -> TableRef {
    let (schema, name) = name.split_once('.').unwrap_or(("public", name));
    TableRef { schema: schema.into(), name: name.into() }
}

/// `bills.bill_id` or `sales.bills.bill_id`.
fn column_parts(name: &str) -> (TableRef, String) {
    let (table, column) = name.rsplit_once('.').unwrap_or(("", name));
    (table_ref(table), column.into())
}

fn family(sql_type: &str) -> &'static str {
    let base = sql_type.split('(').next().unwrap_or_default().trim();
    match base {
        _ if sql_type.ends_with("[]") => "array",
        "smallint" | "integer" | "bigint" | "numeric" | "real" | "double precision" | "money" => "number",
        "text" | "character varying" | "varchar" | "character" | "char" | "citext" => "text",
        "date" => "date",
        "boolean" => "boolean",
        "json" | "jsonb" => "json",
        "bytea" => "binary",
        "uuid" => "uuid",
        "interval" => "interval",
        _ if base.starts_with("timestamp") => "timestamp",
        _ => "other",
    }
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
