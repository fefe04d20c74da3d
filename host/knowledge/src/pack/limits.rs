//! Every limit of a pack, in one place. A pack is written by people, but a host may be handed a stranger's.

/// Bytes of one file of the pack, documents apart.
pub const FILE_BYTES: u64 = 4 << 20;
/// Bytes of one document.
pub const DOCUMENT_BYTES: u64 = 1 << 20;
/// Bytes of one `db/*.sql`, which is hashed and never interpreted here.
pub const DATABASE_BYTES: u64 = 64 << 20;
/// Documents of a pack.
pub const DOCUMENTS: usize = 500;

/// Problems that a report keeps; the rest is counted.
pub const PROBLEMS: usize = 500;

/// Characters of a title or a name.
pub const NAME: usize = 128;
/// Characters of a table or column name as written, schema and quotes included.
pub const REFERENCE: usize = 400;
/// Characters of a synonym.
pub const SYNONYM: usize = 80;
/// Synonyms of one thing.
pub const SYNONYMS: usize = 50;
/// Characters of a note, a purpose, a definition, a lesson.
pub const NOTE: usize = 2_000;
/// Characters of an SQL text.
pub const SQL: usize = 8_000;

/// Schemas of a domain.
pub const SCHEMAS: usize = 50;
/// Relations of a domain, and of its notes.
pub const TABLES: usize = 5_000;
/// Columns of one table; PostgreSQL's own limit is 1,600.
pub const COLUMNS: usize = 1_600;
/// Columns listed under `samples` or `values`.
pub const EGRESS_COLUMNS: usize = 5_000;
/// Drafts of one question: each costs a call of the model and a statement.
pub const CANDIDATES: i64 = 5;
/// Functions a domain allows.
pub const FUNCTIONS: usize = 200;
/// Terms of the glossary.
pub const TERMS: usize = 2_000;
/// Metrics of one term.
pub const METRICS: usize = 20;
/// Joins written by hand.
pub const JOINS: usize = 2_000;
/// Columns of one side of a join.
pub const JOIN_COLUMNS: usize = 16;
/// Golden cases.
pub const GOLDEN: usize = 5_000;
/// Bytes of a kind of entity.
pub const KIND: usize = 40;
/// Further right answers of one golden case.
pub const ACCEPTED: usize = 50;
/// Seed lessons.
pub const LESSONS: usize = 2_000;
/// Tags of one lesson.
pub const TAGS: usize = 20;
/// Largest row cap a domain may set.
pub const ROW_CAP: i64 = 10_000;
