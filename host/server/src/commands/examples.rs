//! `airlock examples`: questions with the SQL that answers them, proposed and curated.

use airlock_knowledge::store::{ExampleContent, Kind};

use super::curation::{Curator, Verb, stdin};
use crate::cli::Examples;
use crate::config::Config;
use crate::exit::Exit;

/// Lists, shows, decides or adds.
///
/// # Errors
/// When the item is not there, or the store does not answer.
pub async fn run(command: Examples, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let of = match &command {
        Examples::List(list) => &list.of,
        Examples::Show(one) => &one.of,
        Examples::Approve(decide)
        | Examples::Reject(decide)
        | Examples::Demote(decide)
        | Examples::Restore(decide)
        | Examples::SetBack(decide) => &decide.of,
        Examples::Edit(edit) => &edit.decide.of,
        Examples::Add { of, .. } => of,
    };
    let curator = Curator::open(config, of, json).await?;
    let done = match &command {
        Examples::List(list) => curator.list(Kind::Example, list).await,
        Examples::Show(one) => curator.show(Kind::Example, one).await,
        Examples::Approve(decide) => curator.decide(Kind::Example, decide, Verb::Promote).await,
        Examples::Reject(decide) => curator.decide(Kind::Example, decide, Verb::Reject).await,
        Examples::Demote(decide) => curator.decide(Kind::Example, decide, Verb::Demote).await,
        Examples::Restore(decide) => curator.decide(Kind::Example, decide, Verb::Restore).await,
        Examples::SetBack(decide) => curator.decide(Kind::Example, decide, Verb::SetBack).await,
        Examples::Edit(edit) => curator.edit(Kind::Example, edit).await,
        Examples::Add { question, sql, scope, why, .. } => match given(sql) {
            Ok(sql) => {
                let (question, scope) = (question.clone(), scope.clone());
                curator.author(ExampleContent { question, sql, scope }, why).await
            }
            Err(error) => Err(error),
        },
    };
    curator.close(done).await
}

/// What was given, or stdin.
fn given(sql: &str) -> anyhow::Result<String> {
    if sql == "-" { stdin() } else { Ok(sql.to_owned()) }
}
