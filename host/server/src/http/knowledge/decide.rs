//! Decisions: each names the hash of the content that was looked at, and meets what is there now when that is another.

use airlock_knowledge::store::{Content, Decided, Decision, ExampleContent, Kind, Mode, Origin, StoreError};
use airlock_types::{ContentHash, DomainName};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::super::body::Body;
use super::super::problem::Problem;
use super::{found, store};
use crate::access::{Caller, Denied, Scope};
use crate::curation::{self, Action, Item, NotDecided, Wanted, find};
use crate::service::{Service, reach};

/// A decision.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Deciding {
    /// Hash of the content that was looked at.
    #[schema(value_type = String)]
    hash: ContentHash,
    /// Why, for the history; at most 2,000 characters.
    #[serde(default)]
    #[schema(max_length = 2000)]
    why: String,
}

/// A change of what an item says.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Editing {
    /// Hash of the content that was looked at.
    #[schema(value_type = String)]
    hash: ContentHash,
    /// The whole new content, in the form in which items show it.
    #[schema(value_type = Object)]
    content: Value,
    /// Why, for the history; at most 2,000 characters.
    #[serde(default)]
    #[schema(max_length = 2000)]
    why: String,
}

/// An example of one's own.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewExample {
    /// The question.
    question: String,
    /// SQL that answers it; the gate must let it run.
    sql: String,
    /// Only for these schemas or schema.tables.
    #[serde(default)]
    scope: Vec<String>,
    /// The domain; may be left out when the server has only one.
    #[schema(value_type = Option<String>)]
    domain: Option<DomainName>,
    /// Why, for the history.
    #[serde(default)]
    why: String,
}

/// What a decision did.
#[derive(Debug, Serialize, ToSchema)]
pub struct Done {
    /// The line of the history.
    decision: String,
    /// The candidate, where there is one.
    candidate: Option<String>,
    /// The curated item, where there is one.
    curated: Option<String>,
}

impl From<Decided> for Done {
    fn from(decided: Decided) -> Self {
        let text = |id: airlock_knowledge::store::ItemId| id.to_string();
        Self {
            decision: text(decided.decision),
            candidate: decided.candidate.map(text),
            curated: decided.curated.map(text),
        }
    }
}

/// What is done to an item by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Promote,
    Reject,
    Demote,
    Restore,
    SetBack,
    Edit,
}

impl Verb {
    /// Reads one of a path.
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "approve" | "promote" => Self::Promote,
            "reject" => Self::Reject,
            "demote" => Self::Demote,
            "restore" => Self::Restore,
            "set-back" => Self::SetBack,
            _ => return None,
        })
    }
}

/// Whether a caller may do this to an item of that kind, whatever the item. Golden cases grade everything else, so that
/// what puts one in use, takes it out or changes it is an admin's.
fn may(caller: &Caller, kind: Kind, verb: Verb) -> Result<(), Denied> {
    match (kind, verb) {
        (Kind::Golden, Verb::Reject) => caller.may(Scope::Curate),
        (Kind::Golden, _) => caller.may(Scope::Admin),
        (Kind::Example, Verb::Promote | Verb::Reject) if caller.has(Scope::AuthorExamples) => Ok(()),
        _ => caller.may(Scope::Curate),
    }
}

/// Whether they may do it to this item: without the scope `curate`, only to an example that an agent proposed.
fn may_to(caller: &Caller, item: &Item) -> Result<(), Denied> {
    let proposed_by_agent = matches!(item, Item::Candidate(_)) && item.origin() == Origin::Agent;
    if item.kind() == Kind::Golden || proposed_by_agent { Ok(()) } else { caller.may(Scope::Curate) }
}

fn by(caller: &Caller, why: &str) -> Decision {
    Decision::new(Mode::Person, &caller.name, why)
}

/// The problem that a decision met, with what is there now when it is a conflict.
async fn problem(error: NotDecided, service: &Service, domain: &DomainName) -> Problem {
    match error {
        NotDecided::Unfit(why) => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "unfit", why),
        NotDecided::OtherKind { .. } => Problem::new(StatusCode::NOT_FOUND, "unknown-item", error),
        NotDecided::Store(error) => {
            let (StoreError::Changed { id, .. } | StoreError::Decided { id, .. }) = &error else {
                return error.into();
            };
            let now = match &service.store {
                Some(store) => find(&store.promote(), domain, *id).await.ok(),
                None => None,
            };
            let now = now.map(|item| {
                json!({
                    "id": item.id(), "state": item.state(), "hash": item.hash(), "content": item.content(),
                })
            });
            Problem::from(error).beside(now)
        }
    }
}

async fn carry_out(
    service: &Service,
    caller: &Caller,
    (kind, id): (Kind, &str),
    (verb, hash, why): (Verb, ContentHash, &str),
    content: Option<&Value>,
) -> Result<Json<Done>, Problem> {
    let (domain, item) = found(service, caller, kind, id).await?;
    may_to(caller, &item)?;
    let action = match (verb, content) {
        (Verb::Promote, _) => Action::Promote(&domain),
        (Verb::Demote, _) => Action::Demote,
        (Verb::Restore, _) => Action::Restore(&domain),
        (Verb::SetBack, _) => Action::SetBack,
        (Verb::Edit, Some(content)) => {
            let content = Content::parse(kind, content).map_err(StoreError::from)?;
            Action::Edit(&domain, content)
        }
        (Verb::Edit, None) | (Verb::Reject, _) => Action::Reject,
    };
    let by = by(caller, why);
    let wanted = Wanted { domain: domain.name(), kind, id: item.id(), seen: hash, by: &by };
    let decided = curation::decide(&store(service)?.promote(), &wanted, action).await;
    match decided {
        Ok(decided) => Ok(Json(decided.into())),
        Err(error) => Err(problem(error, service, domain.name()).await),
    }
}

/// Author an example: it is in service as soon as this is answered.
#[utoipa::path(post, path = "/api/examples", tag = "knowledge", request_body = NewExample,
    responses((status = 201, body = Done)))]
pub async fn author(
    State(service): State<Service>,
    caller: Caller,
    new: Result<Body<NewExample>, Problem>,
) -> Result<(StatusCode, Json<Done>), Problem> {
    caller.may(Scope::AuthorExamples)?;
    let Body(new) = new?;
    let domain = reach::domain(&service.host, &caller, new.domain.as_ref())?;
    let NewExample { question, sql, scope, why, .. } = new;
    let why = if why.is_empty() { "a person wrote it" } else { why.as_str() };
    let (promote, by) = (store(&service)?.promote(), by(&caller, why));
    match curation::author(&promote, &domain, ExampleContent { question, sql, scope }, &by).await {
        Ok(decided) => Ok((StatusCode::CREATED, Json(decided.into()))),
        Err(error) => Err(problem(error, &service, domain.name()).await),
    }
}

/// The decisions on a kind, as operations of their own in the document.
macro_rules! decisions {
    ($module:ident, $kind:expr, $decide:tt, $decide_id:tt, $edit:tt, $edit_id:tt) => {
        /// Deciding on items of one kind.
        pub mod $module {
            use super::*;

            /// Decide on one item.
            #[utoipa::path(post, path = $decide, operation_id = $decide_id, tag = "knowledge",
                params(
                    ("id" = String, Path, description = "The item."),
                    ("verb" = String, Path, description = "approve, promote (the same), reject, demote, restore or set-back."),
                ),
                request_body = Deciding, responses((status = 200, body = Done)))]
            pub async fn decide(
                State(service): State<Service>,
                caller: Caller,
                Path((id, verb)): Path<(String, String)>,
                body: Result<Body<Deciding>, Problem>,
            ) -> Result<Json<Done>, Problem> {
                let Some(verb) = Verb::parse(&verb) else {
                    return Err(super::super::super::problem::not_found().await);
                };
                // Who may not decide is told so, whatever the body says.
                may(&caller, $kind, verb)?;
                let Body(body) = body?;
                carry_out(&service, &caller, ($kind, &id), (verb, body.hash, &body.why), None).await
            }

            /// Change what one item says. A proposed one waits for a decision again; a curated one stays in service.
            #[utoipa::path(post, path = $edit, operation_id = $edit_id, tag = "knowledge",
                params(("id" = String, Path, description = "The item.")),
                request_body = Editing, responses((status = 200, body = Done)))]
            pub async fn edit(
                State(service): State<Service>,
                caller: Caller,
                Path(id): Path<String>,
                body: Result<Body<Editing>, Problem>,
            ) -> Result<Json<Done>, Problem> {
                may(&caller, $kind, Verb::Edit)?;
                let Body(body) = body?;
                let change = (Verb::Edit, body.hash, body.why.as_str());
                carry_out(&service, &caller, ($kind, &id), change, Some(&body.content)).await
            }
        }
    };
}

decisions!(
    examples,
    Kind::Example,
    "/api/examples/{id}/{verb}",
    "decide_on_example",
    "/api/examples/{id}/edit",
    "edit_example"
);
decisions!(
    lessons,
    Kind::Lesson,
    "/api/lessons/{id}/{verb}",
    "decide_on_lesson",
    "/api/lessons/{id}/edit",
    "edit_lesson"
);
decisions!(
    golden,
    Kind::Golden,
    "/api/golden/{id}/{verb}",
    "decide_on_golden",
    "/api/golden/{id}/edit",
    "edit_golden"
);

#[cfg(test)]
mod tests {
    use airlock_pipeline::{Asker, Surface};

    use super::*;

    #[test]
    fn each_kind_and_verb_has_its_scope() {
        use Scope::{Admin, AuthorExamples, Curate, Operate, Read};
        let every = [Verb::Promote, Verb::Reject, Verb::Demote, Verb::Restore, Verb::SetBack, Verb::Edit];
        for kind in [Kind::Example, Kind::Lesson, Kind::Golden] {
            for verb in every {
                for (scope, want) in [
                    (Read, false),
                    (Operate, false),
                    (AuthorExamples, kind == Kind::Example && matches!(verb, Verb::Promote | Verb::Reject)),
                    (Curate, kind != Kind::Golden || verb == Verb::Reject),
                    (Admin, true),
                ] {
                    let asker = Asker::local(Surface::Http);
                    let caller = Caller::with_key("k".to_owned(), asker, [scope].into(), [].into());
                    assert_eq!(may(&caller, kind, verb).is_ok(), want, "{scope}: {verb:?} {kind}");
                }
            }
        }
    }

    #[test]
    fn a_verb_is_one_of_the_documented() {
        for (word, want) in [
            ("approve", Some(Verb::Promote)),
            ("promote", Some(Verb::Promote)),
            ("set-back", Some(Verb::SetBack)),
            ("edit", None),
            ("Approve", None),
            ("", None),
        ] {
            assert_eq!(Verb::parse(word), want, "{word}");
        }
    }
}
