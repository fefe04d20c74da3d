//! Grants: which component, by digest, serves which stages of which domains, with which imports and model roles.
//!
//! A grants file is TOML that people write and review:
//!
//! ```toml
//! [[grant]]
//! component = "planner"
//! digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
//! stage = ["planner"]
//! domains = ["*"]
//! imports = ["catalog", "retrieval", "log"]
//! model_roles = ["fast"]
//! wasi = "inert"                    # optional: see `docs/plugins.md`
//! limits = { memory_mib = 128 }     # optional: what differs from the host's limits
//! ```

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use airlock_types::{ContentHash, DomainName};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::limits::LimitChanges;

/// A place in the pipeline that a component can fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Question to plan.
    Planner,
    /// Plan to tables.
    Linker,
    /// Selection to SQL, with a model.
    Generator,
    /// Selection to SQL, with no model. The same interface as the generator.
    Composer,
    /// Failure to the next thing to try.
    Repair,
    /// Result to a sentence.
    Answerer,
    /// Finished exchange to lesson candidates.
    Distill,
    /// A domain's adapter.
    Domain,
}

impl Stage {
    /// All of them, in the order of an ask.
    pub const ALL: &'static [Self] = &[
        Self::Planner,
        Self::Linker,
        Self::Generator,
        Self::Composer,
        Self::Repair,
        Self::Answerer,
        Self::Distill,
        Self::Domain,
    ];

    /// The stage's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Linker => "linker",
            Self::Generator => "generator",
            Self::Composer => "composer",
            Self::Repair => "repair",
            Self::Answerer => "answerer",
            Self::Distill => "distill",
            Self::Domain => "domain",
        }
    }

    /// The interface of the contract that a component of this stage exports.
    #[must_use]
    pub const fn interface(self) -> &'static str {
        match self {
            Self::Composer => "generator",
            other => other.as_str(),
        }
    }

    /// The world of the contract that such a component is built for.
    #[must_use]
    pub const fn world(self) -> &'static str {
        match self {
            Self::Planner => "planner-stage",
            Self::Linker => "linker-stage",
            Self::Generator | Self::Composer => "generator-stage",
            Self::Repair => "repair-stage",
            Self::Answerer => "answerer-stage",
            Self::Distill => "distill-stage",
            Self::Domain => "domain-adapter",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An interface a component may be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Import {
    /// The schema.
    Catalog,
    /// What the domain knows.
    Retrieval,
    /// The gate's verdict and a text's outline.
    Sql,
    /// Log lines.
    Log,
}

impl Import {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Catalog, Self::Retrieval, Self::Sql, Self::Log];

    /// The interface's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Retrieval => "retrieval",
            Self::Sql => "sql",
            Self::Log => "log",
        }
    }
}

/// A system interface for components whose toolchain cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wasi {
    /// One that answers and reaches nothing: no files, environment or network, the ask's `now` for a clock, entropy
    /// seeded from the ask, what is printed to the log.
    Inert,
}

/// A model role a component may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelRole {
    /// Cheap and quick.
    Fast,
    /// Able.
    Reasoning,
    /// Judges what others wrote.
    Review,
}

impl ModelRole {
    /// The role's name, as in a `model-request`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Reasoning => "reasoning",
            Self::Review => "review",
        }
    }
}

/// The domains a grant speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DomainScope {
    /// `*`
    Any,
    /// One domain.
    Only(DomainName),
}

impl DomainScope {
    /// Whether this domain is in it.
    #[must_use]
    pub fn holds(&self, domain: &DomainName) -> bool {
        match self {
            Self::Any => true,
            Self::Only(name) => name == domain,
        }
    }
}

impl fmt::Display for DomainScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Only(name) => name.fmt(f),
        }
    }
}

impl Serialize for DomainScope {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DomainScope {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "*" {
            return Ok(Self::Any);
        }
        text.parse().map(Self::Only).map_err(serde::de::Error::custom)
    }
}

/// What one component may be and have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// A name for people and logs; by default also the name of its file, `NAME.wasm`.
    pub component: String,
    /// SHA-256 of the component's bytes.
    pub digest: ContentHash,
    /// Stages it may serve.
    #[serde(rename = "stage")]
    pub stages: BTreeSet<Stage>,
    /// Domains it may serve them for.
    pub domains: BTreeSet<DomainScope>,
    /// Interfaces it may import.
    #[serde(default)]
    pub imports: BTreeSet<Import>,
    /// The system interface it gets; none unless this says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wasi: Option<Wasi>,
    /// Model roles it may ask for.
    #[serde(default)]
    pub model_roles: BTreeSet<ModelRole>,
    /// Limits in which it differs from the others.
    #[serde(default, skip_serializing_if = "LimitChanges::is_none")]
    pub limits: LimitChanges,
}

impl Grant {
    /// A grant of nothing; fill in what it may have.
    #[must_use]
    pub fn of_nothing(component: impl Into<String>, digest: ContentHash) -> Self {
        Self {
            component: component.into(),
            digest,
            stages: BTreeSet::new(),
            domains: BTreeSet::new(),
            imports: BTreeSet::new(),
            wasi: None,
            model_roles: BTreeSet::new(),
            limits: LimitChanges::default(),
        }
    }

    /// Whether it may ask a model in this role.
    #[must_use]
    pub fn allows_role(&self, role: &str) -> bool {
        self.model_roles.iter().any(|granted| granted.as_str() == role)
    }

    /// Whether it may serve this stage of this domain.
    #[must_use]
    pub fn allows(&self, stage: Stage, domain: &DomainName) -> bool {
        self.stages.contains(&stage) && self.domains.iter().any(|scope| scope.holds(domain))
    }
}

/// A grants file says something it must not.
#[derive(Debug, Error)]
#[error("grants file {path}: {reason}")]
pub struct GrantsError {
    /// The file.
    pub path: PathBuf,
    /// Line, column and what is wrong there.
    pub reason: String,
}

/// All grants of a host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grants(Vec<Grant>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantsFile {
    #[serde(default)]
    grant: Vec<Grant>,
}

impl Grants {
    /// Reads a grants file.
    ///
    /// # Errors
    /// When it cannot be read, has an unknown key or word, or says a thing twice.
    pub fn read(path: &Path) -> Result<Self, GrantsError> {
        let wrong = |reason: String| GrantsError { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        Self::parse(&text).map_err(wrong)
    }

    /// Reads the text of a grants file. An error is a sentence that names line and column where it can.
    ///
    /// # Errors
    /// As [`Grants::read`].
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: GrantsFile = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut seen = BTreeSet::new();
        for grant in &file.grant {
            let name = &grant.component;
            if !is_name(name) {
                return Err(format!(
                    "`{}` is not a component's name: use lower-case letters, digits and hyphens, at most 63, a letter first",
                    airlock_types::text::shorten(name, 64)
                ));
            }
            if grant.stages.is_empty() {
                return Err(format!("the grant of `{name}` has no stage: name one in `stage`"));
            }
            if grant.domains.is_empty() {
                return Err(format!(
                    "the grant of `{name}` has no domain: name one in `domains`, or \"*\" for all"
                ));
            }
            if !seen.insert((name, grant.digest)) {
                return Err(format!(
                    "`{name}` with digest {} is granted twice: merge the two",
                    grant.digest.short()
                ));
            }
        }
        Ok(Self(file.grant))
    }

    /// The text of a grants file that says this.
    ///
    /// # Errors
    /// When TOML cannot express it, which no grant made by [`Grants::parse`] brings about.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(&GrantsFile { grant: self.0.clone() })
    }

    /// The grant of these bytes under this name.
    #[must_use]
    pub fn find(&self, component: &str, digest: ContentHash) -> Option<&Grant> {
        self.0.iter().find(|grant| grant.component == component && grant.digest == digest)
    }

    /// All of them, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Grant> {
        self.0.iter()
    }
}

impl FromIterator<Grant> for Grants {
    fn from_iter<I: IntoIterator<Item = Grant>>(grants: I) -> Self {
        Self(grants.into_iter().collect())
    }
}

fn is_name(text: &str) -> bool {
    text.len() <= 63
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLANNER: &str = r#"
[[grant]]
component = "planner"
digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
stage = ["planner"]
domains = ["*"]
imports = ["catalog", "log"]
model_roles = ["fast"]
limits = { memory_mib = 128, compute_ms = 2000 }
"#;

    #[test]
    fn a_grant_says_what_may_be_and_nothing_else_may() {
        let grants = Grants::parse(PLANNER).unwrap();
        let grant = grants.iter().next().unwrap();
        let shop: DomainName = "hardware-shop".parse().unwrap();
        assert!(grant.allows(Stage::Planner, &shop) && !grant.allows(Stage::Linker, &shop));
        assert!(grant.allows_role("fast") && !grant.allows_role("reasoning") && !grant.allows_role(""));
        assert_eq!(grant.imports, BTreeSet::from([Import::Catalog, Import::Log]));
        assert_eq!(grant.limits.memory_mib, Some(128));
        assert_eq!(grants.find("planner", grant.digest), Some(grant));
        assert_eq!(grants.find("linker", grant.digest), None);
        assert_eq!(Grants::parse(&grants.to_toml().unwrap()).unwrap(), grants);
    }

    #[test]
    fn a_wrong_file_is_refused_with_its_place() {
        for (from, to, want) in [
            ("domains", "domain", &["line 6", "unknown field `domain`"][..]),
            ("\"log\"", "\"files\"", &["line 7", "unknown variant `files`"]),
            ("\"fast\"", "\"genius\"", &["line 8", "unknown variant `genius`"]),
            ("model_roles", "wasi = \"full\"\nmodel_roles", &["line 8", "unknown variant `full`"]),
            ("compute_ms", "compute", &["line 9", "unknown field `compute`"]),
            ("9f86", "xx86", &["line 4", "is not a SHA-256"]),
            ("[\"*\"]", "[\"Shop!\"]", &["line 6", "`Shop!` is not a domain name"]),
            ("[\"*\"]", "[]", &["the grant of `planner` has no domain"]),
            ("stage = [\"planner\"]", "stage = []", &["the grant of `planner` has no stage"]),
            ("\"planner\"\nd", "\"../planner\"\nd", &["`../planner` is not a component's name"]),
            ("digest = ", "# ", &["missing field `digest`"]),
        ] {
            let text = PLANNER.replacen(from, to, 1);
            assert_ne!(text, PLANNER, "{from}");
            let message = Grants::parse(&text).unwrap_err();
            for part in want {
                assert!(message.contains(part), "{to}: {message}");
            }
        }
        let twice = Grants::parse(&PLANNER.repeat(2)).unwrap_err();
        assert!(twice.contains("granted twice"), "{twice}");
    }
}
