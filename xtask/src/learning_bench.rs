//! `cargo xtask learning-bench`: whether learning helps, with no model, from a fresh clone.

use std::process::ExitCode;

use anyhow::Result;

use crate::corpora::{Corpora, Measure};
use crate::demo::hand_over;

/// Public questions over ten databases in halves: asked, told what is right, promoted by replay, and asked again.
#[derive(clap::Args)]
pub struct LearningBench {
    #[command(flatten)]
    corpora: Corpora,
    /// Ways to split the questions.
    #[arg(long, value_name = "N", default_value_t = 3)]
    splits: usize,
    /// The rules that belong to the questions as terms of the glossary.
    #[arg(long)]
    instructions: bool,
    /// Who corrects an answer writes the rule that belongs to the question beside the right SQL.
    #[arg(long)]
    notes: bool,
    /// Join each question that says a value by so many that ask the same of another value.
    #[arg(long, value_name = "N", default_value_t = 0)]
    again: usize,
}

impl LearningBench {
    /// Builds what is not built and becomes the bench. Without corpora it says so and does nothing.
    pub fn run(&self) -> Result<ExitCode> {
        let mut bench = match self.corpora.measure("learning-bench")? {
            Measure::Ready(program) => program,
            Measure::Over(code) => return Ok(code),
        };
        bench.args(["--splits", &self.splits.to_string()]);
        if self.instructions {
            bench.arg("--instructions");
        }
        if self.notes {
            bench.arg("--notes");
        }
        if self.again > 0 {
            bench.args(["--again", &self.again.to_string()]);
        }
        hand_over(bench)
    }
}
