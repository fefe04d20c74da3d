//! The ask: one state machine from a question to an honest ending.
