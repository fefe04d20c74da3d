//! One query, or several put together: a quotient of two, two times side by side, the mean of counts, tables of different times.

use airlock_plugin_sdk::question::grammar::Aggregate;

use crate::build::{Built, Context, build};
use crate::frame::{Frame, Key, Measure, Ratio};
use crate::refuse::Why;
use crate::{parts, print, times, union};

/// What several tables hold, each for its own time, is taken from those that hold the time asked for.
pub fn query(context: &Context<'_>, frame: &Frame) -> Result<(String, Built), Why> {
    if let Some(ratio) = &frame.ratio
        && frame.groups.is_empty()
    {
        return divided(context, frame, ratio);
    }
    if let Some((first, second)) = times::compared(context, frame) {
        return compared(context, frame, first, second);
    }
    let members = parts::members(context, frame);
    if let Some(aggregate) = frame.nested {
        return nested(context, frame, aggregate, members.len());
    }
    if let Some(counted) = counted_groups(frame) {
        let (inner, mut built) = query(context, &counted)?;
        let name = built.counted.clone().unwrap_or_else(|| "groups".into());
        built.cost += 0.02;
        let inner = inner.replace('\n', "\n    ");
        let name = print::identifier(&name);
        return Ok((format!("SELECT count(*) AS {name}\nFROM (\n    {inner}\n) AS counted"), built));
    }
    let Some(base) = members.first().copied().filter(|_| members.len() > 1) else {
        let built = build(context, frame, None, false)?;
        return Ok((print::sql(context.schema, &built.query), built));
    };
    let (window, _) = times::window(context, frame)?;
    let mut begins = None;
    if let Some(window) = &window {
        begins = parts::covered(context.schema, &members, window)?;
    }
    let mut built = Vec::new();
    let mut left_out = Vec::new();
    for member in members.iter().copied() {
        if !parts::needed(context.schema, member, window.as_ref()) {
            continue;
        }
        let part = parts::instead(context.schema, frame, base, member)
            .and_then(|frame| build(context, &frame, Some(member), true));
        match part {
            Ok(part) => built.push(part),
            Err(why) => left_out.push((member, why)),
        }
    }
    // Part of the time asked for is not to be had in this shape.
    if let Some((member, why)) = left_out.first()
        && (built.is_empty() || window.is_some())
    {
        return Err(match (built.is_empty(), why) {
            (true, _) => why.clone(),
            (false, why) => Why::Uncovered(format!(
                "Part of the time asked for is in {}, which does not give this: {}",
                parts::told(context.schema, *member),
                why.refusal().reason
            )),
        });
    }
    let (sql, mut built) = match built.len() {
        0 => return Err(Why::Kind("a time that no table holds".into())),
        1 => {
            let only = built.remove(0);
            (print::sql(context.schema, &only.query), only)
        }
        _ => union::union(context.schema, built)?,
    };
    built.assumptions.extend(begins);
    for (member, _) in &left_out {
        built.assumptions.push(format!(
            "{} is left out: it does not hold what this asks for.",
            parts::told(context.schema, *member)
        ));
        built.cost += 0.05;
    }
    Ok((sql, built))
}

/// One quantity divided by another one, each a query of its own.
fn divided(context: &Context<'_>, frame: &Frame, ratio: &Ratio) -> Result<(String, Built), Why> {
    let shared = !frame.measures.is_empty() || frame.entity.is_some() || frame.rank.is_some();
    if shared || frame.share.is_some() || !frame.having.is_empty() || !frame.outputs.is_empty() {
        return Err(Why::Kind("a ratio beside something else".into()));
    }
    let whole = |side: &Frame| {
        let mut side = side.clone();
        side.filters.extend(frame.filters.iter().cloned());
        side.context.extend(frame.context.iter().copied());
        if side.moments.is_empty() {
            side.moments.extend(frame.moments.iter().copied());
        }
        side.time_columns.extend(frame.time_columns.iter().copied());
        side
    };
    let (above, mut built) = query(context, &whole(&ratio.above))?;
    let (below, other) = query(context, &whole(&ratio.below))?;
    if above == below {
        return Err(Why::Kind("a ratio of a quantity to itself".into()));
    }
    // A part of what one table holds is no share of what two of them hold.
    let measure = matches!(ratio.above.measures.as_slice(), [Measure::Metric(_)]);
    if measure && ratio.above.measures == ratio.below.measures && !other.tables.is_subset(&built.tables) {
        return Err(Why::Kind("a share of what only some of the tables can tell apart".into()));
    }
    built.tables.extend(other.tables);
    built.columns.extend(other.columns);
    built.terms.extend(other.terms);
    built.assumptions.extend(other.assumptions);
    built.cost += other.cost;
    let (above, below) = (above.replace('\n', "\n    "), below.replace('\n', "\n    "));
    let (times, name) = if ratio.percent { ("100.0", "percentage") } else { ("1.0", "ratio") };
    Ok((format!("SELECT {times} * (\n    {above}\n) / NULLIF((\n    {below}\n), 0) AS {name}"), built))
}

/// One measure in two times, side by side, with the difference and the change in percent.
fn compared(
    context: &Context<'_>,
    frame: &Frame,
    first: (usize, usize),
    second: (usize, usize),
) -> Result<(String, Built), Why> {
    let at = |moment: (usize, usize)| Frame { moments: vec![moment], ..frame.clone() };
    let (one, mut built) = query(context, &at(first))?;
    let (other, more) = query(context, &at(second))?;
    for told in more.assumptions {
        if !built.assumptions.contains(&told) {
            built.assumptions.push(told);
        }
    }
    let name = |moment: (usize, usize), fallback: &str| {
        let label = context.reading.moments.get(moment.0).map_or(fallback, |found| found.label.as_str());
        let words: Vec<String> = label
            .to_lowercase()
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty() && !matches!(*word, "in" | "of" | "the" | "for" | "during"))
            .map(str::to_owned)
            .collect();
        let joined = words.join("_");
        let name =
            if joined.starts_with(|c: char| c.is_ascii_digit()) { format!("in_{joined}") } else { joined };
        if name.is_empty() { fallback.to_owned() } else { name }
    };
    let (a, b) = (print::identifier(&name(first, "one")), print::identifier(&name(second, "other")));
    // A change is one from the earlier time to the later one.
    let start =
        |moment: (usize, usize)| context.reading.moments.get(moment.0).and_then(|found| found.period.from);
    let (old, new) = if start(first) <= start(second) { (&a, &b) } else { (&b, &a) };
    if a == b {
        return Err(Why::Kind("a comparison of a time with itself".into()));
    }
    let (one, other) = (one.replace('\n', "\n        "), other.replace('\n', "\n        "));
    Ok((
        format!(
            "SELECT {a}, {b}, {new} - {old} AS difference, 100.0 * ({new} - {old}) / NULLIF({old}, 0) AS change_percent\nFROM (\n    SELECT (\n        {one}\n    ) AS {a}, (\n        {other}\n    ) AS {b}\n) AS compared"
        ),
        built,
    ))
}

/// `how many customers have more than 10 bills`: the things that meet the condition, as they are then counted.
fn counted_groups(frame: &Frame) -> Option<Frame> {
    let [Measure::Count(table)] = frame.measures.as_slice() else { return None };
    let plain = !frame.having.is_empty() && frame.entity.is_none() && frame.groups.is_empty();
    plain.then(|| Frame { measures: Vec::new(), entity: Some(Key::Table(*table)), ..frame.clone() })
}

/// The mean of counts: a count for each group, and the aggregate of the counts.
fn nested(
    context: &Context<'_>,
    frame: &Frame,
    aggregate: Aggregate,
    variants: usize,
) -> Result<(String, Built), Why> {
    if variants > 1 {
        return Err(Why::Kind("an aggregate of a measure that two tables hold".into()));
    }
    let mut built = build(context, frame, None, false)?;
    let name =
        built.query.select.last().and_then(|output| output.alias.clone()).unwrap_or_else(|| "n".into());
    let Some(measure) = built.query.select.pop() else {
        return Err(Why::Kind("an aggregate of nothing".into()));
    };
    built.query.select = vec![measure];
    built.query.order.clear();
    let inner = print::sql(context.schema, &built.query).replace('\n', "\n    ");
    let name = print::identifier(&name);
    let function = match aggregate {
        Aggregate::Average => format!("avg({name})"),
        Aggregate::Minimum => format!("min({name})"),
        Aggregate::Maximum => format!("max({name})"),
        Aggregate::Median => format!("percentile_cont(0.5) WITHIN GROUP (ORDER BY {name})"),
        Aggregate::Sum | Aggregate::Count => return Err(Why::Kind("a sum of counts".into())),
    };
    built.assumptions.push("Groups without a row are not counted as zero.".into());
    Ok((format!("SELECT {function} AS {}_{name}\nFROM (\n    {inner}\n) AS counts", aggregate.word()), built))
}
