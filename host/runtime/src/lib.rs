//! The component runtime: load, grant, limit, call. The one place that makes a wasmtime store.
