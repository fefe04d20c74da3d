//! Recall never reads candidates.
pub async fn read(recall: airlock_knowledge::store::Recall) {
    let _ = recall.candidates(&Default::default()).await;
}
