//! The store against a real server: each role by its own credential, the life of an item, several hosts, connections that
//! are killed.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod decay;
mod faults;
mod gate;
mod harness;
mod hosts;
mod kill;
mod life;
mod log;
mod stats;
mod walls;
