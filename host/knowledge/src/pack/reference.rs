//! Names of tables and columns as a pack writes them: `bills`, `sales.bills`, `bills.status`, `"odd.name".x`.

use std::fmt;

use serde::Serialize;

/// A table as written: with its schema or without.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct TableName {
    /// Absent: the first match on the domain's schemas.
    pub schema: Option<String>,
    /// The relation, as the catalogue spells it.
    pub name: String,
}

/// A column as written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct ColumnName {
    /// Its table.
    pub table: TableName,
    /// The column, as the catalogue spells it.
    pub column: String,
}

impl TableName {
    /// Reads `table` or `schema.table`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::of(parts(text)?)
    }

    fn of(mut parts: Vec<String>) -> Option<Self> {
        let name = parts.pop()?;
        let schema = parts.pop();
        parts.is_empty().then_some(Self { schema, name })
    }
}

impl ColumnName {
    /// Reads `table.column` or `schema.table.column`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = parts(text)?;
        let column = parts.pop()?;
        Some(Self { table: TableName::of(parts)?, column })
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.schema {
            write_part(f, schema)?;
            f.write_str(".")?;
        }
        write_part(f, &self.name)
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.", self.table)?;
        write_part(f, &self.column)
    }
}

fn write_part(f: &mut fmt::Formatter<'_>, part: &str) -> fmt::Result {
    if part.contains(['.', '"']) { write!(f, "\"{}\"", part.replace('"', "\"\"")) } else { f.write_str(part) }
}

/// Parts between dots. A part may stand in double quotes, then a dot is a character of it; case is never folded.
fn parts(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    loop {
        let (part, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_part(quoted)?,
            None => {
                let end = rest.find('.').unwrap_or(rest.len());
                let (part, after) = rest.split_at(end);
                (part.trim().to_owned(), after)
            }
        };
        if part.is_empty() || parts.len() == 3 {
            return None;
        }
        parts.push(part);
        match after.strip_prefix('.') {
            Some(after) => rest = after,
            None => return after.is_empty().then_some(parts),
        }
    }
}

/// The text up to the closing quote, doubled quotes undone, and what follows it.
fn quoted_part(text: &str) -> Option<(String, &str)> {
    let mut part = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"')?;
        part.push_str(before);
        match after.strip_prefix('"') {
            Some(after) => {
                part.push('"');
                rest = after;
            }
            None => return Some((part, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_as_they_are_written() {
        for (text, want) in [
            ("bills", Some((None, "bills"))),
            ("sales.bills", Some((Some("sales"), "bills"))),
            ("Sales.Bills", Some((Some("Sales"), "Bills"))),
            ("\"odd.name\"", Some((None, "odd.name"))),
            ("\"a\"\"b\".c", Some((Some("a\"b"), "c"))),
            ("a.b.c", None),
            ("", None),
            ("a.", None),
            (".a", None),
            ("\"a", None),
            ("\"a\"b", None),
        ] {
            let got = TableName::parse(text);
            let got = got.as_ref().map(|table| (table.schema.as_deref(), table.name.as_str()));
            assert_eq!(got, want, "{text}");
        }
    }

    #[test]
    fn a_column_is_written_back_as_it_reads() {
        for text in ["bills.status", "sales.bills.status", "\"odd.name\".x", "a.\"b\"\"c\""] {
            assert_eq!(ColumnName::parse(text).unwrap().to_string(), text);
        }
        for text in ["status", "a.b.c.d", "a..b"] {
            assert_eq!(ColumnName::parse(text), None, "{text}");
        }
    }
}
