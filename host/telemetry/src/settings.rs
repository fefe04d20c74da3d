//! The `[telemetry]` table of the configuration, and the variables of OpenTelemetry that stand over it.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use thiserror::Error;

/// The table as written.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TelemetryTable {
    /// Address of an OTLP receiver over HTTP, up to and without `/v1/traces`. Absent: no traces.
    pub otlp_endpoint: Option<String>,
    /// Name of the environment variable with the headers of each request, `name=value,name=value`.
    pub headers_env: Option<String>,
    /// The service that traces are of.
    pub service_name: Option<String>,
    /// What traces hold of the SQL that ran.
    pub sql: SqlText,
    /// Whether questions, prompts, replies and sentences are in traces.
    pub content: bool,
    /// Where a trace can be looked at; `{trace_id}` stands for it.
    pub trace_url: Option<String>,
}

/// What traces hold of the SQL that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SqlText {
    /// Its text with every literal replaced.
    #[default]
    Masked,
    /// Its text.
    Full,
    /// Nothing.
    None,
}

/// What is seen, as it is meant.
#[derive(Debug, Clone, Default)]
pub struct TelemetrySettings {
    /// Traces, when they are wanted.
    pub traces: Option<TraceSettings>,
    /// Where a trace can be looked at.
    pub trace_url: Option<String>,
}

/// Where traces go, and what is in them.
#[derive(Clone)]
pub struct TraceSettings {
    /// Where they are posted.
    pub endpoint: String,
    /// Headers of each request; may hold a key, so `Debug` shows none.
    pub headers: HashMap<String, String>,
    /// The service that they are of.
    pub service_name: String,
    /// What they hold of SQL.
    pub sql: SqlText,
    /// Whether they hold what was said.
    pub content: bool,
}

impl fmt::Debug for TraceSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceSettings")
            .field("service_name", &self.service_name)
            .field("sql", &self.sql)
            .field("content", &self.content)
            .finish_non_exhaustive()
    }
}

/// What is wrong with the table. An address may hold a password: none is repeated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TelemetryError {
    /// Not an address.
    #[error("{0}: it is not an address such as http://127.0.0.1:4318")]
    Endpoint(&'static str),
    /// The variable is not set.
    #[error("telemetry.headers_env: the environment variable `{0}` is not set")]
    HeadersVariable(String),
    /// What the variable holds are no headers.
    #[error("telemetry.headers_env: `{0}` must hold headers such as authorization=Basic%20...,x-tenant=7")]
    Headers(String),
    /// Not a template.
    #[error(
        "telemetry.trace_url: it is an address with {{trace_id}} in it, such as https://traces.example/trace/{{trace_id}}"
    )]
    TraceUrl,
}

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const SIGNAL: &str = "/v1/traces";

impl TelemetryTable {
    /// Gives meaning to the table. `variable` reads an environment variable.
    ///
    /// # Errors
    /// [`TelemetryError`] naming the key.
    pub fn resolve(
        self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<TelemetrySettings, TelemetryError> {
        if let Some(url) = &self.trace_url {
            let address = url.starts_with("http://") || url.starts_with("https://");
            if !address || !url.contains("{trace_id}") {
                return Err(TelemetryError::TraceUrl);
            }
        }
        let trace_url = self.trace_url.clone();
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        if set("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(TelemetrySettings { traces: None, trace_url });
        }
        // The variable of the signal holds the whole address, the general one what comes before it.
        let (name, given) = match (set(TRACES_ENDPOINT), set(ENDPOINT), self.otlp_endpoint.clone()) {
            (Some(whole), _, _) => (TRACES_ENDPOINT, whole),
            (None, Some(base), _) => (ENDPOINT, base),
            (None, None, Some(base)) => ("telemetry.otlp_endpoint", base),
            (None, None, None) => return Ok(TelemetrySettings { traces: None, trace_url }),
        };
        let known = reqwest::Url::parse(given.trim())
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        if !known {
            return Err(TelemetryError::Endpoint(name));
        }
        let endpoint = if name == TRACES_ENDPOINT { given } else { with_signal(&given) };
        let headers = match &self.headers_env {
            None => HashMap::new(),
            Some(name) => {
                let value = variable(name).ok_or_else(|| TelemetryError::HeadersVariable(name.clone()))?;
                headers(&value).ok_or_else(|| TelemetryError::Headers(name.clone()))?
            }
        };
        let service_name =
            set("OTEL_SERVICE_NAME").or(self.service_name).unwrap_or_else(|| "airlock".to_owned());
        let traces = TraceSettings { endpoint, headers, service_name, sql: self.sql, content: self.content };
        Ok(TelemetrySettings { traces: Some(traces), trace_url })
    }
}

fn with_signal(base: &str) -> String {
    let base = base.trim().trim_end_matches('/');
    if base.ends_with(SIGNAL) { base.to_owned() } else { format!("{base}{SIGNAL}") }
}

/// Headers in the form of the variable of OpenTelemetry: values are percent-encoded.
fn headers(text: &str) -> Option<HashMap<String, String>> {
    let pairs = text.split(',').filter(|pair| !pair.trim().is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=')?;
            let name = name.trim();
            (!name.is_empty()).then_some(())?;
            Some((name.to_ascii_lowercase(), decoded(value.trim())?))
        })
        .collect()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
        out.push(u8::try_from(high * 16 + low).ok()?);
    }
    let text = String::from_utf8(out).ok()?;
    text.chars().all(|c| !c.is_control()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(
        table: TelemetryTable,
        variables: &[(&str, &str)],
    ) -> Result<TelemetrySettings, TelemetryError> {
        table.resolve(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn at(endpoint: &str) -> TelemetryTable {
        TelemetryTable { otlp_endpoint: Some(endpoint.to_owned()), ..TelemetryTable::default() }
    }

    #[test]
    fn the_environment_stands_over_the_table_and_nothing_means_no_traces() {
        assert!(resolve(TelemetryTable::default(), &[]).unwrap().traces.is_none());
        for (table, variables, want) in [
            (at("http://a:1"), vec![], "http://a:1/v1/traces"),
            (at("http://a:1/otel/"), vec![], "http://a:1/otel/v1/traces"),
            (at("http://a:1/v1/traces"), vec![], "http://a:1/v1/traces"),
            (at("http://a:1"), vec![(ENDPOINT, "http://b:2")], "http://b:2/v1/traces"),
            (at("http://a:1"), vec![(TRACES_ENDPOINT, "http://c:3/in"), (ENDPOINT, "x")], "http://c:3/in"),
            (at("http://a:1"), vec![(ENDPOINT, " ")], "http://a:1/v1/traces"),
        ] {
            assert_eq!(resolve(table, &variables).unwrap().traces.unwrap().endpoint, want);
        }
        let off = resolve(at("http://a:1"), &[("OTEL_SDK_DISABLED", "TRUE")]).unwrap();
        assert!(off.traces.is_none());
        let named = resolve(at("http://a:1"), &[("OTEL_SERVICE_NAME", "desk")]).unwrap();
        assert_eq!(named.traces.unwrap().service_name, "desk");
    }

    #[test]
    fn headers_come_from_the_environment_and_are_never_shown() {
        let table = TelemetryTable { headers_env: Some("H".to_owned()), ..at("http://a:1") };
        let settings = resolve(table.clone(), &[("H", "Authorization=Basic%20c2VjcmV0, x-a = b")]).unwrap();
        let traces = settings.traces.clone().unwrap();
        assert_eq!(traces.headers["authorization"], "Basic c2VjcmV0");
        assert_eq!(traces.headers["x-a"], "b");
        assert!(!format!("{settings:?}").contains("c2VjcmV0"));
        let unset = resolve(table.clone(), &[]).unwrap_err();
        assert_eq!(unset, TelemetryError::HeadersVariable("H".to_owned()));
        for bad in ["secret", "=b", "a=%2", "a=%0a"] {
            let error = resolve(table.clone(), &[("H", bad)]).unwrap_err();
            assert_eq!(error, TelemetryError::Headers("H".to_owned()), "{bad}");
        }
    }

    #[test]
    fn a_mistake_is_named_by_its_key_and_an_address_is_not_repeated() {
        for bad in ["collector:4318", "ftp://user:secret@a", "", "http://"] {
            let error = resolve(at(bad), &[]).unwrap_err().to_string();
            assert!(error.starts_with("telemetry.otlp_endpoint") && !error.contains("secret"), "{error}");
        }
        for bad in ["traces.example/{trace_id}", "https://traces.example/"] {
            let table = TelemetryTable { trace_url: Some(bad.to_owned()), ..TelemetryTable::default() };
            assert_eq!(resolve(table, &[]).unwrap_err(), TelemetryError::TraceUrl);
        }
    }
}
