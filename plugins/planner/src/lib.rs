//! The built-in planner stage.
