//! The author's walk through the real binary, in a folder outside the repository: new, build, check, test, swap; every template;
//! everything that can be handed in wrong; and a host that loads only what is signed.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use airlock_tests::{Airlock, adapter_that_traps, binary, components, without_ours, workspace};
use serde_json::Value;

const STAGES: [&str; 8] =
    ["planner", "linker", "generator", "composer", "repair", "answerer", "distill", "domain"];

/// An author's empty folder.
struct Author {
    folder: tempfile::TempDir,
    /// Programs of other languages, found before those of the machine.
    tools: Option<PathBuf>,
}

impl Author {
    fn new() -> Self {
        Self { folder: tempfile::Builder::new().prefix("author").tempdir().unwrap(), tools: None }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command in the folder, as if nobody here built anything: cargo's variables for this workspace are not an author's. What is
    /// compiled is kept beside the other build products.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = without_ours(Command::new(program));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let ours =
                ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_UNSTABLE_", "CARGO_RESOLVER_", "__CARGO", "NEXTEST"];
            if ours.iter().any(|prefix| text.starts_with(prefix)) || text == "CARGO" {
                command.env_remove(&name);
            }
        }
        let kept = components().parent().unwrap().join("kit-projects");
        command.current_dir(self.folder.path()).env("CARGO_TARGET_DIR", kept);
        if let Some(tools) = &self.tools {
            let path = std::env::var("PATH").unwrap_or_default();
            command.env("PATH", format!("{}:{path}", tools.display()));
        }
        command
    }

    fn airlock(&self, arguments: &[&str]) -> Output {
        self.command(binary()).arg("plugin").args(arguments).output().unwrap()
    }

    /// `airlock plugin ... --json`: exit code and the objects it printed.
    fn json(&self, arguments: &[&str]) -> (i32, Vec<Value>) {
        let arguments: Vec<&str> = arguments.iter().chain(&["--json"]).copied().collect();
        let output = self.airlock(&arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        let objects = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
            .collect();
        (output.status.code().unwrap(), objects)
    }

    fn done(&self, arguments: &[&str]) -> Vec<Value> {
        let (code, objects) = self.json(arguments);
        assert_eq!(code, 0, "{arguments:?}: {objects:?}");
        objects
    }
}

/// A project of a template: built, checked, and held to the cases of its stage and its own.
fn keeps_its_cases(author: &Author, name: &str, bytes: std::ops::Range<u64>) {
    let built = author.done(&["build", name]).remove(0);
    assert!(bytes.contains(&built["bytes"].as_u64().unwrap()), "{name}: {built}");
    let checked = author.done(&["check", &format!("{name}/{name}.wasm")]).remove(0);
    let lines = checked["checks"].as_array().unwrap().iter();
    let checks: Vec<&str> = lines.map(|line| line["check"].as_str().unwrap()).collect();
    let all = ["file", "contract", "imports", "exports", "grant", "start", "limits", "determinism"];
    assert_eq!(checks, all, "{name}");
    let tested = author.done(&["test", name]);
    let summary = tested.last().unwrap();
    assert_eq!(summary["passed"], summary["cases"], "{name}");
    // The author's own cases are among them.
    assert!(tested.iter().any(|line| line["case"].as_str().is_some_and(|case| case.contains(' '))), "{name}");
}

#[test]
fn every_template_builds_and_keeps_the_cases_of_its_stage() {
    let author = Author::new();
    let sdk = workspace().join("plugins/sdk");
    for stage in STAGES {
        let name = format!("acme-{stage}");
        author.done(&["new", &name, "--stage", stage, "--sdk", sdk.to_str().unwrap()]);
        let tests = author
            .command("cargo")
            .args(["test", "--quiet", "--manifest-path"])
            .arg(author.path(&name).join("Cargo.toml"))
            .output()
            .unwrap();
        assert!(tests.status.success(), "{stage}: {}", String::from_utf8_lossy(&tests.stdout));
        keeps_its_cases(&author, &name, 1_000..1_000_000);
    }
}

/// The templates of another language. `cargo xtask languages` fetches its tool; where it could not, this says so and is skipped.
fn templates_in(language: &str, tool: &str) {
    let tools = components().parent().unwrap().join("languages");
    if !tools.join(tool).exists() {
        eprintln!("SKIPPED: there is no {}; `cargo xtask languages` says why", tools.join(tool).display());
        return;
    }
    let author = Author { tools: Some(tools.join("python/bin")), ..Author::new() };
    for stage in ["repair", "domain"] {
        let name = format!("acme-{stage}");
        author.done(&["new", &name, "--stage", stage, "--language", language]);
        if language == "javascript" {
            // What `npm install` puts there.
            std::os::unix::fs::symlink(tools.join(tool), author.path(&name).join("node_modules")).unwrap();
        }
        keeps_its_cases(&author, &name, 5_000_000..30_000_000);
    }
}

#[test]
fn templates_in_python_build_and_keep_the_cases_of_their_stage() {
    templates_in("python", "python/bin/componentize-py");
}

#[test]
fn templates_in_javascript_build_and_keep_the_cases_of_their_stage() {
    templates_in("javascript", "javascript/node_modules");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_an_empty_folder_into_service() {
    let author = Author::new();
    author.done(&["new", "acme-repair", "--stage", "repair"]);
    for carried in ["vendor/wit/types.wit", "vendor/plugins/sdk/src/lib.rs", "vendor/plugins/sdk/Cargo.toml"]
    {
        assert!(author.path("acme-repair").join(carried).is_file(), "{carried}");
    }
    let built = author.done(&["build", "acme-repair"]).remove(0);
    author.done(&["check", "acme-repair/acme-repair.wasm"]);
    author.done(&["test", "acme-repair/acme-repair.wasm", "--stage", "repair"]);

    let airlock = Airlock::demo().await;
    let file = author.path("acme-repair/acme-repair.wasm");
    let swap = |options: &[&str]| {
        let arguments: Vec<&str> = ["plugin", "swap", "repair", file.to_str().unwrap(), "--json"]
            .iter()
            .chain(options)
            .copied()
            .collect();
        let output = airlock.command(&arguments, "");
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code().unwrap(), serde_json::from_str::<Value>(text.trim()).expect(&text))
    };
    let (code, refused) = swap(&[]);
    assert_eq!(code, 1, "{refused}");
    assert!(refused["why"].as_str().unwrap().contains("no grant names"), "{refused}");
    // The operator agrees to what the build wrote.
    let grant = std::fs::read_to_string(author.path("acme-repair/acme-repair.grant.toml")).unwrap();
    std::fs::write(airlock.data.path().join("grants.toml"), grant).unwrap();
    let (code, swapped) = swap(&["--verify"]);
    assert_eq!((code, &swapped["to"]["digest"]), (0, &built["digest"]), "{swapped}");
    let output = airlock.command(&["plugin", "rollback", "repair"], "");
    assert_eq!(output.status.code(), Some(0));

    // In a domain, with its live catalogue and its questions.
    let component = file.to_str().unwrap();
    let tested = airlock.command(&["plugin", "test", component, "--domain", "hardware-shop"], "");
    let text = String::from_utf8_lossy(&tested.stdout).into_owned();
    assert_eq!(tested.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&tested.stderr));
    assert!(text.contains("repair/question-1"), "{text}");
}

#[test]
fn what_is_handed_in_wrong_is_told_with_its_remedy() {
    let author = Author::new();
    let write = |name: &str, bytes: &[u8]| std::fs::write(author.path(name), bytes).unwrap();
    write("text.wasm", b"hello");
    write("empty.wasm", b"");
    write("module.wasm", &wat::parse_str("(module)").unwrap());
    write("nothing.wasm", &wat::parse_str("(component)").unwrap());
    let program =
        r#"(component (import "wasi:cli/environment@0.2.0" (instance (export "get-arguments" (func)))))"#;
    write("wasi.wasm", &wat::parse_str(program).unwrap());
    let tomorrow =
        r#"(component (import "airlock:plugin/catalog@0.9.0" (instance (export "tables" (func)))))"#;
    write("tomorrow.wasm", &wat::parse_str(tomorrow).unwrap());
    write("adapter.wasm", &adapter_that_traps());
    std::fs::create_dir(author.path("there")).unwrap();
    std::fs::create_dir(author.path("broken")).unwrap();
    write("broken/plugin.toml", b"name = 7");
    for (arguments, code, want) in [
        (&["new", "a/b", "--stage", "repair"][..], 2, "is not a component's name"),
        (&["new", "Acme", "--stage", "repair"], 2, "lower-case letters"),
        (&["new", "a", "--stage", "repairs"], 2, "`repairs` is no stage: planner, linker"),
        (&["new", "a", "--stage", "repair", "--language", "cobol"], 2, "no template"),
        (&["new", "there", "--stage", "repair"], 2, "nothing is ever overwritten"),
        (&["new", "a", "--stage", "repair", "--dir", "none/a"], 2, "cannot be written"),
        (&["new", "a", "--stage", "repair", "--sdk", "there"], 2, "is not the folder of airlock-plugin-sdk"),
        (&["build", "none"], 2, "it has no plugin.toml"),
        (&["build", "there"], 2, "airlock plugin new"),
        (&["build", "broken"], 2, "plugin.toml is wrong"),
        (&["check", "none.wasm"], 2, "none.wasm cannot be read"),
        (&["check", "there"], 2, "there cannot be read"),
        (&["check", "text.wasm"], 1, "it is not WebAssembly"),
        (&["check", "empty.wasm"], 1, "it is empty"),
        (
            &["check", "module.wasm"],
            1,
            "it is a core module, not a WebAssembly component; build it with `airlock plugin build`",
        ),
        (&["check", "wasi.wasm"], 1, "it wants `wasi:cli/environment@0.2.0`"),
        (&["check", "tomorrow.wasm"], 1, "this host offers airlock:plugin@0.1.0; rebuild it"),
        (&["test", "nothing.wasm", "--stage", "repair"], 1, "does not export airlock:plugin/repair@0.1.0"),
        (&["test", "adapter.wasm"], 1, "it trapped"),
        (&["test", "adapter.wasm", "--stage", "gardener"], 2, "is no stage"),
        (&["test", "adapter.wasm", "--cases", "text.wasm"], 2, "text.wasm: expected value"),
        (&["check", "adapter.wasm", "--grants", "none.toml"], 2, "none.toml"),
        (&["sign", "adapter.wasm", "--key", "none.key"], 2, "--key: none.key"),
        (&["sign", "adapter.wasm", "--key", "text.wasm"], 2, "others may read it"),
    ] {
        let output = author.airlock(arguments);
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(want), "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    }
    assert!(!author.path("a").exists() && std::fs::read_dir(author.path("there")).unwrap().next().is_none());
}

/// Every component of a folder, signed with a key.
fn signed_copy(author: &Author, key: &str) -> PathBuf {
    let folder = author.path("components");
    std::fs::create_dir(&folder).unwrap();
    for entry in std::fs::read_dir(components()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
        }
    }
    for path in wasm_files(&folder) {
        author.done(&["sign", path.to_str().unwrap(), "--key", key]);
    }
    folder
}

fn wasm_files(folder: &Path) -> Vec<PathBuf> {
    let granted = std::fs::read_to_string(folder.join("grants.toml")).unwrap();
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|end| end == "wasm"))
        .filter(|path| granted.contains(&format!("\"{}\"", path.file_stem().unwrap().to_str().unwrap())))
        .collect()
}

#[test]
fn a_host_can_be_set_to_load_only_what_is_signed() {
    let author = Author::new();
    let public = author.done(&["keygen", "ours.key"]).remove(0)["public"].as_str().unwrap().to_owned();
    author.done(&["keygen", "theirs.key"]);
    assert_eq!(author.json(&["keygen", "ours.key"]).0, 2, "a key is not overwritten");
    let folder = signed_copy(&author, "ours.key");
    let text = format!(
        "[server]\ndata = \"data\"\noperator_socket = \"data/operator.sock\"\n[plugins]\ndir = {folder:?}\n\
         require_signatures = true\ntrusted_keys = [{public:?}]\n"
    );
    std::fs::write(author.path("airlock.toml"), text).unwrap();
    // No host runs: what it would load at its start is loaded.
    let start = || {
        let output = author.airlock(&["list", "--config", "airlock.toml"]);
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(start().0, 0, "{}", start().1);
    let signature = |name: &str| folder.join(format!("{name}.wasm.sig"));
    let good = std::fs::read_to_string(signature("planner")).unwrap();
    let planner = folder.join("planner.wasm");
    let refused = |text: Option<&str>, want: &str| {
        match text {
            Some(text) => std::fs::write(signature("planner"), text).unwrap(),
            None => std::fs::remove_file(signature("planner")).unwrap(),
        }
        let (code, said) = start();
        assert_eq!(code, 2, "{want}: {said}");
        assert!(said.contains("`planner`") && said.contains(want), "{want}: {said}");
        std::fs::write(signature("planner"), &good).unwrap();
    };
    refused(None, "there is no signature beside it");
    refused(Some(&good.replace("\"planner\"", "\"linker\"")), "was altered");
    refused(Some(&std::fs::read_to_string(signature("linker")).unwrap()), "for other bytes");
    refused(Some("{}"), "does not read");
    author.done(&["sign", planner.to_str().unwrap(), "--key", "theirs.key"]);
    let theirs = std::fs::read_to_string(signature("planner")).unwrap();
    refused(Some(&theirs), "`plugins.trusted_keys` does not name");
    // The grant gives more than was signed.
    let grants = std::fs::read_to_string(folder.join("grants.toml")).unwrap();
    let more = grants.replacen("\"planner\"]", "\"planner\", \"linker\"]", 1);
    assert_ne!(more, grants);
    std::fs::write(folder.join("grants.toml"), more).unwrap();
    refused(Some(&good), "the stage `linker`");
    std::fs::write(folder.join("grants.toml"), grants).unwrap();
    assert_eq!(start().0, 0);
    std::fs::write(author.path("airlock.toml"), "[plugins]\nrequire_signatures = true\n").unwrap();
    assert!(start().1.contains("plugins.trusted_keys"), "with no key nothing would be loaded");
}
