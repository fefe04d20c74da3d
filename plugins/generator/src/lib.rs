//! The built-in generator stage.
