//! What operators and a running host say to each other: one JSON object a line.
//!
//! A connection carries one request; the host answers with any number of [`Reply::Graded`] and one last reply.

use std::path::PathBuf;

use airlock_pipeline::golden::Verdict;
use airlock_pipeline::{Quarantined, Served, ShadowReport};
use airlock_runtime::{DomainScope, Stage};
use airlock_types::{ContentHash, DomainName};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::plugins::Listed;

/// Bytes of a request's line.
pub const REQUEST_LIMIT: u64 = 64 << 10;
/// Bytes of a reply's line.
pub const REPLY_LIMIT: u64 = 8 << 20;

/// What an operator wants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// To know what serves.
    Status,
    /// Another component for a stage.
    Swap {
        /// The stage.
        stage: Stage,
        /// The domains.
        domains: DomainScope,
        /// The component's file, as the host sees it.
        file: PathBuf,
        /// Golden cases to replay first.
        #[serde(default)]
        verify: Option<Cases>,
        /// Whether to go on although a case got worse.
        #[serde(default)]
        force: bool,
        /// Only run it beside what serves, this many times.
        #[serde(default)]
        shadow: Option<u32>,
    },
    /// What served a stage before.
    Rollback {
        /// The stage.
        stage: Stage,
        /// The domains.
        domains: DomainScope,
    },
}

/// Which golden cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cases {
    /// Those of the pack of every domain that the swap is about.
    Packs,
    /// Those of a file, as the host sees it.
    File(PathBuf),
}

/// What the host says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// A golden case was graded.
    Graded(CaseGraded),
    /// What serves.
    Status(Status),
    /// The component serves.
    Swapped(Swapped),
    /// What served before serves again.
    RolledBack(RolledBack),
    /// The component runs beside what serves.
    Shadowing {
        /// It.
        candidate: Served,
        /// How often it will.
        runs: u32,
    },
    /// Nothing was changed, for a reason that the operator can mend.
    Refused {
        /// The reason.
        why: String,
        /// The golden cases, when they are the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verified: Option<Verified>,
    },
    /// Nothing was changed, because of something else.
    Failed {
        /// The reason.
        why: String,
    },
}

/// A golden case on one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseGraded {
    /// The domain.
    pub domain: DomainName,
    /// The case.
    pub case: String,
    /// Whether the candidate was in service; otherwise what serves was.
    pub candidate: bool,
    /// Components that took part.
    #[serde(skip)]
    pub components: Vec<ContentHash>,
    /// How it came out.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// How what serves and a candidate did on golden cases.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Verified {
    /// Cases.
    pub cases: usize,
    /// Right with what serves.
    pub right_before: usize,
    /// Right with the candidate.
    pub right_after: usize,
    /// Cases in which the candidate was called at all.
    pub reached: usize,
    /// Right before and not after.
    pub regressions: Vec<CaseGraded>,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swapped {
    /// The stage.
    pub stage: Stage,
    /// The domains.
    pub domains: DomainScope,
    /// What served before.
    pub from: Option<Served>,
    /// What serves now.
    pub to: Served,
    /// The difference of their grants, `+` and `-`.
    pub grant: Vec<String>,
    /// The golden cases, when they were replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// Whether it went in although something got worse.
    pub forced: bool,
}

/// A way back that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RolledBack {
    /// The stage.
    pub stage: Stage,
    /// The domains.
    pub domains: DomainScope,
    /// What served.
    pub from: Option<Served>,
    /// What serves now.
    pub to: Option<Served>,
    /// Why this is not on disk, when it is not: a host that dies before it is comes back with what served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unwritten: Option<String>,
}

/// What serves now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Components that serve.
    pub components: Vec<Listed>,
    /// Components in quarantine.
    pub quarantined: Vec<Quarantined>,
    /// Candidates that run beside others.
    pub shadows: Vec<ShadowReport>,
}

/// Reads one line; `None` at the end of the stream.
///
/// # Errors
/// When the line is longer than `limit` or is not what was expected.
pub async fn receive<T: for<'de> Deserialize<'de>>(
    from: &mut (impl AsyncBufRead + Unpin),
    limit: u64,
) -> std::io::Result<Option<T>> {
    let invalid = |why: String| std::io::Error::new(std::io::ErrorKind::InvalidData, why);
    let mut line = Vec::new();
    from.take(limit).read_until(b'\n', &mut line).await?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        return Err(invalid(format!("a line must end within {limit} bytes")));
    }
    serde_json::from_slice(&line).map(Some).map_err(|error| invalid(error.to_string()))
}

/// Writes one line.
///
/// # Errors
/// When the other side is gone.
pub async fn send(to: &mut (impl AsyncWrite + Unpin), value: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line).await?;
    to.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_is_bounded_and_is_one_request() {
        let swap = r#"{"do":"swap","stage":"repair","domains":"*","file":"/c.wasm","shadow":5}"#;
        let long = format!("{{\"do\":\"status\"{}}}\n", " ".repeat(100));
        for (text, want) in [
            ("{\"do\":\"status\"}\n".to_owned(), Ok(true)),
            (format!("{swap}\n"), Ok(true)),
            (String::new(), Ok(false)),
            ("{\"do\":\"status\"}".to_owned(), Err("end within")),
            (long, Err("end within")),
            ("{\"do\":\"delete\"}\n".to_owned(), Err("unknown variant")),
            (swap.replace("shadow", "shade") + "\n", Err("unknown field")),
            (swap.replace("repair", "repairs") + "\n", Err("unknown variant")),
            (swap.replace('*', "No Domain") + "\n", Err("is not a domain name")),
        ] {
            let got = receive::<Request>(&mut text.as_bytes(), 96).await;
            match (got, want) {
                (Ok(request), Ok(some)) => assert_eq!(request.is_some(), some, "{text}"),
                (Err(error), Err(word)) => assert!(error.to_string().contains(word), "{text}: {error}"),
                (got, want) => panic!("{text}: {got:?}, not {want:?}"),
            }
        }
    }
}
