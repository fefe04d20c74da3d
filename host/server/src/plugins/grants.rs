//! The grants of this installation: those that came with the components, and those that its operators wrote.

use std::collections::BTreeSet;
use std::path::PathBuf;

use airlock_runtime::{DomainScope, Grant, Grants, GrantsError, Stage};
use airlock_types::ContentHash;

/// Where grants are. Read anew for each change, so that a new grant needs no restart.
#[derive(Debug, Clone)]
pub struct Reviewed {
    /// Beside the components.
    pub built: PathBuf,
    /// The operators' own; need not be there.
    pub own: PathBuf,
}

impl Reviewed {
    /// The grant of these bytes; one that names the stage and the domains goes first.
    ///
    /// # Errors
    /// When a file says something it must not.
    pub fn find(
        &self,
        digest: ContentHash,
        stage: Stage,
        scope: &DomainScope,
    ) -> Result<Option<Grant>, GrantsError> {
        let mut grants: Vec<Grant> = Vec::new();
        for file in [&self.own, &self.built] {
            if file.exists() {
                grants.extend(Grants::read(file)?.iter().filter(|grant| grant.digest == digest).cloned());
            }
        }
        let fits = |grant: &Grant| {
            grant.stages.contains(&stage)
                && (grant.domains.contains(scope) || grant.domains.contains(&DomainScope::Any))
        };
        let best = grants.iter().position(fits).unwrap_or_default();
        Ok((!grants.is_empty()).then(|| grants.swap_remove(best)))
    }
}

/// What a new grant gives beyond the old one (`+`) and what it takes away (`-`), a line each. Empty when they give the same.
pub fn difference(old: Option<&Grant>, new: &Grant) -> Vec<String> {
    let nothing = Grant::of_nothing("nothing", new.digest);
    let old = old.unwrap_or(&nothing);
    let mut lines = Vec::new();
    lines.extend(changed("stage", &old.stages, &new.stages, |stage| stage.as_str().to_owned()));
    lines.extend(changed("domain", &old.domains, &new.domains, ToString::to_string));
    lines.extend(changed("import", &old.imports, &new.imports, |import| import.as_str().to_owned()));
    lines.extend(changed("model role", &old.model_roles, &new.model_roles, |role| role.as_str().to_owned()));
    if old.wasi != new.wasi {
        let sign = if new.wasi.is_some() { '+' } else { '-' };
        lines.push(format!("{sign} an inert system interface"));
    }
    if old.limits != new.limits {
        let shown = |grant: &Grant| serde_json::to_string(&grant.limits).unwrap_or_default();
        lines.push(format!("- limits {}", shown(old)));
        lines.push(format!("+ limits {}", shown(new)));
    }
    lines
}

fn changed<T: Ord>(
    what: &str,
    old: &BTreeSet<T>,
    new: &BTreeSet<T>,
    name: impl Fn(&T) -> String,
) -> Vec<String> {
    let gone = old.difference(new).map(|item| format!("- {what} {}", name(item)));
    let come = new.difference(old).map(|item| format!("+ {what} {}", name(item)));
    gone.chain(come).collect()
}

#[cfg(test)]
mod tests {
    use airlock_runtime::{Import, ModelRole, Wasi};

    use super::*;

    #[test]
    fn the_difference_is_told_line_by_line() {
        let mut old = Grant::of_nothing("old", ContentHash::of("old"));
        old.stages.insert(Stage::Repair);
        old.domains.insert(DomainScope::Any);
        old.imports = [Import::Log, Import::Catalog].into();
        let mut new = Grant { digest: ContentHash::of("new"), ..old.clone() };
        assert_eq!(difference(Some(&old), &new), Vec::<String>::new());
        new.imports = [Import::Log, Import::Sql].into();
        new.model_roles.insert(ModelRole::Fast);
        new.limits.memory_mib = Some(128);
        new.wasi = Some(Wasi::Inert);
        let lines = difference(Some(&old), &new);
        assert_eq!(
            lines.get(..3),
            Some(["- import catalog", "+ import sql", "+ model role fast"].map(String::from).as_slice())
        );
        assert!(lines.iter().any(|line| line.starts_with("+ limits") && line.contains("128")), "{lines:?}");
        assert!(lines.contains(&"+ an inert system interface".to_owned()), "{lines:?}");
        assert!(difference(Some(&new), &old).contains(&"- an inert system interface".to_owned()));
        assert_eq!(
            difference(None, &old),
            ["+ stage repair", "+ domain *", "+ import catalog", "+ import log"]
        );
    }

    #[test]
    fn a_grant_is_found_by_digest_in_either_file() {
        let folder = tempfile::tempdir().unwrap();
        let reviewed =
            Reviewed { built: folder.path().join("built.toml"), own: folder.path().join("own.toml") };
        let digest = ContentHash::of("bytes");
        let find = |stage| reviewed.find(digest, stage, &DomainScope::Any);
        assert_eq!(find(Stage::Repair).unwrap(), None);
        let grant = |name: &str, stage: &str| {
            format!(
                "[[grant]]\ncomponent = \"{name}\"\ndigest = \"{digest}\"\nstage = [\"{stage}\"]\ndomains = [\"*\"]\n"
            )
        };
        std::fs::write(&reviewed.built, grant("a", "planner")).unwrap();
        assert_eq!(
            find(Stage::Repair).unwrap().unwrap().component,
            "a",
            "another stage's is better than none"
        );
        std::fs::write(&reviewed.own, grant("b", "linker") + &grant("c", "repair")).unwrap();
        for (stage, want) in [(Stage::Planner, "a"), (Stage::Linker, "b"), (Stage::Repair, "c")] {
            assert_eq!(find(stage).unwrap().unwrap().component, want);
        }
        std::fs::write(&reviewed.own, "nonsense").unwrap();
        assert!(find(Stage::Planner).is_err());
    }
}
