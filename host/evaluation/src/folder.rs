//! The folder of a run: what it was made with, its questions, and a line for each graded ask as it comes.
//!
//! A folder is made anew for each run and never written over. One process writes to it at a time; what a killed one left of
//! a line is cut off when the run is gone on with.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use airlock_knowledge::Degrade;
use airlock_knowledge::pack::read_evaluation;
use airlock_pipeline::{ATTEMPTS, Domain, Host, golden};
use airlock_types::ask::ComponentUse;
use airlock_types::{AskId, ContentHash, DomainName, Mode};
use serde::{Deserialize, Serialize};

use crate::error::EvaluationError;
use crate::questions::Asked;
use crate::record::Record;
use crate::run::RunOptions;

/// The format of this version.
const FORMAT: u32 = 1;
const MANIFEST: &str = "manifest.json";
const QUESTIONS: &str = "questions.jsonl";
const RESULTS: &str = "results.jsonl";
const LOCK: &str = "lock";
/// Bytes of a file of a run that are read.
const FILE_LIMIT: u64 = 1 << 30;

/// Where the questions of a run came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionsFrom {
    /// The file as it was named, or the pack.
    pub from: String,
    /// SHA-256 of the questions as they were asked.
    pub hash: ContentHash,
    /// How many.
    pub count: usize,
    /// Left out, because their right answers cannot serve.
    pub skipped: usize,
}

/// A domain as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainUsed {
    /// Its name.
    pub name: DomainName,
    /// SHA-256 of its pack.
    pub pack: ContentHash,
    /// Version of its server, such as 150004.
    pub server: u32,
    /// Relations.
    pub relations: usize,
}

/// A model as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelUsed {
    /// The role it played.
    pub role: String,
    /// Its name.
    pub model: String,
}

/// What a run was made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the folder.
    pub format: u32,
    /// Identity of the run: the name of its folder.
    pub run: String,
    /// When it began, RFC 3339.
    pub begun: String,
    /// The version of airlock.
    pub airlock: String,
    /// The questions.
    pub questions: QuestionsFrom,
    /// Agent, baseline or both.
    pub modes: Vec<Mode>,
    /// What was left out of the knowledge.
    pub degrade: Degrade,
    /// The moment questions without one of their own were asked at.
    pub now: String,
    /// The domains.
    pub domains: Vec<DomainUsed>,
    /// Every component in service.
    pub components: Vec<ComponentUse>,
    /// Every model; none without one.
    pub models: Vec<ModelUsed>,
    /// SHA-256 of what of the configuration decides answers, costs and times; secrets have no part in it.
    pub configuration: ContentHash,
    /// Attempts of an ask.
    pub attempts: u32,
    /// Rows that are compared.
    pub rows: u32,
    /// The run whose endings were graded again.
    pub regrade_of: Option<String>,
}

impl Manifest {
    pub(crate) fn new(host: &Host, domains: &[&Domain], questions: &[Asked], options: &RunOptions) -> Self {
        let stages = host.registry().current();
        let mut components: Vec<ComponentUse> = stages
            .iter()
            .map(|(stage, _, component)| ComponentUse {
                stage: stage.as_str().to_owned(),
                component: component.name().to_owned(),
                digest: component.digest(),
            })
            .collect();
        components.sort_by(|a, b| (&a.stage, &a.component).cmp(&(&b.stage, &b.component)));
        let begun = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        Self {
            format: FORMAT,
            run: new_name(),
            airlock: env!("CARGO_PKG_VERSION").to_owned(),
            questions: QuestionsFrom {
                from: options.from.clone(),
                hash: ContentHash::of(lines(questions)),
                count: questions.len(),
                skipped: options.skipped,
            },
            modes: options.modes.clone(),
            degrade: options.degrade,
            now: options.now.clone().unwrap_or_else(|| begun.clone()),
            begun,
            domains: domains
                .iter()
                .map(|domain| DomainUsed {
                    name: domain.name().clone(),
                    pack: domain.knowledge().pack_hash(),
                    server: domain.catalogue().server_version,
                    relations: domain.catalogue().iter().count(),
                })
                .collect(),
            components,
            models: host
                .models()
                .describe()
                .into_iter()
                .map(|(role, model, _)| ModelUsed { role: role.as_str().to_owned(), model })
                .collect(),
            configuration: options.configuration,
            attempts: ATTEMPTS,
            rows: golden::ROWS,
            regrade_of: None,
        }
    }

    /// What of two manifests differs that decides how questions come out.
    pub(crate) fn changed(&self, now: &Self) -> Vec<&'static str> {
        let mut changed = Vec::new();
        let mut same = |same: bool, what| {
            if !same {
                changed.push(what);
            }
        };
        same(self.airlock == now.airlock, "the version of airlock");
        same(self.questions.hash == now.questions.hash, "the questions");
        same(self.modes == now.modes, "the modes");
        same(self.degrade == now.degrade, "what is left out");
        same(self.domains == now.domains, "a domain's pack or its database");
        same(self.components == now.components, "the components");
        same(self.models == now.models, "the models");
        same(self.configuration == now.configuration, "the configuration");
        same((self.attempts, self.rows) == (now.attempts, now.rows), "a limit");
        changed
    }
}

/// A name that sorts by time.
fn new_name() -> String {
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    let id: String = ContentHash::of(AskId::now().to_string()).short().chars().take(6).collect();
    format!("run-{time}-{id}")
}

fn lines(questions: &[Asked]) -> String {
    questions.iter().map(|asked| format!("{}\n", asked.line())).collect()
}

/// The folder of a run.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    manifest: Manifest,
    results: Option<File>,
    /// Held as long as this process may write.
    _lock: Option<File>,
}

impl Folder {
    /// Makes one inside `out`.
    pub(crate) fn create(
        out: &Path,
        manifest: Manifest,
        questions: &[Asked],
    ) -> Result<Self, EvaluationError> {
        let path = out.join(&manifest.run);
        fs::create_dir_all(out).map_err(|error| EvaluationError::out(out, out, error))?;
        // Fails where there is one already: no run is written over.
        fs::create_dir(&path).map_err(|error| EvaluationError::out(out, &path, error))?;
        let lock = lock(&path)?;
        write_new(&path.join(QUESTIONS), lines(questions).as_bytes())?;
        let results = path.join(RESULTS);
        let open = OpenOptions::new().append(true).create_new(true).open(&results);
        let results = open.map_err(|error| EvaluationError::file(&results, error))?;
        // The manifest last: a folder without one is not a run.
        let mut text = serde_json::to_vec_pretty(&manifest).unwrap_or_default();
        text.push(b'\n');
        write_new(&path.join(MANIFEST), &text)?;
        Ok(Self { path, manifest, results: Some(results), _lock: Some(lock) })
    }

    /// Opens a run to read it.
    ///
    /// # Errors
    /// When it is none, or of another version.
    pub fn open(path: &Path) -> Result<Self, EvaluationError> {
        let no = |why: String| EvaluationError::NoRun { folder: path.to_owned(), why };
        let text = match fs::read(path.join(MANIFEST)) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(no(format!("it has no {MANIFEST}")));
            }
            Err(error) => return Err(EvaluationError::file(&path.join(MANIFEST), error)),
        };
        let manifest: Manifest =
            serde_json::from_slice(&text).map_err(|error| no(format!("{MANIFEST}: {error}")))?;
        if manifest.format != FORMAT {
            return Err(no(format!("its format is {}, and this version reads {FORMAT}", manifest.format)));
        }
        Ok(Self { path: path.to_owned(), manifest, results: None, _lock: None })
    }

    /// Opens a run to go on with it: what was left of a line is cut off.
    ///
    /// # Errors
    /// As [`Folder::open`], and when another process is writing to it.
    pub fn resume(path: &Path) -> Result<Self, EvaluationError> {
        let mut folder = Self::open(path)?;
        folder._lock = Some(lock(path)?);
        let file = path.join(RESULTS);
        let wrong = |error| EvaluationError::file(&file, error);
        let mut results = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&file)
            .map_err(wrong)?;
        let mut bytes = Vec::new();
        results.read_to_end(&mut bytes).map_err(wrong)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        results.set_len(whole as u64).map_err(wrong)?;
        results.seek(SeekFrom::End(0)).map_err(wrong)?;
        folder.results = Some(results);
        Ok(folder)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it was made with.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its questions.
    ///
    /// # Errors
    /// When the file was changed into something else.
    pub fn questions(&self) -> Result<Vec<Asked>, EvaluationError> {
        let file = self.path.join(QUESTIONS);
        let bytes = fs::read(&file).map_err(|error| EvaluationError::file(&file, error))?;
        let no = |why: String| EvaluationError::NoRun { folder: self.path.clone(), why };
        if ContentHash::of(&bytes) != self.manifest.questions.hash {
            return Err(no(format!("{QUESTIONS} is not what the manifest says")));
        }
        let cases = read_evaluation(QUESTIONS, bytes).map_err(|report| no(report.to_string()))?;
        cases
            .into_iter()
            .map(|case| {
                let domain = case.db.as_ref().and_then(|db| db.value.parse().ok());
                let domain = domain.ok_or_else(|| no(format!("{}: no domain", case.case.id.spot)))?;
                Ok(Asked { case, domain })
            })
            .collect()
    }

    /// Its records: of a question that was asked again the later one.
    ///
    /// # Errors
    /// When a line is none.
    pub fn records(&self) -> Result<Vec<Record>, EvaluationError> {
        let file = self.path.join(RESULTS);
        let mut text = String::new();
        let opened = File::open(&file).map_err(|error| EvaluationError::file(&file, error))?;
        opened
            .take(FILE_LIMIT)
            .read_to_string(&mut text)
            .map_err(|error| EvaluationError::file(&file, error))?;
        let mut records: Vec<Record> = Vec::new();
        // What follows the last line break is a line that was not finished.
        let whole = text.rfind('\n').and_then(|end| text.get(..end)).unwrap_or_default();
        for (at, line) in whole.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            let record: Record = serde_json::from_str(line).map_err(|error| EvaluationError::NoRun {
                folder: self.path.clone(),
                why: format!("{RESULTS}:{}: {error}", at + 1),
            })?;
            records.retain(|known| (&known.id, known.mode) != (&record.id, record.mode));
            records.push(record);
        }
        Ok(records)
    }

    /// Adds a record.
    pub(crate) fn append(&mut self, record: &Record) -> Result<(), EvaluationError> {
        let file = self.path.join(RESULTS);
        let wrong = |error| EvaluationError::file(&file, error);
        let mut line = serde_json::to_vec(record).map_err(|error| wrong(error.into()))?;
        line.push(b'\n');
        match &mut self.results {
            // One write for one line, so that a kill leaves at most one unfinished.
            Some(results) => results.write_all(&line).map_err(wrong),
            None => Err(EvaluationError::InUse(self.path.clone())),
        }
    }

    /// Writes a page of the run anew: pages are made from the records and can be made again.
    pub(crate) fn page(&self, name: &str, text: &str) -> Result<PathBuf, EvaluationError> {
        let file = self.path.join(name);
        fs::write(&file, text).map_err(|error| EvaluationError::file(&file, error))?;
        Ok(file)
    }
}

fn lock(path: &Path) -> Result<File, EvaluationError> {
    let file = path.join(LOCK);
    let wrong = |error| EvaluationError::file(&file, error);
    let lock = OpenOptions::new().write(true).create(true).truncate(false).open(&file).map_err(wrong)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(fs::TryLockError::WouldBlock) => Err(EvaluationError::InUse(path.to_owned())),
        Err(fs::TryLockError::Error(error)) => Err(wrong(error)),
    }
}

fn write_new(file: &Path, text: &[u8]) -> Result<(), EvaluationError> {
    let open = OpenOptions::new().write(true).create_new(true).open(file);
    open.and_then(|mut out| out.write_all(text)).map_err(|error| EvaluationError::file(file, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Line, manifest, questions, record};

    #[test]
    fn a_run_is_kept_cut_to_whole_lines_and_never_written_over() {
        let out = tempfile::tempdir().unwrap();
        let lines = ["a", "b"].map(|id| Line { id, agent: "right", baseline: "right" });
        let questions = questions(&lines);
        let made = || Folder::create(out.path(), manifest(&[Mode::Agent], &questions), &questions);
        let mut folder = made().unwrap();
        assert!(matches!(made(), Err(EvaluationError::Out { .. })), "there is one already");
        folder.append(&record("a", Mode::Agent, "infrastructure")).unwrap();
        let path = folder.path().to_owned();
        // A file is no place for a run, and neither is what nobody can write to: another place has to be named.
        for out in [path.join(MANIFEST), PathBuf::from("/proc/run")] {
            let error = Folder::create(&out, manifest(&[Mode::Agent], &questions), &questions).unwrap_err();
            assert!(error.is_usage(), "{}: {error}", out.display());
        }
        assert!(matches!(Folder::resume(&path), Err(EvaluationError::InUse(_))));
        drop(folder);

        let mut file = OpenOptions::new().append(true).open(path.join(RESULTS)).unwrap();
        file.write_all(b"{\"id\":\"b\",").unwrap();
        assert_eq!(Folder::open(&path).unwrap().records().unwrap().len(), 1, "what is torn is no record");
        let mut folder = Folder::resume(&path).unwrap();
        folder.append(&record("a", Mode::Agent, "right")).unwrap();
        folder.append(&record("b", Mode::Agent, "wrong")).unwrap();
        let records = folder.records().unwrap();
        let verdicts: Vec<_> =
            records.iter().map(|record| (&*record.id, record.verdict.is_right())).collect();
        assert_eq!(verdicts, [("a", true), ("b", false)], "the later one of the same ask counts");
        assert_eq!(records, [record("a", Mode::Agent, "right"), record("b", Mode::Agent, "wrong")]);
        let asked = folder.questions().unwrap();
        assert_eq!(
            asked.iter().map(Asked::line).collect::<Vec<_>>(),
            questions.iter().map(Asked::line).collect::<Vec<_>>()
        );

        fs::write(path.join(QUESTIONS), "").unwrap();
        assert!(matches!(folder.questions(), Err(EvaluationError::NoRun { .. })), "these are others");
        assert!(matches!(Folder::open(out.path()), Err(EvaluationError::NoRun { .. })));
    }

    #[test]
    fn what_changed_between_two_runs_is_named() {
        let questions = questions(&[Line { id: "a", agent: "right", baseline: "right" }]);
        let before = manifest(&[Mode::Agent], &questions);
        assert_eq!(
            before.changed(&Manifest { begun: "later".to_owned(), run: "r".to_owned(), ..before.clone() }),
            Vec::<&str>::new()
        );
        for (after, want) in [
            (Manifest { airlock: "1".to_owned(), ..before.clone() }, "the version of airlock"),
            (Manifest { modes: vec![Mode::Baseline], ..before.clone() }, "the modes"),
            (Manifest { configuration: ContentHash::of("x"), ..before.clone() }, "the configuration"),
            (Manifest { attempts: 4, ..before.clone() }, "a limit"),
            (
                Manifest { degrade: Degrade { notes: true, ..Degrade::default() }, ..before.clone() },
                "what is left out",
            ),
        ] {
            assert_eq!(before.changed(&after), [want]);
        }
    }
}
