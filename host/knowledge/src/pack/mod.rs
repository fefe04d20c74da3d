//! A domain pack: the files people write about a domain, read into types, all that is wrong with them told at once.
//!
//! Reading knows nothing of the data source. [`Pack::bind`] is the second step: every name and every SQL text of the pack
//! against the catalogue and the gate.

mod addition;
mod bind;
pub mod draft;
mod evaluation;
mod files;
mod glossary;
mod golden;
mod joins;
mod lessons;
pub mod limits;
mod notes;
mod reference;
mod report;
mod section;
mod settings;
mod sql;
mod tree;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use airlock_types::{ContentHash, DomainName};
use serde::Serialize;

pub use addition::Addition;
pub use bind::{BoundColumnNote, BoundJoin, BoundMetric, BoundPack, BoundTableNote, BoundTerm};
pub use evaluation::EvaluationCase;
pub use glossary::{Metric, Term};
pub use golden::{GoldenCase, GoldenOutcome};
pub use joins::{JoinSide, ManualJoin};
pub use lessons::{LessonKind, SeedLesson};
pub use notes::{ColumnNote, Covers, TableNote};
pub use reference::{ColumnName, TableName};
pub use report::{Located, PackReport, Problem, Spot, nearest};
pub use settings::{Egress, FORMAT, PackFunction, PackScope, RowsToModel, Settings};

use files::PackFile;
use report::Findings;
use tree::{Node, read_json_lines, read_toml};

/// A domain pack as people wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pack {
    /// The domain: the name of the pack's folder.
    pub name: DomainName,
    /// SHA-256 over all files of the pack.
    pub hash: ContentHash,
    /// `domain.toml`.
    pub settings: Settings,
    /// `notes.toml`.
    pub notes: Vec<TableNote>,
    /// `glossary.toml`.
    pub glossary: Vec<Term>,
    /// `joins.toml`.
    pub joins: Vec<ManualJoin>,
    /// `golden.jsonl`.
    pub golden: Vec<GoldenCase>,
    /// `evaluation.jsonl`: cases that are never examples.
    pub evaluation: Vec<EvaluationCase>,
    /// `lessons.toml`.
    pub lessons: Vec<SeedLesson>,
    /// `docs/*.md`.
    pub documents: Vec<Document>,
}

/// A text about the domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Document {
    /// Path inside the pack, such as `docs/returns.md`.
    #[serde(serialize_with = "report::as_text")]
    pub path: Arc<str>,
    /// Markdown.
    pub text: String,
}

/// Reads cases from a file that is no part of a pack, in the format of `golden.jsonl`. `file` is what problems call it.
///
/// # Errors
/// [`PackReport`] with every problem.
pub fn read_golden(file: &str, bytes: Vec<u8>) -> Result<Vec<GoldenCase>, PackReport> {
    all(read_lines(file, bytes, golden::read))
}

/// Reads questions from a file that is no part of a pack, in the format of `evaluation.jsonl` or of `golden.jsonl`. `file` is
/// what problems call it.
///
/// # Errors
/// [`PackReport`] with every problem.
pub fn read_evaluation(file: &str, bytes: Vec<u8>) -> Result<Vec<EvaluationCase>, PackReport> {
    all(read_questions(file, bytes))
}

/// The same for one who tells the problems with others: what could be read, and what is wrong.
#[must_use]
pub fn read_questions(file: &str, bytes: Vec<u8>) -> (Vec<EvaluationCase>, PackReport) {
    read_lines(file, bytes, evaluation::read)
}

fn read_lines<T>(
    file: &str,
    bytes: Vec<u8>,
    read: impl FnOnce(Vec<Node>, &Findings) -> Vec<T>,
) -> (Vec<T>, PackReport) {
    let findings = Findings::default();
    let file = PackFile { path: file.into(), bytes };
    file.check_size(&findings);
    let text = file.text(&findings).unwrap_or_default();
    let cases = read(read_json_lines(&file.path, text, &findings), &findings);
    (cases, findings.into_report())
}

/// What was read, when nothing is wrong with it.
fn all<T>((cases, report): (Vec<T>, PackReport)) -> Result<Vec<T>, PackReport> {
    if report.is_empty() { Ok(cases) } else { Err(report) }
}

/// The files of a pack: paths inside it and their bytes.
pub type PackFiles = Vec<(String, Vec<u8>)>;

impl Pack {
    /// Reads a pack from its folder.
    ///
    /// # Errors
    /// [`PackReport`] with every problem of every file.
    pub fn read(folder: &Path) -> Result<Self, PackReport> {
        Self::read_with_files(folder).map(|(pack, _)| pack)
    }

    /// The same, with the files it was read from: paths inside the pack and their bytes.
    ///
    /// # Errors
    /// As [`Pack::read`].
    pub fn read_with_files(folder: &Path) -> Result<(Self, PackFiles), PackReport> {
        match Self::read_what_holds(folder) {
            (Some(read), report) if report.is_empty() => Ok(read),
            (_, report) => Err(report),
        }
    }

    /// What of a pack can be read, and what is wrong with its files: for one who tells all of its problems at once, those
    /// against the catalogue too. Nothing where a whole file is lost, since much would then be told that is not so.
    #[must_use]
    pub fn read_what_holds(folder: &Path) -> (Option<(Self, PackFiles)>, PackReport) {
        let findings = Findings::default();
        // `domains/shop/.` and `.` are the folder they stand for.
        let named = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let name = named.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let files = files::collect(folder, &findings);
        let (pack, report) = Self::from_collected(&name, &files, findings);
        let files = files.into_iter().map(|file| (file.path.to_string(), file.bytes)).collect();
        (pack.map(|pack| (pack, files)), report)
    }

    /// Reads a pack from files in memory: paths inside the pack and their bytes.
    ///
    /// # Errors
    /// [`PackReport`] with every problem of every file.
    pub fn from_files<'a>(
        name: &str,
        files: impl IntoIterator<Item = (&'a str, Vec<u8>)>,
    ) -> Result<Self, PackReport> {
        let files: Vec<PackFile> =
            files.into_iter().map(|(path, bytes)| PackFile { path: path.into(), bytes }).collect();
        match Self::from_collected(name, &files, Findings::default()) {
            (Some(pack), report) if report.is_empty() => Ok(pack),
            (_, report) => Err(report),
        }
    }

    fn from_collected(name: &str, files: &[PackFile], findings: Findings) -> (Option<Self>, PackReport) {
        let domain: Option<DomainName> = name
            .parse()
            .map_err(|error: airlock_types::ids::DomainNameError| {
                findings.add(
                    &Spot::file(&"domain.toml".into()),
                    error.to_string(),
                    "rename the pack's folder",
                );
            })
            .ok();
        let found = |path: &str| files.iter().find(|file| &*file.path == path);
        for file in files {
            file.check_size(&findings);
        }
        let lost = Cell::new(false);
        let toml = |path: &str| {
            let file = found(path)?;
            let node = file.text(&findings).and_then(|text| read_toml(&file.path, text, &findings));
            lost.set(lost.get() || node.is_none());
            node
        };
        if found("domain.toml").is_none() {
            findings.add(
                &Spot::file(&"domain.toml".into()),
                "the file is missing",
                "a pack begins with it; `airlock domain init` writes one",
            );
        }
        let settings = toml("domain.toml").and_then(|node| settings::read(node, &findings));
        let notes = toml("notes.toml").map(|node| notes::read(node, &findings)).unwrap_or_default();
        let glossary = toml("glossary.toml").map(|node| glossary::read(node, &findings)).unwrap_or_default();
        let joins = toml("joins.toml").map(|node| joins::read(node, &findings)).unwrap_or_default();
        let lessons = toml("lessons.toml").map(|node| lessons::read(node, &findings)).unwrap_or_default();
        let lines = |path: &str| {
            found(path)
                .and_then(|file| Some(read_json_lines(&file.path, file.text(&findings)?, &findings)))
                .unwrap_or_default()
        };
        let golden = golden::read(lines("golden.jsonl"), &findings);
        let evaluation = evaluation::read(lines("evaluation.jsonl"), &findings);
        let mut documents: Vec<Document> = files
            .iter()
            .filter(|file| file.path.starts_with("docs/"))
            .filter_map(|file| {
                let text = file.prose(&findings)?.to_owned();
                Some(Document { path: Arc::clone(&file.path), text })
            })
            .collect();
        documents.sort_by(|a, b| a.path.cmp(&b.path));
        let report = findings.into_report();
        let pack = match (domain, settings) {
            (Some(name), Some(settings)) if !lost.get() => Some(Self {
                name,
                hash: files::hash(files),
                settings,
                notes,
                glossary,
                joins,
                golden,
                evaluation,
                lessons,
                documents,
            }),
            _ => None,
        };
        (pack, report)
    }
}
