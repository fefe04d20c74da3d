//! Which domain a caller means, among those that are theirs to see. One that is not theirs is not there for them, not even
//! in the list of what there is.

use std::sync::Arc;

use airlock_pipeline::{AskError, Domain, Host};
use airlock_types::DomainName;

use crate::access::Caller;

/// The domains that a caller sees, by name.
pub fn domains<'a>(host: &'a Host, caller: &'a Caller) -> impl Iterator<Item = Arc<Domain>> + 'a {
    host.domains().filter(|domain| caller.sees(domain.name()))
}

/// The domain with this name, or the only one that the caller sees when none is named.
///
/// # Errors
/// When there is no such domain for them, or several and none is named.
pub fn domain(host: &Host, caller: &Caller, name: Option<&DomainName>) -> Result<Arc<Domain>, AskError> {
    let seen: Vec<Arc<Domain>> = domains(host, caller).collect();
    let names = || seen.iter().map(|domain| format!("`{}`", domain.name())).collect::<Vec<_>>().join(", ");
    match (name, seen.as_slice()) {
        (_, []) if host.domains().next().is_none() => Err(AskError::NoDomain),
        (_, []) => Err(AskError::NoneOfYours),
        (Some(name), seen) => seen
            .iter()
            .find(|domain| domain.name() == name)
            .map(Arc::clone)
            .ok_or_else(|| AskError::UnknownDomain(name.clone(), names())),
        (None, [only]) => Ok(Arc::clone(only)),
        (None, _) => Err(AskError::WhichDomain(names())),
    }
}
