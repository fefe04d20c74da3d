//! An approved text on its way to the database and back.

use std::time::Instant;

use airlock_database::{RunOptions, Timed};
use airlock_gate::Approved;

use super::Ask;

impl Ask<'_> {
    /// Runs a text of the host's own about a result, until this moment at most. However few rows are asked for, it has its own.
    pub(crate) async fn run_probe(&self, approved: &Approved, until: Option<Instant>) -> Timed {
        let options = self.run_options();
        let deadline = options.deadline.into_iter().chain(until).min();
        self.run_within(approved, true, RunOptions { max_rows: None, deadline, ..options }).await
    }

    /// Runs a checked text, and writes down that it did.
    pub(crate) async fn run_approved(&self, approved: &Approved, probe: bool) -> Timed {
        self.run_within(approved, probe, self.run_options()).await
    }

    async fn run_within(&self, approved: &Approved, probe: bool, options: RunOptions) -> Timed {
        let timed = self.domain.source().run_timed(approved, &options).await;
        self.desk.timeline.ran(self.attempt() + 1, probe, approved, &timed);
        if let Ok(result) = &timed.result {
            self.desk.books.rows(probe, result);
        }
        timed
    }

    fn run_options(&self) -> RunOptions {
        let until = self.desk.budget.until;
        // An answer that stands must not be lost because what is tried in its place takes all the time there is.
        let now = Instant::now();
        let half = now + until.saturating_duration_since(now) / 2;
        RunOptions {
            time_zone: self.clock.zone().to_owned(),
            search_path: self.domain.catalogue().search_path.clone(),
            max_rows: self.request.max_rows,
            deadline: Some(if self.standing.is_some() { half } else { until }),
            identity: self.desk.identity.clone(),
        }
    }
}
