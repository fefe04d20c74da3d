//! Recall never writes.
use airlock_knowledge::store::{Decision, NewCurated, Recall};

pub async fn write(recall: Recall, new: NewCurated, by: Decision) {
    let _ = recall.add(new, &by).await;
}
