//! A catalogue and a policy, made ready for questions: is this function, operator or type known, and does a type bring
//! code of its own?

mod checks;
mod returns;
mod types;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use airlock_types::catalogue::{Catalogue, FunctionObject, Relation, TypeObject};
use airlock_types::{ColumnRef, TableRef};

use crate::extensions;
use crate::functions;
use crate::policy::Policy;
use crate::rejection::{Refusal, RejectionCode};
use crate::scope::{Column, Nature, STORED_BYTES, STORED_COUNT, Trace, Value, nearest};
use returns::Given;

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

/// A function from outside `pg_catalog`.
#[derive(Debug)]
struct Outside {
    schema: String,
    verdict: Verdict,
    given: Given,
}

/// The catalogue and the policy, indexed.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    pub(crate) catalogue: Arc<Catalogue>,
    shapes: HashMap<TableRef, Shape>,
    functions: HashMap<String, Vec<Outside>>,
    operators: HashSet<(String, String)>,
    overloaded_operators: HashSet<String>,
    types: HashMap<TableRef, TypeObject>,
    /// Types for which somebody defined casts or operators that run code nobody vetted.
    opaque: HashSet<TableRef>,
    /// Those of them that sorting, grouping and comparing may run such code for.
    operated: HashSet<TableRef>,
    /// Types into which somebody defined such casts.
    cast_targets: HashSet<TableRef>,
    /// Domains whose checks run only code that a text might run as well.
    checked: HashSet<TableRef>,
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
            checked: HashSet::new(),
            catalogue: Arc::clone(&catalogue),
        };
        vocabulary.index_casts(&catalogue);
        vocabulary.index_operators(&catalogue);
        // A check may call a function, and a function may return a domain: what is checked is known after the first time.
        vocabulary.index_functions(&catalogue, policy);
        vocabulary.index_checks(&policy.limits);
        vocabulary.index_functions(&catalogue, policy);
        for relation in catalogue.iter() {
            let shape = vocabulary.shape_of(relation);
            vocabulary.shapes.insert(relation.table.clone(), shape);
        }
        vocabulary
    }

    fn index_functions(&mut self, catalogue: &Catalogue, policy: &Policy) {
        self.functions.clear();
        for function in &catalogue.functions {
            let schema = function.schema.clone();
            let outside = Outside { schema, verdict: verdict(function, policy), given: self.given(function) };
            self.functions.entry(function.name.clone()).or_default().push(outside);
        }
    }

    fn index_casts(&mut self, catalogue: &Catalogue) {
        for cast in &catalogue.casts {
            let runs_code = cast.function_schema.as_deref().is_some_and(|schema| schema != "pg_catalog");
            let vetted = cast.extension.as_deref().is_some_and(extensions::is_vetted);
            if !runs_code || vetted {
                continue;
            }
            let builtin = |name: &TableRef| name.schema == "pg_catalog";
            // A cast between two types of pg_catalog concerns the source of others only when it happens unasked.
            if !builtin(&cast.source) || cast.context == 'i' {
                self.opaque.insert(cast.source.clone());
            }
            // One that happens unasked may also happen on the way into an operator.
            if cast.context == 'i' {
                self.operated.insert(cast.source.clone());
            }
            // A cast from a type of its own is met where that type is met, not where its target is.
            if !builtin(&cast.target) || builtin(&cast.source) {
                self.cast_targets.insert(cast.target.clone());
            }
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
            // Where no unqualified name is looked for, it is met by none.
            if outside.is_empty() && self.visible(&operator.schema) {
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
                    nature: if column.is_array || column.type_name.schema != "pg_catalog" {
                        Nature::Other
                    } else {
                        Nature::of_type(&column.type_name.name)
                    },
                    origin: Some(Arc::new(ColumnRef {
                        table: relation.table.clone(),
                        column: column.name.clone(),
                    })),
                    trace: Trace::Lost,
                    bytes: STORED_BYTES,
                    count: STORED_COUNT,
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
            let before = || rank(&other.schema).is_some_and(|rank| Some(rank) < mine);
            other.name == name && (other.schema == "pg_catalog" || before())
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
        let builtin = functions::is_function(name) && !self.is_newer(name);
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

    /// Whether the server is older than the function.
    fn is_newer(&self, name: &str) -> bool {
        functions::since(name).is_some_and(|since| self.catalogue.server_version < since * 10_000)
    }

    /// Whether a schema is one of those that the domain reads, or PostgreSQL's own.
    pub(crate) fn has_schema(&self, schema: &str) -> bool {
        schema == "pg_catalog" || self.visible(schema)
    }

    fn visible(&self, schema: &str) -> bool {
        self.catalogue.search_path.iter().any(|entry| entry == schema)
    }

    fn has_foreign_overload(&self, name: &str) -> bool {
        self.functions.get(name).is_some_and(|overloads| {
            overloads.iter().any(|outside| {
                self.visible(&outside.schema)
                    && !matches!(outside.verdict, Verdict::Allowed | Verdict::Harmless)
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

    /// The functions from outside `pg_catalog` that a call of this name may mean.
    fn meant(&self, schema: Option<&str>, name: &str) -> impl Iterator<Item = &Outside> {
        let overloads = self.functions.get(name).into_iter().flatten();
        overloads.filter(move |outside| match schema {
            Some(schema) => schema == outside.schema,
            None => self.visible(&outside.schema),
        })
    }

    fn outside_function(&self, schema: Option<&str>, name: &str) -> Result<Callee, Box<Refusal>> {
        let mut verdicts = self.meant(schema, name).map(|outside| outside.verdict).peekable();
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
        let newer = functions::since(name).filter(|_| self.is_newer(name));
        let hint = newer
            .map(|since| format!("{name} needs PostgreSQL {since}, the server is older."))
            .or_else(|| functions::dialect_hint(name))
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
            _ if builtin || self.catalogue.operators.iter().any(|other| other.name == name) => {
                refused(format!("the operator {name} is out of bounds here"))
            }
            _ => Err(Refusal::new(RejectionCode::UnknownOperator, format!("there is no operator {name}"))
                .maybe_hint(functions::operator_hint(name))),
        }
    }
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
        Some(extension) if extensions::is_vetted(extension) => Verdict::Harmless,
        _ => Verdict::Refused,
    }
}
