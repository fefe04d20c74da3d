//! A component that may be put in service: read, compiled, and held against its grant, before anything changes.

use std::path::Path;

use airlock_runtime::{Component, DomainScope, Grant, Grants, Import, LoadErrorKind, Runtime, Stage};
use airlock_types::ContentHash;

use super::grants::Reviewed;
use super::signature::signature_of;

/// A component that passed, with the bytes it was made from.
pub struct Candidate {
    /// The component.
    pub component: Component,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The signed statement that was beside them.
    pub signature: Option<Vec<u8>>,
}

/// Why a component is not put in service. The operator reads this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(pub String);

impl Candidate {
    /// Reads, compiles and checks a component. Takes processor time: call it from a thread that may block.
    ///
    /// # Errors
    /// [`Refusal`]; one for a missing grant names what the component wants and gives the grant to review.
    pub fn load(
        runtime: &Runtime,
        reviewed: &Reviewed,
        file: &Path,
        stage: Stage,
        scope: &DomainScope,
        serving: Option<&Component>,
    ) -> Result<Self, Refusal> {
        let bytes = read(file, runtime.config().max_component_bytes)?;
        let signature = signature_of(file);
        let digest = ContentHash::of(&bytes);
        let found = reviewed.find(digest, stage, scope).map_err(|error| Refusal(error.to_string()))?;
        let Some(grant) = found else {
            let found = (&*bytes, signature.as_deref());
            return Err(ungranted(runtime, reviewed, file, found, stage, scope, serving));
        };
        match runtime.load_signed(&bytes, &grant, signature.as_deref()) {
            Ok(component) => Ok(Self { component, bytes, signature }),
            Err(error) => Err(Refusal(error.to_string())),
        }
    }
}

fn read(file: &Path, most: usize) -> Result<Vec<u8>, Refusal> {
    use std::io::Read;
    let unread = |error: std::io::Error| Refusal(format!("the host cannot read {}: {error}", file.display()));
    let found = std::fs::metadata(file).map_err(unread)?;
    // Opening a pipe waits for somebody to write, and nobody may.
    if !found.is_file() {
        return Err(Refusal(format!("{} is not a file", file.display())));
    }
    if found.len() > most as u64 {
        return Err(Refusal(format!(
            "{} has {} bytes, at most {most} are accepted",
            file.display(),
            found.len()
        )));
    }
    let opened = std::fs::File::open(file).map_err(unread)?;
    let mut bytes = Vec::new();
    // It may grow meanwhile: one byte more than may be is read, so that the loader sees that it is too large.
    opened.take(most as u64 + 1).read_to_end(&mut bytes).map_err(unread)?;
    Ok(bytes)
}

/// The refusal of a component without a grant: what it wants, as a grant that a person can review.
fn ungranted(
    runtime: &Runtime,
    reviewed: &Reviewed,
    file: &Path,
    (bytes, signature): (&[u8], Option<&[u8]>),
    stage: Stage,
    scope: &DomainScope,
    serving: Option<&Component>,
) -> Refusal {
    let digest = ContentHash::of(bytes);
    let named = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut grant = Grant::of_nothing(stage.as_str(), digest);
    grant.stages.insert(stage);
    grant.domains.insert(scope.clone());
    let wants = match runtime.load_signed(bytes, &grant, signature).map_err(|error| error.kind) {
        Ok(_) => Vec::new(),
        Err(LoadErrorKind::NotGranted { wants, .. }) => wants,
        // No grant would help.
        Err(other) => return Refusal(format!("`{named}` cannot serve here: {other}")),
    };
    grant.imports = wants.iter().filter_map(|name| import(name)).collect();
    if let Some(serving) = serving {
        grant.model_roles.clone_from(&serving.grant().model_roles);
    }
    if Grants::parse(&text(&grant, &named)).is_ok() {
        grant.component.clone_from(&named);
    }
    let wanted = if wants.is_empty() { "nothing".to_owned() } else { wants.join(", ") };
    Refusal(format!(
        "no grant names `{named}` with the digest {digest}; it wants the imports {wanted}. When it may have them, add this to \
         {} and try again (`model_roles` are those of the component it replaces):\n\n{}",
        reviewed.own.display(),
        text(&grant, &grant.component)
    ))
}

fn text(grant: &Grant, name: &str) -> String {
    let grants: Grants = [Grant { component: name.to_owned(), ..grant.clone() }].into_iter().collect();
    grants.to_toml().unwrap_or_default()
}

fn import(name: &str) -> Option<Import> {
    Import::ALL.iter().copied().find(|import| import.as_str() == name)
}
