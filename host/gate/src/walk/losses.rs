//! What PostgreSQL leaves out of a result without an error: what is behind the point of a quotient of whole numbers, and a
//! last day that ends at its first moment. Nothing is refused for it; it is written down for whoever reads the result.

use pg_query::NodeEnum;
use pg_query::protobuf::{AConst, AExpr, AExprKind, Node, a_const};

use super::beside::is_null;
use super::limits::constant;
use super::names::strings;
use super::{Checked, Walk, inner};
use crate::facts::{Loss, LossKind};
use crate::scan::Scan;
use crate::scope::{Nature, Scope, Value};

impl Walk<'_> {
    /// Walks what rows are chosen by, or how many. Compared, a quotient of whole numbers may well mean whole steps: nobody
    /// can tell, and another choice of rows is another question.
    pub(super) fn condition(&mut self, node: &NodeEnum, scope: &Scope<'_>) -> Checked<()> {
        let before = self.facts.lost();
        self.computed(node, scope)?;
        self.facts.forget_divisions(before);
        Ok(())
    }

    /// A quotient of whole numbers. Divided by one, or cut on purpose by what stands around it, it loses nothing that was
    /// wanted.
    pub(super) fn quotient(&mut self, link: &AExpr, above: Option<&AExpr>, left: Nature, right: Nature) {
        let by = inner(&link.rexpr).and_then(constant);
        if operator(link) != "/" || !left.is_whole() || !right.is_whole() || by == Some(1) {
            return;
        }
        let Some(at) = self.operator_at(link.location, &["/"]) else { return };
        // `n / 10 * 10` is a step of ten, and `n / 2 % 2` looks at a digit.
        let cut = above.is_some_and(|above| match operator(above) {
            "%" => true,
            "*" => by.is_some() && by == inner(&above.rexpr).and_then(constant),
            _ => false,
        });
        if !cut {
            self.facts.loss(Loss { kind: LossKind::Fraction, at, column: None });
        }
    }

    /// What is made a whole number at once was meant to be one.
    pub(super) fn cut_on_purpose(&mut self, node: Option<&NodeEnum>) {
        if let Some(NodeEnum::AExpr(division)) = node
            && let Some(at) = self.operator_at(division.location, &["/"])
        {
            self.facts.meant(at);
        }
    }

    /// A moment that is compared with a day: `= day`, `<= day`.
    pub(super) fn compared_with_day(&mut self, link: &AExpr, left: &Value, right: &Value) {
        let Some(node) = inner(&link.rexpr) else { return };
        let kind = match operator(link) {
            "<=" => LossKind::LastDay,
            // A day of another table is a key: what is equal to it is so at midnight on purpose.
            "=" if !matches!(node, NodeEnum::ColumnRef(_)) => LossKind::OneDay,
            _ => return,
        };
        if is_day(node, right.nature) {
            self.moment(kind, link, left, &["=", "<="]);
        }
    }

    /// A range of moments that ends in a day. A range with a time of day in it means moments.
    pub(super) fn range_to_day(
        &mut self,
        range: &AExpr,
        left: Option<&Value>,
        bounds: &[(&NodeEnum, Nature)],
    ) {
        let kind = AExprKind::try_from(range.kind).unwrap_or(AExprKind::Undefined);
        let ([(from, begins), (until, ends)], Some(left)) = (bounds, left) else { return };
        if matches!(kind, AExprKind::AexprBetween | AExprKind::AexprNotBetween)
            && is_day(until, *ends)
            && (is_day(from, *begins) || literal(from).is_none())
        {
            self.moment(LossKind::LastDay, range, left, &["BETWEEN", "NOT"]);
        }
    }

    fn moment(&mut self, kind: LossKind, expression: &AExpr, left: &Value, operators: &[&str]) {
        let is_column = matches!(inner(&expression.lexpr), Some(NodeEnum::ColumnRef(_)));
        if let (true, Nature::Moment, Some(column)) = (is_column, left.nature, &left.origin)
            && let Some(at) = self.operator_at(expression.location, operators)
        {
            self.facts.loss(Loss { kind, at, column: Some((**column).clone()) });
        }
    }

    /// The byte that an operator begins at, when it is written as one of these.
    fn operator_at(&self, location: i32, as_one_of: &[&str]) -> Option<usize> {
        let token = self.scan.at(location)?;
        let written = token.text(self.text);
        as_one_of.iter().any(|known| known.eq_ignore_ascii_case(written)).then_some(token.start)
    }
}

/// What stands before and behind an operator.
pub(super) fn beside_operator<'t>(scan: &Scan, text: &'t str, at: usize) -> [&'t str; 2] {
    let index = scan.lexemes.partition_point(|lexeme| lexeme.start < at);
    let written = |index: Option<usize>| {
        index.and_then(|index| scan.lexemes.get(index)).map(|lexeme| lexeme.text(text)).unwrap_or_default()
    };
    [written(index.checked_sub(1)), written(index.checked_add(1))]
}

fn operator(expression: &AExpr) -> &str {
    let plain = expression.kind == AExprKind::AexprOp as i32;
    let name = strings(&expression.name).filter(|_| plain).unwrap_or_default();
    name.last().copied().unwrap_or_default()
}

/// The text that a literal holds, cast or not.
fn literal(node: &NodeEnum) -> Option<&str> {
    match node {
        NodeEnum::AConst(AConst { val: Some(a_const::Val::Sval(text)), .. }) => Some(&text.sval),
        NodeEnum::TypeCast(cast) => inner(&cast.arg).and_then(literal),
        _ => None,
    }
}

/// Whether a value is a day: by its type, or written like one where a moment is expected.
fn is_day(node: &NodeEnum, nature: Nature) -> bool {
    match (nature, literal(node)) {
        (Nature::Day, None) => true,
        (_, Some(text)) => {
            let digits =
                |range| text.get(range).is_some_and(|part: &str| part.bytes().all(|b| b.is_ascii_digit()));
            let dashes = text.get(4..5) == Some("-") && text.get(7..8) == Some("-");
            text.len() == 10 && dashes && digits(0..4) && digits(5..7) && digits(8..10)
        }
        _ => false,
    }
}

/// What a constant is: any other spelling of a number is not whole, or too large to tell.
pub(super) fn of_constant(constant: &AConst) -> Nature {
    match constant.val {
        Some(a_const::Val::Ival(_)) => Nature::Whole,
        _ => Nature::Other,
    }
}

/// What an operator of `pg_catalog` makes of such values.
pub(super) fn of_operator(name: &str, left: Option<Nature>, right: Nature) -> Nature {
    match (name, left) {
        ("+" | "-", None) if right.is_whole() => right,
        ("+" | "-", Some(Nature::Day)) if right.is_whole() => Nature::Day,
        ("+" | "-" | "*" | "/" | "%", Some(left)) if left.is_whole() && right.is_whole() => {
            left.joined(right)
        }
        _ => Nature::Other,
    }
}

/// What a function of `pg_catalog` returns.
pub(super) fn of_call(name: &str, values: &[Value]) -> Nature {
    let first = values.first().map_or(Nature::Other, |value| value.nature);
    match name {
        "count" => Nature::Wide,
        "sum" if first == Nature::Whole => Nature::Wide,
        "min" | "max" | "abs" => first,
        "length" | "char_length" | "character_length" | "cardinality" => Nature::Whole,
        _ => Nature::Other,
    }
}

/// What one of several values is. A NULL takes the type of the others.
pub(super) fn together(written: &[&NodeEnum], values: &[Value]) -> Nature {
    let natures =
        written.iter().zip(values).filter(|(node, _)| !is_null(Some(node))).map(|(_, value)| value.nature);
    natures.reduce(Nature::joined).unwrap_or_default()
}

/// What a type holds, by its name.
pub(super) fn of_type(names: &[Node]) -> Nature {
    match strings(names).unwrap_or_default().as_slice() {
        [name] | ["pg_catalog", name] => Nature::of_type(name),
        _ => Nature::Other,
    }
}

/// Functions that are given a quotient to be cut.
pub(super) fn cuts(name: &str) -> bool {
    matches!(name, "floor" | "trunc")
}
