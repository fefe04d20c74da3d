//! Linking by itself: the tables that a question would be answered from, to measure how often they are the right ones.

use airlock_runtime::contract::linker::LinkInput;
use airlock_runtime::contract::planner::PlanInput;
use airlock_types::{Clock, DomainName, Question, TableRef};

use crate::blank::no_plan;
use crate::convert;
use crate::drive::{Linked, Planned};
use crate::host::{AskError, ContextError, Host};
use crate::progress::Reporter;
use crate::timeline::Recorder;

/// What the linker chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linking {
    /// The tables, best first.
    pub tables: Vec<TableRef>,
    /// Whether the planner would have let the question through.
    pub planned: bool,
}

impl Host {
    /// The tables that the linker in service selects at each width, without a model. Where the planner has no plan, the linker
    /// gets the question alone.
    ///
    /// # Errors
    /// When there is no such domain, or a component fails.
    pub async fn link(
        &self,
        question: &Question,
        domain: Option<&DomainName>,
        widths: &[u32],
    ) -> Result<Vec<Linking>, ContextError> {
        let domain = self.current(domain, question, &Recorder::idle()).await?.domain;
        let (zone, fiscal) = domain.calendar();
        let clock = Clock::new(jiff::Timestamp::now(), zone, fiscal).map_err(AskError::Now)?;
        let clock = convert::clock(&clock);
        let mut desk = self.desk(&domain, Reporter::silent());
        (desk.live, desk.model) = (false, false);
        desk.canonicalize(&domain, question.as_str(), &clock).await?;
        let input = PlanInput {
            question: question.as_str().to_owned(),
            clock: clock.clone(),
            prior: None,
            choice: None,
            model_available: false,
            attributes: desk.entities.attributes(),
        };
        let (plan, planned) = match desk.drive(input).await? {
            Planned::Plan(plan) => (plan, true),
            _ => (no_plan(), false),
        };
        let mut found = Vec::new();
        for width in widths {
            let input = LinkInput {
                question: question.as_str().to_owned(),
                clock: clock.clone(),
                plan: plan.clone(),
                width: *width,
                failure: None,
                model_available: false,
                attributes: desk.entities.attributes(),
            };
            let mut tables = match desk.drive(input).await? {
                Linked::Selection(selection) => selection.tables,
                Linked::Nothing(_) => Vec::new(),
            };
            tables.truncate(usize::try_from(*width).unwrap_or(usize::MAX));
            let tables = tables.iter().map(|table| TableRef::new(&table.table.schema, &table.table.name));
            found.push(Linking { tables: tables.collect(), planned });
        }
        Ok(found)
    }
}
