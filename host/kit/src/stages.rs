//! The stages that a component can be made for.

/// A stage, as an author names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageName {
    /// Its name: `repair`.
    pub stage: &'static str,
    /// The interface of the contract that it exports: `repair`.
    pub interface: &'static str,
    /// The world of the contract that it is built for: `repair-stage`.
    pub world: &'static str,
}

const fn of(stage: &'static str, interface: &'static str, world: &'static str) -> StageName {
    StageName { stage, interface, world }
}

/// All of them, in the order of an ask.
pub const STAGES: [StageName; 8] = [
    of("planner", "planner", "planner-stage"),
    of("linker", "linker", "linker-stage"),
    of("generator", "generator", "generator-stage"),
    of("composer", "generator", "generator-stage"),
    of("repair", "repair", "repair-stage"),
    of("answerer", "answerer", "answerer-stage"),
    of("distill", "distill", "distill-stage"),
    of("domain", "domain", "domain-adapter"),
];

/// A stage by its name.
#[must_use]
pub fn find(name: &str) -> Option<StageName> {
    STAGES.into_iter().find(|known| known.stage == name)
}

/// The names, for messages.
#[must_use]
pub fn names() -> String {
    STAGES.map(|known| known.stage).join(", ")
}
