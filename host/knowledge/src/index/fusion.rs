//! Several rankings of the same things made one: reciprocal rank fusion. Scores of different methods cannot be compared,
//! ranks can.

use std::collections::HashMap;
use std::hash::Hash;

/// How little the first ranks stand out.
const K: f64 = 60.0;

/// Things by the sum of 1 / (60 + rank) over the rankings they are in, best first; equal sums in the order of the first
/// ranking that has them.
pub(crate) fn fuse<T: Clone + Eq + Hash>(rankings: &[&[T]]) -> Vec<(T, f64)> {
    let mut sums: HashMap<&T, usize> = HashMap::new();
    let mut fused: Vec<(T, f64)> = Vec::new();
    for ranking in rankings {
        for (rank, thing) in ranking.iter().enumerate() {
            let at = *sums.entry(thing).or_insert_with(|| {
                fused.push((thing.clone(), 0.0));
                fused.len() - 1
            });
            if let Some((_, sum)) = fused.get_mut(at) {
                *sum += 1.0 / (K + 1.0 + rank as f64);
            }
        }
    }
    fused.sort_by(|a, b| b.1.total_cmp(&a.1));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_rankings_agree_on_comes_first() {
        for (rankings, want) in [
            (&[&["a", "b", "c"][..], &["c", "b"]][..], &["c", "b", "a"][..]),
            (&[&["a", "b"], &["b", "a"]], &["a", "b"]),
            (&[&[], &["x"]], &["x"]),
            (&[], &[]),
        ] {
            let fused: Vec<&str> = fuse(rankings).into_iter().map(|(thing, _)| thing).collect();
            assert_eq!(fused, want, "{rankings:?}");
        }
        assert_eq!(fuse(&[&["a"][..], &["a"]]), [("a", 2.0 / 61.0)]);
    }
}
