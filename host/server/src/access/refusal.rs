//! What is refused, as lines of the log: who, from where, what for and why. One party fills no log: after its first lines
//! of a minute its refusals are counted, and the count is told when the minute is over.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::Method;

/// Lines of one party in a minute.
const LINES: u32 = 20;
/// For so long refusals are counted together.
const MINUTE: Duration = Duration::from_secs(60);
/// Parties that are told apart; those that are too many are counted together.
const PARTIES: usize = 1_024;

/// Whom the log names where nobody is known.
pub const NOBODY: &str = "nobody";

/// What the log says of a request, should it or a call in it be refused. Never the query or a header: a key may stand there.
#[derive(Clone)]
pub struct Visit {
    /// Who was let in, or [`NOBODY`].
    pub who: String,
    /// From where, if from elsewhere than this process' own streams.
    pub from: Option<IpAddr>,
    /// How it came, if by HTTP.
    pub method: Option<Method>,
    /// To where.
    pub path: String,
    /// The id under which the request is found, if it has one.
    pub request_id: Option<String>,
    /// Where refusals are counted.
    pub refusals: Refusals,
}

impl Visit {
    /// Whoever started this process and speaks with it by its own streams.
    pub fn of_process() -> Self {
        Self {
            who: "local".to_owned(),
            from: None,
            method: None,
            path: "stdio".to_owned(),
            request_id: None,
            refusals: Refusals::default(),
        }
    }

    /// Tells that the request was refused with this HTTP status; `who` is it that was known by then, if not who was let in.
    pub fn refused(&self, who: Option<&str>, status: u16, code: &str) {
        self.tell(who.unwrap_or(&self.who), None, Some(status), code, "a request was refused");
    }

    /// Tells that a call of a tool was refused.
    pub fn call_refused(&self, tool: &str, code: &str) {
        self.tell(&self.who, Some(tool), None, code, "a call was refused");
    }

    fn tell(&self, who: &str, tool: Option<&str>, status: Option<u16>, code: &str, what: &str) {
        if !self.refusals.tells_of(Party::new(who, self.from)) {
            return;
        }
        let Self { from, method, path, request_id, .. } = self;
        tracing::warn!(
            who,
            from = from.map(tracing::field::display),
            method = method.as_ref().map(tracing::field::display),
            path,
            tool,
            status,
            code,
            request_id,
            "{what}"
        );
    }
}

/// The refusals of the last minute. Cheap to clone.
#[derive(Clone, Default)]
pub struct Refusals(Arc<Mutex<HashMap<Party, Minute>>>);

/// Who is refused, and from where.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Party {
    One { who: String, from: Option<IpAddr> },
    Others,
}

/// What was refused to one party since it began.
struct Minute {
    begun: Instant,
    lines: u32,
    untold: u64,
}

/// What becomes of one refusal.
#[derive(Debug, PartialEq, Eq)]
enum Becomes {
    Line,
    /// It is the first of its minute that is only counted; its party is told of in so long.
    FirstUntold(Party, Duration),
    Untold,
}

impl Party {
    fn new(who: &str, from: Option<IpAddr>) -> Self {
        Self::One { who: who.to_owned(), from: from.map(network) }
    }
}

impl Refusals {
    fn open(&self) -> MutexGuard<'_, HashMap<Party, Minute>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a refusal; whether it is told by a line of its own.
    fn tells_of(&self, party: Party) -> bool {
        match self.count(party, Instant::now()) {
            Becomes::Line => true,
            Becomes::Untold => false,
            Becomes::FirstUntold(party, left) => {
                let refusals = self.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(left).await;
                    refusals.sum_up(&party);
                });
                false
            }
        }
    }

    fn count(&self, party: Party, now: Instant) -> Becomes {
        let mut minutes = self.open();
        let is_over = |minute: &Minute| now.duration_since(minute.begun) >= MINUTE;
        let mut party = party;
        if minutes.len() >= PARTIES && !minutes.contains_key(&party) {
            // A minute with something untold ends when it was told.
            minutes.retain(|_, minute| minute.untold > 0 || !is_over(minute));
            if minutes.len() >= PARTIES {
                party = Party::Others;
            }
        }
        let begins = || Minute { begun: now, lines: 0, untold: 0 };
        let minute = minutes.entry(party.clone()).or_insert_with(begins);
        if minute.untold == 0 && is_over(minute) {
            *minute = begins();
        }
        if minute.lines < LINES {
            minute.lines += 1;
            return Becomes::Line;
        }
        minute.untold += 1;
        if minute.untold > 1 {
            return Becomes::Untold;
        }
        let left = MINUTE.saturating_sub(now.duration_since(minute.begun));
        Becomes::FirstUntold(party, left)
    }

    /// Ends the minute of a party; how many of its refusals had no line.
    fn end(&self, party: &Party) -> u64 {
        self.open().remove(party).map_or(0, |minute| minute.untold)
    }

    fn sum_up(&self, party: &Party) {
        let count = self.end(party);
        let (who, from) = match party {
            Party::One { who, from } => (who.as_str(), *from),
            Party::Others => ("others", None),
        };
        let from = from.map(tracing::field::display);
        tracing::warn!(who, from, count, "so many more were refused within a minute, without a line each");
    }
}

/// What one party has of addresses: of IPv6 it has a whole network.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn party(address: &str) -> Party {
        Party::new(NOBODY, Some(address.parse().unwrap()))
    }

    #[test]
    fn the_first_refusals_of_a_minute_are_lines_and_the_others_a_count() {
        let refusals = Refusals::default();
        let begun = Instant::now();
        let count = |address: &str, seconds: u64| {
            refusals.count(party(address), begun + Duration::from_secs(seconds))
        };
        for _ in 0..LINES {
            assert_eq!(count("192.0.2.1", 0), Becomes::Line);
        }
        let left = Duration::from_secs(50);
        assert_eq!(count("192.0.2.1", 10), Becomes::FirstUntold(party("192.0.2.1"), left));
        for second in 0..379 {
            // However long it takes until the count is told, nothing is lost.
            assert_eq!(count("192.0.2.1", second), Becomes::Untold);
        }
        assert_eq!(count("192.0.2.2", 0), Becomes::Line, "another address has lines of its own");
        assert_eq!(refusals.end(&party("192.0.2.1")), 380);
        assert_eq!(count("192.0.2.1", 60), Becomes::Line);
        // A minute that was quiet enough begins anew by itself.
        for _ in 1..LINES {
            count("192.0.2.2", 59);
        }
        assert_eq!(count("192.0.2.2", 60), Becomes::Line);
        assert_eq!(refusals.end(&party("192.0.2.2")), 0);
    }

    #[test]
    fn many_parties_are_counted_together_and_a_network_is_one() {
        let refusals = Refusals::default();
        let now = Instant::now();
        for n in 0..2 * u32::try_from(PARTIES).unwrap() {
            refusals.count(Party::new(&n.to_string(), None), now);
        }
        assert_eq!(refusals.open().len(), PARTIES + 1);
        assert_eq!(refusals.end(&Party::Others), u64::try_from(PARTIES).unwrap() - u64::from(LINES));
        refusals.count(Party::new("later", None), now + MINUTE);
        assert_eq!(refusals.open().len(), 1, "those whose minute is over are forgotten");
        assert_eq!(party("2001:db8::1"), party("2001:db8:0:0:f::3"));
        assert_ne!(party("2001:db8::1"), party("2001:db8:0:1::1"));
    }
}
