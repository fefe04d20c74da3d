//! Golden cases replayed on what serves and on a candidate, before anything changes.

use std::path::Path;
use std::sync::Arc;

use airlock_knowledge::pack::{GoldenCase, limits, read_golden};
use airlock_pipeline::golden::{Runner, Verdict};
use airlock_pipeline::{Domain, Host};
use airlock_runtime::{DomainScope, StageSet};
use airlock_types::ContentHash;
use tokio::sync::mpsc::Sender;

use super::protocol::{CaseGraded, Cases, Verified};

/// Why nobody can say how a candidate does.
pub(super) enum Unverified {
    /// For a reason that the operator can mend.
    Refused(String),
    /// Something was down.
    Infrastructure(String),
}

/// Grades each case with what serves, then with the candidate, and tells each as it is done.
pub(super) async fn replay(
    host: &Host,
    scope: &DomainScope,
    cases: &Cases,
    serving: &Arc<StageSet>,
    trial: StageSet,
    candidate: ContentHash,
    told: Sender<CaseGraded>,
) -> Result<Verified, Unverified> {
    let trial = Arc::new(trial);
    let mut verified = Verified::default();
    for (domain, cases) in chosen(host, scope, cases)? {
        let runner = Runner::new(host, &domain);
        for case in &cases {
            let before = grade(&runner, &domain, case, serving, false, &told).await?;
            let after = grade(&runner, &domain, case, &trial, true, &told).await?;
            verified.cases += 1;
            verified.reached += usize::from(after.components.contains(&candidate));
            verified.right_before += usize::from(before.verdict.is_right());
            verified.right_after += usize::from(after.verdict.is_right());
            if before.verdict.is_right() && !after.verdict.is_right() {
                verified.regressions.push(after);
            }
        }
    }
    Ok(verified)
}

async fn grade(
    runner: &Runner<'_>,
    domain: &Domain,
    case: &GoldenCase,
    stages: &Arc<StageSet>,
    candidate: bool,
    told: &Sender<CaseGraded>,
) -> Result<CaseGraded, Unverified> {
    let graded = runner.grade(case, stages).await;
    if let Verdict::Infrastructure { why } = &graded.verdict {
        return Err(Unverified::Infrastructure(format!(
            "the golden case `{}` could not be replayed, so nothing was changed: {why}",
            graded.id
        )));
    }
    let used = graded.answer.iter().flat_map(|answer| &answer.components);
    let graded = CaseGraded {
        domain: domain.name().clone(),
        case: graded.id,
        candidate,
        components: used.map(|used| used.digest).collect(),
        verdict: graded.verdict,
    };
    let gone = |_| Unverified::Refused("the operator went away, so nothing was changed".to_owned());
    told.send(graded.clone()).await.map_err(gone)?;
    Ok(graded)
}

type Chosen = Vec<(Arc<Domain>, Vec<GoldenCase>)>;

fn chosen(host: &Host, scope: &DomainScope, cases: &Cases) -> Result<Chosen, Unverified> {
    let domains: Vec<Arc<Domain>> = host.domains().filter(|domain| scope.holds(domain.name())).collect();
    let chosen: Chosen = match (cases, domains.as_slice()) {
        (Cases::Packs, _) => domains
            .into_iter()
            .map(|domain| {
                let cases = domain.golden().to_vec();
                (domain, cases)
            })
            .collect(),
        (Cases::File(file), [domain]) => vec![(Arc::clone(domain), read(file)?)],
        (Cases::File(_), _) => {
            return Err(Unverified::Refused(
                "--verify FILE: name the domain of the cases with --domain; this host serves several"
                    .to_owned(),
            ));
        }
    };
    if chosen.iter().all(|(_, cases)| cases.is_empty()) {
        if let Cases::File(file) = cases {
            let why = format!("--verify: {} holds no golden case: write some, one a line", file.display());
            return Err(Unverified::Refused(why));
        }
        return Err(Unverified::Refused(
            "there are no golden cases to replay: add some to golden.jsonl of the pack, or name a file"
                .to_owned(),
        ));
    }
    Ok(chosen)
}

fn read(file: &Path) -> Result<Vec<GoldenCase>, Unverified> {
    use std::io::Read;
    let unread = |error: std::io::Error| {
        Unverified::Refused(format!("--verify: the host cannot read {}: {error}", file.display()))
    };
    let mut bytes = Vec::new();
    // Opening a pipe waits for somebody to write, and nobody may.
    if !std::fs::metadata(file).map_err(unread)?.is_file() {
        return Err(Unverified::Refused(format!("--verify: {} is not a file", file.display())));
    }
    let opened = std::fs::File::open(file).map_err(unread)?;
    opened.take(limits::FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unread)?;
    read_golden(&file.display().to_string(), bytes)
        .map_err(|report| Unverified::Refused(format!("--verify: the cases are wrong:\n{report}")))
}
