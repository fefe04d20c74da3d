//! What a domain knows with some of it left out on purpose: the one place where an evaluation takes knowledge away, to give
//! repair something to do.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use airlock_types::{Catalogue, ColumnRef};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::pack::{BoundPack, BoundTableNote};

/// What is left out. Nothing by default. What the gate knows and who may see what stay as they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Degrade {
    /// Values of rows: the samples that are shown, and those a question is matched with.
    pub samples: bool,
    /// Foreign keys, and joins that people wrote. What names and types suggest is still guessed.
    pub keys: bool,
    /// Notes on tables and columns, and the comments of the database.
    pub notes: bool,
}

/// A word that names nothing that can be left out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` cannot be left out: give one or more of samples, keys and notes, with commas between them")]
pub struct DegradeError(String);

impl FromStr for Degrade {
    type Err = DegradeError;

    fn from_str(text: &str) -> Result<Self, DegradeError> {
        let mut degrade = Self::default();
        for word in text.split(',').map(str::trim) {
            *match word {
                "samples" => &mut degrade.samples,
                "keys" => &mut degrade.keys,
                "notes" => &mut degrade.notes,
                _ => return Err(DegradeError(word.chars().take(64).collect())),
            } = true;
        }
        Ok(degrade)
    }
}

/// Distinct values of columns.
type Values = Vec<(ColumnRef, Vec<String>)>;

impl Degrade {
    /// Takes away what is to be left out of what knowledge is made from.
    #[must_use]
    pub fn apply(
        self,
        mut bound: BoundPack,
        catalogue: &Arc<Catalogue>,
        values: Values,
    ) -> (BoundPack, Arc<Catalogue>, Values) {
        if self == Self::default() {
            return (bound, Arc::clone(catalogue), values);
        }
        let mut catalogue = Catalogue::clone(catalogue);
        for relation in catalogue.relations.values_mut().flatten() {
            if self.keys {
                relation.foreign_keys.clear();
            }
            if self.notes {
                relation.comment = None;
                relation.columns.iter_mut().for_each(|column| column.comment = None);
            }
        }
        if self.keys {
            bound.joins.clear();
        }
        if self.notes {
            // A dead table stays dead: that is no note to read but a table that is not there.
            bound.notes = bound
                .notes
                .into_iter()
                .filter(|(_, note)| !note.in_use)
                .map(|(table, _)| (table, BoundTableNote { in_use: false, ..BoundTableNote::default() }))
                .collect::<BTreeMap<_, _>>();
        }
        let values = if self.samples { Vec::new() } else { values };
        (bound, Arc::new(catalogue), values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::Pack;
    use crate::{Curated, Knowledge, testing};

    #[test]
    fn what_can_be_left_out_is_named() {
        let all = Degrade { samples: true, keys: true, notes: true };
        for (text, want) in [
            ("samples", Ok(Degrade { samples: true, ..Degrade::default() })),
            ("samples, keys,notes", Ok(all)),
            ("samples,rows", Err(DegradeError("rows".to_owned()))),
            ("", Err(DegradeError(String::new()))),
        ] {
            assert_eq!(text.parse::<Degrade>(), want, "{text:?}");
        }
    }

    #[test]
    fn each_word_takes_its_own_part_and_no_other() {
        let mut catalogue = Catalogue::default();
        let mut bills = testing::relation(
            "bills",
            vec![testing::column("bill_id", "integer"), testing::column("status", "text")],
        );
        bills.comment = Some("what was sold".to_owned());
        bills.primary_key = vec!["bill_id".to_owned()];
        let mut items = testing::relation("items", vec![testing::column("bill_key", "integer")]);
        items.foreign_keys.push(airlock_types::catalogue::ForeignKey {
            columns: vec!["bill_key".to_owned()],
            references: bills.table.clone(),
            referenced_columns: vec!["bill_id".to_owned()],
        });
        let table = bills.table.clone();
        catalogue.insert(bills);
        catalogue.insert(items);
        let catalogue = Arc::new(catalogue);
        let domain = concat!(
            "format = 1\ntitle = \"T\"\nsource = \"t\"\nschemas = [\"public\"]\n",
            "[egress]\nsamples = [\"bills.status\"]\nvalues = [\"bills.status\"]\n"
        );
        let pack = Pack::from_files("t", [("domain.toml", domain.into())]).unwrap();
        let status = ColumnRef { table: table.clone(), column: "status".to_owned() };
        for word in ["samples", "keys", "notes"] {
            let bound = pack.bind(&catalogue).unwrap();
            let curated = Curated::of_pack(&pack, &bound);
            let values = vec![(status.clone(), vec!["PAID".to_owned()])];
            let (bound, seen, values) = word.parse::<Degrade>().unwrap().apply(bound, &catalogue, values);
            let knowledge = Knowledge::from_bound(&pack, bound, seen, values, curated);
            let view = knowledge.view(&table).unwrap();
            let left = [
                ("samples", view.column("status").unwrap().samples.is_empty()),
                ("samples", knowledge.values("how many paid", 5).is_empty()),
                ("keys", !knowledge.joins().iter().any(crate::Join::verified)),
                ("notes", view.description.is_empty()),
            ];
            for (what, gone) in left {
                assert_eq!(gone, what == word, "{word}: {what}");
            }
        }
    }
}
