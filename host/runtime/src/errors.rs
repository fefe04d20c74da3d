//! What can go wrong: making a runtime, loading a component, calling one.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use airlock_types::ContentHash;
use thiserror::Error;

use crate::bounds::BrokenRule;
use crate::contract::types::StageError;
use crate::contract::{PACKAGE, VERSION};
use crate::grants::Stage;
use crate::limits::{Limit, LimitHit};
use crate::signature::SignatureProblem;

/// No runtime can be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The component engine refused the configuration or the machine has no room for it.
    #[error("the component engine does not start: {0}")]
    Engine(String),
    /// The ticker thread cannot be started.
    #[error("the thread that measures compute time does not start: {0}")]
    Ticker(#[source] std::io::Error),
    /// The folder of the compiled-code cache cannot be used.
    #[error("the compiled-code cache at {path} cannot be used: {reason}")]
    Cache {
        /// The folder.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
}

/// A component is not loaded.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("component `{component}` is not loaded: {kind}")]
pub struct LoadError {
    /// Its name in the grants.
    pub component: String,
    /// Why, and what to do.
    pub kind: LoadErrorKind,
}

/// Why a component is not loaded.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// The bytes are compiled code, which would run without a sandbox.
    #[error(
        "it is machine code made by an engine, which is never accepted; hand in the .wasm it was made from"
    )]
    Precompiled,
    /// The bytes are not a component.
    #[error("it is {found}, not a WebAssembly component; build it with `airlock plugin build`")]
    NotAComponent {
        /// What they look like.
        found: &'static str,
    },
    /// The file is too large.
    #[error("it has {size} bytes, at most {allowed} are accepted (`max_component_bytes`)")]
    TooLarge {
        /// Bytes of the file.
        size: usize,
        /// Bytes that are accepted.
        allowed: usize,
    },
    /// The grant is for other bytes.
    #[error(
        "its SHA-256 is {found}, its grant is for {granted}; review the new version and put its digest in the grant"
    )]
    Digest {
        /// In the grant.
        granted: ContentHash,
        /// Of the bytes.
        found: ContentHash,
    },
    /// Nobody this host trusts vouches for it.
    #[error(transparent)]
    Signature(SignatureProblem),
    /// It does not validate or does not compile.
    #[error("it does not compile: {0}")]
    Compile(String),
    /// It imports what its grant does not name.
    #[error(
        "it wants the imports {}, its grant has {}; add them to `imports` of the grant if it may have them",
        words(.wants),
        words(.granted)
    )]
    NotGranted {
        /// Imports beyond the grant.
        wants: Vec<String>,
        /// Imports in the grant.
        granted: Vec<String>,
    },
    /// It imports WASI and its grant gives none.
    #[error(
        "it wants {}, and components get no system interface here; build it for wasm32-unknown-unknown, or with the \
         option of its toolchain that leaves WASI out (`--stub-wasi` of componentize-py), or let its grant say \
         `wasi = \"inert\"`: a system interface without files, network, clock or entropy",
        words(.wants)
    )]
    Wasi {
        /// The imports.
        wants: Vec<String>,
    },
    /// It imports what of WASI no grant gives.
    #[error("it wants {}, which no grant gives; the inert system interface is {}", words(.wants), words(.offers))]
    WasiBeyond {
        /// The imports.
        wants: Vec<String>,
        /// What there is.
        offers: Vec<String>,
    },
    /// It imports what no host of this version has.
    #[error("it wants {}, which this host does not have; this host offers {}", words(.wants), words(.offers))]
    UnknownImport {
        /// The imports.
        wants: Vec<String>,
        /// What there is.
        offers: Vec<String>,
    },
    /// It was built for another version of the contract.
    #[error(
        "it wants {}, this host offers {PACKAGE}@{VERSION}; rebuild it with airlock-plugin-sdk {VERSION}, or load it into a \
         host that offers what it wants",
        words(.wants)
    )]
    ContractVersion {
        /// The interfaces with their version.
        wants: Vec<String>,
    },
    /// It is a program.
    #[error(
        "it is a program, which exports `{export}` to be run; this host wants a stage such as \
         {PACKAGE}/planner@{VERSION}; build it as a library for the world of its stage"
    )]
    Program {
        /// What says so.
        export: String,
    },
    /// It does not export a stage its grant names.
    #[error(
        "its grant names the stage `{stage}`, but it does not export {PACKAGE}/{}@{VERSION}; it exports {}; build it for the \
         world `{}`, or name the stage it serves",
        .stage.interface(),
        words(.exports),
        .stage.world()
    )]
    MissingStage {
        /// The stage.
        stage: Stage,
        /// What it does export.
        exports: Vec<String>,
    },
    /// Its idea of a record or a function is not this host's.
    #[error(
        "its types are not those of {PACKAGE}@{VERSION} ({0}); rebuild it with airlock-plugin-sdk {VERSION}"
    )]
    Shape(String),
    /// It needs more than any call may have.
    #[error("it needs {needs} {what} to start, a call may have {allowed}")]
    DoesNotFit {
        /// Of what.
        what: &'static str,
        /// How much it needs.
        needs: u64,
        /// How much there is.
        allowed: u64,
    },
    /// An instance of it does not start.
    #[error("an instance does not start: {0}")]
    DoesNotStart(Box<CallErrorKind>),
}

fn words(list: &[String]) -> String {
    if list.is_empty() { "none".to_owned() } else { format!("`{}`", list.join("`, `")) }
}

/// A call of a component did not give a result. For the operator; [`CallError::for_asker`] is for everyone else.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("component `{component}` ({digest}), stage `{stage}`: {kind}", digest = .digest.short())]
pub struct CallError {
    /// Name of the component in the grants.
    pub component: String,
    /// SHA-256 of its bytes.
    pub digest: ContentHash,
    /// The stage that was called.
    pub stage: Stage,
    /// What happened. Boxed, so that the happy path stays small.
    pub kind: Box<CallErrorKind>,
}

/// How a call ended without a result.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum CallErrorKind {
    /// It went over a limit.
    #[error(transparent)]
    Limit(LimitHit),
    /// It trapped.
    #[error("{0}")]
    Trap(TrapReport),
    /// It said by itself that it cannot do this.
    #[error("it reported {}", said(.0))]
    Stage(StageError),
    /// What it returned breaks a rule of the contract.
    #[error("it returned what the contract does not allow: {0}")]
    BadOutput(#[from] BrokenRule),
    /// No place in the pool became free in time. Says nothing about the component.
    #[error("all {places} places for calls were taken for {} ms; raise `max_calls` or send fewer asks", .waited.as_millis())]
    PoolExhausted {
        /// Calls that may run at once.
        places: usize,
        /// How long this one waited.
        waited: Duration,
    },
    /// The component does not serve this stage.
    #[error("its grant does not name this stage")]
    NotServed,
    /// It called what an inert system interface does not do.
    #[error("it called `{function}`, which the inert system interface refuses")]
    Denied {
        /// The function, with its interface.
        function: String,
    },
    /// It ended itself instead of returning.
    #[error("it exited with code {code} instead of returning")]
    Exit {
        /// What it exited with.
        code: u8,
    },
}

fn said(error: &StageError) -> String {
    match error {
        StageError::BadInput(text) => format!("bad input: {text}"),
        StageError::Unsupported(text) => format!("unsupported: {text}"),
        StageError::Internal(text) => format!("an internal error: {text}"),
    }
}

/// What is known about a trap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrapReport {
    /// Why the engine stopped it.
    pub reason: String,
    /// What the guest's panic hook sent through `log`, if it did.
    pub panic_message: Option<String>,
    /// Innermost first: function, and file and line where the component has debug information.
    pub frames: Vec<String>,
}

impl fmt::Display for TrapReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.panic_message {
            Some(message) => write!(f, "it panicked: {message}")?,
            None => write!(f, "it trapped: {}", self.reason)?,
        }
        self.frames.iter().try_for_each(|frame| write!(f, "\n    at {frame}"))
    }
}

impl CallError {
    /// One plain sentence for the asker. Nothing in it comes from the component.
    #[must_use]
    pub fn for_asker(&self) -> String {
        let stage = self.stage;
        match &*self.kind {
            CallErrorKind::Limit(hit) => match hit.limit {
                Limit::Compute | Limit::Wall => format!("The {stage} step took too long and was stopped."),
                _ => format!("The {stage} step used more than it may and was stopped."),
            },
            CallErrorKind::PoolExhausted { .. } => {
                "The service is busy; the same question may work in a moment.".to_owned()
            }
            CallErrorKind::Stage(StageError::Unsupported(_)) => {
                format!("The {stage} step does not support this kind of question.")
            }
            _ => format!("The {stage} step failed; the operator's log has the reason."),
        }
    }

    /// Whether the component is to blame: what counts towards its quarantine.
    #[must_use]
    pub fn is_components_fault(&self) -> bool {
        match &*self.kind {
            CallErrorKind::Limit(_)
            | CallErrorKind::Trap(_)
            | CallErrorKind::BadOutput(_)
            | CallErrorKind::Denied { .. }
            | CallErrorKind::Exit { .. } => true,
            CallErrorKind::Stage(_) | CallErrorKind::PoolExhausted { .. } | CallErrorKind::NotServed => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn askers_get_a_sentence_and_operators_the_facts() {
        let hit = |limit| CallErrorKind::Limit(LimitHit { limit, allowed: 1_000, spent: 1_005 });
        let trap = CallErrorKind::Trap(TrapReport {
            reason: "wasm `unreachable` instruction executed".to_owned(),
            panic_message: Some("no such table".to_owned()),
            frames: vec!["planner::run (src/lib.rs:9)".to_owned()],
        });
        let said = CallErrorKind::Stage(StageError::Internal("<b>secret</b>".to_owned()));
        let full = CallErrorKind::PoolExhausted { places: 32, waited: Duration::from_secs(5) };
        for (kind, for_asker, for_operator, fault) in [
            (hit(Limit::Compute), "took too long", "limit `compute`: 1005 ms of 1000 ms", true),
            (hit(Limit::Memory), "used more than it may", "limit `memory`: 1005 bytes of 1000 bytes", true),
            (trap, "step failed", "it panicked: no such table\n    at planner::run (src/lib.rs:9)", true),
            (said, "step failed", "it reported an internal error: <b>secret</b>", false),
            (full, "busy", "all 32 places for calls were taken for 5000 ms", false),
        ] {
            let error = CallError {
                component: "acme-planner".to_owned(),
                digest: ContentHash::of(""),
                stage: Stage::Planner,
                kind: Box::new(kind),
            };
            let (sentence, facts) = (error.for_asker(), error.to_string());
            assert!(sentence.contains(for_asker), "{sentence}");
            assert!(!sentence.contains("acme") && !sentence.contains("secret"), "{sentence}");
            assert!(
                facts.starts_with("component `acme-planner` (e3b0c44298fc), stage `planner`: "),
                "{facts}"
            );
            assert!(facts.contains(for_operator), "{facts}");
            assert_eq!(error.is_components_fault(), fault, "{facts}");
        }
    }
}
