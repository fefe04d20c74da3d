//! Distilling never writes what is curated.
use airlock_knowledge::store::{Decision, Distill, NewCurated};

pub async fn write(distill: Distill, new: NewCurated, by: Decision) {
    let _ = distill.add(new, &by).await;
}
