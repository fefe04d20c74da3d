//! What an ask has before its stages have spoken.

use airlock_runtime::contract::linker::Selection;
use airlock_runtime::contract::planner::Plan;

/// The plan before there is one.
pub(crate) fn no_plan() -> Plan {
    Plan {
        intent: "data".to_owned(),
        steps: Vec::new(),
        keywords: Vec::new(),
        measures: Vec::new(),
        filters: Vec::new(),
        time: Vec::new(),
        grouping: Vec::new(),
        order: Vec::new(),
        limit: None,
        assumptions: Vec::new(),
        attributes: Vec::new(),
    }
}

/// The selection before there is one.
pub(crate) const fn no_selection() -> Selection {
    Selection { tables: Vec::new(), joins: Vec::new(), attributes: Vec::new() }
}
