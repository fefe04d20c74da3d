//! The reviewed grants, and their copy with the digests of what was built.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use airlock_kit::component::{Encoded, short_name};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// Grants of the built-in stages.
const STAGES: &str = "plugins/grants.toml";

/// The folders of domains' adapters, from the root of the repository: those with a `grant.toml`.
pub fn adapters(root: &Path) -> Result<Vec<String>> {
    let domains = root.join("domains");
    let mut found = Vec::new();
    for entry in fs::read_dir(&domains).with_context(|| domains.display().to_string())? {
        let adapter = entry?.path().join("adapter");
        if adapter.join("grant.toml").is_file()
            && let Ok(inside) = adapter.strip_prefix(root)
        {
            found.push(inside.to_string_lossy().into_owned());
        }
    }
    found.sort();
    Ok(found)
}

/// Every grant of a file.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Grants {
    /// In the order of the file.
    #[serde(rename = "grant")]
    pub grants: Vec<Grant>,
}

/// What one component may do. The meaning of the fields is told at the head of `plugins/grants.toml`.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The component's name.
    pub component: String,
    /// SHA-256 of its file, `NAME.wasm` beside the grants. Written by the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Stages it may serve.
    #[serde(rename = "stage")]
    pub stages: Vec<String>,
    /// Domains it may serve.
    pub domains: Vec<String>,
    /// Interfaces with functions that it may call.
    pub imports: Vec<String>,
    /// Roles of models it may ask.
    pub model_roles: Vec<String>,
    /// What differs from the host's limits.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, u32>,
}

impl Grants {
    /// Reads the copy that a build wrote.
    pub fn read_built(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }

    /// Reads the reviewed files of a repository: the built-in stages', then that of each domain's adapter.
    pub fn reviewed(root: &Path) -> Result<Self> {
        let mut grants = Self::read(&root.join(STAGES))?;
        for adapter in adapters(root)? {
            let path = root.join(&adapter).join("grant.toml");
            for grant in Self::read(&path)?.grants {
                if !grant.is_adapter() {
                    bail!(
                        "{}: `{}`: an adapter serves the stage `domain` and nothing else",
                        path.display(),
                        grant.component
                    );
                }
                if grants.grants.iter().any(|known| known.component == grant.component) {
                    bail!("{}: another component is called `{}` already", path.display(), grant.component);
                }
                grants.grants.push(grant);
            }
        }
        Ok(grants)
    }

    /// Reads one reviewed file.
    fn read(path: &Path) -> Result<Self> {
        let grants = Self::read_built(path)?;
        let mut seen = BTreeMap::new();
        for grant in &grants.grants {
            let plain =
                grant.component.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
            if !plain || grant.component.is_empty() {
                bail!(
                    "{}: component `{}`: use lower-case letters, digits and hyphens",
                    path.display(),
                    grant.component
                );
            }
            if grant.digest.is_some() {
                bail!("{}: `{}` names its digest: the build writes that", path.display(), grant.component);
            }
            if seen.insert(&grant.component, ()).is_some() {
                bail!("{}: `{}` stands there twice", path.display(), grant.component);
            }
        }
        Ok(grants)
    }

    /// Writes the copy that the host reads.
    pub fn to_toml(&self) -> Result<String> {
        let body = toml::to_string(self).context("the grants do not write as TOML")?;
        Ok(format!("# Written by `cargo xtask plugins` from the reviewed grants. Do not edit.\n\n{body}"))
    }
}

impl Grant {
    /// The crate that the component is built from.
    pub fn package(&self) -> String {
        let kind = if self.is_adapter() { "adapter" } else { "stage" };
        format!("airlock-{kind}-{}", self.component)
    }

    /// Whether it serves as a domain's adapter.
    fn is_adapter(&self) -> bool {
        self.stages == ["domain"]
    }

    /// The component's file, beside the grants.
    pub fn file(&self) -> String {
        format!("{}.wasm", self.component)
    }

    /// What of this component goes beyond the grant; the host would refuse it too.
    pub fn excess(&self, encoded: &Encoded) -> Vec<String> {
        let beyond = |what: &str, named: &[String], granted: &[String]| {
            let more: Vec<&str> = named.iter().map(|name| short_name(name)).collect();
            let more = more.into_iter().filter(|name| !granted.iter().any(|it| it == name));
            more.map(|name| format!("{what} {name}")).collect::<Vec<_>>()
        };
        // A composer is a generator that asks no model; the contract has one interface for both.
        let interface =
            |stage: &String| if stage == "composer" { "generator".to_owned() } else { stage.clone() };
        let interfaces: Vec<String> = self.stages.iter().map(interface).collect();
        let mut excess = beyond("imports", &encoded.imports, &self.imports);
        excess.extend(beyond("serves", &encoded.exports, &interfaces));
        excess
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reviewed() -> Grants {
        Grants::reviewed(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))).unwrap()
    }

    #[test]
    fn an_adapter_is_granted_beside_its_domain() {
        let grants = reviewed().grants;
        let adapter = grants.iter().find(|grant| grant.component == "equipment-fleet").unwrap();
        assert_eq!(adapter.package(), "airlock-adapter-equipment-fleet");
        assert_eq!(adapter.domains, ["equipment-fleet"]);
        assert_eq!(grants.first().map(Grant::package).as_deref(), Some("airlock-stage-planner"));
    }

    #[test]
    fn the_reviewed_grants_read_and_write() {
        let mut grants = reviewed();
        assert!(grants.grants.len() >= 7);
        for grant in &mut grants.grants {
            grant.digest = Some("00".repeat(32));
        }
        let again: Grants = toml::from_str(&grants.to_toml().unwrap()).unwrap();
        assert_eq!(again.grants.len(), grants.grants.len());
        assert_eq!(again.grants[0].digest, grants.grants[0].digest);
    }

    #[test]
    fn what_goes_beyond_the_grant_is_named() {
        let grant = reviewed().grants.into_iter().find(|grant| grant.component == "planner").unwrap();
        let of = |imports: &[&str], exports: &[&str]| {
            let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            grant.excess(&Encoded { bytes: Vec::new(), imports: texts(imports), exports: texts(exports) })
        };
        assert_eq!(
            of(&["airlock:plugin/log@0.1.0"], &["airlock:plugin/planner@0.1.0"]),
            Vec::<String>::new()
        );
        assert_eq!(
            of(&["airlock:plugin/sql@0.1.0", "wasi:random/random@0.2.0"], &["airlock:plugin/repair@0.1.0"]),
            ["imports sql", "imports wasi:random/random@0.2.0", "serves repair"]
        );
    }
}
