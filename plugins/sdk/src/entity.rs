//! Entities that the domain's adapter found in the question, as every stage is told of them.

use serde::Deserialize;

use crate::contract::types::{Attribute, ColumnRef, TableRef};

/// Key of the attributes that tell of an entity, before its kind.
const KEY: &str = "canonical:";

/// Something that a question names in its own words, under its governed key.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    /// What kind of thing it is.
    pub kind: String,
    /// The governed key.
    pub key: String,
    /// The words of the question it stands for.
    pub matched: String,
    /// Columns that hold keys of this kind, the preferred one first; the domain may name none.
    pub columns: Vec<ColumnRef>,
}

#[derive(Deserialize)]
struct Told {
    key: String,
    matched: String,
    #[serde(default)]
    columns: Vec<ToldColumn>,
}

#[derive(Deserialize)]
struct ToldColumn {
    schema: String,
    table: String,
    column: String,
}

/// The entities among a stage's attributes: `canonical:KIND`, whose value is a JSON object of `key`, `matched` and
/// `columns`. What does not read is left out, as an unknown attribute is.
#[must_use]
pub fn entities(attributes: &[Attribute]) -> Vec<Entity> {
    let read = |attribute: &Attribute| {
        let kind = attribute.key.strip_prefix(KEY)?.to_owned();
        let told: Told = serde_json::from_str(&attribute.value).ok()?;
        let columns = told.columns.into_iter().map(|told| ColumnRef {
            table: TableRef { schema: told.schema, name: told.table },
            column: told.column,
        });
        Some(Entity { kind, key: told.key, matched: told.matched, columns: columns.collect() })
    };
    attributes.iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_is_an_entity_and_the_rest_is_left_alone() {
        let attribute = |key: &str, value: &str| Attribute { key: key.into(), value: value.into() };
        let told = r#"{"key":"MK-00412","matched":"sn 412","columns":[{"schema":"fleet","table":"machines","column":"machine_key"}],"later":1}"#;
        let found = entities(&[
            attribute("canonical:machine", told),
            attribute("canonical:site", r#"{"key":"NAV","matched":"Navan"}"#),
            attribute("canonical:broken", "{"),
            attribute("follow-up", "true"),
        ]);
        let told: Vec<(&str, &str, usize)> =
            found.iter().map(|e| (e.kind.as_str(), e.key.as_str(), e.columns.len())).collect();
        assert_eq!(told, [("machine", "MK-00412", 1), ("site", "NAV", 0)]);
        assert_eq!(found[0].columns[0].table.name, "machines");
    }
}
