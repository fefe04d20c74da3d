//! The OpenAPI document: made from the handlers, so that it cannot say what the code does not do.
//!
//! How a route gets into it:
//! 1. derive `utoipa::ToSchema` on what the handler takes and gives (`serde_json::Value` stands for anything);
//! 2. write `#[utoipa::path(post, path = "/api/thing", tag = "things", request_body = NewThing, responses((status = 200,
//!    body = Thing)))]` over the handler (`params(QueryStruct)` with `utoipa::IntoParams` for a query or a path);
//! 3. name it in `http/mod.rs` by `.routes(routes!(module::handler))`. The problems that every operation can answer with
//!    are added here.

use std::sync::Arc;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{
    Components, Content, HeaderBuilder, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder, Ref,
    ResponseBuilder, SecurityRequirement, Type,
};
use utoipa::{PartialSchema, ToSchema};

use super::problem::Said;

/// Name of the scheme by which programs say who they are.
const BEARER: &str = "key";

/// The statuses that any operation under `/api` can end in, beside its own.
const PROBLEMS: [(&str, &str); 15] = [
    ("400", "The request cannot be read."),
    ("401", "No key, or one that is not in force."),
    ("403", "The key does not have the scope, or the request came from another site."),
    ("404", "There is nothing of this name."),
    ("406", "None of the media types that are accepted can be given."),
    ("408", "The request took too long to arrive."),
    ("409", "It is not as the request says: it changed, or is under way."),
    ("413", "The body is too large."),
    ("415", "The body is of another media type."),
    ("422", "A field is not what it should be."),
    ("429", "Too many requests of this caller."),
    ("500", "A bug of the server."),
    ("502", "A component failed."),
    ("503", "Something that is needed is away or busy: try again in a while."),
    ("504", "It took too long."),
];

/// The document before the routes.
pub(super) fn base() -> OpenApi {
    let mut components = Components::new();
    let mut schemas = vec![(Said::name().into_owned(), Said::schema())];
    Said::schemas(&mut schemas);
    components.schemas.extend(schemas);
    components.add_security_scheme(
        BEARER,
        SecurityScheme::Http(
            HttpBuilder::new()
                .scheme(HttpAuthScheme::Bearer)
                .description(Some(
                    "A key made by `airlock key create`. On loopback without keys none is needed.",
                ))
                .build(),
        ),
    );
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("airlock")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some("Questions about a PostgreSQL database in plain English: HTTP API."))
                .build(),
        )
        .components(Some(components))
        .build()
}

/// The document as it is served: what every operation has in common is added to each.
pub(super) fn finish(mut document: OpenApi) -> Document {
    for (path, item) in &mut document.paths.paths {
        if path.starts_with("/api") {
            operations(item).for_each(complete);
        }
    }
    // A document of plain strings and numbers can always be written.
    Document(document.to_json().unwrap_or_default().into())
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete].into_iter().flatten()
}

fn complete(operation: &mut Operation) {
    for (status, description) in PROBLEMS {
        if !operation.responses.responses.contains_key(status) {
            let schema = Ref::from_schema_name(Said::name());
            let response = ResponseBuilder::new()
                .description(description)
                .content("application/problem+json", Content::new(Some(schema)))
                .build();
            operation.responses.responses.insert(status.to_owned(), response.into());
        }
    }
    for response in operation.responses.responses.values_mut() {
        if let utoipa::openapi::RefOr::T(response) = response {
            let id = ObjectBuilder::new().schema_type(Type::String).build();
            let header =
                HeaderBuilder::new().schema(Some(id)).description(Some("Names the request in the log."));
            response.headers.insert("x-request-id".to_owned(), header.build().into());
        }
    }
    // No key is fine too: on loopback, where none was made.
    operation.security =
        Some(vec![SecurityRequirement::new(BEARER, Vec::<String>::new()), SecurityRequirement::default()]);
}

/// The document in JSON, made once.
#[derive(Clone)]
pub(super) struct Document(Arc<str>);

impl Document {
    /// `GET /api/openapi.json`.
    pub(super) async fn serve(self) -> Response {
        ([(CONTENT_TYPE, "application/json")], self.0.to_string()).into_response()
    }
}
