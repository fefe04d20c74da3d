//! Function calls: whose code they run, what their arguments are, what comes out.

use pg_query::NodeEnum;
use pg_query::protobuf::{AConst, FuncCall, TypeCast, a_const};

use super::expression::array_of;
use super::names::strings;
use super::{Checked, Walk, counts, inner, losses, unsupported};
use crate::facts::{Folding, Letters};
use crate::functions;
use crate::rejection::{Refusal, RejectionCode};
use crate::scope::{Kind, Nature, STORED_COUNT, Scope, Trace, Value};
use crate::vocabulary::Callee;

impl Walk<'_> {
    /// A function in FROM: only calls stand there, and special forms that read like one.
    pub(super) fn function_in_from(&mut self, node: &NodeEnum, scope: &Scope<'_>) -> Checked<Value> {
        self.output(node, scope)
    }

    pub(super) fn call(&mut self, call: &FuncCall, scope: &Scope<'_>) -> Checked<Value> {
        let parts = strings(&call.funcname).ok_or_else(|| unsupported("this call").at(call.location))?;
        let (schema, name) = match self.after_database(&parts, 3, call.location)? {
            [name] => (None, *name),
            [schema, name] => (Some(*schema), *name),
            _ => return Err(unsupported("this call").at(call.location)),
        };
        // Newer grammars read this name as a keyword and add the schema themselves; an older server looks it up.
        let schema = schema.filter(|_| !(name == "json_object" && self.server_version() < 160_000));
        let callee = self.vocabulary.function(schema, name).map_err(|refusal| refusal.at(call.location))?;
        if callee == Callee::Builtin && name == "random" && !call.args.is_empty() {
            self.has_version(17, "random with bounds", call.location)?;
        }
        self.seen.functions.insert(name.to_owned());
        self.facts.function(self.as_written(schema, name, call.location));
        if callee == Callee::Builtin && functions::reads_clock(name, call.args.len()) {
            self.facts.clock();
        }

        let values = self.arguments(call, name, callee, scope)?;
        // Of lag and lead only the third argument is such a value.
        let others = values.len() > if matches!(name, "lag" | "lead") { 2 } else { 1 };
        if callee == Callee::Builtin && others && functions::turns_text_into(name) {
            self.not_turned_into(&values, call.location)?;
        }
        for node in &call.agg_order {
            let sort = self.sort_by(node)?;
            if let Some(node) = inner(&sort.node) {
                let value = self.output(node, scope)?;
                self.comparable(&value, call.location)?;
                if call.agg_within_group {
                    self.usable(&value, call.location)?;
                    // What rank and its like are asked about gets the type of what is sorted.
                    self.not_taken_on(values.iter().chain([&value]), true, call.location)?;
                }
            }
        }
        if let Some(node) = inner(&call.agg_filter) {
            self.condition(node, scope)?;
        }
        if let Some(window) = &call.over {
            self.over(window, scope)?;
        }
        let bytes = match callee {
            Callee::Builtin => self.built_bytes(call, name, &values)?,
            Callee::Known => self.bytes_of_known(call, name, &values)?,
        };
        let count = match callee {
            Callee::Builtin => self.count_of_call(call, name, &values),
            Callee::Known => counts::largest(&values).max(STORED_COUNT),
        };
        let nature = match callee {
            Callee::Builtin => losses::of_call(name, call, &values),
            Callee::Known => Nature::Other,
        };
        if callee == Callee::Builtin && losses::cuts(name) {
            self.cut_on_purpose(call.args.first().and_then(|node| node.node.as_ref()));
        }
        let trace = match callee {
            Callee::Builtin => self.trace_of_call(call, name, &values),
            Callee::Known => Trace::Lost,
        };
        let kind = match callee {
            Callee::Builtin => self.result_kind(name, values),
            Callee::Known => self.vocabulary.returned(schema, name, values.iter()),
        };
        Ok(Value { kind, nature, origin: None, trace, bytes, count })
    }

    /// The name and schema of the function, and whose code it is; None when it is no call that could be read before.
    pub(super) fn callee<'n>(&self, node: &'n NodeEnum) -> Option<(Callee, Option<&'n str>, &'n str)> {
        let NodeEnum::FuncCall(call) = node else { return None };
        let parts = strings(&call.funcname)?;
        let (schema, name) = match parts.as_slice() {
            [name] => (None, *name),
            [.., schema, name] => (Some(*schema), *name),
            [] => return None,
        };
        Some((self.vocabulary.function(schema, name).ok()?, schema, name))
    }

    /// The name as the text has it: the grammar puts `pg_catalog` before names that it makes up.
    fn as_written(&self, schema: Option<&str>, name: &str, location: i32) -> String {
        match schema {
            None => name.to_owned(),
            Some(schema) => {
                let written = self.scan.at(location).map(|token| token.text(self.text)).unwrap_or_default();
                if schema == "pg_catalog" && !written.trim_matches('"').eq_ignore_ascii_case("pg_catalog") {
                    name.to_owned()
                } else {
                    format!("{schema}.{name}")
                }
            }
        }
    }

    fn arguments(
        &mut self,
        call: &FuncCall,
        name: &str,
        callee: Callee,
        scope: &Scope<'_>,
    ) -> Checked<Vec<Value>> {
        let builtin = callee == Callee::Builtin;
        let mut values = Vec::with_capacity(call.args.len());
        for (index, node) in call.args.iter().filter_map(|node| node.node.as_ref()).enumerate() {
            let node = match node {
                NodeEnum::NamedArgExpr(named) => {
                    self.given_name(&named.name, named.location)?;
                    inner(&named.arg).ok_or_else(|| unsupported("this argument").at(named.location))?
                }
                other => other,
            };
            if builtin && index == 0 && functions::takes_configuration(name) && is_configuration(node) {
                values.push(Value::plain(8));
                continue;
            }
            let value = if builtin && functions::reads_xml(name) && index == 1 {
                self.xml_document(node, scope, call.location)?
            } else if builtin && (functions::only_counts(name) || index == 0 && functions::hands_on(name)) {
                let value = self.output(node, scope)?;
                if call.agg_distinct {
                    self.comparable(&value, call.location)?;
                }
                value
            } else if builtin && functions::writes_rows_as_json(name) {
                let value = self.output(node, scope)?;
                if self.vocabulary.is_opaque_as_json(&value.kind) {
                    return Err(self.opaque(&value, call.location));
                }
                value
            } else {
                self.computed(node, scope)?
            };
            values.push(value);
        }
        if matches!(name, "pg_input_is_valid" | "pg_input_error_info") {
            let of = call.args.get(1).and_then(|node| node.node.as_ref()).and_then(literal);
            if !of.is_some_and(functions::is_type_in_words) {
                return Err(Refusal::new(
                    RejectionCode::ForbiddenType,
                    format!("{name} may only try an ordinary type, written as a literal"),
                )
                .at(call.location));
            }
        }
        if builtin && name == "ts_rewrite" && call.args.len() != 3 {
            return Err(Refusal::new(
                RejectionCode::ForbiddenFunction,
                "ts_rewrite that runs a text as SQL is out of bounds",
            )
            .at(call.location)
            .hint("Write ts_rewrite(query, target, substitute)."));
        }
        if callee == Callee::Known && name == "st_transform" {
            self.known_projection(call, &values)?;
        }
        if name == "unaccent" && call.args.len() > 1 {
            return Err(Refusal::new(
                RejectionCode::ForbiddenFunction,
                "unaccent with a dictionary of the text's choice is out of bounds",
            )
            .at(call.location)
            .hint("Write unaccent(text)."));
        }
        Ok(values)
    }

    /// A projection by number: one that a text describes may name files of the server.
    fn known_projection(&self, call: &FuncCall, values: &[Value]) -> Checked<()> {
        let is_integer = |value: &Value| {
            value.origin.as_ref().is_some_and(|column| {
                let relation = self.vocabulary.catalogue.relation(&column.table);
                let of = relation.and_then(|relation| relation.column(&column.column));
                of.is_some_and(|of| matches!(of.type_name.name.as_str(), "int2" | "int4" | "int8"))
            })
        };
        let by_number = match (call.args.get(1).and_then(|node| node.node.as_ref()), values) {
            (Some(NodeEnum::AConst(AConst { val: Some(a_const::Val::Ival(_)), .. })), [_, _]) => true,
            (Some(NodeEnum::FuncCall(srid)), [_, _]) => {
                strings(&srid.funcname).is_some_and(|names| names.last() == Some(&"st_srid"))
            }
            (Some(NodeEnum::ColumnRef(_)), [_, srid]) => is_integer(srid),
            _ => false,
        };
        if by_number {
            return Ok(());
        }
        Err(Refusal::new(RejectionCode::ForbiddenFunction, "st_transform by a text is out of bounds")
            .at(call.location)
            .hint("Write st_transform(geometry, srid) with the number of the reference system."))
    }

    /// What can still be seen in the result of a function of `pg_catalog`: the letters of a column changed, the elements of
    /// an array one by one.
    fn trace_of_call(&self, call: &FuncCall, name: &str, values: &[Value]) -> Trace {
        let [value] = values else { return Trace::Lost };
        let folded = |fold: &dyn Fn(&mut Folding)| match value.column() {
            Some((column, mut folding)) => {
                fold(&mut folding);
                Trace::Folded(column, folding)
            }
            None => Trace::Lost,
        };
        match name {
            "lower" => folded(&|folding| folding.case = Some(Letters::Lower)),
            "upper" => folded(&|folding| folding.case = Some(Letters::Upper)),
            "initcap" => folded(&|folding| folding.case = Some(Letters::Initials)),
            "btrim" => folded(&|folding| folding.trimmed = true),
            "unnest" => {
                let mut written = Vec::new();
                if let Some(node) = call.args.first().and_then(|node| node.node.as_ref()) {
                    self.literals(node, true, &mut written);
                }
                Trace::written(written)
            }
            _ => Trace::Lost,
        }
    }

    /// Whether a value is a stored tsvector, whose elements are rows.
    fn is_tsvector(&self, value: &Value) -> bool {
        value.origin.as_ref().is_some_and(|column| {
            let relation = self.vocabulary.catalogue.relation(&column.table);
            let column = relation.and_then(|relation| relation.column(&column.column));
            column.is_some_and(|column| !column.is_array && column.type_name.name == "tsvector")
        })
    }

    /// What is to be known about the type of what a function of `pg_catalog` returns.
    fn result_kind(&self, name: &str, values: Vec<Value>) -> Kind {
        if name == "unnest" && values.len() == 1 && values.iter().any(|value| self.is_tsvector(value)) {
            let fields = ["lexeme", "positions", "weights"];
            let fields =
                fields.map(|name| crate::scope::Column { name: name.into(), value: Value::of(Kind::Plain) });
            return Kind::Row(fields.into());
        }
        if let Some(columns) = functions::record_columns(name).filter(|columns| columns.len() > 1) {
            let fields = columns
                .iter()
                .map(|column| crate::scope::Column { name: (*column).into(), value: Value::of(Kind::Plain) });
            return Kind::Row(fields.collect());
        }
        let Some(first) = values.into_iter().next() else { return Kind::Plain };
        match name {
            "array_agg" => array_of(first.kind),
            "unnest" => match first.kind {
                Kind::ArrayOf(of) => *of,
                Kind::Named { name, .. } => Kind::Named { name, array: false },
                other => other,
            },
            name if functions::passes_first_argument(name) => first.kind,
            _ => Kind::Plain,
        }
    }
}

/// The text of a string literal.
fn literal(node: &NodeEnum) -> Option<&str> {
    match node {
        NodeEnum::AConst(AConst { val: Some(a_const::Val::Sval(text)), .. }) => Some(&text.sval),
        _ => None,
    }
}

/// Whether a node is `'english'::regconfig` for a configuration that every PostgreSQL has.
fn is_configuration(node: &NodeEnum) -> bool {
    let NodeEnum::TypeCast(cast) = node else { return false };
    let cast: &TypeCast = cast;
    let is_regconfig = cast
        .type_name
        .as_ref()
        .and_then(|of| strings(&of.names))
        .is_some_and(|names| matches!(names.as_slice(), ["regconfig"] | ["pg_catalog", "regconfig"]));
    let Some(named) = inner(&cast.arg).and_then(literal) else { return false };
    is_regconfig && functions::is_text_search_configuration(named.trim_start_matches("pg_catalog."))
}
