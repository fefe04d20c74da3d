//! Casts and the types they name.

use pg_query::NodeEnum;
use pg_query::protobuf::{AConst, TypeCast, TypeName, a_const};

use super::names::strings;
use super::{Checked, Walk, inner, losses, unsupported};
use crate::rejection::{Refusal, RejectionCode};
use crate::scope::{Kind, Scope, Trace, Value};

/// Largest length that `char(n)` and `bit(n)` may pad to.
const PADDED_LENGTH: i32 = 10_000;

impl Walk<'_> {
    /// A cast: its type must be one that may be cast to.
    pub(super) fn cast(&mut self, cast: &TypeCast, scope: &Scope<'_>) -> Checked<Value> {
        let of = cast.type_name.as_ref().ok_or_else(|| unsupported("this cast").at(cast.location))?;
        let node = inner(&cast.arg).ok_or_else(|| unsupported("this cast").at(cast.location))?;
        let kind = self.type_name(of, cast.location)?;
        let names = strings(&of.names).unwrap_or_default();
        if names.last() == Some(&"xml") {
            self.xml_text(node, scope, cast.location)?;
        }
        let value = self.computed(node, scope)?;
        let padded = padding(of).map_or(0, i64::from);
        let bytes = value.bytes.max(u64::try_from(padded).unwrap_or_default());
        if losses::of_type(&of.names).is_whole() {
            self.cut_on_purpose(Some(node));
        }
        // Of an array only its elements are such values.
        let nature = losses::of_cast(cast, value.nature);
        // A text stays the text that it is.
        let texts = of.typmods.is_empty()
            && of.array_bounds.is_empty()
            && matches!(names.as_slice(), ["text" | "varchar"] | ["pg_catalog", "text" | "varchar"]);
        let trace = if texts { value.traced() } else { Trace::Lost };
        Ok(Value { kind, nature, origin: None, trace, bytes, count: value.count })
    }

    /// A type that is named in the text.
    pub(super) fn type_name(&mut self, of: &TypeName, location: i32) -> Checked<Kind> {
        let at = if of.location >= 0 { of.location } else { location };
        if of.setof || of.pct_type {
            return Err(unsupported("this type").at(at));
        }
        if let Some(length) = padding(of)
            && length > PADDED_LENGTH
        {
            return Err(Refusal::new(
                RejectionCode::LargeValue,
                format!("the type pads to {length} places, the limit is {PADDED_LENGTH}"),
            )
            .at(at));
        }
        for node in of.typmods.iter().filter_map(|node| node.node.as_ref()) {
            // `geometry(Point, 4326)` spells one of its numbers as a name.
            if !matches!(node, NodeEnum::AConst(_) | NodeEnum::ColumnRef(_)) {
                return Err(unsupported("this type").at(at));
            }
        }
        let parts = strings(&of.names).ok_or_else(|| unsupported("this type").at(at))?;
        let array = !of.array_bounds.is_empty();
        let kind = match self.after_database(&parts, 3, at)? {
            [name] => self.vocabulary.cast(None, name, array),
            [schema, name] => self.vocabulary.cast(Some(schema), name, array),
            _ => Err(unsupported("this type")),
        };
        kind.map_err(|refusal| refusal.at(at))
    }
}

/// The length a type pads its values to.
fn padding(of: &TypeName) -> Option<i32> {
    let names = strings(&of.names)?;
    if !matches!(names.last()?, &"bpchar" | &"bit" | &"char") {
        return None;
    }
    match of.typmods.first()?.node.as_ref()? {
        NodeEnum::AConst(AConst { val: Some(a_const::Val::Ival(length)), .. }) => Some(length.ival),
        _ => None,
    }
}
