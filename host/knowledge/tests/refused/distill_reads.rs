//! Distilling never reads what is there.
use airlock_knowledge::store::{Distill, NewCandidate};

pub async fn read(distill: Distill, new: NewCandidate) {
    let _ = distill.candidate(&new.domain, new.id).await;
}
