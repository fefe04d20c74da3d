//! Prints the texts that are embedded of fifteen hundred tables of forty columns, a line each, for the embedder's bench.

use std::io::Write;
use std::sync::Arc;

use airlock_knowledge::{Knowledge, Pack};

#[path = "../tests/support/wide.rs"]
mod wide;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let domain = b"format = 1\ntitle = \"T\"\nsource = \"s\"\nschemas = [\"public\"]".to_vec();
    let pack = Pack::from_files("d", [("domain.toml", domain)]).map_err(|report| report.to_string())?;
    let knowledge = Knowledge::new(&pack, Arc::new(wide::catalogue()), Vec::new())
        .map_err(|report| report.to_string())?;
    let mut out = std::io::stdout().lock();
    for text in knowledge.texts() {
        writeln!(out, "{}", text.text)?;
    }
    Ok(())
}
