//! The built-in distill stage.
