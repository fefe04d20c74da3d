//! The built-in composer stage.
