//! A component by its digest, from wherever this installation still has it.

use std::path::Path;

use airlock_runtime::{Component, DomainScope, Runtime, Stage};
use airlock_types::{ContentHash, DomainName};

use super::grants::Reviewed;
use super::history::copy;
use super::signature::signature_of;

/// Loads a component that served once: of the folder of components, or of the copies that swaps left.
///
/// # Errors
/// In words, when there is none, or its grant is gone.
pub fn kept(
    runtime: &Runtime,
    reviewed: &Reviewed,
    (components, data): (&Path, &Path),
    digest: ContentHash,
    (stage, domain): (Stage, &DomainName),
) -> Result<Component, String> {
    let scope = DomainScope::Only(domain.clone());
    let grant = reviewed.find(digest, stage, &scope).map_err(|error| error.to_string())?;
    let grant = grant.ok_or("no grant names its digest")?;
    let built = components.join(format!("{}.wasm", grant.component));
    for path in [copy(data, digest), built] {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        if ContentHash::of(&bytes) != digest {
            continue;
        }
        let signature = signature_of(&path);
        return runtime.load_signed(&bytes, &grant, signature.as_deref()).map_err(|error| error.to_string());
    }
    Err("neither the folder of components nor the history has it".to_owned())
}
