//! What PostgreSQL leaves out of a result without an error: what is behind the point of a quotient of whole numbers, and a
//! last day that ends at its first moment. Nothing is refused for it; it is written down for whoever reads the result.

use pg_query::protobuf::{
    AConst, AExpr, AExprKind, BoolExprType, ColumnRef, FuncCall, Node, SelectStmt, TypeCast, a_const,
};
use pg_query::{NodeEnum, NodeRef};

use super::beside::is_null;
use super::days::{self, When, is_day_alone, literal, when};
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
            self.facts.loss(Loss { kind: LossKind::Fraction, at, column: None, in_moments: false });
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

    /// A moment that is compared with a day: `= day`, `<= day`, `<> day`, and the other way round; under NOT what is left when
    /// the comparison is not true, so that `NOT (moment > day)` ends at the first moment of the day too. Or a moment in a range
    /// of moments that has the first moment of its last day.
    pub(super) fn compared_with_day(&mut self, link: &AExpr, left: &Value, right: &Value, negated: bool) {
        let (Some(first), Some(second)) = (inner(&link.lexpr), inner(&link.rexpr)) else { return };
        let (moment, node, day, operator) = if is_moment(first, left) {
            (left, second, right, operator(link))
        } else if is_moment(second, right) {
            (right, first, left, flipped(operator(link)))
        } else {
            return;
        };
        // A day of another table is a key: what is equal to it is so at midnight on purpose.
        let is_key = matches!(node, NodeEnum::ColumnRef(_));
        let kind = match (operator, negated) {
            ("<=", _) | (">", true) => LossKind::LastDay,
            ("=", false) | ("<>", true) if !is_key => LossKind::OneDay,
            ("<>", false) | ("=", true) if !is_key => LossKind::NotOneDay,
            ("<@", _)
                if day.nature == Nature::ToLastDay || literal(node).is_some_and(days::ends_in_a_day) =>
            {
                let among = [(node, Nature::Moment)];
                return self.moment(LossKind::LastDay, link.location, moment, &among, &["<@", "@>"]);
            }
            _ => return,
        };
        if is_day(node, day.nature) {
            let written = ["=", "<=", ">=", "<>", "!=", "<", ">"];
            self.moment(kind, link.location, moment, &[(node, day.nature)], &written);
        }
    }

    /// `moment IS [NOT] DISTINCT FROM day`
    pub(super) fn distinct_from_day(
        &mut self,
        expression: &AExpr,
        left: &Value,
        right: &Value,
        negated: bool,
    ) {
        let kind = match AExprKind::try_from(expression.kind) {
            Ok(AExprKind::AexprDistinct) if negated => LossKind::OneDay,
            Ok(AExprKind::AexprDistinct) => LossKind::NotOneDay,
            Ok(AExprKind::AexprNotDistinct) if negated => LossKind::NotOneDay,
            Ok(AExprKind::AexprNotDistinct) => LossKind::OneDay,
            _ => return,
        };
        let (Some(first), Some(second)) = (inner(&expression.lexpr), inner(&expression.rexpr)) else {
            return;
        };
        let key = matches!(second, NodeEnum::ColumnRef(_));
        if is_moment(first, left) && !key && is_day(second, right.nature) {
            self.moment(kind, expression.location, left, &[(second, right.nature)], &["IS"]);
        }
    }

    /// `CASE moment WHEN day`
    pub(super) fn is_one_day(
        &mut self,
        case: &NodeEnum,
        moment: &Value,
        day: &NodeEnum,
        nature: Nature,
        location: i32,
    ) {
        if is_moment(case, moment) && !matches!(day, NodeEnum::ColumnRef(_)) && is_day(day, nature) {
            self.moment(LossKind::OneDay, location, moment, &[(day, nature)], &["WHEN"]);
        }
    }

    /// A range of moments that ends in a day, or a list of days that a moment is one of. A range with a time of day in it
    /// means moments, and so does a list.
    pub(super) fn among_days(
        &mut self,
        expression: &AExpr,
        left: Option<&Value>,
        bounds: &[(&NodeEnum, Nature)],
        negated: bool,
    ) {
        let kind = AExprKind::try_from(expression.kind).unwrap_or(AExprKind::Undefined);
        let (Some(column), Some(left)) = (inner(&expression.lexpr), left) else { return };
        if !is_moment(column, left) {
            return;
        }
        let is_day = |(node, nature): &(&NodeEnum, Nature)| is_day(node, *nature);
        match (kind, bounds) {
            (AExprKind::AexprBetween | AExprKind::AexprNotBetween, [from, until]) => {
                let leaves_nothing = nothing_between(from.0, until.0, false);
                if is_day(until) && !leaves_nothing && (is_day(from) || literal(from.0).is_none()) {
                    let day = std::slice::from_ref(until);
                    self.moment(LossKind::LastDay, expression.location, left, day, &["BETWEEN", "NOT"]);
                }
            }
            (AExprKind::AexprIn, [_, ..]) if bounds.iter().all(is_day) => {
                let chosen = is_equality(expression) != negated;
                let kind = if chosen { LossKind::OneDay } else { LossKind::NotOneDay };
                self.moment(kind, expression.location, left, bounds, &["IN", "NOT"]);
            }
            _ => {}
        }
    }

    fn moment(
        &mut self,
        kind: LossKind,
        location: i32,
        moment: &Value,
        days: &[(&NodeEnum, Nature)],
        operators: &[&str],
    ) {
        if let Some(column) = &moment.origin
            && let Some(at) = self.operator_at(location, operators)
        {
            let in_moments =
                days.iter().any(|(_, nature)| matches!(nature, Nature::Moment | Nature::FirstMoment));
            self.facts.loss(Loss { kind, at, column: Some((**column).clone()), in_moments });
        }
    }

    /// Conditions that must all hold. What leaves no moment between its bounds finds nothing because it says so: with all of
    /// its last day it would find something, and that is another question.
    pub(super) fn all_of<'n>(&mut self, conditions: impl IntoIterator<Item = Condition<'n>>) {
        if self.facts.lost() == 0 {
            return;
        }
        let mut bounds = Vec::new();
        conditions.into_iter().for_each(|condition| bounds_of(condition, &mut bounds));
        for end in bounds.iter().filter(|bound| bound.ends) {
            let is_empty = |from: &Bound<'_>| {
                let nothing = |(from_value, until): (&&NodeEnum, &&NodeEnum)| {
                    nothing_between(from_value, until, from.behind)
                };
                let pairs =
                    from.values.iter().flat_map(|begin| end.values.iter().map(move |until| (begin, until)));
                from.begins && same_column(from, end) && pairs.into_iter().all(nothing)
            };
            if bounds.iter().any(is_empty)
                && let Ok(at) = usize::try_from(end.location)
            {
                self.facts.meant(at);
            }
        }
    }

    /// What rows are chosen by, all together: WHERE, what they are joined on, what a query in FROM has chosen already, and
    /// FILTER on top of these.
    pub(super) fn chosen(&mut self, query: &SelectStmt) {
        if self.facts.lost() == 0 {
            return;
        }
        let mut all: Vec<Condition<'_>> =
            inner(&query.where_clause).into_iter().map(Condition::here).collect();
        for node in query.from_clause.iter().filter_map(|node| node.node.as_ref()) {
            chosen_from(node, query, &mut all);
        }
        self.all_of(all.iter().copied());
        for target in query.target_list.iter().filter_map(|node| node.node.as_ref()) {
            for (part, ..) in target.nodes() {
                if let NodeRef::FuncCall(FuncCall { agg_filter, .. }) = part
                    && let Some(filter) = inner(agg_filter)
                {
                    self.all_of(all.iter().copied().chain([Condition::here(filter)]));
                }
            }
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

fn is_equality(list: &AExpr) -> bool {
    strings(&list.name).is_some_and(|name| name.last() == Some(&"="))
}

fn operator(expression: &AExpr) -> &str {
    let plain = expression.kind == AExprKind::AexprOp as i32;
    let name = strings(&expression.name).filter(|_| plain).unwrap_or_default();
    name.last().copied().unwrap_or_default()
}

/// A comparison the other way round.
fn flipped(operator: &str) -> &str {
    match operator {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        "@>" => "<@",
        same => same,
    }
}

/// Whether a value is a day: by its type, or written like one where a moment is expected. A bound that means for ever is
/// none.
fn is_day(node: &NodeEnum, nature: Nature) -> bool {
    let endless = |text: &str| text.trim().trim_start_matches(['-', '+']).eq_ignore_ascii_case("infinity");
    let is_day = match (nature, literal(node)) {
        (Nature::Day | Nature::FirstMoment, text) => !text.is_some_and(endless),
        (_, Some(text)) => is_day_alone(text),
        _ => false,
    };
    is_day && !when(node).is_some_and(When::is_for_ever)
}

/// Whether it is a column of moments.
fn is_moment(node: &NodeEnum, value: &Value) -> bool {
    matches!(node, NodeEnum::ColumnRef(_)) && value.nature == Nature::Moment && value.origin.is_some()
}

/// A condition that rows are chosen by.
#[derive(Clone, Copy)]
pub(super) struct Condition<'n> {
    node: &'n NodeEnum,
    /// The name of the query in FROM that it stands in.
    inside: Option<&'n str>,
}

impl<'n> Condition<'n> {
    /// One of this very query.
    pub(super) fn here(node: &'n NodeEnum) -> Self {
        Self { node, inside: None }
    }
}

/// What the rows of a FROM are chosen by: what they are joined on, and what the queries in it have chosen.
fn chosen_from<'n>(node: &'n NodeEnum, query: &'n SelectStmt, found: &mut Vec<Condition<'n>>) {
    let (read, name) = match node {
        NodeEnum::JoinExpr(join) => {
            found.extend(inner(&join.quals).map(Condition::here));
            let sides = [inner(&join.larg), inner(&join.rarg)].into_iter().flatten();
            return sides.for_each(|side| chosen_from(side, query, found));
        }
        NodeEnum::RangeSubselect(subquery) => {
            (inner(&subquery.subquery), subquery.alias.as_ref().map(|alias| alias.aliasname.as_str()))
        }
        NodeEnum::RangeVar(read) if read.schemaname.is_empty() => {
            let common =
                query.with_clause.iter().flat_map(|with| &with.ctes).filter_map(|node| match &node.node {
                    Some(NodeEnum::CommonTableExpr(common)) => Some(common),
                    _ => None,
                });
            let named = common.into_iter().find(|common| common.ctename == read.relname);
            let alias = read.alias.as_ref().map(|alias| alias.aliasname.as_str());
            (named.and_then(|common| inner(&common.ctequery)), alias.or(Some(&read.relname)))
        }
        _ => return,
    };
    if let Some(NodeEnum::SelectStmt(read)) = read
        && let Some(node) = inner(&read.where_clause)
    {
        found.push(Condition { node, inside: Some(name.unwrap_or_default()) });
    }
}

/// A bound of a column.
struct Bound<'n> {
    column: &'n ColumnRef,
    /// The name of the query in FROM that it stands in.
    inside: Option<&'n str>,
    /// One, or those of a list.
    values: Vec<&'n NodeEnum>,
    /// Where its operator is.
    location: i32,
    begins: bool,
    ends: bool,
    /// Whether the bound itself is left out.
    behind: bool,
}

/// The bounds that a condition, and those that AND joins in it, set to columns.
fn bounds_of<'n>(condition: Condition<'n>, found: &mut Vec<Bound<'n>>) {
    let inside = condition.inside;
    let expression = match condition.node {
        NodeEnum::BoolExpr(all) if all.boolop == BoolExprType::AndExpr as i32 => {
            let parts = all.args.iter().filter_map(|node| node.node.as_ref());
            return parts.for_each(|node| bounds_of(Condition { node, inside }, found));
        }
        NodeEnum::AExpr(expression) => &**expression,
        _ => return,
    };
    let (Some(left), right) = (inner(&expression.lexpr), inner(&expression.rexpr)) else { return };
    let location = expression.location;
    match (AExprKind::try_from(expression.kind), left, right) {
        (Ok(AExprKind::AexprOp), left, Some(right)) => {
            let (column, value, operator) = match (left, right) {
                (NodeEnum::ColumnRef(column), value) => (column, value, operator(expression)),
                (value, NodeEnum::ColumnRef(column)) => (column, value, flipped(operator(expression))),
                _ => return,
            };
            let (begins, ends) = match operator {
                "=" => (true, true),
                ">" | ">=" => (true, false),
                "<" | "<=" => (false, true),
                _ => return,
            };
            found.push(Bound {
                column,
                inside,
                values: vec![value],
                location,
                begins,
                ends,
                behind: operator == ">",
            });
        }
        (Ok(kind), NodeEnum::ColumnRef(column), Some(NodeEnum::List(list))) => {
            let mut values: Vec<&NodeEnum> =
                list.items.iter().filter_map(|node| node.node.as_ref()).collect();
            let mut bound = |values, begins, ends| {
                found.push(Bound { column, inside, values, location, begins, ends, behind: false });
            };
            match kind {
                AExprKind::AexprBetween => {
                    let until = values.split_off(values.len().min(1));
                    bound(values, true, false);
                    bound(until, false, true);
                }
                AExprKind::AexprIn if is_equality(expression) => bound(values, true, true),
                _ => {}
            }
        }
        _ => {}
    }
}

/// Whether both bound one column, as far as names tell: here, in one query of FROM, or one of them in it and one here.
fn same_column(one: &Bound<'_>, other: &Bound<'_>) -> bool {
    let names = |bound: &Bound<'_>| {
        let names = strings(&bound.column.fields)?;
        Some(names.into_iter().rev().map(str::to_owned).collect::<Vec<_>>())
    };
    let (Some(mine), Some(theirs)) = (names(one), names(other)) else { return false };
    // What a query in FROM gives has that query's name.
    let across = |name: &str, outside: &[String]| {
        mine.first() == theirs.first() && outside.get(1).is_none_or(|qualifier| qualifier == name)
    };
    match (one.inside, other.inside) {
        (mine_in, theirs_in) if mine_in == theirs_in => {
            mine.iter().zip(&theirs).all(|(one, other)| one == other)
        }
        (Some(name), None) => across(name, &theirs),
        (None, Some(name)) => across(name, &mine),
        _ => false,
    }
}

/// Whether the text shows that nothing lies from one value to another.
fn nothing_between(from: &NodeEnum, until: &NodeEnum, behind: bool) -> bool {
    when(from).zip(when(until)).is_some_and(|(from, until)| from.leaves_nothing_until(until, behind))
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
    match (name, left, right) {
        ("+" | "-", None, _) if right.is_whole() => right,
        ("+" | "-", Some(Nature::Day), _) if right.is_whole() => Nature::Day,
        ("+", Some(at), Nature::Interval(days, months)) | ("+", Some(Nature::Interval(days, months)), at) => {
            at.moved(days, months)
        }
        ("-", Some(at), Nature::Interval(days, months)) => at.moved(days.reverse(), months.reverse()),
        ("+" | "-" | "*" | "/" | "%", Some(left), _) if left.is_whole() && right.is_whole() => {
            left.joined(right)
        }
        _ => Nature::Other,
    }
}

/// What a function of `pg_catalog` returns.
pub(super) fn of_call(name: &str, call: &FuncCall, values: &[Value]) -> Nature {
    let first = values.first().map_or(Nature::Other, |value| value.nature);
    let text = |at: usize| call.args.get(at).and_then(|node| node.node.as_ref()).and_then(literal);
    match name {
        "count" => Nature::Wide,
        "sum" if first == Nature::Whole => Nature::Wide,
        "min" | "max" | "abs" => first,
        "length" | "char_length" | "character_length" | "cardinality" => Nature::Whole,
        "make_date" | "to_date" | "date" => Nature::Day,
        "to_timestamp" if text(1).is_some_and(|format| !format.to_ascii_uppercase().contains("HH")) => {
            Nature::FirstMoment
        }
        "make_timestamp" | "make_timestamptz" if days::is_at_midnight(call) => Nature::FirstMoment,
        "tsrange" | "tstzrange" if text(2).is_some_and(|bounds| bounds.ends_with(']')) => {
            let until = call.args.get(1).and_then(|node| node.node.as_ref());
            let nature = values.get(1).map(|value| value.nature).unwrap_or_default();
            if until.is_some_and(|until| is_day(until, nature)) { Nature::ToLastDay } else { Nature::Other }
        }
        "date_trunc" if text(0).is_some_and(days::is_whole_days) => Nature::Boundary,
        "make_interval" => of_interval(days::interval_of_call(call)),
        _ => Nature::Other,
    }
}

/// What a cast makes of a value.
pub(super) fn of_cast(cast: &TypeCast, value: Nature) -> Nature {
    let Some(of) = cast.type_name.as_ref().filter(|of| of.array_bounds.is_empty()) else {
        return Nature::Other;
    };
    let spans = matches!(
        strings(&of.names).unwrap_or_default().as_slice(),
        ["tsrange" | "tstzrange"] | ["pg_catalog", "tsrange" | "tstzrange"]
    );
    if spans {
        let to_last_day = inner(&cast.arg).and_then(literal).is_some_and(days::ends_in_a_day);
        return if to_last_day || value == Nature::ToLastDay { Nature::ToLastDay } else { Nature::Other };
    }
    match (of_type(&of.names), value) {
        // A number that a cast makes whole is divided as one on purpose.
        (whole, _) if whole.is_whole() => Nature::Other,
        (Nature::Moment, Nature::Day | Nature::FirstMoment) => Nature::FirstMoment,
        (Nature::Moment, Nature::Boundary) => Nature::Boundary,
        (Nature::Other, _) => of_interval(days::interval_of_cast(cast)),
        (nature, _) => nature,
    }
}

fn of_interval(interval: Option<days::Interval>) -> Nature {
    interval
        .and_then(days::Interval::directions)
        .map_or(Nature::Other, |(days, months)| Nature::Interval(days, months))
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
