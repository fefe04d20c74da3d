//! What the vector index costs and finds: `vectors [COUNT] [DIMENSION]`. Synthetic vectors with the few true dimensions that
//! texts have, so that near means something.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use airlock_knowledge::Vectors;
use airlock_knowledge::index::vectors::{Kind, Text};

/// Dimensions in which the vectors truly differ.
const TRUE: usize = 24;
/// Questions that are asked.
const QUESTIONS: usize = 200;
/// Hits of one question.
const K: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let dimension: usize = arguments.next().map_or(Ok(384), |text| text.parse())?;
    let mut out = std::io::stdout();
    let mut dice = Dice(7);
    let axes: Vec<Vec<f32>> = (0..TRUE).map(|_| (0..dimension).map(|_| dice.bell()).collect()).collect();
    let vectors: Vec<Vec<f32>> = (0..count).map(|_| dice.vector(&axes)).collect();
    let questions: Vec<Vec<f32>> = (0..QUESTIONS).map(|_| dice.vector(&axes)).collect();
    let texts: Vec<Text> =
        (0..count).map(|place| Text { kind: Kind::Table, place, text: String::new() }).collect();

    let begun = Instant::now();
    let index = Vectors::new("synthetic", &texts, &vectors)?;
    writeln!(out, "{count} vectors of {dimension}: built in {:.0} s", begun.elapsed().as_secs_f64())?;
    writeln!(out, "memory of the index: {} MB", index.memory() >> 20)?;
    let folder = tempfile::tempdir()?;
    index.save(folder.path(), "bench")?;
    drop(index);
    let begun = Instant::now();
    let index =
        Vectors::saved(folder.path(), "bench", "synthetic", &texts).ok_or("the saved index is not used")?;
    writeln!(out, "checked and mapped in {:.1} s", begun.elapsed().as_secs_f64())?;

    for question in &questions {
        black_box(index.near(Kind::Table, question, K));
    }
    let mut times = Vec::new();
    let mut agreed = 0;
    for question in &questions {
        let begun = Instant::now();
        let near = index.near(Kind::Table, question, K);
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        let mut exact: Vec<(f32, usize)> = vectors
            .iter()
            .enumerate()
            .map(|(place, vector)| (vector.iter().zip(question).map(|(a, b)| a * b).sum(), place))
            .collect();
        exact.select_nth_unstable_by(K, |a, b| b.0.total_cmp(&a.0));
        agreed +=
            near.iter().filter(|near| exact.iter().take(K).any(|(_, place)| *place == near.place)).count();
    }
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    writeln!(out, "top {K}: {:.2} ms median, {:.2} ms p99", at(50), at(99))?;
    writeln!(out, "recall against exact: {:.4}", agreed as f64 / (QUESTIONS * K) as f64)?;
    Ok(())
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

    /// A vector of length one, with a little noise.
    fn vector(&mut self, axes: &[Vec<f32>]) -> Vec<f32> {
        let dimension = axes.first().map_or(0, Vec::len);
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
