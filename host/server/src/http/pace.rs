//! How much one caller may ask for, and how many keys one address may try. What is kept for each is a number, and callers
//! that have been quiet are forgotten.

use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::access::network;
use crate::config::server::Limits;

/// How often those who have been quiet are forgotten: once in so many requests.
const SWEEP: u32 = 1_024;

/// The paces of this server.
pub struct Paces {
    callers: Option<Pace<String>>,
    strangers: Pace<IpAddr>,
}

struct Pace<K: Hash + Eq + Clone> {
    limiter: DefaultKeyedRateLimiter<K>,
    since: AtomicU32,
}

impl<K: Hash + Eq + Clone> Pace<K> {
    fn new(a_minute: NonZeroU32) -> Self {
        Self { limiter: RateLimiter::keyed(Quota::per_minute(a_minute)), since: AtomicU32::new(0) }
    }

    /// Counts one; how long to wait when it is one too many.
    fn count(&self, who: &K) -> Result<(), Duration> {
        if self.since.fetch_add(1, Ordering::Relaxed) % SWEEP == SWEEP - 1 {
            self.limiter.retain_recent();
        }
        let late = self.limiter.check_key(who).err();
        late.map_or(Ok(()), |late| Err(late.wait_time_from(DefaultClock::default().now())))
    }
}

impl Paces {
    /// The paces that the configuration sets.
    pub fn new(limits: Limits) -> Self {
        Self {
            callers: limits.requests_per_minute.map(Pace::new),
            strangers: Pace::new(limits.unknown_keys_per_minute),
        }
    }

    /// Counts a request of a caller, by whatever tells callers apart.
    ///
    /// # Errors
    /// How long to wait.
    pub fn caller(&self, who: &str) -> Result<(), Duration> {
        self.callers.as_ref().map_or(Ok(()), |pace| pace.count(&who.to_owned()))
    }

    /// Counts a key that was not seen to be good before.
    ///
    /// # Errors
    /// How long to wait.
    pub fn stranger(&self, address: IpAddr) -> Result<(), Duration> {
        self.strangers.count(&network(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_caller_has_its_own_pace() {
        let limits = Limits { requests_per_minute: NonZeroU32::new(3), ..Limits::default() };
        let paces = Paces::new(limits);
        let through = |who: &str| (0..10).filter(|_| paces.caller(who).is_ok()).count();
        assert_eq!(through("ana"), 3);
        assert_eq!(through("ben"), 3);
        let wait = paces.caller("ana").unwrap_err();
        assert!(wait <= Duration::from_secs(20), "{wait:?}");
        let unlimited = Paces::new(Limits::default());
        assert!((0..1_000).all(|_| unlimited.caller("ana").is_ok()));
    }

    #[test]
    fn a_network_of_addresses_is_one_stranger() {
        let limits = Limits { unknown_keys_per_minute: NonZeroU32::new(2).unwrap(), ..Limits::default() };
        let paces = Paces::new(limits);
        let through = |addresses: &[&str]| {
            addresses.iter().filter(|address| paces.stranger(address.parse().unwrap()).is_ok()).count()
        };
        assert_eq!(through(&["2001:db8::1", "2001:db8::2", "2001:db8:0:0:f::3"]), 2);
        assert_eq!(through(&["2001:db8:0:1::1"]), 1);
        assert_eq!(through(&["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1"]), 2);
        assert_eq!(through(&["192.0.2.2"]), 1);
    }
}
