//! The built-in repair stage.
