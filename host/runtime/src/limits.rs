//! What one call may use, what it did use, and the error of using more.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The most that one call may use. All of them are on for every call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Time the guest's own code may run; time in host calls and time spent waiting for a thread do not count.
    pub compute: Duration,
    /// Time from the start of the call to its end, whatever it is spent on.
    pub wall: Duration,
    /// Bytes of all linear memories together.
    pub memory: usize,
    /// Elements of all tables together.
    pub table_elements: usize,
    /// Core instances of one component; a component built by `wit-component` has two to four.
    pub instances: usize,
    /// Linear memories of one component.
    pub memories: usize,
    /// Tables of one component.
    pub tables: usize,
    /// Live resource handles.
    pub handles: usize,
    /// Bytes that may cross from guest to host in one host call or one result.
    pub output_bytes: usize,
    /// Calls of `catalog`, `retrieval` and `sql` together.
    pub look_ups: u32,
    /// Log lines that are kept; more are counted and dropped.
    pub log_lines: u32,
    /// Bytes of one log line, its fields included; more is cut.
    pub log_line_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            compute: Duration::from_secs(1),
            wall: Duration::from_secs(10),
            memory: 64 << 20,
            table_elements: 10_000,
            instances: 8,
            memories: 2,
            tables: 8,
            handles: 64,
            output_bytes: 1 << 20,
            look_ups: 2_000,
            log_lines: 64,
            log_line_bytes: 2_048,
        }
    }
}

/// Limits of one component that differ from everyone's, as its grant says them. A Python guest, say, needs more memory and
/// more core instances than a Rust one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitChanges {
    /// [`Limits::compute`] in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute_ms: Option<u32>,
    /// [`Limits::wall`] in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<u32>,
    /// [`Limits::memory`] in MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u16>,
    /// [`Limits::instances`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances: Option<u16>,
}

impl LimitChanges {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Limits {
    /// These limits with one component's changes.
    #[must_use]
    pub fn with(&self, changes: &LimitChanges) -> Self {
        let millis = |changed: Option<u32>, same| changed.map_or(same, |ms| Duration::from_millis(ms.into()));
        Self {
            compute: millis(changes.compute_ms, self.compute),
            wall: millis(changes.wall_ms, self.wall),
            memory: changes.memory_mib.map_or(self.memory, |mib| usize::from(mib) << 20),
            instances: changes.instances.map_or(self.instances, usize::from),
            ..self.clone()
        }
    }
}

/// Which limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// The guest computed for too long.
    Compute,
    /// The call as a whole took too long.
    Wall,
    /// Linear memory.
    Memory,
    /// Table elements.
    Tables,
    /// Core instances, memories or tables of one component.
    Instances,
    /// The call stack.
    Stack,
    /// Live resource handles.
    Handles,
    /// Bytes out of the guest.
    Output,
    /// Calls of host functions that look something up.
    LookUps,
    /// Replies of a model that one stage asks for before it comes to its end. The driver of the steps counts it.
    ModelRequests,
}

impl Limit {
    /// The limit's name in logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Wall => "wall",
            Self::Memory => "memory",
            Self::Tables => "tables",
            Self::Instances => "instances",
            Self::Stack => "stack",
            Self::Handles => "handles",
            Self::Output => "output",
            Self::LookUps => "look-ups",
            Self::ModelRequests => "model-requests",
        }
    }

    /// The unit in which `allowed` and `spent` of a [`LimitHit`] are given.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Compute | Self::Wall => "ms",
            Self::Memory | Self::Stack | Self::Output => "bytes",
            Self::Tables => "elements",
            Self::Instances => "instances",
            Self::Handles => "handles",
            Self::LookUps => "calls",
            Self::ModelRequests => "requests",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A call went over a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("limit `{limit}`: {spent} {unit} of {allowed} {unit}", unit = limit.unit())]
pub struct LimitHit {
    /// Which.
    pub limit: Limit,
    /// What was allowed, in the limit's unit.
    pub allowed: u64,
    /// What the call had used or asked for when it was stopped; `allowed` where the amount over it is not known.
    pub spent: u64,
}

impl LimitHit {
    pub(crate) fn time(limit: Limit, allowed: Duration, spent: Duration) -> Self {
        Self { limit, allowed: millis(allowed), spent: millis(spent) }
    }

    pub(crate) fn count(limit: Limit, allowed: usize, spent: usize) -> Self {
        Self { limit, allowed: allowed as u64, spent: spent as u64 }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// What one call used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Waiting for a place in the pool, before the call began.
    pub waited: Duration,
    /// The guest's own code, instantiation included.
    pub compute: Duration,
    /// From the start of the call to its end.
    pub wall: Duration,
    /// Inside host functions.
    pub host: Duration,
    /// Bytes of linear memory at the end.
    pub memory: usize,
    /// Calls of host functions that look something up.
    pub look_ups: u32,
    /// Log lines kept.
    pub log_lines: u32,
    /// Log lines dropped for being too many.
    pub log_dropped: u32,
}
