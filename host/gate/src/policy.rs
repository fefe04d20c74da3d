//! What a domain may change about the gate: the row cap, its own functions, and the limits.

use airlock_types::ContentHash;
use serde::{Deserialize, Serialize};

/// Most of everything a text may have. What is over a limit is refused before it costs anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Bytes of the text.
    pub bytes: usize,
    /// Tokens of the text, comments included.
    pub tokens: usize,
    /// Open brackets at one place of the text.
    pub brackets: usize,
    /// Nesting of the tree. A chain such as `a + b + c` counts once.
    pub depth: usize,
    /// Links of one chain.
    pub chain: usize,
    /// Nodes of the tree that are visited.
    pub nodes: usize,
    /// How often, or to what width, `repeat`, `lpad`, `array_fill` and their kin may be told to build.
    pub repetitions: u64,
    /// Bytes of a value that the text alone can build.
    pub value_bytes: u64,
    /// Rows that `generate_series` with constant bounds may make.
    pub series_rows: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 65_536,
            tokens: 12_000,
            brackets: 100,
            depth: 160,
            chain: 1_000,
            nodes: 40_000,
            repetitions: 10_000,
            value_bytes: 1_000_000,
            series_rows: 1_000_000,
        }
    }
}

/// A function of the database that a domain allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedFunction {
    /// `schema.name(type, type)`, as the catalogue prints it.
    pub signature: String,
    /// SHA-256 of its definition: with it the permission ends when the function changes.
    #[serde(default)]
    pub body: Option<ContentHash>,
}

/// What a domain says to the gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    /// Rows an asker gets at most.
    pub row_cap: u32,
    /// Functions outside `pg_catalog` and the vetted extensions that may be called.
    pub allowed_functions: Vec<AllowedFunction>,
    /// The limits.
    pub limits: Limits,
}

impl Default for Policy {
    fn default() -> Self {
        Self { row_cap: 200, allowed_functions: Vec::new(), limits: Limits::default() }
    }
}
