//! How old what the answers of a domain rest on is: its catalogue, values, vectors and pack, as they are held in memory.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use airlock_types::{ContentHash, DomainName};

use crate::host::Host;
use crate::refresh::Served;

/// How old what is held of one domain is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freshness {
    /// The domain.
    pub domain: DomainName,
    /// SHA-256 of its pack.
    pub pack: ContentHash,
    /// Since the pack was put in service.
    pub pack_age: Duration,
    /// Since the source last said whether its schema changed.
    pub catalogue_age: Duration,
    /// Since the indexed values were last read.
    pub values_age: Duration,
    /// Since vectors were made of what is known; none without an embedder, or while they are made.
    pub vectors_age: Option<Duration>,
}

/// The moments at which things were read.
#[derive(Debug)]
pub(crate) struct Moments {
    pub pack: Moment,
    pub catalogue: Moment,
    pub values: Moment,
    pub vectors: Moment,
}

/// The last time that something was read.
#[derive(Debug)]
pub(crate) struct Moment(Mutex<Instant>);

impl Moments {
    pub(crate) fn now() -> Self {
        let now = || Moment(Mutex::new(Instant::now()));
        Self { pack: now(), catalogue: now(), values: now(), vectors: now() }
    }
}

impl Moment {
    pub(crate) fn is_now(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub(crate) fn age(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

impl Served {
    fn freshness(&self) -> Freshness {
        let domain = self.now();
        Freshness {
            domain: domain.name().clone(),
            pack: domain.pack().hash,
            pack_age: self.moments.pack.age(),
            catalogue_age: self.moments.catalogue.age(),
            values_age: self.moments.values.age(),
            vectors_age: domain.vectors().is_some().then(|| self.moments.vectors.age()),
        }
    }
}

impl Host {
    /// How old what is held of each domain is.
    #[must_use]
    pub fn freshness(&self) -> Vec<Freshness> {
        self.domains.values().map(|served| served.freshness()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_again_is_young_again() {
        let moment = Moment(Mutex::new(Instant::now() - Duration::from_secs(60)));
        assert!(moment.age() >= Duration::from_secs(60));
        moment.is_now();
        assert!(moment.age() < Duration::from_secs(60));
    }
}
