//! What the vector index costs and finds: `vectors [--noise] [--keep FOLDER] [COUNT] [DIMENSION]`. Synthetic vectors with the few
//! true dimensions that texts have, so that near means something; with `--noise` every number is drawn by itself, and nothing is
//! near. A kept index is taken up again, which spares building it.

use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use airlock_knowledge::Vectors;
use airlock_knowledge::index::vectors::{Kind, Text};

/// Dimensions in which the vectors truly differ.
const TRUE: usize = 24;
/// Questions that are asked.
const QUESTIONS: usize = 200;
/// Hits of one question.
const K: usize = 10;
/// Times each question is asked.
const ROUNDS: usize = 5;

struct Arguments {
    noise: bool,
    keep: Option<PathBuf>,
    count: usize,
    dimension: usize,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Arguments { noise, keep, count, dimension } = arguments()?;
    let mut out = std::io::stdout();
    let mut dice = Dice(7);
    let axes: Vec<Vec<f32>> = match noise {
        true => Vec::new(),
        false => (0..TRUE).map(|_| (0..dimension).map(|_| dice.bell()).collect()).collect(),
    };
    let vectors: Vec<Vec<f32>> = (0..count).map(|_| dice.vector(dimension, &axes)).collect();
    let questions: Vec<Vec<f32>> = (0..QUESTIONS).map(|_| dice.vector(dimension, &axes)).collect();
    let texts: Vec<Text> =
        (0..count).map(|place| Text { kind: Kind::Table, place, text: String::new() }).collect();
    let what = if noise { "noise" } else { "texts" };
    writeln!(out, "{count} vectors of {dimension}, like {what}")?;

    let scratch = tempfile::tempdir()?;
    let folder = keep.as_deref().unwrap_or_else(|| scratch.path());
    let name = format!("{what}-{count}-{dimension}");
    let saved = || Vectors::saved(folder, &name, "synthetic", &texts);
    if saved().is_none() {
        let begun = Instant::now();
        let index = Vectors::new("synthetic", &texts, &vectors)?;
        writeln!(
            out,
            "built in {:.0} s, {} MB of memory",
            begun.elapsed().as_secs_f64(),
            index.memory() >> 20
        )?;
        index.save(folder, &name)?;
    }
    let begun = Instant::now();
    let index = saved().ok_or("the saved index is not used: there are too few vectors for one")?;
    let file = std::fs::metadata(folder.join(format!("{name}.vectors")))?.len();
    writeln!(
        out,
        "checked and mapped in {:.1} s, a file of {} MB",
        begun.elapsed().as_secs_f64(),
        file >> 20
    )?;

    for question in &questions {
        black_box(index.near(Kind::Table, question, K));
    }
    let mut times = Vec::new();
    for question in questions.iter().cycle().take(QUESTIONS * ROUNDS) {
        let begun = Instant::now();
        black_box(index.near(Kind::Table, question, K));
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    writeln!(out, "top {K}: {:.2} ms median, {:.2} ms p5, {:.2} ms p99", at(50), at(5), at(99))?;

    let mut agreed = 0;
    for question in &questions {
        let near = index.near(Kind::Table, question, K);
        let mut exact: Vec<(f32, usize)> = vectors
            .iter()
            .enumerate()
            .map(|(place, vector)| (vector.iter().zip(question).map(|(a, b)| a * b).sum(), place))
            .collect();
        exact.select_nth_unstable_by(K, |a, b| b.0.total_cmp(&a.0));
        agreed +=
            near.iter().filter(|near| exact.iter().take(K).any(|(_, place)| *place == near.place)).count();
    }
    writeln!(out, "recall against exact: {:.4}", agreed as f64 / (QUESTIONS * K) as f64)?;
    Ok(())
}

fn arguments() -> Result<Arguments, Box<dyn std::error::Error>> {
    let (mut noise, mut keep, mut numbers) = (false, None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--noise" => noise = true,
            "--keep" => keep = Some(arguments.next().ok_or("--keep FOLDER")?.into()),
            number => numbers.push(number.parse()?),
        }
    }
    let count = numbers.first().copied().unwrap_or(1_000_000);
    let dimension = numbers.get(1).copied().unwrap_or(384);
    Ok(Arguments { noise, keep, count, dimension })
}

/// A small generator of numbers (splitmix64).
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// Near enough to a normal distribution.
    fn bell(&mut self) -> f32 {
        (0..6).map(|_| self.unit()).sum::<f32>() - 3.0
    }

    /// A vector of length one: a place along the axes, where there are some, and a little noise.
    fn vector(&mut self, dimension: usize, axes: &[Vec<f32>]) -> Vec<f32> {
        let mut vector: Vec<f32> = (0..dimension).map(|_| (self.unit() - 0.5) * 0.2).collect();
        for axis in axes {
            let along = self.bell();
            for (to, from) in vector.iter_mut().zip(axis) {
                *to += along * from;
            }
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        vector.iter_mut().for_each(|x| *x /= length);
        vector
    }
}
