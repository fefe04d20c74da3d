//! `airlock plugin test`: the cases of a stage, and an author's own, on the real runtime with its real limits.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_conformance::{Case, Library, author, library, play, suite};
use airlock_kit::project::{self, Project};
use airlock_pipeline::services::DomainServices;
use airlock_runtime::{Services, Stage};
use serde_json::json;

use super::{granted, parse_stage, read_component};
use crate::cli::TestPlugin;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::{boot, output};

/// Questions of a domain that become cases.
const QUESTIONS: usize = 20;

/// Runs the cases.
///
/// # Errors
/// When a file cannot be read, or the domain cannot be opened.
pub async fn run(
    test: TestPlugin,
    config: impl FnOnce() -> anyhow::Result<Config>,
    json: bool,
) -> anyhow::Result<Exit> {
    let project = match test.component.is_dir() {
        true => Some(Project::read(&test.component).map_err(usage)?),
        false => None,
    };
    let file = project.as_ref().map_or_else(|| test.component.clone(), Project::component);
    if project.is_some() && !file.is_file() {
        return Err(usage(format!("{} is not there: `airlock plugin build` makes it", file.display())));
    }
    let bytes = read_component(&file)?;
    let mut grant = match granted::find(&file, &bytes, test.grants.as_deref())? {
        Ok(tried) => tried.grant,
        Err(why) => return super::refuse(&why, json),
    };
    let wanted = test.stage.as_deref().map(parse_stage).transpose()?;
    if let Some(stage) = wanted {
        grant.stages = [stage].into();
    }
    let runtime = boot::runtime_of_authors()?;
    let component = match runtime.load(&bytes, &grant) {
        Ok(component) => component,
        Err(error) => return super::refuse(&error.to_string(), json),
    };
    let (services, questions) = host(test.domain, config).await?;
    let own = own_cases(test.cases, &file);
    let (mut passed, mut all) = (0, 0);
    for stage in component.stages() {
        let mut cases = suite(*stage, &questions);
        if let Some(path) = &own {
            cases.extend(read_cases(*stage, path)?);
        }
        for case in &cases {
            let outcome = play(&runtime, &component, *stage, &services, case).await;
            all += 1;
            passed += usize::from(outcome.passed);
            if json {
                let mut value = serde_json::to_value(&outcome)?;
                if let Some(fields) = value.as_object_mut() {
                    fields.insert("stage".to_owned(), json!(stage));
                }
                output::json(&value)?;
            } else {
                // Where a trap was is told with --json.
                let what = outcome.what.lines().next().unwrap_or_default();
                let word = if outcome.passed { "ok  " } else { "FAIL" };
                output::line(format!(
                    "{word}  {stage}/{:<34} {:>7.2} ms  {}",
                    outcome.case, outcome.compute_ms, what
                ))?;
            }
        }
    }
    let ok = passed == all && all > 0;
    if json {
        output::json(&json!({"ok": ok, "cases": all, "passed": passed}))?;
    } else {
        output::line(format!("{passed} of {all} cases"))?;
    }
    Ok(if ok { Exit::Done } else { Exit::No })
}

/// What is looked up: in a domain with its live catalogue, knowledge and gate, or in the small library.
async fn host(
    domain: Option<String>,
    config: impl FnOnce() -> anyhow::Result<Config>,
) -> anyhow::Result<(Arc<dyn Services>, Vec<String>)> {
    let Some(name) = domain else { return Ok((Library::of(library()), Vec::new())) };
    let config = config()?;
    let packs = boot::packs(&config)?;
    let pack = packs.iter().find(|pack| pack.name.as_str() == name).ok_or_else(|| {
        let known: Vec<&str> = packs.iter().map(|pack| pack.name.as_str()).collect();
        usage(format!("--domain: there is no domain `{name}` in this configuration: {}", known.join(", ")))
    })?;
    let domain = boot::open(&config, &mut std::collections::BTreeMap::new(), pack).await?;
    let questions =
        domain.golden().iter().map(|case| case.question.as_str().to_owned()).take(QUESTIONS).collect();
    Ok((Arc::new(DomainServices::new(Arc::new(domain))), questions))
}

/// The author's cases: those that were named, or those of the project that the component lies in.
fn own_cases(named: Option<PathBuf>, file: &Path) -> Option<PathBuf> {
    let beside = || {
        let cases = file.with_file_name("cases.json");
        (file.with_file_name(project::FILE).is_file() && cases.is_file()).then_some(cases)
    };
    named.or_else(beside)
}

fn read_cases(stage: Stage, path: &Path) -> anyhow::Result<Vec<Case>> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| usage(format!("{} cannot be read: {error}", path.display())))?;
    author::read(stage, &text).map_err(|why| usage(format!("{}: {why}", path.display())))
}
