//! Threads that compute texts, a batch each. Matrices that all threads share out among themselves cost more, in waiting for each
//! other.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use candle_core::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokenizers::Encoding;

use super::{Batch, LocalError};

/// Pools of one thread, as many of either kind as there are processors.
pub(crate) struct Workers {
    /// For many texts.
    shared: Vec<ThreadPool>,
    /// For one text, which somebody waits for: it does not stand behind a batch of many.
    alone: Vec<ThreadPool>,
    /// Whose turn it is among the latter.
    turn: AtomicUsize,
}

impl Workers {
    pub(crate) fn new() -> std::result::Result<Self, LocalError> {
        let count = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let pools = || {
            let pools = (0..count).map(|_| ThreadPoolBuilder::new().num_threads(1).build());
            let pools: std::result::Result<Vec<ThreadPool>, _> = pools.collect();
            pools.map_err(|error| LocalError::Model(error.to_string()))
        };
        Ok(Self { shared: pools()?, alone: pools()?, turn: AtomicUsize::new(0) })
    }

    /// Computes texts in batches of at most so many that are about equally long: a batch costs what its longest text costs. The
    /// results are in the order of the texts.
    pub(crate) fn each<T: Send>(
        &self,
        encoded: &[Encoding],
        size: usize,
        work: impl Fn(&Batch) -> Result<Vec<T>> + Sync,
    ) -> Result<Vec<T>> {
        let computed = |batch: &[(usize, &Encoding)]| -> Result<Vec<(usize, T)>> {
            let texts: Vec<&Encoding> = batch.iter().map(|(_, one)| *one).collect();
            let made = work(&Batch::of(&texts)?)?;
            Ok(batch.iter().map(|(at, _)| *at).zip(made).collect())
        };
        let mut order: Vec<(usize, &Encoding)> = encoded.iter().enumerate().collect();
        order.sort_by_key(|(_, one)| one.get_ids().len());
        let size = size.min(order.len().div_ceil(self.shared.len().max(1))).max(1);
        let batches: Vec<&[(usize, &Encoding)]> = order.chunks(size).collect();
        let mut made = match batches.as_slice() {
            [only] => {
                let turn = self.turn.fetch_add(1, Ordering::Relaxed);
                let pool = self.alone.get(turn % self.alone.len().max(1));
                pool.map_or_else(|| computed(only), |pool| pool.install(|| computed(only)))?
            }
            batches => self.shared_out(batches, |batch| computed(batch))?,
        };
        made.sort_by_key(|(at, _)| *at);
        Ok(made.into_iter().map(|(_, one)| one).collect())
    }

    /// Each thread takes the next batch that none has taken, the costly ones first.
    fn shared_out<P: Sync, T: Send>(
        &self,
        parts: &[P],
        work: impl Fn(&P) -> Result<Vec<T>> + Sync,
    ) -> Result<Vec<T>> {
        let taken = AtomicUsize::new(0);
        let next = || parts.iter().rev().nth(taken.fetch_add(1, Ordering::Relaxed));
        let until_none_is_left = |pool: &ThreadPool| {
            let mut made = Vec::new();
            while let Some(part) = next() {
                made.extend(pool.install(|| work(part))?);
            }
            Ok(made)
        };
        thread::scope(|scope| {
            let threads: Vec<_> =
                self.shared.iter().map(|pool| scope.spawn(|| until_none_is_left(pool))).collect();
            let mut made = Vec::new();
            for thread in threads {
                let part = thread.join().unwrap_or_else(|_| Err(Error::Msg("a thread failed".to_owned())));
                made.extend(part?);
            }
            Ok(made)
        })
    }
}
