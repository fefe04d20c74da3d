//! `airlock examples`: questions with the SQL that answers them, proposed and curated.

use std::io::Read;

use airlock_knowledge::pack::limits;
use airlock_knowledge::store::{ExampleContent, Kind, NewCurated, Origin};

use super::curation::{Action, Curator, by_person, failure};
use crate::cli::Examples;
use crate::config::Config;
use crate::exit::{Exit, usage};

/// Lists, shows, decides or adds.
///
/// # Errors
/// When the item is not there, or the store does not answer.
pub async fn run(command: Examples, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let of = match &command {
        Examples::List(list) => &list.of,
        Examples::Show(one) => &one.of,
        Examples::Approve(decide) | Examples::Reject(decide) => &decide.of,
        Examples::Add { of, .. } => of,
    };
    let curator = Curator::open(config, of, json).await?;
    let done = async {
        match &command {
            Examples::List(list) => curator.list(Kind::Example, list).await,
            Examples::Show(one) => curator.show(Kind::Example, one).await,
            Examples::Approve(decide) => curator.decide(Kind::Example, decide, &Action::Promote).await,
            Examples::Reject(decide) => curator.decide(Kind::Example, decide, &Action::Reject).await,
            Examples::Add { question, sql, scope, why, .. } => {
                let (question, sql, scope) = (question.clone(), given(sql)?, scope.clone());
                add(&curator, ExampleContent { question, sql, scope }, why).await
            }
        }
    };
    let done = done.await;
    curator.close(done).await
}

async fn add(curator: &Curator<'_>, example: ExampleContent, why: &str) -> anyhow::Result<Exit> {
    let content = example.into();
    airlock_knowledge::store::Content::check(&content).map_err(usage)?;
    if let Err(why) = curator.fits(&content).await? {
        return curator.refused(&why);
    }
    let new = NewCurated { domain: curator.domain.clone(), content, origin: Origin::Person };
    match curator.promote().add(new, &by_person(why)).await {
        Err(error) if !error.is_conflict() => Err(failure(error)),
        decided => curator.told(decided),
    }
}

/// What was given, or stdin.
fn given(sql: &str) -> anyhow::Result<String> {
    if sql != "-" {
        return Ok(sql.to_owned());
    }
    let mut text = String::new();
    // Four bytes a character, and one more to tell that it is too long.
    let most = u64::try_from(limits::SQL).unwrap_or(u64::MAX).saturating_mul(4) + 1;
    std::io::stdin().lock().take(most).read_to_string(&mut text)?;
    Ok(text.trim().to_owned())
}
