//! Questions of a corpus asked again about something else: the same words with another value of the same column or another
//! number, and right answers to match.

use airlock_knowledge::pack::{EvaluationCase, Located};
use airlock_pipeline::Domain;
use airlock_types::{ColumnRef, ContentHash, Question};
use tokio_postgres::{Client, SimpleQueryMessage};

/// Values of a column that are looked at.
const VALUES: usize = 100;

/// Up to `count` variants of a question that has a right answer. The first literal of the right answer that the question
/// says just once is exchanged; what gives no row, or nothing but zeros, tells right from wrong badly and is left out.
pub async fn variants(
    case: &EvaluationCase,
    domain: &Domain,
    client: &Client,
    count: usize,
) -> Vec<EvaluationCase> {
    let Some(sql) = case.case.sql.as_ref().map(|sql| sql.value.as_str()) else { return Vec::new() };
    let Ok(approved) = domain.gate().check(sql) else { return Vec::new() };
    for literal in &approved.facts().literals {
        let old = literal.literal.trim_matches('%');
        let mut found = Vec::new();
        for new in others(case, &literal.column, old, client).await {
            let id = format!("{}~{}", case.case.id.value, found.len() + 1);
            let Some(variant) = with(case, old, &new, id) else { continue };
            if tells(client, &variant.case.sql.as_ref().unwrap().value).await {
                found.push(variant);
            }
            if found.len() == count {
                break;
            }
        }
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// What may stand in the place of a literal, in an order that only looks like chance.
async fn others(case: &EvaluationCase, column: &ColumnRef, old: &str, client: &Client) -> Vec<String> {
    if let Ok(number) = old.parse::<i64>() {
        return [-1, 1, 2, -2].iter().map(|step| (number + step).to_string()).collect();
    }
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let (schema, table) = (quoted(&column.table.schema), quoted(&column.table.name));
    let name = quoted(&column.column);
    let text = format!(
        "SELECT DISTINCT {name}::text FROM {schema}.{table} WHERE {name} IS NOT NULL ORDER BY 1 LIMIT {VALUES}"
    );
    let Ok(rows) = client.query(&text, &[]).await else { return Vec::new() };
    let plain = |value: &String| {
        (2..=40).contains(&value.len())
            && value.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '&' | '.'))
            && !value.eq_ignore_ascii_case(old)
    };
    let mut values: Vec<String> = rows.iter().map(|row| row.get(0)).filter(plain).collect();
    values.sort_by_key(|value| ContentHash::of(format!("{} {value}", case.case.id.value)).to_string());
    values
}

/// The question with another value; nothing unless it says the old one just once and each text compares with it.
fn with(case: &EvaluationCase, old: &str, new: &str, id: String) -> Option<EvaluationCase> {
    let number = old.parse::<f64>().is_ok();
    let question = case.case.question.as_str();
    let [(from, end)] = places(question, old, |c| !(c.is_alphanumeric() || c == '.'))[..] else {
        return None;
    };
    let said = format!("{}{new}{}", &question[..from], &question[end..]);
    let written = |sql: &Located<String>| {
        let apart = |c: char| matches!(c, '\'' | '%') || number && !(c.is_alphanumeric() || "._".contains(c));
        let mut text = sql.value.clone();
        let places = places(&text, old, apart);
        if places.is_empty() || number && places.len() > 1 {
            return None;
        }
        for (from, end) in places.into_iter().rev() {
            let lower = text[from..end].chars().all(|c| !c.is_uppercase());
            text.replace_range(from..end, &if lower { new.to_lowercase() } else { new.to_owned() });
        }
        Some(sql.clone().map(|_| text))
    };
    let mut variant = case.clone();
    variant.case.id.value = id;
    variant.case.question = Question::parse(&said).ok()?;
    variant.case.sql = Some(written(case.case.sql.as_ref()?)?);
    variant.case.accepted_sql = case.case.accepted_sql.iter().filter_map(written).collect();
    variant.check_sql = None;
    Some(variant)
}

/// Where a text stands by itself, whatever its case.
fn places(text: &str, part: &str, apart: impl Fn(char) -> bool) -> Vec<(usize, usize)> {
    let (lower, part) = (text.to_ascii_lowercase(), part.to_ascii_lowercase());
    let alone = |at: usize| {
        let before = lower[..at].chars().next_back();
        let after = lower[at + part.len()..].chars().next();
        before.is_none_or(&apart) && after.is_none_or(&apart)
    };
    let found = lower.match_indices(&part).map(|(at, _)| at).filter(|at| !part.is_empty() && alone(*at));
    found.map(|at| (at, at + part.len())).collect()
}

async fn tells(client: &Client, sql: &str) -> bool {
    let Ok(messages) = client.simple_query(sql).await else { return false };
    messages.iter().any(|message| match message {
        SimpleQueryMessage::Row(row) => {
            (0..row.len()).any(|at| row.get(at).is_some_and(|cell| cell.parse::<f64>() != Ok(0.0)))
        }
        _ => false,
    })
}
