//! What is demanded of the step a stage ends with, beyond the bounds that the runtime holds it to.

use airlock_runtime::Stage;
use serde_json::Value;

use crate::cases::Case;

/// A switch of an input.
pub(crate) fn flag(input: &Value, name: &str) -> bool {
    input.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// A last step: what it was in a word, or what is wrong with it.
pub(crate) fn done(stage: Stage, case: &Case, step: &Value) -> Result<String, String> {
    shape(stage, case, step)?;
    if let Some(wanted) = &case.expect_error {
        return Err(format!("it returned {step}, and the error `{wanted}` was wanted"));
    }
    if let Some(expected) = &case.expect {
        fits(expected, step, "result")?;
    }
    Ok(word(step))
}

/// A step that asks when there are no more replies.
pub(crate) fn asked(case: &Case, step: &Value) -> Result<String, String> {
    match &case.expect {
        Some(expected) => fits(expected, step, "result").map(|()| word(step)),
        None => Ok(word(step)),
    }
}

fn word(step: &Value) -> String {
    match step {
        Value::Object(fields) => fields.keys().next().cloned().unwrap_or_default(),
        Value::Array(items) => format!("{} items", items.len()),
        Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}

fn shape(stage: Stage, case: &Case, step: &Value) -> Result<(), String> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let of = |name: &str, field: &str| step.get(name).map(|inner| text(inner.get(field)));
    match stage {
        Stage::Linker => {
            let width = case.input.get("width").and_then(Value::as_u64).unwrap_or(u64::MAX);
            let tables = step.get("Done").and_then(|done| done.get("tables")).and_then(Value::as_array);
            let tables = tables.map_or(0, Vec::len) as u64;
            (tables <= width)
                .then_some(())
                .ok_or_else(|| format!("it selected {tables} tables, at most {width} are wanted"))
        }
        Stage::Generator | Stage::Composer => match of("Done", "sql") {
            Some(sql) if sql.is_empty() => {
                Err("its draft has no SQL: what cannot be drafted is refused".to_owned())
            }
            _ => Ok(()),
        },
        Stage::Repair => {
            let tried = case.input.get("attempts").and_then(Value::as_array).into_iter().flatten();
            let tried: Vec<String> = tried.map(|attempt| text(attempt.get("sql"))).collect();
            match of("Rewrite", "sql") {
                Some(sql) if sql.is_empty() => Err("its rewrite has no SQL".to_owned()),
                Some(sql) if tried.contains(&sql) => {
                    Err("its rewrite is a text that was tried already".to_owned())
                }
                _ => Ok(()),
            }
        }
        Stage::Answerer => match of("Done", "text") {
            Some(text) if text.is_empty() => Err("its answer has no text".to_owned()),
            _ => Ok(()),
        },
        Stage::Domain if case.function == "canonicalize" => {
            let question = text(case.input.get("question"));
            let strange = step.as_array().into_iter().flatten().find(|found| {
                let matched = text(found.get("matched"));
                matched.is_empty() || !question.contains(&matched)
            });
            match strange {
                Some(found) => {
                    Err(format!("`matched` of {found} are no words of the question: the host drops it"))
                }
                None => Ok(()),
            }
        }
        Stage::Planner | Stage::Distill | Stage::Domain => Ok(()),
    }
}

/// Whether a value has what is expected: the named fields of an object, all items of a list in their order. A text that begins
/// with `~` is one that the value has to contain.
pub(crate) fn fits(expected: &Value, value: &Value, at: &str) -> Result<(), String> {
    match (expected, value) {
        (Value::Object(expected), Value::Object(value)) => {
            expected.iter().try_for_each(|(name, expected)| {
                let found = value.get(name).ok_or_else(|| {
                    let known: Vec<&str> = value.keys().map(String::as_str).collect();
                    format!("{at} has no `{name}`, it has {}", known.join(", "))
                })?;
                fits(expected, found, &format!("{at}.{name}"))
            })
        }
        (Value::Array(expected), Value::Array(value)) if expected.len() == value.len() => expected
            .iter()
            .zip(value)
            .enumerate()
            .try_for_each(|(n, (expected, found))| fits(expected, found, &format!("{at}[{n}]"))),
        (Value::String(expected), Value::String(value))
            if expected.strip_prefix('~').is_some_and(|part| value.contains(part)) =>
        {
            Ok(())
        }
        (expected, value) if expected == value => Ok(()),
        (expected, value) => Err(format!("{at} is {value}, not {expected}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_is_expected_and_the_place_of_a_difference_is_told() {
        let value = json!({"Done": {"sql": "SELECT 1", "used": ["a", "b"], "confidence": 0.5}});
        for (expected, want) in [
            (json!({"Done": {"sql": "SELECT 1"}}), None),
            (json!({"Done": {"sql": "~LECT", "used": ["a", "b"]}}), None),
            (json!({"Done": {"used": ["a"]}}), Some("result.Done.used is [\"a\",\"b\"], not [\"a\"]")),
            (json!({"Done": {"used": ["a", "c"]}}), Some("result.Done.used[1] is \"b\"")),
            (json!({"Refuse": {}}), Some("result has no `Refuse`, it has Done")),
        ] {
            let found = fits(&expected, &value, "result").err();
            assert_eq!(found.is_some(), want.is_some(), "{expected}: {found:?}");
            assert!(want.is_none_or(|want| found.unwrap_or_default().contains(want)), "{expected}");
        }
    }
}
