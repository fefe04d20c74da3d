//! A new project from a template: `templates/LANGUAGE/common` and `templates/LANGUAGE/STAGE`, the latter over the former.
//!
//! A template is added by its folder. In names and texts of its files `{{name}}`, `{{crate}}`, `{{stage}}`, `{{interface}}`,
//! `{{world}}`, `{{version}}` and `{{sdk}}` are filled in; the ending `.in`, which keeps our own tools from a file, is dropped.
//! Every project gets the contract under `vendor/wit`; one in Rust gets the SDK under `vendor/plugins/sdk`, laid out as in
//! airlock's own tree, so that it builds without it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::VERSION;
use crate::embedded::{SDK, TEMPLATES, WIT};
use crate::error::KitError;
use crate::project::check_name;
use crate::stages::{self, StageName};

/// The language of the SDK.
pub const RUST: &str = "rust";
/// Manifest of the SDK as a project carries it.
const SDK_MANIFEST: &str = include_str!("sdk-manifest.toml");
/// Where it stands there.
const SDK_MANIFEST_FILE: &str = "vendor/plugins/sdk/Cargo.toml";
/// Where a project carries the SDK.
const SDK_FOLDER: &str = "vendor/plugins/sdk";

/// What is wanted.
#[derive(Debug, Clone)]
pub struct NewProject {
    /// The component's name.
    pub name: String,
    /// The stage.
    pub stage: String,
    /// The language.
    pub language: String,
    /// The project's folder; `NAME` in the working folder when absent.
    pub folder: Option<PathBuf>,
    /// The folder of an SDK to depend on, instead of a copy.
    pub sdk: Option<PathBuf>,
}

/// A project that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// Its folder.
    pub folder: PathBuf,
    /// The files that are the author's, by their paths in it.
    pub files: Vec<String>,
}

impl NewProject {
    /// Makes it, whole or not at all.
    ///
    /// # Errors
    /// When the name cannot be, there is no such template, or the folder is there already.
    pub fn create(&self) -> Result<Created, KitError> {
        check_name(&self.name)?;
        let stage = stages::find(&self.stage)
            .ok_or_else(|| KitError::Stage { given: self.stage.clone(), known: stages::names() })?;
        let sdk = self.sdk.as_deref().map(sdk_folder).transpose()?;
        let own = self.own_files(stage, sdk.as_deref())?;
        let vendored = vendored(&self.language, sdk.is_some());
        let folder = self.folder.clone().unwrap_or_else(|| PathBuf::from(&self.name));
        // Not `create_dir_all`: whoever made the folder owns what is in it.
        fs::create_dir(&folder).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => KitError::Exists(folder.clone()),
            _ => KitError::write(&folder)(error),
        })?;
        let files = own.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        if let Err(error) = write(&folder, files).and_then(|()| write(&folder, vendored)) {
            // Ours, made a moment ago. What cannot be taken away again is not worth more than the reason.
            let _ = fs::remove_dir_all(&folder);
            return Err(error);
        }
        Ok(Created { folder, files: own.into_keys().collect() })
    }

    /// The files of the template, filled in.
    fn own_files(&self, stage: StageName, sdk: Option<&Path>) -> Result<BTreeMap<String, String>, KitError> {
        let folder = |part: &str| format!("{}/{part}/", self.language);
        if !TEMPLATES.iter().any(|(name, _)| name.starts_with(&folder(stage.stage))) {
            return Err(KitError::NoTemplate {
                stage: stage.stage.to_owned(),
                language: self.language.clone(),
                known: all_templates(),
            });
        }
        let path = sdk.map_or_else(|| SDK_FOLDER.to_owned(), |sdk| sdk.display().to_string());
        let crate_name = self.name.replace('-', "_");
        let words = [
            ("{{name}}", self.name.as_str()),
            ("{{crate}}", &crate_name),
            ("{{stage}}", stage.stage),
            ("{{interface}}", stage.interface),
            ("{{world}}", stage.world),
            ("{{version}}", VERSION),
            ("{{sdk}}", &path),
        ];
        let fill =
            |text: &str| words.iter().fold(text.to_owned(), |text, (word, with)| text.replace(word, with));
        let mut files = BTreeMap::new();
        for part in [folder("common"), folder(stage.stage)] {
            for (name, text) in TEMPLATES {
                let Some(name) = name.strip_prefix(&part) else { continue };
                files.insert(fill(name.strip_suffix(".in").unwrap_or(name)), fill(text));
            }
        }
        Ok(files)
    }
}

/// The languages that have a template for a stage.
#[must_use]
pub fn languages(stage: &str) -> BTreeSet<String> {
    let language = |name: &str| {
        let mut parts = name.split('/');
        let language = parts.next()?;
        (parts.next() == Some(stage)).then(|| language.to_owned())
    };
    TEMPLATES.iter().filter_map(|(name, _)| language(name)).collect()
}

/// Every template there is, for messages: `javascript for domain, repair; ..`.
fn all_templates() -> String {
    let mut known: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for stage in stages::STAGES {
        for language in languages(stage.stage) {
            known.entry(language).or_default().push(stage.stage);
        }
    }
    let lines = known.iter().map(|(language, stages)| format!("{language} for {}", stages.join(", ")));
    lines.collect::<Vec<_>>().join("; ")
}

/// What a project carries of ours.
fn vendored(language: &str, sdk_elsewhere: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let copies_sdk = language == RUST && !sdk_elsewhere;
    let needs_wit = language != RUST || copies_sdk;
    let wit = WIT.iter().filter(move |_| needs_wit);
    let sdk = SDK.iter().copied().chain([(SDK_MANIFEST_FILE, SDK_MANIFEST)]);
    wit.copied().chain(sdk.filter(move |_| copies_sdk))
}

/// An SDK that was named, as an absolute path.
fn sdk_folder(path: &Path) -> Result<PathBuf, KitError> {
    let wrong = || KitError::Sdk(path.to_owned());
    let manifest = fs::read_to_string(path.join("Cargo.toml")).map_err(|_| wrong())?;
    let manifest: toml::Table = manifest.parse().map_err(|_| wrong())?;
    let name = manifest.get("package").and_then(|package| package.get("name"));
    if name.and_then(toml::Value::as_str) != Some("airlock-plugin-sdk") {
        return Err(wrong());
    }
    path.canonicalize().map_err(|_| wrong())
}

fn write<'a>(folder: &Path, files: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(), KitError> {
    for (name, text) in files {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(KitError::write(parent))?;
        }
        fs::write(&path, text).map_err(KitError::write(&path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;

    fn wanted(folder: &Path, stage: &str, language: &str) -> NewProject {
        NewProject {
            name: "acme-one".to_owned(),
            stage: stage.to_owned(),
            language: language.to_owned(),
            folder: Some(folder.to_owned()),
            sdk: None,
        }
    }

    #[test]
    fn every_template_makes_a_project_that_is_filled_in() {
        let here = tempfile::tempdir().unwrap();
        let mut made = 0;
        for stage in stages::STAGES {
            assert!(languages(stage.stage).contains(RUST), "{}", stage.stage);
            for language in languages(stage.stage) {
                let folder = here.path().join(format!("{}-{language}", stage.stage));
                let created = wanted(&folder, stage.stage, &language).create().unwrap();
                let project = Project::read(&folder).unwrap();
                assert_eq!((project.stage, project.name.as_str()), (stage, "acme-one"));
                for needed in ["README.md", "plugin.toml", ".gitignore"] {
                    assert!(created.files.iter().any(|file| file == needed), "{language}: {needed}");
                }
                for file in &created.files {
                    let text = fs::read_to_string(folder.join(file)).unwrap();
                    for word in
                        ["{{name", "{{crate", "{{stage", "{{interface", "{{world", "{{version", "{{sdk"]
                    {
                        assert!(!text.contains(word) && !file.contains(word), "{language}/{file}: {word}");
                    }
                }
                assert!(folder.join("vendor/wit/types.wit").is_file());
                assert!(
                    !folder.join("vendor/wit/released").exists(),
                    "of older contracts an author knows nothing"
                );
                made += 1;
            }
        }
        assert!(made >= 8);
    }

    #[test]
    fn nothing_is_overwritten_and_nothing_is_half_made() {
        let here = tempfile::tempdir().unwrap();
        let folder = here.path().join("p");
        wanted(&folder, "repair", RUST).create().unwrap();
        fs::write(folder.join("src/lib.rs"), "mine").unwrap();
        assert!(matches!(wanted(&folder, "repair", RUST).create(), Err(KitError::Exists(_))));
        assert_eq!(fs::read_to_string(folder.join("src/lib.rs")).unwrap(), "mine");
        let nowhere = here.path().join("none/p");
        assert!(matches!(wanted(&nowhere, "repair", RUST).create(), Err(KitError::Io { .. })));
        let other = here.path().join("q");
        for (stage, language, name) in
            [("repairs", RUST, "a"), ("repair", "cobol", "a"), ("repair", RUST, "a/b")]
        {
            let wrong = NewProject { name: name.to_owned(), ..wanted(&other, stage, language) };
            wrong.create().unwrap_err();
            assert!(!other.exists());
        }
        let error = wanted(&other, "planner", "python").create().unwrap_err().to_string();
        assert!(
            error.contains("javascript for repair, domain; python for repair, domain; rust for planner,"),
            "{error}"
        );
        let sdk = NewProject { sdk: Some(here.path().to_owned()), ..wanted(&other, "repair", RUST) };
        assert!(matches!(sdk.create(), Err(KitError::Sdk(_))));
        assert!(!other.exists());
    }

    #[test]
    fn a_copied_sdk_depends_on_what_ours_depends_on() {
        let ours: toml::Table = include_str!("../../../plugins/sdk/Cargo.toml").parse().unwrap();
        let workspace: toml::Table = include_str!("../../../Cargo.toml").parse().unwrap();
        let copied: toml::Table = SDK_MANIFEST.parse().unwrap();
        assert_eq!(copied["package"]["version"], workspace["workspace"]["package"]["version"]);
        assert_eq!(copied["package"]["edition"], workspace["workspace"]["package"]["edition"]);
        let dependencies = |table: &toml::Table| -> Vec<String> {
            table["dependencies"].as_table().unwrap().keys().cloned().collect()
        };
        assert_eq!(dependencies(&copied), dependencies(&ours));
        for (name, copied) in copied["dependencies"].as_table().unwrap() {
            let ours = &workspace["workspace"]["dependencies"][name];
            let version =
                |value: &toml::Value| value.get("version").unwrap_or(value).as_str().unwrap().to_owned();
            assert_eq!(version(copied), version(ours), "{name}");
            assert_eq!(copied.get("default-features"), ours.get("default-features"), "{name}");
        }
    }
}
