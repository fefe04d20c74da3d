//! The questions of an evaluation: read, given their domains, and every right answer tried before anything is asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use airlock_knowledge::pack::{EvaluationCase, Located};
use airlock_pipeline::golden::{Runner, Unfit};
use airlock_pipeline::{Domain, Host};
use airlock_types::DomainName;
use airlock_types::text::shorten;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::EvaluationError;

/// A question and the domain it is asked of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The question and its right answers.
    pub case: EvaluationCase,
    /// The domain.
    pub domain: DomainName,
}

/// What is wanted of a list of questions.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The domain of a question that names no database.
    pub domain: Option<DomainName>,
    /// Domains by database, where they have not the same name.
    pub map: BTreeMap<String, DomainName>,
    /// No more than this many.
    pub limit: Option<usize>,
    /// Leave out what cannot be used instead of asking nothing.
    pub skip_bad: bool,
}

/// Questions that can be asked, and what there is to say about the others.
#[derive(Debug, Default, Serialize)]
pub struct Prepared {
    /// In the order of the file.
    #[serde(skip)]
    pub questions: Vec<Asked>,
    /// Further right answers that cannot serve; the question is graded by the others.
    pub warnings: Vec<String>,
    /// Questions that are left out because they were to be.
    pub skipped: Vec<String>,
}

impl Asked {
    /// The line that stands for it in the folder of a run: read again as any file of questions is.
    pub(crate) fn line(&self) -> Value {
        let EvaluationCase { case, set, category, instructions, check_sql, .. } = &self.case;
        let text = |text: &Located<String>| text.value.clone();
        json!({
            "id": case.id.value, "db": self.domain, "set": set, "category": category,
            "question": case.question.as_str(), "instructions": instructions,
            "outcome": case.outcome, "gold_sql": case.sql.as_ref().map(text),
            "accepted_sql": case.accepted_sql.iter().map(text).collect::<Vec<_>>(),
            "check_sql": check_sql.as_ref().map(text), "order_matters": case.ordered, "now": case.now,
        })
    }
}

/// Gives each question its domain and runs every right answer.
///
/// # Errors
/// [`EvaluationError::Questions`] with every question that cannot be used, unless they are to be skipped;
/// [`EvaluationError::Infrastructure`] when a database does not answer.
pub async fn prepare(
    host: &Host,
    cases: Vec<EvaluationCase>,
    wanted: &Wanted,
    mut tried: impl FnMut(usize),
) -> Result<Prepared, EvaluationError> {
    let mut prepared = Prepared::default();
    let mut problems = Vec::new();
    let mut domains: BTreeMap<DomainName, Arc<Domain>> = BTreeMap::new();
    for (at, case) in cases.into_iter().take(wanted.limit.unwrap_or(usize::MAX)).enumerate() {
        match place(host, &case, wanted, &mut domains) {
            Err(problem) => problems.push(problem),
            Ok(domain) => {
                let runner = Runner::new(host, &domain);
                let found = fit(&runner, &case, &mut prepared.warnings).await?;
                if found.is_empty() {
                    prepared.questions.push(Asked { case, domain: domain.name().clone() });
                } else {
                    problems.extend(found);
                }
            }
        }
        tried(at + 1);
    }
    if wanted.skip_bad {
        prepared.skipped = problems;
    } else if !problems.is_empty() {
        return Err(EvaluationError::Questions(problems));
    }
    if prepared.questions.is_empty() {
        return Err(EvaluationError::Questions(vec!["there is no question that can be asked".to_owned()]));
    }
    Ok(prepared)
}

/// The domain of a question.
fn place(
    host: &Host,
    case: &EvaluationCase,
    wanted: &Wanted,
    domains: &mut BTreeMap<DomainName, Arc<Domain>>,
) -> Result<Arc<Domain>, String> {
    let id = &case.case.id;
    let name = match &case.db {
        Some(db) => match wanted.map.get(&db.value) {
            Some(domain) => Some(domain.clone()),
            // A domain's name has hyphens where a database's has low lines.
            None => Some(db.value.replace('_', "-").parse().map_err(|_| unknown(host, db))?),
        },
        None => wanted.domain.clone(),
    };
    if let Some(known) = name.as_ref().and_then(|name| domains.get(name)) {
        return Ok(Arc::clone(known));
    }
    let domain = host.domain(name.as_ref()).map_err(|error| match &case.db {
        Some(db) => unknown(host, db),
        None => format!("{}: {error}", id.spot),
    })?;
    domains.insert(domain.name().clone(), Arc::clone(&domain));
    Ok(domain)
}

fn unknown(host: &Host, db: &Located<String>) -> String {
    let names: Vec<String> = host.domains().map(|domain| domain.name().to_string()).collect();
    format!(
        "{}: there is no domain for the database `{}`; this host serves {}: name one with --map {}=DOMAIN",
        db.spot,
        shorten(&db.value, 60),
        names.join(", "),
        shorten(&db.value, 60),
    )
}

/// What is wrong with the right answers of a question.
async fn fit(
    runner: &Runner<'_>,
    case: &EvaluationCase,
    warnings: &mut Vec<String>,
) -> Result<Vec<String>, EvaluationError> {
    let mut problems = Vec::new();
    let golden = &case.case;
    if let Some(gold) = &golden.sql {
        let check = case.check_sql.as_ref().map(|check| check.value.as_str());
        if let Some(why) = unfit(runner.fit(&gold.value, check, golden.ordered).await)? {
            problems.push(format!(
                "{}: the right answer of `{}` cannot serve: {why}",
                gold.spot, golden.id.value
            ));
        }
    }
    for accepted in &golden.accepted_sql {
        if let Some(why) = unfit(runner.fit(&accepted.value, None, golden.ordered).await)? {
            warnings.push(format!(
                "{}: a further right answer of `{}` cannot serve: {why}",
                accepted.spot, golden.id.value
            ));
        }
    }
    Ok(problems)
}

fn unfit(tried: Result<(), Unfit>) -> Result<Option<String>, EvaluationError> {
    match tried {
        Ok(()) => Ok(None),
        Err(Unfit::Text(why)) => Ok(Some(why)),
        Err(Unfit::Infrastructure(why)) => Err(EvaluationError::Infrastructure(format!(
            "the right answers cannot be tried, so nothing was asked: {why}"
        ))),
    }
}
