//! What is curated comes from the store alone.
use airlock_knowledge::store::{Content, Curation};

pub fn make_it(curation: Curation, content: Content) -> Curation {
    Curation { content, ..curation }
}
