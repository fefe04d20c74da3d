//! A pack against the catalogue: every name found or reported, every SQL text before the gate.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use airlock_types::catalogue::{Relation, TypeFamily};
use airlock_types::{Catalogue, ColumnRef, TableRef};
use serde_json::Value;

use super::joins::JoinSide;
use super::notes::{ColumnNote, Covers, TableNote};
use super::reference::{ColumnName, TableName};
use super::report::{Findings, Located, PackReport, Spot, suggest};
use super::settings::{PackScope, shown};
use super::sql::SqlCheck;
use super::{GoldenCase, Pack, Term};
use crate::class::ColumnClass;
use crate::exposure::Exposure;
use crate::promotion::{Unshaped, well_shaped};
use crate::store::Origin;

/// A pack whose names are the catalogue's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundPack {
    /// Notes by table.
    pub notes: BTreeMap<TableRef, BoundTableNote>,
    /// The glossary.
    pub terms: Vec<BoundTerm>,
    /// Joins written by hand.
    pub joins: Vec<BoundJoin>,
    /// Golden cases, by index in the pack, whose SQL the gate approves.
    pub golden: Vec<usize>,
    /// Lessons, by index in the pack, that the promotion gate lets in.
    pub lessons: Vec<usize>,
    /// Columns that hold governed keys, by the kind of entity.
    pub entities: BTreeMap<String, Vec<ColumnRef>>,
    /// Class and permissions of every column.
    pub exposure: Exposure,
}

/// What people say about one table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BoundTableNote {
    /// What one row of it is and what it is for.
    pub purpose: Option<String>,
    /// What it must not be used for.
    pub not_for: Option<String>,
    /// False: dead, never chosen.
    pub in_use: bool,
    /// Words people use for it.
    pub synonyms: Vec<String>,
    /// The column whose value dates a row.
    pub time_column: Option<String>,
    /// The column that names a row to a person.
    pub label_column: Option<String>,
    /// The range of time its rows are from.
    pub covers: Option<Covers>,
    /// Notes by column. Classes are in [`BoundPack::exposure`].
    pub columns: BTreeMap<String, BoundColumnNote>,
}

/// What people say about one column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BoundColumnNote {
    /// What its values mean.
    pub note: Option<String>,
    /// Words people use for it.
    pub synonyms: Vec<String>,
}

/// A term of the glossary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundTerm {
    /// The word or words.
    pub name: String,
    /// Other words for the same.
    pub synonyms: Vec<String>,
    /// What it means.
    pub definition: String,
    /// How it is computed, by table.
    pub metrics: Vec<BoundMetric>,
}

/// How a term is computed over one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundMetric {
    /// The table.
    pub table: TableRef,
    /// An SQL expression over it.
    pub sql: Option<String>,
    /// An SQL condition over it that the term implies.
    pub filter: Option<String>,
}

/// A join written by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundJoin {
    /// One side.
    pub from: TableRef,
    /// Its columns.
    pub from_columns: Vec<String>,
    /// The other side.
    pub to: TableRef,
    /// Its columns, in the order of `from_columns`.
    pub to_columns: Vec<String>,
    /// Each row of `from` has one partner in `to` at most, whatever the keys of the catalogue say.
    pub to_is_key: bool,
    /// What is to be known about it.
    pub note: Option<String>,
}

impl Pack {
    /// Finds every name of the pack in the catalogue and asks the gate about every SQL text.
    ///
    /// # Errors
    /// [`PackReport`] with everything that is not there or would be refused.
    pub fn bind(&self, catalogue: &Arc<Catalogue>) -> Result<BoundPack, PackReport> {
        let (bound, report) = self.bind_what_holds(catalogue);
        if report.is_empty() { Ok(bound) } else { Err(report) }
    }

    /// The same for a schema that changed under a pack in service: what still holds, and what does not.
    #[must_use]
    pub fn bind_what_holds(&self, catalogue: &Arc<Catalogue>) -> (BoundPack, PackReport) {
        let findings = Findings::default();
        let binder = Binder { pack: self, catalogue, findings: &findings };
        binder.scope();
        binder.functions();
        let sql = SqlCheck::new(&self.settings, catalogue, &findings);
        let mut exposure = Exposure::guess(catalogue);
        let notes = binder.notes(&mut exposure);
        exposure.follow(catalogue);
        binder.egress(&mut exposure);
        binder.approved(self.evaluation.iter().map(|case| &case.case), &sql);
        for check in self.evaluation.iter().filter_map(|case| case.check_sql.as_ref()) {
            sql.statement("check_sql", check);
        }
        let mut bound = BoundPack {
            notes,
            terms: self.glossary.iter().map(|term| binder.term(term, &sql)).collect(),
            joins: self.joins.iter().filter_map(|join| binder.join(join)).collect(),
            golden: binder.approved(self.golden.iter(), &sql),
            lessons: binder.lessons(&sql),
            entities: binder.entities(),
            exposure,
        };
        binder.close(&mut bound);
        bound.exposure.close_what_shows(catalogue);
        (bound, findings.into_report())
    }
}

struct Binder<'a> {
    pack: &'a Pack,
    catalogue: &'a Catalogue,
    findings: &'a Findings,
}

impl Binder<'_> {
    /// The relation a name means, without reporting when there is none.
    fn find(&self, name: &TableName) -> Option<&Relation> {
        if let Some(schema) = &name.schema {
            return self.catalogue.relation(&TableRef::new(schema, &name.name));
        }
        let named = self.catalogue.relations.get(&name.name)?;
        let in_schema = |schema: &str| named.iter().find(|relation| relation.table.schema == schema);
        match &self.pack.settings.scope {
            PackScope::Schemas(schemas) => schemas.iter().find_map(|schema| in_schema(schema)),
            PackScope::Only(tables) => tables
                .iter()
                .filter(|table| table.value.name == name.name)
                .find_map(|table| in_schema(table.value.schema.as_deref()?)),
        }
        .or_else(|| self.catalogue.resolve(&name.name))
    }

    fn table(&self, name: &TableName, spot: &Spot) -> Option<&Relation> {
        let relation = self.find(name);
        if relation.is_none() {
            let known: Vec<String> = self
                .catalogue
                .iter()
                .map(|relation| match name.schema {
                    Some(_) => relation.table.to_string(),
                    None => relation.table.name.clone(),
                })
                .collect();
            self.findings.add(
                spot,
                format!("there is no table `{}` in the domain", shown(&name.to_string())),
                suggest(&name.to_string(), known.iter().map(String::as_str)),
            );
        }
        relation
    }

    /// Whether the relation has the column; reported when not.
    fn has(&self, relation: &Relation, column: &str, spot: &Spot) -> bool {
        let found = relation.column(column).is_some();
        if !found {
            self.findings.add(
                spot,
                format!("`{}` has no column `{}`", relation.table, shown(column)),
                suggest(column, relation.columns.iter().map(|column| column.name.as_str())),
            );
        }
        found
    }

    fn column(&self, name: &Located<ColumnName>) -> Option<ColumnRef> {
        let relation = self.table(&name.value.table, &name.spot)?;
        self.has(relation, &name.value.column, &name.spot).then(|| relation.column_ref(&name.value.column))
    }

    /// Every relation that `only` names is there.
    fn scope(&self) {
        if let PackScope::Only(tables) = &self.pack.settings.scope {
            for table in tables {
                self.table(&table.value, &table.spot);
            }
        }
    }

    fn functions(&self) {
        for function in &self.pack.settings.allowed_functions {
            let wanted = &function.value;
            let Some(found) =
                self.catalogue.functions.iter().find(|known| known.signature() == wanted.signature)
            else {
                let known: Vec<String> =
                    self.catalogue.functions.iter().map(|known| known.signature()).collect();
                self.findings.add(
                    &function.spot,
                    format!("there is no function `{}`", shown(&wanted.signature)),
                    suggest(&wanted.signature, known.iter().map(String::as_str)),
                );
                continue;
            };
            if found.body.is_some_and(|body| body != wanted.body) {
                self.findings.add(
                    &function.spot,
                    format!(
                        "`{}` is not the function that was allowed: its definition has changed",
                        wanted.signature
                    ),
                    "read the definition again and allow it by its new hash",
                );
            }
        }
    }

    fn notes(&self, exposure: &mut Exposure) -> BTreeMap<TableRef, BoundTableNote> {
        let mut notes = BTreeMap::new();
        let mut seen: BTreeMap<TableRef, &Spot> = BTreeMap::new();
        for note in &self.pack.notes {
            let Some(relation) = self.table(&note.table.value, &note.table.spot) else { continue };
            if let Some(spot) = seen.insert(relation.table.clone(), &note.table.spot) {
                let what = format!("`{}` has notes at {spot} already", relation.table);
                self.findings.add(&note.table.spot, what, "make one of the two");
                continue;
            }
            notes.insert(relation.table.clone(), self.note(note, relation, exposure));
        }
        notes
    }

    fn note(&self, note: &TableNote, relation: &Relation, exposure: &mut Exposure) -> BoundTableNote {
        let own = |column: &Option<Located<String>>| {
            let column = column.as_ref()?;
            self.has(relation, &column.value, &column.spot).then(|| column.value.clone())
        };
        let mut columns = BTreeMap::new();
        for column in &note.columns {
            let name = &column.column.value;
            if !self.has(relation, name, &column.column.spot) {
                continue;
            }
            if let Some(class) = column.class {
                exposure.set_class(&relation.column_ref(name), class);
            }
            let bound = BoundColumnNote { note: column.note.clone(), synonyms: column.synonyms.clone() };
            columns.insert(name.clone(), bound);
        }
        BoundTableNote {
            purpose: note.purpose.clone(),
            not_for: note.not_for.clone(),
            in_use: note.in_use,
            synonyms: note.synonyms.clone(),
            time_column: own(&note.time_column),
            label_column: own(&note.label_column),
            covers: note.covers.clone(),
            columns,
        }
    }

    fn egress(&self, exposure: &mut Exposure) {
        let egress = &self.pack.settings.egress;
        for name in &egress.samples {
            if let Some(column) = self.permitted("samples", name, exposure) {
                exposure.want_samples(&column);
            }
        }
        for name in &egress.values {
            if let Some(column) = self.permitted("values", name, exposure) {
                exposure.want_values(&column);
            }
        }
    }

    fn permitted(&self, key: &str, name: &Located<ColumnName>, exposure: &Exposure) -> Option<ColumnRef> {
        let column = self.column(name)?;
        let class = exposure.class(&column);
        if exposure.row_security(&column) {
            self.findings.add(
                &name.spot,
                format!("`egress.{key}` lists `{column}`, whose table has row security, or shows rows of one that has"),
                "remove it: such tables, and what shows rows of them, are never sampled nor indexed by value",
            );
        } else if class != ColumnClass::Plain {
            let why =
                if exposure.is_shown_class(&column) { ", as that of a column that it shows" } else { "" };
            self.findings.add(
                &name.spot,
                format!("`egress.{key}` lists `{column}`, whose class is {}{why}", class.as_str()),
                format!(
                    "remove it, or, when its values may be seen, set class = \"plain\" for `{}` in notes.toml",
                    column.column
                ),
            );
        }
        Some(column)
    }

    /// Closes every table that may hold what the pack classed and that is not found by its name any more. A pack is put in
    /// use when it holds in every part, so what it names was there then: of a table that is gone only one that the pack does
    /// not name can be the new name. No snapshot is asked, which somebody may have accepted meanwhile.
    fn close(&self, bound: &mut BoundPack) {
        let mut seen = BTreeSet::new();
        let mut gone = false;
        for note in self.pack.notes.iter().filter(|note| note.columns.iter().any(ColumnNote::is_guarded)) {
            let Some(relation) = self.find(&note.table.value) else {
                gone = true;
                continue;
            };
            let mut guarded = note.columns.iter().filter(|column| column.is_guarded());
            if guarded.any(|column| relation.column(&column.column.value).is_none()) {
                bound.exposure.close(&relation.table);
            }
            // Two notes that mean one table: the one that was left out meant another, which is gone.
            if !seen.insert(&relation.table) {
                bound.exposure.close(&relation.table);
                gone = true;
            }
        }
        if gone {
            let named = self.named(bound);
            for relation in self.catalogue.iter().filter(|relation| !named.contains(&relation.table)) {
                bound.exposure.close(&relation.table);
            }
        }
    }

    /// The tables that the pack names and that are there.
    fn named(&self, bound: &BoundPack) -> BTreeSet<TableRef> {
        let only: &[Located<TableName>] = match &self.pack.settings.scope {
            PackScope::Only(tables) => tables,
            PackScope::Schemas(_) => &[],
        };
        let egress = &self.pack.settings.egress;
        let shown = egress.samples.iter().chain(&egress.values).map(|column| &column.value.table);
        let found = only.iter().map(|table| &table.value).chain(shown).filter_map(|name| self.find(name));
        let metrics = bound.terms.iter().flat_map(|term| &term.metrics).map(|metric| &metric.table);
        let joined = bound.joins.iter().flat_map(|join| [&join.from, &join.to]);
        let written = bound.notes.keys().chain(metrics).chain(joined);
        found.map(|relation| &relation.table).chain(written).cloned().collect()
    }

    fn term(&self, term: &Term, sql: &SqlCheck<'_>) -> BoundTerm {
        let metrics = term.metrics.iter().filter_map(|metric| {
            let table = self.table(&metric.table.value, &metric.table.spot)?.table.clone();
            let computes = metric.sql.as_ref().is_none_or(|text| sql.expression(text, &table));
            let restricts = metric.filter.as_ref().is_none_or(|text| sql.condition(text, &table));
            (computes && restricts).then(|| BoundMetric {
                table,
                sql: metric.sql.as_ref().map(|text| text.value.clone()),
                filter: metric.filter.as_ref().map(|text| text.value.clone()),
            })
        });
        BoundTerm {
            name: term.name.value.clone(),
            synonyms: term.synonyms.iter().map(|synonym| synonym.value.clone()).collect(),
            definition: term.definition.clone(),
            metrics: metrics.collect(),
        }
    }

    fn join(&self, join: &super::ManualJoin) -> Option<BoundJoin> {
        let (from, to) = (self.side(&join.from), self.side(&join.to));
        let (from, to) = (from?, to?);
        for (left, right) in join.from.value.columns.iter().zip(&join.to.value.columns) {
            let (Some(left), Some(right)) = (from.column(left), to.column(right)) else { return None };
            if !comparable(left.family, right.family) {
                self.findings.add(
                    &join.to.spot,
                    format!(
                        "the join compares `{}` ({}) with `{}` ({})",
                        from.column_ref(&left.name),
                        left.sql_type,
                        to.column_ref(&right.name),
                        right.sql_type
                    ),
                    "join columns of one type",
                );
                return None;
            }
        }
        Some(BoundJoin {
            from: from.table.clone(),
            from_columns: join.from.value.columns.clone(),
            to: to.table.clone(),
            to_columns: join.to.value.columns.clone(),
            to_is_key: join.to_is_key,
            note: join.note.clone(),
        })
    }

    fn side(&self, side: &Located<JoinSide>) -> Option<&Relation> {
        let relation = self.table(&side.value.table, &side.spot)?;
        let found: Vec<bool> =
            side.value.columns.iter().map(|column| self.has(relation, column, &side.spot)).collect();
        found.iter().all(|found| *found).then_some(relation)
    }

    /// Columns that notes name as holding governed keys. What is not there was reported with the notes.
    fn entities(&self) -> BTreeMap<String, Vec<ColumnRef>> {
        let mut entities: BTreeMap<String, Vec<ColumnRef>> = BTreeMap::new();
        for note in &self.pack.notes {
            let Some(relation) = self.find(&note.table.value) else { continue };
            for column in &note.columns {
                if let Some(kind) = &column.entity
                    && relation.column(&column.column.value).is_some()
                {
                    let columns = entities.entry(kind.clone()).or_default();
                    columns.push(relation.column_ref(&column.column.value));
                }
            }
        }
        entities
    }

    /// Cases, by index, whose SQL the gate approves; every text that it refuses is reported.
    fn approved<'c>(&self, cases: impl Iterator<Item = &'c GoldenCase>, sql: &SqlCheck<'_>) -> Vec<usize> {
        let mut approved = Vec::new();
        for (index, case) in cases.enumerate() {
            for accepted in &case.accepted_sql {
                sql.statement("accepted_sql", accepted);
            }
            if case.sql.as_ref().is_some_and(|text| sql.statement("sql", text)) {
                approved.push(index);
            }
        }
        approved
    }

    /// What a pack teaches enters as what anybody teaches does: by the same look at its shape, its SQL and its names.
    fn lessons(&self, sql: &SqlCheck<'_>) -> Vec<usize> {
        let gate = sql.gate();
        let passes = |text: &str| gate.check(text).map(|_| ()).map_err(|rejection| rejection.message);
        let mut admitted = Vec::new();
        for (index, lesson) in self.pack.lessons.iter().enumerate() {
            let content = lesson.content().into();
            match well_shaped(&content, Origin::Person, &Value::Null, &passes, self.catalogue) {
                Ok(()) => admitted.push(index),
                Err(Unshaped(why)) => {
                    let remedy = "mend the lesson, or remove it";
                    self.findings.add(&lesson.spot, format!("the lesson is not let in: {why}"), remedy);
                }
            }
        }
        admitted
    }
}

/// Whether PostgreSQL compares two families without a cast.
fn comparable(left: TypeFamily, right: TypeFamily) -> bool {
    let time = |family| matches!(family, TypeFamily::Date | TypeFamily::Timestamp);
    left == right || (time(left) && time(right)) || left == TypeFamily::Other || right == TypeFamily::Other
}
