//! `plugin.toml`: what the kit knows of an author's project.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::KitError;
use crate::stages::{self, StageName};

/// Name of the file.
pub const FILE: &str = "plugin.toml";

/// A project.
#[derive(Debug, Clone)]
pub struct Project {
    /// Its folder, absolute.
    pub folder: PathBuf,
    /// The component's name.
    pub name: String,
    /// The stage it is for.
    pub stage: StageName,
    /// How it is built.
    pub build: Build,
    /// What its grant says beside digest, stage and imports.
    pub grant: toml::Table,
}

/// How a project is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Build {
    /// By cargo.
    Rust,
    /// By a command of its own.
    Command(BuildCommand),
}

/// A command that builds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuildCommand {
    /// Program and arguments, run in the project's folder.
    pub command: Vec<String>,
    /// The file that it makes: a component, or a core module to be made one.
    pub output: PathBuf,
    /// What to install when the program is not there.
    #[serde(default)]
    pub needs: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    stage: String,
    language: String,
    #[serde(default)]
    build: Option<BuildCommand>,
    #[serde(default)]
    grant: toml::Table,
}

/// Keys of a grant that the build writes.
const WRITTEN: [&str; 4] = ["component", "digest", "stage", "imports"];

impl Project {
    /// Reads the project in a folder.
    ///
    /// # Errors
    /// When there is none, or its file is wrong.
    pub fn read(folder: &Path) -> Result<Self, KitError> {
        let folder = std::path::absolute(folder).map_err(KitError::read(folder))?;
        let path = folder.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(KitError::NoProject(folder));
            }
            Err(error) => return Err(KitError::read(path)(error)),
        };
        Self::parse(folder, &text).map_err(|reason| KitError::Project { path, reason })
    }

    fn parse(folder: PathBuf, text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        check_name(&file.name).map_err(|error| format!("name: {error}"))?;
        let stage = stages::find(&file.stage);
        let stage = stage.ok_or_else(|| format!("stage: `{}` is none of {}", file.stage, stages::names()))?;
        let build = match (file.language.as_str(), file.build) {
            ("rust", None) => Build::Rust,
            (_, Some(build)) if build.command.is_empty() => {
                return Err("build.command: name a program".to_owned());
            }
            (_, Some(build)) => Build::Command(build),
            (language, None) => {
                return Err(format!("language `{language}` is built by a command: say it under [build]"));
            }
        };
        if let Some(key) = WRITTEN.into_iter().find(|key| file.grant.contains_key(*key)) {
            return Err(format!("grant.{key}: the build writes that"));
        }
        Ok(Self { folder, name: file.name, stage, build, grant: file.grant })
    }

    /// Where the component is put.
    #[must_use]
    pub fn component(&self) -> PathBuf {
        self.folder.join(format!("{}.wasm", self.name))
    }

    /// Where the grant it asks for is put.
    #[must_use]
    pub fn grant_file(&self) -> PathBuf {
        grant_beside(&self.component())
    }

    /// The author's own cases.
    #[must_use]
    pub fn cases(&self) -> PathBuf {
        self.folder.join("cases.json")
    }
}

/// The file beside a component that holds the grant it asks for: `NAME.grant.toml`.
#[must_use]
pub fn grant_beside(component: &Path) -> PathBuf {
    component.with_extension("grant.toml")
}

/// Whether a text can be a component's name, as the grants know it.
///
/// # Errors
/// When it cannot.
pub fn check_name(name: &str) -> Result<(), KitError> {
    let plain = name.len() <= 63
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !plain {
        return Err(KitError::Name(name.chars().take(80).collect()));
    }
    // Cargo tells two packages of one name in one project apart only with help.
    if ["airlock-plugin-sdk", "serde", "serde-json", "wit-bindgen"].contains(&name) {
        return Err(KitError::TakenName(name.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Project, String> {
        Project::parse(PathBuf::from("/p"), text)
    }

    #[test]
    fn a_project_says_how_it_is_built_and_what_it_wants() {
        let rust =
            parse("name = \"a\"\nstage = \"composer\"\nlanguage = \"rust\"\n[grant]\ndomains = [\"*\"]")
                .unwrap();
        assert_eq!((rust.build, rust.stage.world), (Build::Rust, "generator-stage"));
        let other = "name = \"a\"\nstage = \"repair\"\nlanguage = \"c\"\n[build]\ncommand = [\"make\"]\noutput = \"a.wasm\"";
        let other = parse(other).unwrap();
        assert!(matches!(other.build, Build::Command(build) if build.command == ["make"]));
        assert_eq!(other.folder.join("a.wasm"), Path::new("/p/a.wasm"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let base = "name = \"a\"\nstage = \"repair\"\nlanguage = \"rust\"\n";
        for (text, want) in [
            (base.replace("\"a\"", "\"../a\""), "name: `../a` is not a component's name"),
            (base.replace("repair", "repairs"), "stage: `repairs` is none of planner"),
            (base.replace("rust", "cobol"), "say it under [build]"),
            (format!("{base}colour = 1"), "unknown field `colour`"),
            (format!("{base}[grant]\ndigest = \"x\""), "grant.digest: the build writes that"),
            (format!("{base}[build]\ncommand = []\noutput = \"x\""), "build.command: name a program"),
        ] {
            let reason = parse(&text).unwrap_err();
            assert!(reason.contains(want), "{text}: {reason}");
        }
    }

    #[test]
    fn names_are_those_of_grants() {
        for good in ["a", "my-repair", "r2"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "A", "2r", "a/b", "../a", "a b", "ä", "a_b", &"a".repeat(64), "serde", "-a"] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
