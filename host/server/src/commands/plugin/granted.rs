//! The grant that an author's component is tried under: one that was named, the one beside it, or all that it asks for.

use std::path::Path;

use airlock_kit::component::{interfaces, short_name};
use airlock_kit::project::grant_beside;
use airlock_runtime::{DomainScope, Grant, Grants, Import, ModelRole, Stage};
use airlock_types::ContentHash;

use crate::exit::usage;

/// A grant and where it comes from, in words.
pub struct Tried {
    /// The grant.
    pub grant: Grant,
    /// Where it comes from.
    pub from: String,
}

/// Finds the grant for these bytes.
///
/// # Errors
/// A file that was named and is wrong is the user's to mend; the inner error is a no: a grant for other bytes.
pub fn find(file: &Path, bytes: &[u8], named: Option<&Path>) -> anyhow::Result<Result<Tried, String>> {
    let digest = ContentHash::of(bytes);
    let beside = grant_beside(file);
    let path = match named {
        Some(named) => named,
        None if beside.is_file() => &beside,
        None => {
            return Ok(Ok(Tried {
                grant: asked_for(file, bytes, digest),
                from: "all it asks for".to_owned(),
            }));
        }
    };
    let grants = Grants::read(path).map_err(usage)?;
    if let Some(grant) = grants.iter().find(|grant| grant.digest == digest) {
        return Ok(Ok(Tried { grant: grant.clone(), from: path.display().to_string() }));
    }
    let known: Vec<String> =
        grants.iter().map(|grant| format!("`{}` {}", grant.component, grant.digest.short())).collect();
    Ok(Err(format!(
        "{} has no grant for the digest {digest}, it names {}; `airlock plugin build` writes the one that a component asks for",
        path.display(),
        if known.is_empty() { "none".to_owned() } else { known.join(", ") }
    )))
}

/// The same without a file, to look at what no grant is about.
pub fn asked_for_bytes(bytes: &[u8]) -> Grant {
    asked_for(Path::new("component"), bytes, ContentHash::of(bytes))
}

/// A grant of whatever the component imports and exports of the contract, and no system interface.
fn asked_for(file: &Path, bytes: &[u8], digest: ContentHash) -> Grant {
    let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut grant = Grant::of_nothing(name, digest);
    grant.domains.insert(DomainScope::Any);
    grant.model_roles = [ModelRole::Fast, ModelRole::Reasoning, ModelRole::Review].into();
    grant.imports = Import::ALL.iter().copied().collect();
    let exports = interfaces(bytes).map(|(_, exports)| exports).unwrap_or_default();
    let exported = |stage: &&Stage| {
        // A composer is a generator by another name; what the component is meant for, only its author knows.
        **stage != Stage::Composer && exports.iter().any(|name| short_name(name) == stage.interface())
    };
    grant.stages = Stage::ALL.iter().filter(exported).copied().collect();
    grant
}
