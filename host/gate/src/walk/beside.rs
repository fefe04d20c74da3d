//! What stands beside a value: PostgreSQL gives both one type, and a text beside a value of an unvetted domain, or of a row or an
//! array that holds one, would become such a value unseen.

use pg_query::NodeEnum;
use pg_query::protobuf::AConst;

use super::{Checked, Walk};
use crate::rejection::{Refusal, RejectionCode};
use crate::scope::{Column, Kind, Value};

impl Walk<'_> {
    /// Refuses to mix values of a type into which no text may be turned with others: a literal beside them becomes one.
    pub(super) fn not_turned_into(&self, values: &[Value], location: i32) -> Checked<()> {
        let Some(guarded) = values.iter().find(|value| self.vocabulary.is_guarded(&value.kind)) else {
            return Ok(());
        };
        let what =
            guarded.origin.as_ref().map_or_else(|| "this value".to_owned(), |column| column.to_string());
        let message = format!("{what} has a type whose checks nobody vetted: no other value may become one");
        Err(Refusal::new(RejectionCode::ForbiddenType, message)
            .at(location)
            .hint("Cast it to its base type first, such as (column)::text."))
    }

    /// Refuses to put a value that others would be turned into beside one of another type.
    pub(super) fn not_taken_on<'v>(
        &self,
        mut values: impl Iterator<Item = &'v Value> + Clone,
        united: bool,
        location: i32,
    ) -> Checked<()> {
        let mut others = values.clone();
        let Some(first) = others.next() else { return Ok(()) };
        if others.all(|value| value.kind == first.kind) {
            return Ok(());
        }
        match values.find(|value| self.vocabulary.takes_on(&value.kind, united)) {
            Some(guarded) => self.not_turned_into(std::slice::from_ref(guarded), location),
            None => Ok(()),
        }
    }

    /// Values that get one type. A NULL becomes nothing.
    pub(super) fn of_one_type(&self, written: &[&NodeEnum], values: &[Value], location: i32) -> Checked<()> {
        let mixed =
            written.iter().zip(values).filter(|(node, _)| !is_null(Some(node))).map(|(_, value)| value);
        self.not_taken_on(mixed, true, location)
    }

    /// A value, or a row of them, that is looked for among the rows of a query.
    pub(super) fn looked_for(&self, value: Option<&Value>, among: &[Column], location: i32) -> Checked<()> {
        let mut found = among.iter().map(|column| &column.value);
        match value {
            Some(Value { kind: Kind::Row(fields), .. }) if fields.len() == among.len() => {
                fields.iter().zip(found).try_for_each(|(field, found)| {
                    self.not_taken_on([&field.value, found].into_iter(), false, location)
                })
            }
            Some(value) => {
                found.try_for_each(|found| self.not_taken_on([value, found].into_iter(), false, location))
            }
            None => Ok(()),
        }
    }
}

/// Whether this is a NULL written out.
pub(super) fn is_null(node: Option<&NodeEnum>) -> bool {
    matches!(node, Some(NodeEnum::AConst(AConst { isnull: true, .. })))
}
