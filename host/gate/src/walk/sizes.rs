//! Arguments of extensions' functions that decide how much is built: of a buffer's arcs, of a grid's cells.

use pg_query::NodeEnum;
use pg_query::protobuf::{AConst, FuncCall, a_const};

use super::limits::{constant, large, unnamed};
use super::names::strings;
use super::{Checked, Walk};
use crate::scope::Value;

/// How an argument decides about a size.
#[derive(Clone, Copy)]
enum Size {
    /// So many are made.
    Count,
    /// The smaller it is, the more are made.
    Step,
    /// A count, or a text of settings of which `quad_segs` is one.
    Segments,
}

/// Functions, the place of the argument, its names, and what it decides.
const SIZES: &[(&str, usize, &[&str], Size)] = &[
    ("histogram", 3, &["nbuckets"], Size::Count),
    ("st_buffer", 2, &["quadsegs", "quad_segs", "params", "options"], Size::Segments),
    ("st_clusterkmeans", 1, &["k"], Size::Count),
    ("st_curvetoline", 1, &["tol"], Size::Count),
    ("st_generatepoints", 1, &["npoints"], Size::Count),
    ("st_geohash", 1, &["maxchars"], Size::Count),
    ("st_hexagongrid", 0, &["size"], Size::Step),
    ("st_lineinterpolatepoints", 1, &["fraction", "repeat"], Size::Step),
    ("st_minimumboundingcircle", 1, &["segs_per_quarter"], Size::Count),
    ("st_offsetcurve", 2, &["params"], Size::Segments),
    ("st_segmentize", 1, &["max_segment_length", "max_length"], Size::Step),
    ("st_squaregrid", 0, &["size"], Size::Step),
];

/// The smallest step that is taken: a thousandth of a metre, or of a degree.
const SMALLEST_STEP: f64 = 0.001;

impl Walk<'_> {
    /// The size of what a function from outside `pg_catalog` returns, its arguments checked where they decide it.
    pub(super) fn bytes_of_known(&self, call: &FuncCall, name: &str, values: &[Value]) -> Checked<u64> {
        let sum = values.iter().fold(32_u64, |sum, value| sum.saturating_add(value.bytes));
        for (_, place, names, size) in SIZES.iter().filter(|(function, ..)| *function == name) {
            let Some(index) = argument(call, *place, names) else { continue };
            let node = call.args.get(index).and_then(|node| node.node.as_ref()).map(unnamed);
            match size {
                Size::Count => self.repetitions(node, values.get(index), call.location).map(drop)?,
                Size::Step => step(node, call.location)?,
                Size::Segments => match node.and_then(settings) {
                    Some(settings) => segments(settings, self.limits.repetitions, call.location)?,
                    None => self.repetitions(node, values.get(index), call.location).map(drop)?,
                },
            }
        }
        Ok(sum)
    }
}

/// Where the argument stands: by its name, or at its place.
fn argument(call: &FuncCall, place: usize, names: &[&str]) -> Option<usize> {
    let named = |node: &pg_query::protobuf::Node| match &node.node {
        Some(NodeEnum::NamedArgExpr(named)) => {
            Some(names.contains(&named.name.to_ascii_lowercase().as_str()))
        }
        _ => None,
    };
    let by_name = call.args.iter().position(|node| named(node) == Some(true));
    by_name.or_else(|| call.args.get(place).filter(|node| named(node).is_none()).map(|_| place))
}

/// A step that is written must be no smaller than makes sense; one that is stored is the data's own affair.
fn step(node: Option<&NodeEnum>, location: i32) -> Checked<()> {
    let Some(step) = node.and_then(number) else { return Ok(()) };
    if step.abs() >= SMALLEST_STEP {
        return Ok(());
    }
    Err(large(format!("the step {step} is smaller than {SMALLEST_STEP}")).at(location))
}

/// The number a literal is, a fraction or not.
fn number(node: &NodeEnum) -> Option<f64> {
    match node {
        NodeEnum::AConst(AConst { val: Some(a_const::Val::Fval(number)), .. }) => number.fval.parse().ok(),
        NodeEnum::AConst(AConst { val: Some(a_const::Val::Sval(text)), .. }) => text.sval.trim().parse().ok(),
        NodeEnum::TypeCast(cast) => super::inner(&cast.arg).and_then(number),
        NodeEnum::AExpr(expression) => {
            let right = super::inner(&expression.rexpr).and_then(number)?;
            let left = super::inner(&expression.lexpr).map_or(Some(0.0), number)?;
            match *strings(&expression.name)?.last()? {
                "+" => Some(left + right),
                "-" => Some(left - right),
                "*" => Some(left * right),
                "/" => Some(left / right),
                // Not folded, so not known to be large enough.
                _ => Some(0.0),
            }
        }
        other => constant(other).map(|number| number as f64),
    }
}

/// The settings in a literal text.
fn settings(node: &NodeEnum) -> Option<&str> {
    match node {
        NodeEnum::AConst(AConst { val: Some(a_const::Val::Sval(text)), .. }) => Some(&text.sval),
        NodeEnum::TypeCast(cast) => super::inner(&cast.arg).and_then(settings),
        _ => None,
    }
}

fn segments(settings: &str, limit: u64, location: i32) -> Checked<()> {
    for word in settings.split_ascii_whitespace() {
        let value = word.split_once('=').map_or(word, |(_, value)| value);
        if value.parse::<f64>().is_ok_and(|number| number > limit as f64) {
            return Err(large(format!("{word} is over the limit of {limit}")).at(location));
        }
    }
    Ok(())
}
