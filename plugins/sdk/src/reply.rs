//! Reading what a model said.

use serde::de::DeserializeOwned;

use crate::contract::model::{Exchange, ModelFailure, ModelOutcome, ModelReply};

/// How many places of a reply are tried as the start of a JSON object.
const STARTS: usize = 64;

/// The reply of the last exchange, or why there is none; absent before the first question.
#[must_use]
pub fn last(exchanges: &[Exchange]) -> Option<Result<&ModelReply, &ModelFailure>> {
    exchanges.last().map(|exchange| match &exchange.outcome {
        ModelOutcome::Reply(reply) => Ok(reply),
        ModelOutcome::Failed(failure) => Err(failure),
    })
}

/// How many requests of this purpose were made already.
#[must_use]
pub fn asked(exchanges: &[Exchange], purpose: &str) -> usize {
    exchanges.iter().filter(|exchange| exchange.request.purpose == purpose).count()
}

/// The first JSON object in a reply that fits `T`: the whole text, or what stands in a fence or between sentences.
///
/// # Errors
/// One sentence, fit to be shown to the model in a second request.
pub fn json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut reason = "the reply has no JSON object".to_owned();
    let mut from = 0;
    for _ in 0..STARTS {
        let Some(start) = text.get(from..).and_then(|rest| rest.find('{')).map(|at| from + at) else { break };
        let candidate = text.get(start..).unwrap_or_default();
        let mut objects = serde_json::Deserializer::from_str(candidate).into_iter::<T>();
        match objects.next() {
            Some(Ok(value)) => return Ok(value),
            Some(Err(error)) if error.is_data() => reason = format!("the JSON object does not fit: {error}"),
            Some(Err(_)) | None => {}
        }
        from = start + 1;
    }
    Err(reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Choice {
        table: String,
    }

    #[test]
    fn json_is_found_wherever_it_stands() {
        for text in [
            r#"{"table":"bills"}"#,
            "```json\n{\"table\": \"bills\"}\n```",
            "Sure {as you wish}: {\"table\": \"bills\"} and that is all.",
            r#"{"other": 1} {"table":"bills"}"#,
        ] {
            assert_eq!(json::<Choice>(text), Ok(Choice { table: "bills".into() }), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, want) in [("no", "the reply has no JSON object"), (r#"{"a":1}"#, "missing field `table`")]
        {
            let reason = json::<Choice>(text).unwrap_err();
            assert!(reason.contains(want), "{reason}");
        }
    }
}
