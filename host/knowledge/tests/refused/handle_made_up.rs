//! A handle comes from the store alone.
use airlock_knowledge::store::{Distill, Promote};

pub fn make_it(distill: Distill) -> Promote {
    Promote { pool: distill.pool }
}
