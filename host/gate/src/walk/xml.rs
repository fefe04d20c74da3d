//! XML: what builds it, and text that becomes it.

use pg_query::NodeEnum;
use pg_query::protobuf::{AConst, XmlExpr, XmlExprOp, a_const};

use super::{Checked, Walk, inner, unsupported};
use crate::rejection::{Refusal, RejectionCode};
use crate::scope::{STORED_BYTES, Scope, Value};

impl Walk<'_> {
    /// XMLELEMENT and its kin.
    pub(super) fn xml(&mut self, xml: &XmlExpr, scope: &Scope<'_>) -> Checked<Value> {
        self.given_name(&xml.name, xml.location)?;
        let op = XmlExprOp::try_from(xml.op).unwrap_or(XmlExprOp::Undefined);
        match op {
            XmlExprOp::IsXmlparse => {
                for node in xml.args.iter().filter_map(|node| node.node.as_ref()).take(1) {
                    self.xml_text(node, scope, xml.location)?;
                }
            }
            XmlExprOp::IsXmlconcat
            | XmlExprOp::IsXmlelement
            | XmlExprOp::IsXmlforest
            | XmlExprOp::IsXmlpi
            | XmlExprOp::IsXmlroot
            | XmlExprOp::IsDocument => {}
            _ => return Err(unsupported("this XML expression").at(xml.location)),
        }
        let mut bytes = STORED_BYTES;
        for node in xml.named_args.iter().chain(&xml.args).filter_map(|node| node.node.as_ref()) {
            let value = match node {
                NodeEnum::ResTarget(target) => {
                    self.given_name(&target.name, target.location)?;
                    self.maybe(inner(&target.val), scope)?
                }
                other => Some(self.computed(other, scope)?),
            };
            bytes = bytes.saturating_add(value.map_or(0, |value| value.bytes));
        }
        Ok(Value::plain(bytes))
    }

    /// Text that becomes XML: a literal without entities, or a stored value. What is put together from pieces could
    /// declare entities that no piece shows.
    pub(super) fn xml_text(&mut self, node: &NodeEnum, scope: &Scope<'_>, location: i32) -> Checked<()> {
        match node {
            NodeEnum::AConst(constant) => xml_literal(constant, location),
            NodeEnum::TypeCast(cast) => match inner(&cast.arg) {
                Some(node) => self.xml_text(node, scope, location),
                None => Ok(()),
            },
            NodeEnum::XmlExpr(_) | NodeEnum::XmlSerialize(_) => Ok(()),
            NodeEnum::ColumnRef(reference) if self.column(reference, scope)?.origin.is_some() => Ok(()),
            _ => Err(Refusal::new(
                RejectionCode::UnsafeXml,
                "only a literal or a column can become XML, not text that is put together",
            )
            .at(location)
            .hint("Build XML with xmlelement, xmlforest and xmlagg.")),
        }
    }

    /// An argument that is read as XML: PostgreSQL takes text there only as a literal.
    pub(super) fn xml_document(
        &mut self,
        node: &NodeEnum,
        scope: &Scope<'_>,
        location: i32,
    ) -> Checked<Value> {
        if let NodeEnum::AConst(constant) = node {
            xml_literal(constant, location)?;
        }
        self.computed(node, scope)
    }
}

fn xml_literal(constant: &AConst, location: i32) -> Checked<()> {
    let Some(a_const::Val::Sval(text)) = &constant.val else { return Ok(()) };
    let upper = text.sval.to_ascii_uppercase();
    if upper.contains("<!DOCTYPE") || upper.contains("<!ENTITY") {
        return Err(Refusal::new(
            RejectionCode::UnsafeXml,
            "XML with a document type or entities is out of bounds",
        )
        .at(location));
    }
    Ok(())
}
