//! Stdin a batch of lines at a time: as many as have arrived, so that a program that waits for each verdict gets it.

use std::io::{BufRead, BufReader, Read};

use crate::exit::usage;

/// Longest line that is read; the gate's own limit is far below.
const LINE: u64 = 8 * 1024 * 1024;

/// Lines of a batch at most.
const BATCH: usize = 512;

/// One line, numbered from 1.
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) bytes: Vec<u8>,
}

/// The lines of an input.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    number: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(256 * 1024, input), number: 0 }
    }

    /// The next line; none at the end.
    ///
    /// # Errors
    /// When the input cannot be read or the line is too long.
    pub(super) fn next(&mut self) -> anyhow::Result<Option<Line>> {
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(LINE).read_until(b'\n', &mut bytes);
        let read = read.map_err(|error| usage(format!("stdin cannot be read: {error}")))?;
        if read as u64 == LINE {
            return Err(usage(format!("a line of stdin is longer than {LINE} bytes")));
        }
        self.number += 1;
        Ok((read > 0).then_some(Line { number: self.number, bytes }))
    }

    /// The lines that have arrived, at least one; none at the end.
    ///
    /// # Errors
    /// As [`Lines::next`].
    pub(super) fn batch(&mut self) -> anyhow::Result<Vec<Line>> {
        let mut lines: Vec<Line> = self.next()?.into_iter().collect();
        while !lines.is_empty() && lines.len() < BATCH && self.input.buffer().contains(&b'\n') {
            lines.extend(self.next()?);
        }
        Ok(lines)
    }

    /// Everything that is left.
    ///
    /// # Errors
    /// When the input cannot be read or is too long.
    pub(super) fn rest(&mut self) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(LINE).read_to_end(&mut bytes);
        let read = read.map_err(|error| usage(format!("stdin cannot be read: {error}")))?;
        if read as u64 == LINE {
            return Err(usage(format!(
                "stdin is longer than {LINE} bytes: give one statement, or one a line in JSON"
            )));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_what_has_arrived() {
        let mut text = String::from("first\n\n");
        text.push_str(&"x\n".repeat(BATCH));
        text.push_str("last");
        let mut lines = Lines::new(text.as_bytes());
        let mut sizes = Vec::new();
        let mut seen = Vec::new();
        loop {
            let batch = lines.batch().unwrap();
            if batch.is_empty() {
                break;
            }
            sizes.push(batch.len());
            seen.extend(batch.into_iter().map(|line| line.number));
        }
        // The last line has no end, so it is waited for by itself.
        assert_eq!(sizes, [BATCH, 2, 1]);
        assert_eq!(seen, (1..=BATCH as u64 + 3).collect::<Vec<_>>());
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut lines = Lines::new(std::io::repeat(b'x'));
        assert!(lines.batch().is_err());
        assert!(lines.rest().is_err());
    }
}
