//! Types: what is known of a value of one, whether it brings code of its own, and whether it may be cast to.

use std::sync::Arc;

use airlock_types::TableRef;
use airlock_types::catalogue::{TypeKind, TypeObject};

use super::Vocabulary;
use crate::extensions;
use crate::functions;
use crate::rejection::{Refusal, RejectionCode};
use crate::scope::{Column, Kind, Value};

/// How deep composite types are followed.
const COMPOSITE_DEPTH: usize = 8;

/// How many types are looked at to judge one value; rows of rows of rows can hold more than anybody has time for.
const TYPES_LOOKED_AT: usize = 20_000;

impl Vocabulary {
    /// What is to be known about a value of this stored type.
    pub(crate) fn kind(&self, name: &TableRef, array: bool) -> Kind {
        if self.opaque.contains(name) {
            return Kind::Named { name: Arc::new(name.clone()), array };
        }
        match self.types.get(name) {
            Some(object @ TypeObject { kind: TypeKind::Domain, base: Some(base), .. }) if base != name => {
                match self.kind(base, array) {
                    Kind::Plain if !self.castable_object(object, 0) => guarded(name, array),
                    kind => kind,
                }
            }
            Some(TypeObject { kind: TypeKind::Composite, .. }) => {
                Kind::Named { name: Arc::new(name.clone()), array }
            }
            Some(_) => Kind::Plain,
            None if name.schema == "pg_catalog" && name.name != "record" => {
                if functions::is_internal_type(&name.name) { guarded(name, array) } else { Kind::Plain }
            }
            None => Kind::Named { name: Arc::new(name.clone()), array },
        }
    }

    /// The fields of a row.
    pub(crate) fn fields(&self, kind: &Kind) -> Option<Arc<[Column]>> {
        match kind {
            Kind::Row(columns) => Some(Arc::clone(columns)),
            Kind::Named { name, array: false } => {
                if let Some(shape) = self.shapes.get(&**name) {
                    return Some(Arc::clone(&shape.columns));
                }
                let object = self.types.get(&**name).filter(|object| object.kind == TypeKind::Composite)?;
                (object.attribute_names.len() == object.attributes.len()).then(|| {
                    let named = object.attribute_names.iter().zip(&object.attributes);
                    named
                        .map(|(field, of)| Column {
                            name: field.as_str().into(),
                            value: Value::of(self.kind(of, false)),
                        })
                        .collect()
                })
            }
            _ => None,
        }
    }

    /// Whether computing with such a value may run code that nobody vetted.
    pub(crate) fn is_opaque(&self, kind: &Kind) -> bool {
        self.opaque_within(kind, false, 0, &mut { TYPES_LOOKED_AT })
    }

    /// The same for functions that write rows as JSON: rows and arrays are written field by field and element by element,
    /// so only what is in them matters; of anything else the cast to JSON is used.
    pub(crate) fn is_opaque_as_json(&self, kind: &Kind) -> bool {
        self.opaque_within(kind, true, 0, &mut { TYPES_LOOKED_AT })
    }

    /// Whether comparing such values may run operators that nobody vetted.
    pub(crate) fn has_foreign_operators(&self, kind: &Kind) -> bool {
        self.operated_within(kind, 0, &mut { TYPES_LOOKED_AT })
    }

    /// Whether a text that is turned into such a value may run code that nobody vetted.
    pub(crate) fn is_guarded(&self, kind: &Kind) -> bool {
        self.guarded_within(kind, 0, &mut { TYPES_LOOKED_AT })
    }

    /// Whether what stands beside such a value is given its type, and so turned into it. Beside a domain that is its base type;
    /// beside what holds domains it is the very type. `united`: both get one type, as in CASE, where that goes for types that
    /// look things up as well.
    pub(crate) fn takes_on(&self, kind: &Kind, united: bool) -> bool {
        match kind {
            Kind::Plain => false,
            Kind::Guarded(name) => united && name.schema == "pg_catalog",
            Kind::ArrayOf(_) => self.is_guarded(kind),
            Kind::Named { .. } => !kind.is_unknown_row() && self.is_guarded(kind),
            Kind::Either(kinds) => kinds.iter().any(|kind| self.takes_on(kind, united)),
            // Compared, a row is taken field by field; as one of several it may be of a table's type, which a text can become.
            Kind::Row(_) if united => self.is_guarded(kind),
            Kind::Row(columns) => columns.iter().any(|column| self.takes_on(&column.value.kind, united)),
        }
    }

    fn guarded_within(&self, kind: &Kind, depth: usize, budget: &mut usize) -> bool {
        *budget = budget.saturating_sub(1);
        if depth > COMPOSITE_DEPTH || *budget == 0 {
            return true;
        }
        match kind {
            Kind::Plain => false,
            Kind::Guarded(_) => true,
            Kind::ArrayOf(of) => self.guarded_within(of, depth + 1, budget),
            Kind::Either(kinds) => kinds.iter().any(|kind| self.guarded_within(kind, depth + 1, budget)),
            Kind::Row(columns) => {
                columns.iter().any(|column| self.guarded_within(&column.value.kind, depth + 1, budget))
            }
            Kind::Named { name, .. } => !self.castable(name, 0),
        }
    }

    fn operated_within(&self, kind: &Kind, depth: usize, budget: &mut usize) -> bool {
        *budget = budget.saturating_sub(1);
        if depth > COMPOSITE_DEPTH || *budget == 0 {
            return true;
        }
        match kind {
            Kind::Plain | Kind::Guarded(_) => false,
            Kind::ArrayOf(of) => self.operated_within(of, depth + 1, budget),
            Kind::Either(kinds) => kinds.iter().any(|kind| self.operated_within(kind, depth + 1, budget)),
            Kind::Row(columns) => {
                columns.iter().any(|column| self.operated_within(&column.value.kind, depth + 1, budget))
            }
            Kind::Named { name, .. } => {
                let row = Kind::Named { name: Arc::clone(name), array: false };
                self.operated.contains(&**name)
                    || row.is_unknown_row()
                    || self
                        .fields(&row)
                        .is_some_and(|fields| self.operated_within(&Kind::Row(fields), depth + 1, budget))
            }
        }
    }

    fn opaque_within(&self, kind: &Kind, by_fields: bool, depth: usize, budget: &mut usize) -> bool {
        *budget = budget.saturating_sub(1);
        if depth > COMPOSITE_DEPTH || *budget == 0 {
            return true;
        }
        match kind {
            Kind::Plain | Kind::Guarded(_) => false,
            Kind::ArrayOf(of) => self.opaque_within(of, by_fields, depth + 1, budget),
            Kind::Either(kinds) => {
                kinds.iter().any(|kind| self.opaque_within(kind, by_fields, depth + 1, budget))
            }
            Kind::Row(columns) => columns
                .iter()
                .any(|column| self.opaque_within(&column.value.kind, by_fields, depth + 1, budget)),
            Kind::Named { name, .. } => {
                let row = Kind::Named { name: Arc::clone(name), array: false };
                match self.fields(&row) {
                    Some(fields) => {
                        let own = !by_fields && self.opaque.contains(&**name);
                        own || self.opaque_within(&Kind::Row(fields), by_fields, depth + 1, budget)
                    }
                    // A type nobody described cannot be judged.
                    None => true,
                }
            }
        }
    }

    /// What a cast to this type gives, or why there is none.
    pub(crate) fn cast(&self, schema: Option<&str>, name: &str, array: bool) -> Result<Kind, Box<Refusal>> {
        if matches!(schema, None | Some("pg_catalog")) {
            let builtin = TableRef::new("pg_catalog", name);
            if functions::is_type(name) {
                return if self.cast_targets.contains(&builtin) || self.opaque.contains(&builtin) {
                    Err(forbidden_type(name))
                } else {
                    Ok(Kind::Plain)
                };
            }
            if functions::is_internal_type(name) || schema.is_some() {
                return Err(forbidden_type(name));
            }
        }
        let found = match schema {
            Some(schema) => Some(TableRef::new(schema, name)),
            // What only begins like a name of PostgreSQL's own might be a row type of its catalogue.
            None if name.starts_with("pg_") => None,
            None => self.catalogue.search_path.iter().map(|schema| TableRef::new(schema, name)).find(
                |candidate| {
                    self.types.contains_key(candidate)
                        || self.shapes.contains_key(candidate)
                        || self.catalogue.shadowing.contains(candidate)
                },
            ),
        };
        let unknown = || {
            let shown = schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"));
            Refusal::new(RejectionCode::UnknownType, format!("there is no known type {shown}"))
        };
        let found = found.ok_or_else(unknown)?;
        if !self.types.contains_key(&found) && !self.shapes.contains_key(&found) {
            return Err(unknown());
        }
        if !self.castable(&found, 0) {
            return Err(forbidden_type(name));
        }
        Ok(self.kind(&found, array))
    }

    /// Whether making a value of this type runs only known code. What is then done with the value is another question:
    /// it stays opaque if its type is.
    fn castable(&self, name: &TableRef, depth: usize) -> bool {
        if depth > COMPOSITE_DEPTH || self.cast_targets.contains(name) {
            return false;
        }
        if let Some(object) = self.types.get(name) {
            return self.castable_object(object, depth);
        }
        if let Some(relation) = self.catalogue.relation(name) {
            return relation.columns.iter().all(|column| self.castable(&column.type_name, depth + 1));
        }
        name.schema == "pg_catalog" && !functions::is_internal_type(&name.name)
    }

    pub(super) fn castable_object(&self, object: &TypeObject, depth: usize) -> bool {
        let vetted = object.extension.as_deref().is_some_and(extensions::is_vetted);
        if self.cast_targets.contains(&object.name) {
            return false;
        }
        match object.kind {
            TypeKind::Enum => true,
            TypeKind::Domain => {
                (vetted || !object.has_checks || self.checked.contains(&object.name))
                    && object.base.as_ref().is_some_and(|base| self.castable(base, depth + 1))
            }
            TypeKind::Composite => object.attributes.iter().all(|of| self.castable(of, depth + 1)),
            TypeKind::Base | TypeKind::Range => vetted,
        }
    }
}

fn guarded(name: &TableRef, array: bool) -> Kind {
    let one = Kind::Guarded(Arc::new(name.clone()));
    if array { Kind::ArrayOf(Box::new(one)) } else { one }
}

fn forbidden_type(name: &str) -> Box<Refusal> {
    Refusal::new(
        RejectionCode::ForbiddenType,
        format!("nothing may be cast to {name}: the cast would run code or look things up"),
    )
}
