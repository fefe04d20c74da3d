//! The built-in answerer stage.
