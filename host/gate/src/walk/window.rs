//! Windows: those that a query names, and those that stand in brackets after OVER.

use pg_query::protobuf::WindowDef;

use super::{Checked, Walk, inner};
use crate::rejection::{Refusal, RejectionCode};
use crate::scope::Scope;

impl Walk<'_> {
    /// What stands after OVER: the name of a window, or one in brackets.
    pub(super) fn over(&mut self, window: &WindowDef, scope: &Scope<'_>) -> Checked<()> {
        self.known_window(&window.name, window.location)?;
        self.window(window, scope)
    }

    fn known_window(&self, name: &str, location: i32) -> Checked<()> {
        if name.is_empty() || self.windows.iter().any(|known| known == name) {
            return Ok(());
        }
        let message = format!("there is no window \"{name}\" here");
        Err(Refusal::new(RejectionCode::Syntax, message)
            .at(location)
            .hint(format!("Define it: WINDOW {name} AS (...).")))
    }

    /// The clauses of a window.
    pub(super) fn window(&mut self, window: &WindowDef, scope: &Scope<'_>) -> Checked<()> {
        self.given_name(&window.name, window.location)?;
        self.known_window(&window.refname, window.location)?;
        for node in window.partition_clause.iter().filter_map(|node| node.node.as_ref()) {
            let value = self.output(node, scope)?;
            self.comparable(&value, window.location)?;
        }
        for node in &window.order_clause {
            let sort = self.sort_by(node)?;
            if let Some(node) = inner(&sort.node) {
                let value = self.output(node, scope)?;
                self.comparable(&value, window.location)?;
            }
        }
        for node in [inner(&window.start_offset), inner(&window.end_offset)].into_iter().flatten() {
            self.computed(node, scope)?;
        }
        Ok(())
    }
}
