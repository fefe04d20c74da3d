//! The questions of an evaluation: read, given their domains, and every right answer tried before anything is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use airlock_knowledge::pack::{EvaluationCase, Located, PackReport, Spot};
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
    /// What is wrong with the file itself, to be told with what is wrong with the questions that could be read.
    pub unread: PackReport,
}

/// Questions that can be asked, and what there is to say about the others.
#[derive(Debug, Default, Serialize)]
pub struct Prepared {
    /// In the order of the file.
    #[serde(skip)]
    pub questions: Vec<Asked>,
    /// What is wrong, in the order of the file, with what is left out because it was to be: lines, and further right answers
    /// of questions that are graded by the others.
    pub skipped: Vec<String>,
    /// How many lines these are.
    pub left_out: usize,
}

/// Something that is wrong, and its place in the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Wrong {
    spot: Spot,
    said: String,
    /// Whether the question can be graded without it: it is a further right answer.
    spare: bool,
}

impl Wrong {
    const fn line(spot: Spot, said: String) -> Self {
        Self { spot, said, spare: false }
    }
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
/// [`EvaluationError::Questions`] with everything that is wrong, by line, unless it is to be skipped;
/// [`EvaluationError::Infrastructure`] when a database does not answer.
pub async fn prepare(
    host: &Host,
    cases: Vec<EvaluationCase>,
    wanted: &Wanted,
    mut tried: impl FnMut(usize),
) -> Result<Prepared, EvaluationError> {
    let mut prepared = Prepared::default();
    let unread = &wanted.unread;
    let mut problems: Vec<Wrong> = unread
        .problems
        .iter()
        .map(|problem| Wrong::line(problem.spot.clone(), problem.to_string()))
        .collect();
    let bad_lines: BTreeSet<Spot> = problems.iter().map(|wrong| wrong.spot.clone()).collect();
    let mut domains: BTreeMap<DomainName, Arc<Domain>> = BTreeMap::new();
    for (at, mut case) in cases.into_iter().take(wanted.limit.unwrap_or(usize::MAX)).enumerate() {
        match place(host, &case, wanted, &mut domains) {
            Err(problem) => problems.push(problem),
            Ok(domain) => {
                let runner = Runner::new(host, &domain);
                let found = fit(&runner, &mut case).await?;
                if found.iter().all(|wrong| wrong.spare) && !bad_lines.contains(&case.case.id.spot) {
                    prepared.questions.push(Asked { case, domain: domain.name().clone() });
                }
                problems.extend(found);
            }
        }
        tried(at + 1);
    }
    problems.sort();
    // A file that is wrong as a whole has no lines that could be left out.
    let whole = unread.dropped > 0 || bad_lines.iter().any(|spot| spot.line == 0);
    let nothing = prepared.questions.is_empty();
    let lines: BTreeSet<&Spot> =
        problems.iter().filter(|wrong| !wrong.spare).map(|wrong| &wrong.spot).collect();
    prepared.left_out = lines.len();
    let mut told: Vec<String> = problems.into_iter().map(|wrong| wrong.said).collect();
    if unread.dropped > 0 {
        told.push(format!("and {} more problems: mend these first", unread.dropped));
    }
    if nothing && (told.is_empty() || wanted.skip_bad) {
        told.push("there is no question that can be asked".to_owned());
    }
    if !told.is_empty() && (nothing || whole || !wanted.skip_bad) {
        return Err(EvaluationError::Questions(told));
    }
    prepared.skipped = told;
    Ok(prepared)
}

/// The domain of a question.
fn place(
    host: &Host,
    case: &EvaluationCase,
    wanted: &Wanted,
    domains: &mut BTreeMap<DomainName, Arc<Domain>>,
) -> Result<Arc<Domain>, Wrong> {
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
        None => Wrong::line(id.spot.clone(), format!("{}: {error}", id.spot)),
    })?;
    domains.insert(domain.name().clone(), Arc::clone(&domain));
    Ok(domain)
}

fn unknown(host: &Host, db: &Located<String>) -> Wrong {
    let names: Vec<String> = host.domains().map(|domain| domain.name().to_string()).collect();
    let said = format!(
        "{}: there is no domain for the database `{}`; this host serves {}: name one with --map {}=DOMAIN",
        db.spot,
        shorten(&db.value, 60),
        names.join(", "),
        shorten(&db.value, 60),
    );
    Wrong::line(db.spot.clone(), said)
}

/// What is wrong with the right answers of a question. It keeps those of the further ones that can serve: by the others nothing
/// could be said of an answer.
async fn fit(runner: &Runner<'_>, case: &mut EvaluationCase) -> Result<Vec<Wrong>, EvaluationError> {
    let mut problems = Vec::new();
    let golden = &mut case.case;
    if let Some(gold) = &golden.sql {
        let check = case.check_sql.as_ref().map(|check| check.value.as_str());
        if let Some(why) = unfit(runner.fit(&gold.value, check, golden.ordered).await)? {
            let said =
                format!("{}: the right answer of `{}` cannot serve: {why}", gold.spot, golden.id.value);
            problems.push(Wrong::line(gold.spot.clone(), said));
        }
    }
    for accepted in std::mem::take(&mut golden.accepted_sql) {
        let Some(why) = unfit(runner.fit(&accepted.value, None, golden.ordered).await)? else {
            golden.accepted_sql.push(accepted);
            continue;
        };
        let said =
            format!("{}: a further right answer of `{}` cannot serve: {why}", accepted.spot, golden.id.value);
        problems.push(Wrong { spot: accepted.spot, said, spare: true });
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
