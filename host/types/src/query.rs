//! A person's own SQL, and what came of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::ask::{FieldError, ResultColumn};
use crate::ids::DomainName;

/// Most characters of a text; the gate's own limit counts bytes.
const SQL_LIMIT: usize = 65_536;

/// A request to run SQL as it was handed in: nothing in it is checked yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = QueryRequest)]
pub struct RawQueryRequest {
    /// One statement that reads.
    #[schema(value_type = String, required = true, min_length = 1, max_length = 65536)]
    pub sql: Option<String>,
    /// Which domain; may be left out when the host serves one.
    #[schema(pattern = "^[a-z][a-z0-9-]{0,62}$")]
    pub domain: Option<String>,
    /// Rows wanted; the domain's cap holds above it.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 4_294_967_295_u32)]
    pub max_rows: Option<u32>,
}

/// A person's own SQL, on its way to the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryRequest {
    /// The text.
    pub sql: String,
    /// Which domain; may be left out when the host serves one.
    pub domain: Option<DomainName>,
    /// Rows wanted; the domain's cap holds above it.
    pub max_rows: Option<u32>,
}

impl TryFrom<RawQueryRequest> for QueryRequest {
    type Error = FieldError;

    fn try_from(raw: RawQueryRequest) -> Result<Self, FieldError> {
        let sql = raw.sql.filter(|sql| !sql.trim().is_empty());
        let sql = sql.ok_or_else(|| FieldError::new("sql", "it is missing: write one SELECT"))?;
        if sql.chars().count() > SQL_LIMIT {
            return Err(FieldError::new("sql", format!("it has more than {SQL_LIMIT} characters")));
        }
        let domain = raw.domain.map(|name| name.parse()).transpose();
        let domain = domain.map_err(|error| FieldError::new("domain", error))?;
        if raw.max_rows == Some(0) {
            return Err(FieldError::new("max_rows", "leave it out or ask for at least 1"));
        }
        Ok(Self { sql, domain, max_rows: raw.max_rows })
    }
}

/// The rows of a person's own SQL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueryResult {
    /// The text that ran.
    pub sql: String,
    /// Columns of `rows`.
    pub columns: Vec<ResultColumn>,
    /// Rows, arrays beside `columns`.
    pub rows: Vec<Vec<Value>>,
    /// Rows in `rows`.
    pub row_count: u64,
    /// Whether PostgreSQL had more rows than the cap let through.
    pub truncated: bool,
    /// Milliseconds the statement ran.
    pub duration_ms: u64,
    /// What the domain's rules had to remark.
    pub warnings: Vec<String>,
    /// Relations the SQL reads.
    pub tables_used: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_field_is_named() {
        let raw = |sql: &str| RawQueryRequest { sql: Some(sql.to_owned()), ..RawQueryRequest::default() };
        for (raw, want) in [
            (RawQueryRequest::default(), "sql"),
            (raw(" \n"), "sql"),
            (raw(&"x".repeat(SQL_LIMIT + 1)), "sql"),
            (RawQueryRequest { domain: Some("A B".to_owned()), ..raw("SELECT 1") }, "domain"),
            (RawQueryRequest { max_rows: Some(0), ..raw("SELECT 1") }, "max_rows"),
        ] {
            assert_eq!(QueryRequest::try_from(raw).unwrap_err().field, want);
        }
        assert!(QueryRequest::try_from(raw("SELECT 1")).is_ok());
    }
}
