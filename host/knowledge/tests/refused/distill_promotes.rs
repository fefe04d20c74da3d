//! One handle never becomes another.
use airlock_knowledge::store::{Distill, Promote};

pub fn become_it(distill: Distill) -> Promote {
    distill
}
