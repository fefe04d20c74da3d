//! A component as `airlock plugin list` and `check` show it.

use std::collections::BTreeSet;

use airlock_runtime::{Component, DomainScope, Import, ModelRole, Stage, StageSet};
use airlock_types::ContentHash;
use serde::{Deserialize, Serialize};

/// A component that was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Always true: what is wrong with a component is told otherwise.
    pub ok: bool,
    /// Its name.
    pub component: String,
    /// SHA-256 of its bytes.
    pub digest: ContentHash,
    /// Size of its file.
    pub bytes: usize,
    /// Stages its grant names.
    pub stages: BTreeSet<Stage>,
    /// Interfaces it calls.
    pub imports: BTreeSet<Import>,
    /// Model roles its grant names.
    pub model_roles: BTreeSet<ModelRole>,
    /// Where it serves now, in the host that was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub serves: Vec<Serving>,
}

/// A place where a component serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serving {
    /// The stage.
    pub stage: Stage,
    /// The domains.
    pub domains: DomainScope,
}

impl From<&Component> for Listed {
    fn from(component: &Component) -> Self {
        Self {
            ok: true,
            component: component.name().to_owned(),
            digest: component.digest(),
            bytes: component.size(),
            stages: component.stages().clone(),
            imports: component.imports().clone(),
            model_roles: component.grant().model_roles.clone(),
            serves: Vec::new(),
        }
    }
}

impl Listed {
    /// Every component that serves, with where it does, in the order of an ask.
    pub fn of(set: &StageSet) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for (stage, domains, component) in set.iter() {
            let serving = Serving { stage, domains: domains.clone() };
            match all.iter_mut().find(|listed| listed.digest == component.digest()) {
                Some(listed) => listed.serves.push(serving),
                None => all.push(Self { serves: vec![serving], ..Self::from(component) }),
            }
        }
        all
    }
}
