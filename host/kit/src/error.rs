//! What keeps an author from a component, each with its remedy.

use std::path::PathBuf;

use thiserror::Error;

use crate::component::ComponentError;
use crate::toolchain::ToolchainError;

/// Why a project is not made or not built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KitError {
    /// A name that cannot be a component's.
    #[error(
        "`{0}` is not a component's name: use lower-case letters, digits and hyphens, at most 63, a letter first"
    )]
    Name(String),
    /// A name that something else in the project has.
    #[error("`{0}` is the name of what every project depends on: choose another")]
    TakenName(String),
    /// Not a stage.
    #[error("`{given}` is no stage: {known}")]
    Stage {
        /// What was given.
        given: String,
        /// What there is.
        known: String,
    },
    /// No template.
    #[error("there is no template for the stage `{stage}` in {language}; there are: {known}")]
    NoTemplate {
        /// The stage.
        stage: String,
        /// The language.
        language: String,
        /// The languages, and the stages that each has one for.
        known: String,
    },
    /// Something is there already.
    #[error("{} is there already, and nothing is ever overwritten: name another folder with --dir, or another project", .0.display())]
    Exists(PathBuf),
    /// A folder or file cannot be read or written.
    #[error("{} cannot be {verb}: {source}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// `read` or `written`.
        verb: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// A folder that is none of ours.
    #[error("{} is no project of a component: it has no plugin.toml; `airlock plugin new --stage STAGE NAME` makes one", .0.display())]
    NoProject(PathBuf),
    /// `plugin.toml` is wrong.
    #[error("{} is wrong: {reason}", .path.display())]
    Project {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// No SDK where one was named.
    #[error("--sdk: {} is not the folder of airlock-plugin-sdk (its Cargo.toml says otherwise or is not there)", .0.display())]
    Sdk(PathBuf),
    /// A compiler is missing.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// A program that the project is built with is missing.
    #[error("`{program}` cannot be started ({source}); {remedy}")]
    Program {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
        /// What to do.
        remedy: String,
    },
    /// The compiler said no.
    #[error("it did not build ({0}); what is wrong stands above")]
    DidNotBuild(String),
    /// Nothing was made.
    #[error("the build made no WebAssembly: {0}")]
    NoModule(String),
    /// The module is not a component of the contract.
    #[error("{0}")]
    Component(#[from] ComponentError),
    /// The component is another stage's.
    #[error(
        "plugin.toml says stage `{stage}`, whose interface is `{interface}`, but the component exports {exports}: change either"
    )]
    OtherStage {
        /// The stage.
        stage: String,
        /// Its interface.
        interface: String,
        /// What it exports.
        exports: String,
    },
}

impl KitError {
    pub(crate) fn read(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, verb: "read", source }
    }

    pub(crate) fn write(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, verb: "written", source }
    }

    /// Whether the author's source is at fault, rather than the command, a file or this machine.
    #[must_use]
    pub fn is_the_sources_fault(&self) -> bool {
        matches!(
            self,
            Self::DidNotBuild(_) | Self::NoModule(_) | Self::Component(_) | Self::OtherStage { .. }
        )
    }
}
