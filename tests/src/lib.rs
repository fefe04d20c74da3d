//! End-to-end tests: real PostgreSQL, real components, real HTTP.
