//! Keeping the index of values in step with the data: read again on a schedule, never while anybody waits.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::refresh::Served;

/// The schedule. It ends with this value.
#[derive(Debug)]
pub struct FollowingValues(JoinHandle<()>);

impl FollowingValues {
    pub(crate) fn begin(domains: Vec<Arc<Served>>, every: Duration) -> Self {
        Self(tokio::spawn(async move {
            let mut due = interval_at(Instant::now() + every, every);
            // A source that was slow is not asked twice in a row for it.
            due.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                due.tick().await;
                for served in &domains {
                    served.read_values().await;
                }
            }
        }))
    }
}

impl Drop for FollowingValues {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Served {
    /// Reads the values again. When the source does not answer, those that are known stay.
    async fn read_values(&self) {
        let domain = self.now();
        match domain.with_values_read().await {
            Ok(Some(read)) => {
                tracing::info!(domain = %domain.name(), "values changed and were read again");
                self.change(|now| now.with_knowledge_of(&read));
                self.moments.values.is_now();
            }
            Ok(None) => self.moments.values.is_now(),
            Err(error) => tracing::warn!(domain = %domain.name(), %error, "values could not be read again"),
        }
    }
}
