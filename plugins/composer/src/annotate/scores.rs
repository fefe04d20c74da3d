//! How well words fit the names of tables and columns.

use crate::schema::Family;

/// Words that say of a name only what kind of thing it is.
const GENERIC: &[&str] = &[
    "kg", "cm", "mm", "km", "lb", "mg", "ml", "mb", "gb", "usd", "eur", "inr", "gbp", "percent", "second",
    "minut", "hour", "id", "name", "code", "number", "amount", "total", "valu", "type", "text", "title",
    "date", "time", "level", "flag",
];
/// Nouns that add nothing to the table they follow: `faculty members`, `order records`.
const PEOPLE: &[&str] = &["member", "record", "entry", "row", "person", "detail", "information"];

pub(super) fn same_set(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && a.iter().all(|stem| b.contains(stem)) && b.iter().all(|stem| a.contains(stem))
}

/// Written without a separator: `order items` and `orderitems`.
fn same_joined(name: &[String], run: &[String]) -> bool {
    name.len() != run.len() && (name.concat() == run.concat())
}

pub(super) fn table_score(name: &[String], run: &[String]) -> f64 {
    if same_set(name, run) || same_joined(name, run) {
        return 1.0;
    }
    let rest: Vec<String> = run.iter().filter(|stem| !PEOPLE.contains(&stem.as_str())).cloned().collect();
    if rest.len() < run.len() && same_set(name, &rest) {
        return 0.97;
    }
    // The head of a compound stands for it: `items` for `order_items`, never `order` for it.
    match (name, run) {
        ([.., head], [only]) if name.len() == 2 && head == only => 0.6,
        _ => 0.0,
    }
}

pub(super) fn column_score(name: &[String], run: &[String], table: &[Vec<String>]) -> f64 {
    if same_set(name, run) || same_joined(name, run) {
        return 1.0;
    }
    let owned = |stem: &String| table.iter().any(|name| name.contains(stem));
    let missing: Vec<&String> = name.iter().filter(|stem| !run.contains(stem)).collect();
    let extra: Vec<&String> = run.iter().filter(|stem| !name.contains(stem)).collect();
    // Words such as `number` alone find nothing of a longer name.
    let found = name.iter().any(|stem| {
        run.contains(stem) && (name.len() == 1 || !GENERIC.contains(&stem.as_str()) || owned(stem))
    });
    // `order total`: the table's word makes `total` one of its own.
    let led = !extra.is_empty() && extra.iter().all(|stem| owned(stem));
    let told = led || missing.iter().all(|stem| owned(stem));
    if missing.len() == name.len() || !(found || told) {
        return 0.0;
    }
    if extra.is_empty() {
        return if missing.iter().all(|stem| owned(stem)) {
            0.96
        } else if missing.iter().all(|stem| GENERIC.contains(&stem.as_str()) || owned(stem)) {
            if missing.iter().any(|stem| stem.as_str() == "id") { 0.7 } else { 0.88 }
        } else if name.last().is_some_and(|head| run.contains(head)) {
            0.68
        } else {
            0.5
        };
    }
    // `region name` for the region.
    if missing.is_empty() && extra.iter().all(|stem| stem.as_str() == "name") {
        return 0.97;
    }
    // The table's own word before the column's: `customer name`, `order total`.
    if extra.iter().all(|stem| owned(stem)) {
        // `bill amount` is an amount of bills, not of bill items.
        let whole = table.iter().any(|name| name.last().is_some_and(|head| extra.contains(&head)));
        return if missing.is_empty() && !whole {
            0.8
        } else if missing.is_empty() {
            1.04
        } else if missing.iter().all(|stem| GENERIC.contains(&stem.as_str())) {
            0.95
        } else {
            0.7
        };
    }
    0.0
}

/// `premium` for `is_premium`, `inactive` for `is_active`.
pub(super) fn flag(
    family: Family,
    names: &[Vec<String>],
    run: &[String],
    table: &[Vec<String>],
) -> Option<(bool, f64)> {
    if family != Family::Boolean {
        return None;
    }
    // `isactive` without a separator.
    let joined = |name: &Vec<String>| match name.as_slice() {
        [only] => ["is", "has"]
            .iter()
            .find_map(|lead| only.strip_prefix(lead))
            .filter(|rest| rest.len() >= 4)
            .map_or_else(|| name.clone(), |rest| vec![rest.to_owned()]),
        _ => name.clone(),
    };
    let bare = |name: &Vec<String>| {
        let name = &joined(name);
        let rest: Vec<String> = name
            .iter()
            .filter(|stem| {
                !matches!(stem.as_str(), "be" | "have" | "flag" | "can")
                    && !table.iter().any(|table| table.contains(stem))
            })
            .cloned()
            .collect();
        if rest.is_empty() { name.clone() } else { rest }
    };
    names.iter().find_map(|name| {
        let name = bare(name);
        if same_set(&name, run) {
            return Some((true, 0.98));
        }
        let (Some(first), Some(own)) = (run.first(), name.first()) else { return None };
        const OPPOSITE: &[(&str, &str)] =
            &[("open", "close"), ("open", "clos"), ("enabl", "disabl"), ("paid", "unpaid")];
        if run.len() == 1 && name.len() == 1 && OPPOSITE.iter().any(|(yes, no)| own == yes && first == no) {
            return Some((false, 0.96));
        }
        let negated = run.len() == name.len()
            && ["in", "un", "non", "dis"].iter().any(|lead| first.strip_prefix(lead) == Some(own.as_str()));
        (negated && run.get(1..) == name.get(1..)).then_some((false, 0.96))
    })
}
