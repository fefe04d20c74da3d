//! Embeds the lines of stdin by a model directory and tells what it took: `embed MODEL-DIR [CACHE-DIR]`.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use airlock_models::{Embedder, EmbedderConfig, FileCache};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let folder = arguments.next().ok_or("usage: embed MODEL-DIR [CACHE-DIR] < LINES")?;
    let embedder = Embedder::from_config(&EmbedderConfig::local(&folder), |_| None)?.ok_or("no embedder")?;
    let embedder = match arguments.next() {
        Some(cache) => embedder.with_cache(Arc::new(FileCache::new(&cache))),
        None => embedder,
    };
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut out = std::io::stdout();
    let begun = Instant::now();
    let first = lines.first().ok_or("there are no lines")?;
    embedder.question(first).await?;
    writeln!(out, "{}: loaded, and a first text, in {} ms", embedder.model(), begun.elapsed().as_millis())?;
    let mut times: Vec<f64> = Vec::new();
    for line in lines.iter().take(50) {
        let begun = Instant::now();
        embedder.question(line).await?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    if let (Some(middle), Some(last)) = (times.get(times.len() / 2), times.last()) {
        writeln!(out, "one text: {middle:.1} ms median, {last:.1} ms at most, of {}", times.len())?;
    }
    let begun = Instant::now();
    let vectors = embedder.texts(&lines).await?;
    let took = begun.elapsed();
    writeln!(
        out,
        "{} texts in {:.1} s, {} numbers each",
        vectors.len(),
        took.as_secs_f64(),
        embedder.dimension().unwrap_or(0)
    )?;
    Ok(())
}
