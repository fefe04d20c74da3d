//! A catalogue and a policy, made ready for questions: is this function, operator or type known, and does a type bring
//! code of its own?

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use airlock_types::catalogue::{Catalogue, FunctionObject, Relation, TypeKind, TypeObject};
use airlock_types::{ColumnRef, TableRef};

use crate::extensions;
use crate::functions;
use crate::policy::Policy;
use crate::rejection::{Refusal, RejectionCode};
use crate::scope::{Column, Kind, STORED_BYTES, Value, nearest};

/// How deep composite types are followed.
const COMPOSITE_DEPTH: usize = 8;

/// A listed relation with the columns a query sees.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) table: Arc<TableRef>,
    pub(crate) columns: Arc<[Column]>,
}

/// What may be done with a function from outside `pg_catalog`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Allowed,
    /// Its body is not the one that was allowed.
    Changed,
    /// It adds nothing to an allowed name, but is not itself allowed by its own name.
    Harmless,
    Refused,
}

/// Whose code a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callee {
    /// A function of `pg_catalog` that is on the list.
    Builtin,
    /// One of a vetted extension, or one the domain allows.
    Known,
}

/// The catalogue and the policy, indexed.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    pub(crate) catalogue: Arc<Catalogue>,
    shapes: HashMap<TableRef, Shape>,
    functions: HashMap<String, Vec<(String, Verdict)>>,
    operators: HashSet<(String, String)>,
    overloaded_operators: HashSet<String>,
    types: HashMap<TableRef, TypeObject>,
    /// Types for which somebody defined casts or operators that run code nobody vetted.
    opaque: HashSet<TableRef>,
    /// Those of them that have such operators: sorting and grouping may use them.
    operated: HashSet<TableRef>,
    /// Types into which somebody defined such casts.
    cast_targets: HashSet<TableRef>,
}

impl Vocabulary {
    pub(crate) fn new(catalogue: Arc<Catalogue>, policy: &Policy) -> Self {
        let types = catalogue.types.iter().map(|object| (object.name.clone(), object.clone())).collect();
        let mut vocabulary = Self {
            shapes: HashMap::new(),
            functions: HashMap::new(),
            operators: HashSet::new(),
            overloaded_operators: HashSet::new(),
            types,
            opaque: HashSet::new(),
            operated: HashSet::new(),
            cast_targets: HashSet::new(),
            catalogue: Arc::clone(&catalogue),
        };
        vocabulary.index_casts(&catalogue);
        vocabulary.index_operators(&catalogue);
        for function in &catalogue.functions {
            vocabulary
                .functions
                .entry(function.name.clone())
                .or_default()
                .push((function.schema.clone(), verdict(function, policy)));
        }
        for relation in catalogue.iter() {
            let shape = vocabulary.shape_of(relation);
            vocabulary.shapes.insert(relation.table.clone(), shape);
        }
        vocabulary
    }

    fn index_casts(&mut self, catalogue: &Catalogue) {
        for cast in &catalogue.casts {
            let runs_code = cast.function_schema.as_deref().is_some_and(|schema| schema != "pg_catalog");
            let vetted = cast.extension.as_deref().is_some_and(extensions::is_vetted);
            if !runs_code || vetted {
                continue;
            }
            // A cast between two types of pg_catalog concerns its source only when it can happen unasked.
            if cast.source.schema != "pg_catalog" || cast.context == 'i' {
                self.opaque.insert(cast.source.clone());
            }
            self.cast_targets.insert(cast.target.clone());
        }
    }

    fn index_operators(&mut self, catalogue: &Catalogue) {
        for operator in &catalogue.operators {
            if operator.extension.as_deref().is_some_and(extensions::is_vetted) {
                self.operators.insert((operator.schema.clone(), operator.name.clone()));
                continue;
            }
            let outside: Vec<TableRef> = [&operator.left, &operator.right]
                .into_iter()
                .flatten()
                .filter_map(|shown| self.outside_type(shown))
                .collect();
            if outside.is_empty() {
                self.overloaded_operators.insert(operator.name.clone());
            }
            self.operated.extend(outside.iter().cloned());
            self.opaque.extend(outside);
        }
    }

    /// The type from outside `pg_catalog` that `format_type` prints like this.
    fn outside_type(&self, shown: &str) -> Option<TableRef> {
        let bare = shown.trim_end_matches("[]").replace('"', "");
        match bare.split_once('.') {
            Some((schema, name)) => Some(TableRef::new(schema, name)),
            None => self.types.keys().find(|known| known.name == bare).cloned().or_else(|| {
                self.catalogue.relations.get(&bare)?.first().map(|relation| relation.table.clone())
            }),
        }
    }

    fn shape_of(&self, relation: &Relation) -> Shape {
        let table = Arc::new(relation.table.clone());
        let columns = relation
            .columns
            .iter()
            .map(|column| Column {
                name: column.name.as_str().into(),
                value: Value {
                    kind: self.kind(&column.type_name, column.is_array),
                    origin: Some(Arc::new(ColumnRef {
                        table: relation.table.clone(),
                        column: column.name.clone(),
                    })),
                    bytes: STORED_BYTES,
                },
            })
            .collect();
        Shape { table, columns }
    }

    // ---- relations ----

    /// The relation a name in FROM means.
    pub(crate) fn relation(&self, schema: Option<&str>, name: &str) -> Result<&Shape, Box<Refusal>> {
        let found = match schema {
            Some(schema) => self.shapes.get(&TableRef::new(schema, name)),
            None => self.unqualified(name)?,
        };
        found.ok_or_else(|| self.unknown_relation(schema, name))
    }

    fn unqualified(&self, name: &str) -> Result<Option<&Shape>, Box<Refusal>> {
        let Some(relation) = self.catalogue.resolve(name) else { return Ok(None) };
        let rank = |schema: &str| self.catalogue.search_path.iter().position(|entry| entry == schema);
        let mine = rank(&relation.table.schema);
        let shadow = self.catalogue.shadowing.iter().find(|other| {
            other.name == name
                && (other.schema == "pg_catalog" || rank(&other.schema) < mine && mine.is_some())
        });
        match shadow {
            Some(_) => Err(Refusal::new(
                RejectionCode::UnknownRelation,
                format!("the name \"{name}\" alone means another relation than the listed one"),
            )
            .hint(format!("Write {}.", relation.table))),
            None => Ok(self.shapes.get(&relation.table)),
        }
    }

    fn unknown_relation(&self, schema: Option<&str>, name: &str) -> Box<Refusal> {
        let shown = schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"));
        let system = schema.map_or_else(
            || name.starts_with("pg_"),
            |schema| schema == "information_schema" || schema.starts_with("pg_"),
        );
        if system {
            return Refusal::new(
                RejectionCode::SystemRelation,
                format!("\"{shown}\" belongs to PostgreSQL's own catalogue, which is out of bounds"),
            );
        }
        let refusal =
            Refusal::new(RejectionCode::UnknownRelation, format!("there is no relation \"{shown}\" here"));
        // The right name in the wrong schema, or in none of the search path, is the likeliest slip.
        if let Some(same) = self.catalogue.relations.get(name).and_then(|relations| relations.first()) {
            return refusal.hint(format!("Did you mean {}?", same.table));
        }
        let near = nearest(name, self.catalogue.relations.keys().map(String::as_str))
            .and_then(|name| self.catalogue.relations.get(name)?.first());
        refusal.maybe_hint(near.map(|relation| format!("Did you mean {}?", relation.table)))
    }

    // ---- functions ----

    /// Whether a call of this name runs only known code.
    pub(crate) fn function(&self, schema: Option<&str>, name: &str) -> Result<Callee, Box<Refusal>> {
        let builtin = functions::is_function(name);
        match schema {
            Some("pg_catalog") if builtin => Ok(Callee::Builtin),
            Some("pg_catalog") => Err(self.refused_function(schema, name)),
            Some(schema) => self.outside_function(Some(schema), name),
            None if builtin => {
                if self.has_foreign_overload(name) || self.is_guarded_type(name) {
                    return Err(Refusal::new(
                        RejectionCode::OverloadedFunction,
                        format!("the database has a function or type of its own called {name}, which nobody vetted"),
                    )
                    .hint(format!("Write pg_catalog.{name}(...).")));
                }
                Ok(Callee::Builtin)
            }
            None => self.outside_function(None, name),
        }
    }

    fn visible(&self, schema: &str) -> bool {
        self.catalogue.search_path.iter().any(|entry| entry == schema)
    }

    fn has_foreign_overload(&self, name: &str) -> bool {
        self.functions.get(name).is_some_and(|overloads| {
            overloads.iter().any(|(schema, verdict)| {
                self.visible(schema) && !matches!(verdict, Verdict::Allowed | Verdict::Harmless)
            })
        })
    }

    /// A one-argument call of a type's name is a cast to it.
    fn is_guarded_type(&self, name: &str) -> bool {
        self.catalogue.search_path.iter().any(|schema| {
            self.types
                .get(&TableRef::new(schema, name))
                .is_some_and(|object| !self.castable_object(object, 0))
        })
    }

    fn outside_function(&self, schema: Option<&str>, name: &str) -> Result<Callee, Box<Refusal>> {
        let mut verdicts = self
            .functions
            .get(name)
            .into_iter()
            .flatten()
            .filter(|(home, _)| schema.map_or_else(|| self.visible(home), |schema| schema == home))
            .map(|(_, verdict)| *verdict)
            .peekable();
        if verdicts.peek().is_none() {
            return Err(self.refused_function(schema, name));
        }
        for verdict in verdicts {
            match verdict {
                Verdict::Allowed => {}
                Verdict::Changed => {
                    return Err(Refusal::new(
                        RejectionCode::ChangedFunction,
                        format!(
                            "the function {name} is not the one that was allowed: its definition changed"
                        ),
                    )
                    .hint("Review it and update its hash in the domain's allowed functions."));
                }
                Verdict::Harmless | Verdict::Refused => return Err(self.refused_function(schema, name)),
            }
        }
        if self.is_guarded_type(name) {
            return Err(self.refused_function(schema, name));
        }
        Ok(Callee::Known)
    }

    fn refused_function(&self, schema: Option<&str>, name: &str) -> Box<Refusal> {
        let shown = schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"));
        if functions::is_forbidden(name) || self.functions.contains_key(name) {
            return Refusal::new(
                RejectionCode::ForbiddenFunction,
                format!("the function {shown} is out of bounds"),
            );
        }
        let hint = functions::dialect_hint(name)
            .or_else(|| functions::nearest(name).map(|near| format!("Did you mean {near}?")));
        Refusal::new(RejectionCode::UnknownFunction, format!("there is no known function {shown}"))
            .maybe_hint(hint)
    }

    // ---- operators ----

    /// Whether an operator of this name runs only known code.
    pub(crate) fn operator(&self, schema: Option<&str>, name: &str) -> Result<(), Box<Refusal>> {
        let builtin = functions::is_operator(name);
        let refused = |message: String| Err(Refusal::new(RejectionCode::ForbiddenOperator, message));
        match schema {
            Some("pg_catalog") if builtin => Ok(()),
            Some(schema) if self.operators.contains(&(schema.to_owned(), name.to_owned())) => Ok(()),
            None if self.overloaded_operators.contains(name) => refused(format!(
                "the database has an operator {name} of its own for ordinary types, which nobody vetted"
            )),
            None if builtin
                || self.operators.iter().any(|(home, known)| known == name && self.visible(home)) =>
            {
                Ok(())
            }
            _ => refused(format!("the operator {name} is not known")),
        }
    }

    // ---- types ----

    /// What is to be known about a value of this stored type.
    pub(crate) fn kind(&self, name: &TableRef, array: bool) -> Kind {
        if self.opaque.contains(name) {
            return Kind::Named { name: Arc::new(name.clone()), array };
        }
        match self.types.get(name) {
            Some(TypeObject { kind: TypeKind::Domain, base: Some(base), .. }) if base != name => {
                self.kind(base, array)
            }
            Some(TypeObject { kind: TypeKind::Composite, .. }) => {
                Kind::Named { name: Arc::new(name.clone()), array }
            }
            Some(_) => Kind::Plain,
            None if name.schema == "pg_catalog" => Kind::Plain,
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
                let object = self.types.get(&**name)?;
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
        self.opaque_within(kind, false, 0)
    }

    /// The same for functions that write rows as JSON: nested rows are written field by field, so only casts of
    /// their fields matter.
    pub(crate) fn is_opaque_as_json(&self, kind: &Kind) -> bool {
        self.opaque_within(kind, true, 0)
    }

    /// Whether comparing such values may run operators that nobody vetted.
    pub(crate) fn has_foreign_operators(&self, kind: &Kind) -> bool {
        self.operated_within(kind, 0)
    }

    fn operated_within(&self, kind: &Kind, depth: usize) -> bool {
        if depth > COMPOSITE_DEPTH {
            return true;
        }
        match kind {
            Kind::Plain => false,
            Kind::ArrayOf(of) => self.operated_within(of, depth + 1),
            Kind::Row(columns) => {
                columns.iter().any(|column| self.operated_within(&column.value.kind, depth + 1))
            }
            Kind::Named { name, .. } => {
                let row = Kind::Named { name: Arc::clone(name), array: false };
                self.operated.contains(&**name)
                    || self
                        .fields(&row)
                        .is_some_and(|fields| self.operated_within(&Kind::Row(fields), depth + 1))
            }
        }
    }

    fn opaque_within(&self, kind: &Kind, by_fields: bool, depth: usize) -> bool {
        if depth > COMPOSITE_DEPTH {
            return true;
        }
        match kind {
            Kind::Plain => false,
            Kind::ArrayOf(of) => self.opaque_within(of, by_fields, depth + 1),
            Kind::Row(columns) => {
                columns.iter().any(|column| self.opaque_within(&column.value.kind, by_fields, depth + 1))
            }
            Kind::Named { name, .. } => {
                let row = Kind::Named { name: Arc::clone(name), array: false };
                match self.fields(&row) {
                    Some(fields) => {
                        let own = !by_fields && self.opaque.contains(&**name);
                        own || self.opaque_within(&Kind::Row(fields), by_fields, depth + 1)
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
        let found =
            match schema {
                Some(schema) => Some(TableRef::new(schema, name)),
                None => self.catalogue.search_path.iter().map(|schema| TableRef::new(schema, name)).find(
                    |candidate| self.types.contains_key(candidate) || self.shapes.contains_key(candidate),
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

    /// Whether making a value of this type runs only known code.
    fn castable(&self, name: &TableRef, depth: usize) -> bool {
        if depth > COMPOSITE_DEPTH || self.opaque.contains(name) || self.cast_targets.contains(name) {
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

    fn castable_object(&self, object: &TypeObject, depth: usize) -> bool {
        let vetted = object.extension.as_deref().is_some_and(extensions::is_vetted);
        if self.opaque.contains(&object.name) || self.cast_targets.contains(&object.name) {
            return false;
        }
        match object.kind {
            TypeKind::Enum => true,
            TypeKind::Domain => {
                (vetted || !object.has_checks)
                    && object.base.as_ref().is_some_and(|base| self.castable(base, depth + 1))
            }
            TypeKind::Composite => object.attributes.iter().all(|of| self.castable(of, depth + 1)),
            TypeKind::Base | TypeKind::Range => vetted,
        }
    }
}

fn forbidden_type(name: &str) -> Box<Refusal> {
    Refusal::new(
        RejectionCode::ForbiddenType,
        format!("nothing may be cast to {name}: the cast would run code or look things up"),
    )
}

fn verdict(function: &FunctionObject, policy: &Policy) -> Verdict {
    let signature = function.signature();
    let spelled = |text: &str| text.replace(' ', "");
    if let Some(allowed) =
        policy.allowed_functions.iter().find(|allowed| spelled(&allowed.signature) == spelled(&signature))
    {
        return match (allowed.body, function.body) {
            (None, _) => Verdict::Allowed,
            (Some(wanted), Some(found)) if wanted == found => Verdict::Allowed,
            _ => Verdict::Changed,
        };
    }
    match function.extension.as_deref() {
        Some(extension) if extensions::allows(extension, &function.name) => Verdict::Allowed,
        Some(extension) if extensions::is_harmless_overload(extension, &function.name) => Verdict::Harmless,
        _ => Verdict::Refused,
    }
}
