//! The examples of the page that documents the format are a pack that reads and binds, and they use every key it lists.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what a test needs and does not find ends it"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use airlock_knowledge::{Knowledge, Pack};
use airlock_types::ContentHash;
use airlock_types::catalogue::FunctionObject;

fn page() -> String {
    fs::read_to_string(support::workspace("docs/domain-pack.md")).unwrap()
}

/// Blocks whose fence names a file.
fn examples(page: &str) -> BTreeMap<&str, String> {
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    for block in page.split("\n```").skip(1) {
        let (fence, body) = block.split_once('\n').unwrap_or((block, ""));
        if let Some((_, path)) = fence.split_once(' ') {
            files.entry(path).or_default().push_str(&format!("{body}\n"));
        }
    }
    files
}

#[test]
fn the_examples_are_a_pack() {
    let page = page();
    let files = examples(&page);
    assert_eq!(files.len(), 9, "{:?}", files.keys());
    let bytes = files.iter().map(|(path, text)| (*path, text.clone().into_bytes()));
    let pack = Pack::from_files("market-garden", bytes).unwrap_or_else(|report| panic!("{report}"));
    let mut catalogue = support::catalogue(&files["db/schema.sql"]);
    catalogue.functions.push(FunctionObject {
        schema: "public".into(),
        name: "net_weight".into(),
        arguments: vec!["numeric".into()],
        kind: 'f',
        extension: None,
        body: Some(ContentHash::of("test")),
        returns: None,
    });
    let knowledge =
        Knowledge::new(&pack, Arc::new(catalogue), Vec::new()).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(knowledge.tables("What was picked?", 1)[0].table.name, "harvests");
    assert_eq!(knowledge.passages("What is bed 0?", 1)[0].source, "docs/beds.md: How beds are numbered");
}

#[test]
fn every_key_that_is_listed_is_shown() {
    let page = page();
    let all: String = examples(&page).into_values().collect();
    let keys = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(key, _)| key));
    let mut count = 0;
    for key in keys {
        count += 1;
        let ways = [format!("{key} ="), format!("\"{key}\":"), format!("{key}]"), format!(".{key}]]")];
        // `only` excludes `schemas`, which the example shows; its row has an example of its own.
        let shown = key == "only" || ways.iter().any(|way| all.contains(way));
        assert!(shown, "`{key}` is listed and not shown");
    }
    assert!(count >= 40, "{count} keys");
}
