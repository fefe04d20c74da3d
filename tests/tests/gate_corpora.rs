//! The score of the gate and the envelope on corpora that nobody tuned them to, held: nothing is wrong.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use airlock_tests::corpora;
use airlock_tests::gate::{page, score};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_wrong_on_the_corpora() {
    let Some(corpora) = corpora() else {
        eprintln!("SKIPPED: there are no corpora beside the workspace; set AIRLOCK_CORPORA");
        return;
    };
    let score = score(&corpora).await;
    for (tallies, least) in [(&score.attacks, 1), (&score.valid, 1), (&score.gold, 1)] {
        assert!(tallies.iter().map(|tally| tally.size).sum::<usize>() >= least, "a corpus is empty");
    }
    let wrong: Vec<&str> = score.wrong().collect();
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), page(&score));
}
