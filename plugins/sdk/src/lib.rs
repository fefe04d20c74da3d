//! The guest crate: bindings of the contract, prompt and reply helpers, a native test harness.
