//! The contract's releases: their text never changes, and what was built against one of them loads and serves.
//!
//! A release is a folder `wit/released/VERSION` and a folder `tests/released/VERSION` of components, one a stage, a few
//! kilobytes each. `AIRLOCK_WRITE_RELEASED=1` writes those of the present version when it has none yet, and never others.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use airlock_runtime::contract::VERSION;
use airlock_runtime::{DomainScope, Grant, Import, LoadErrorKind, Stage};
use airlock_types::ContentHash;
use support::hostile::World;
use support::inputs::call;
use support::{Watched, grant, runtime, try_load};

/// Each release and the digest of its files, in the order of their names.
const RELEASES: &[(&str, &str)] =
    &[("0.1.0", "a5bb7688b1e24666bf809746c2aa6d139786db66cb8c856ab8b3c9aaad31bfeb")];

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn text(folder: &Path) -> String {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|file| file.extension().is_some_and(|end| end == "wit"))
        .collect();
    files.sort();
    let whole = |file: &PathBuf| {
        format!("=== {}\n{}", file.file_name().unwrap().display(), fs::read_to_string(file).unwrap())
    };
    files.iter().map(whole).collect()
}

#[test]
fn what_is_released_never_changes() {
    let wit = home().join("../../wit");
    let mut folders: Vec<String> = fs::read_dir(wit.join("released"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    assert_eq!(folders, RELEASES.iter().map(|(version, _)| *version).collect::<Vec<_>>());
    for (version, digest) in RELEASES {
        let text = text(&wit.join("released").join(version));
        assert_eq!(
            ContentHash::of(&text).to_string(),
            *digest,
            "{version} was released and is not what it was"
        );
        assert!(
            *version != VERSION || text == self::text(&wit),
            "{VERSION} is released: a change of wit/ needs a version of its own"
        );
    }
}

#[tokio::test]
async fn what_was_built_against_a_release_serves() {
    let runtime = runtime(|_| {});
    let world = World::of_contract();
    for (version, _) in RELEASES {
        let folder = home().join("tests/released").join(version);
        for stage in Stage::ALL.iter().filter(|stage| stage.as_str() == stage.interface()) {
            let file = folder.join(format!("{stage}.wasm"));
            if std::env::var_os("AIRLOCK_WRITE_RELEASED").is_some() && *version == VERSION && !file.exists() {
                fs::create_dir_all(&folder).unwrap();
                fs::write(&file, world.sound(stage.interface(), stage.world())).unwrap();
            }
            let bytes = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let mut grant = Grant::of_nothing("released", ContentHash::of(&bytes));
            grant.stages.insert(*stage);
            grant.domains.insert(DomainScope::Any);
            grant.imports = Import::ALL.iter().copied().collect();
            let component = runtime.load(&bytes, &grant).unwrap_or_else(|error| panic!("{version}: {error}"));
            for export in world.exports.iter().filter(|export| export.interface == stage.interface()) {
                let services = Watched::saying(0);
                let (ended, _) =
                    call(&runtime, &component, services, &export.interface, &export.function).await;
                ended.unwrap_or_else(|error| panic!("{version}: {error}"));
            }
        }
    }
}

/// A component whose planner takes and gives nothing, under this name.
fn exporting(name: &str) -> Vec<u8> {
    wat::parse_str(format!(
        r#"(component
            (core module $m (func (export "run")))
            (core instance $i (instantiate $m))
            (func $run (canon lift (core func $i "run")))
            (instance $planner (export "run" (func $run)))
            (export "{name}" (instance $planner)))"#
    ))
    .unwrap()
}

#[test]
fn what_was_built_for_something_else_is_told_what_to_do() {
    let runtime = runtime(|_| {});
    let importing = |name: &str| {
        wat::parse_str(format!(r#"(component (import "{name}" (instance (export "f" (func)))))"#))
    };
    for (what, bytes, want) in [
        (
            "a newer contract",
            exporting("airlock:plugin/planner@0.2.0"),
            "it wants `airlock:plugin/planner@0.2.0`, this host offers airlock:plugin@0.1.0; rebuild it with \
             airlock-plugin-sdk 0.1.0, or load it into a host that offers what it wants",
        ),
        (
            "a newer contract's imports",
            importing("airlock:plugin/catalog@1.0.0").unwrap(),
            "it wants `airlock:plugin/catalog@1.0.0`, this host offers airlock:plugin@0.1.0; rebuild it with \
             airlock-plugin-sdk 0.1.0, or load it into a host that offers what it wants",
        ),
        (
            "an older contract",
            exporting("airlock:plugin/planner@0.0.9"),
            "it wants `airlock:plugin/planner@0.0.9`, this host offers airlock:plugin@0.1.0; rebuild it with \
             airlock-plugin-sdk 0.1.0, or load it into a host that offers what it wants",
        ),
        (
            "another product's plugin",
            exporting("acme:tools/planner@0.1.0"),
            "its grant names the stage `planner`, but it does not export airlock:plugin/planner@0.1.0; it exports \
             `acme:tools/planner@0.1.0`; build it for the world `planner-stage`, or name the stage it serves",
        ),
        (
            "nothing of the contract",
            wat::parse_str("(component)").unwrap(),
            "its grant names the stage `planner`, but it does not export airlock:plugin/planner@0.1.0; it exports none; \
             build it for the world `planner-stage`, or name the stage it serves",
        ),
        (
            "a core module",
            wat::parse_str("(module)").unwrap(),
            "it is a core module, not a WebAssembly component; build it with `airlock plugin build`",
        ),
        (
            "a program",
            exporting("wasi:cli/run@0.2.6"),
            "it is a program, which exports `wasi:cli/run@0.2.6` to be run; this host wants a stage such as \
             airlock:plugin/planner@0.1.0; build it as a library for the world of its stage",
        ),
        (
            "a service",
            importing("wasi:http/outgoing-handler@0.2.6").unwrap(),
            "it wants `wasi:http/outgoing-handler@0.2.6`, and components get no system interface here; build it for \
             wasm32-unknown-unknown, or with the option of its toolchain that leaves WASI out (`--stub-wasi` of \
             componentize-py), or let its grant say `wasi = \"inert\"`: a system interface without files, network, clock \
             or entropy",
        ),
    ] {
        assert_eq!(try_load(&runtime, &bytes).unwrap_err().to_string(), want, "{what}");
    }
    // The right name, and other records.
    let error = try_load(&runtime, &exporting("airlock:plugin/planner@0.1.0")).unwrap_err();
    assert!(matches!(&error, LoadErrorKind::Shape(_)), "{error}");
    assert!(error.to_string().ends_with("rebuild it with airlock-plugin-sdk 0.1.0"), "{error}");
}

#[test]
fn a_component_of_the_same_generation_loads() {
    // Built against a host that only added: what it uses is here.
    let runtime = runtime(|_| {});
    let later = wat::parse_str(
        r#"(component (import "airlock:plugin/catalog@0.1.7" (instance (export "server-version" (func (result u32))))))"#,
    )
    .unwrap();
    let mut grant = grant(&later, &[Import::Catalog]);
    grant.stages.clear();
    let loaded = runtime.load(&later, &grant).unwrap();
    assert!(loaded.imports().contains(&Import::Catalog));
}
