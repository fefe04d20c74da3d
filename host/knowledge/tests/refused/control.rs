//! What each handle is for does compile.
use airlock_knowledge::store::{
    Content, Curation, Decision, Distill, NewCandidate, NewCurated, Promote, Recall,
};

pub async fn control(recall: Recall, distill: Distill, promote: Promote, new: NewCandidate) {
    let domain = new.domain.clone();
    let (_, items) = recall.active(&domain).await.unwrap();
    let _: Option<&Curation> = items.first();
    let content: Content = new.content.clone();
    let _ = distill.ingest(&new).await;
    let by = Decision::new(airlock_knowledge::store::Mode::Person, "ana", "");
    let _ = promote.add(NewCurated { domain, content, origin: new.origin }, &by).await;
    let _ = promote.candidates(&Default::default()).await;
}
