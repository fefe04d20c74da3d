//! Somebody whose request was let in, and what they may do.

use std::collections::BTreeSet;

use airlock_pipeline::{Asker, Surface};
use airlock_types::DomainName;
use thiserror::Error;

use super::Scope;

/// Somebody whose request was let in. Made by the door alone; handlers ask it what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// For people, in histories and logs: the name of a key, or `local`.
    pub name: String,
    /// As the pipeline knows them: surface, whose conversation, identity for row policies.
    pub asker: Asker,
    scopes: BTreeSet<Scope>,
    /// Everywhere when empty.
    domains: BTreeSet<DomainName>,
}

/// Why something is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Denied {
    /// The scope is missing.
    #[error(
        "this needs the scope `{0}`, which this caller does not have: use a key that has it (`airlock key create NAME --scope {0}`)"
    )]
    Scope(Scope),
    /// The domain is not one of this caller's.
    #[error("there is no domain `{0}` for this key")]
    Domain(DomainName),
}

impl Caller {
    /// Somebody on this machine, where there are no keys.
    pub fn local(surface: Surface) -> Self {
        Self {
            name: "local".to_owned(),
            asker: Asker::local(surface),
            scopes: Scope::LOCAL.into(),
            domains: BTreeSet::new(),
        }
    }

    /// Somebody with a key.
    pub fn with_key(
        name: String,
        asker: Asker,
        scopes: BTreeSet<Scope>,
        domains: BTreeSet<DomainName>,
    ) -> Self {
        Self { name, asker, scopes, domains }
    }

    /// Whether a scope is theirs.
    pub fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin)
    }

    /// What they may do.
    pub fn scopes(&self) -> impl Iterator<Item = Scope> {
        self.scopes.iter().copied()
    }

    /// Where they may do it; everywhere when there is none.
    pub fn domains(&self) -> impl Iterator<Item = &DomainName> {
        self.domains.iter()
    }

    /// Whether there are domains that are not theirs to see.
    pub fn is_bound(&self) -> bool {
        !self.domains.is_empty()
    }

    /// Whether row policies decide what they see: what others asked, and what became of it, may tell of other rows.
    pub const fn is_bound_to_rows(&self) -> bool {
        self.asker.identity.is_some()
    }

    /// Whether a domain is theirs to see.
    pub fn sees(&self, domain: &DomainName) -> bool {
        self.domains.is_empty() || self.domains.contains(domain)
    }

    /// Refuses what is not theirs to do.
    ///
    /// # Errors
    /// When the scope is missing.
    pub fn may(&self, scope: Scope) -> Result<(), Denied> {
        if self.has(scope) { Ok(()) } else { Err(Denied::Scope(scope)) }
    }

    /// Refuses what takes one of these scopes, whichever; the first is the one that is named.
    ///
    /// # Errors
    /// When they have none of them.
    pub fn may_by_one_of(&self, scopes: &[Scope]) -> Result<(), Denied> {
        match scopes {
            [first, rest @ ..] if !rest.iter().any(|scope| self.has(*scope)) => self.may(*first),
            _ => Ok(()),
        }
    }

    /// The same, in one domain.
    ///
    /// # Errors
    /// When the scope is missing, or the domain is not theirs.
    pub fn may_in(&self, scope: Scope, domain: &DomainName) -> Result<(), Denied> {
        self.may(scope)?;
        if self.sees(domain) { Ok(()) } else { Err(Denied::Domain(domain.clone())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_does_what_its_scopes_say_where_its_domains_are() {
        let shop: DomainName = "shop".parse().unwrap();
        let fleet: DomainName = "fleet".parse().unwrap();
        let local = Caller::local(Surface::Http);
        assert!(local.may_in(Scope::Ask, &shop).is_ok());
        assert_eq!(local.may(Scope::Operate), Err(Denied::Scope(Scope::Operate)));
        let key = |scopes: &[Scope]| {
            let (scopes, domains) = (scopes.iter().copied().collect(), [shop.clone()].into());
            Caller::with_key("k".to_owned(), Asker::local(Surface::Http), scopes, domains)
        };
        assert_eq!(key(&[Scope::Ask]).may_in(Scope::Ask, &fleet), Err(Denied::Domain(fleet.clone())));
        assert!(key(&[Scope::Admin]).may_in(Scope::Curate, &shop).is_ok());
        for (scope, may) in
            [(Scope::Query, true), (Scope::Ask, true), (Scope::Admin, true), (Scope::Read, false)]
        {
            let judged = key(&[scope]).may_by_one_of(Scope::JUDGING_SQL);
            assert_eq!(judged, if may { Ok(()) } else { Err(Denied::Scope(Scope::Query)) }, "{scope}");
        }
        assert!(key(&[Scope::Admin]).may_in(Scope::Curate, &fleet).is_err());
    }
}
