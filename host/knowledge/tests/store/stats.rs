//! How it is going, counted over rows that were put there.

use airlock_knowledge::store::{Stats, TrendState};
use jiff::{Timestamp, ToSpan};
use tokio_postgres::Client;

use crate::harness::{Place, shop};

/// Puts `count` asks there, each so many days old.
struct Asks<'a> {
    count: i32,
    days: i32,
    domain: &'a str,
    outcome: &'a str,
    attempts: i32,
    errors: &'a str,
    rows: i64,
    surface: &'a str,
    latency: i64,
    cost: Option<f64>,
    models: &'a str,
}

const ANSWERED: Asks<'_> = Asks {
    count: 1,
    days: 0,
    domain: "shop",
    outcome: "answered",
    attempts: 1,
    errors: "{}",
    rows: 1,
    surface: "http",
    latency: 10,
    cost: Some(0.0),
    models: "[]",
};

impl Asks<'_> {
    async fn put(&self, admin: &Client) {
        let query = "INSERT INTO airlock.asks (id, asked_at, domain, question, mode, outcome, final_sql, attempts_used,
                error_types, refused, gave_up, rows_returned, truncated, latency_ms, tokens_input, tokens_output, cost_usd,
                trace_id, components, lessons, examples, tables_used, surface, models)
            SELECT gen_random_uuid(), now() - make_interval(days => $2), $3, 'q', 'agent', $4,
                CASE $4 WHEN 'answered' THEN 'SELECT 1' END, $5, $6::text::text[], $4 = 'refused', $4 = 'gave_up', $7, false, $8,
                10, 5, $9, 't', '[]', '{l}', '{a,b}', '{}', $10, $11::text::jsonb
            FROM generate_series(1, $1)";
        admin
            .execute(
                query,
                &[
                    &self.count,
                    &self.days,
                    &self.domain,
                    &self.outcome,
                    &self.attempts,
                    &self.errors,
                    &self.rows,
                    &self.latency,
                    &self.cost,
                    &self.surface,
                    &self.models,
                ],
            )
            .await
            .unwrap();
    }
}

fn used(cost: &str) -> String {
    format!(
        r#"[{{"model":"m","calls":2,"tokens":{{"input":8,"output":4}},"cost":{cost}}},
        {{"model":"n","calls":1,"tokens":{{"input":2,"output":1}},"cost":0.5}}]"#
    )
}

#[tokio::test]
async fn asks_are_counted_in_all_by_day_by_surface_and_by_model() {
    let (place, store) = Place::whole().await;
    let (admin, report, domain) = (place.admin().await, store.report(), shop());
    let empty = report.stats(None, Timestamp::UNIX_EPOCH).await.unwrap();
    assert_eq!((empty.all.asks, empty.all.repair_rate, empty.all.latency_p50_ms), (0, None, None));
    assert_eq!((empty.days.len(), empty.trend.state), (0, TrendState::TooFew));

    let (priced, unpriced) = (used("0.25"), used("null"));
    for asks in [
        Asks { count: 6, cost: Some(0.75), models: &priced, ..ANSWERED },
        Asks { attempts: 3, errors: "{unknown_column,unknown_column}", latency: 90, ..ANSWERED },
        Asks { rows: 0, surface: "mcp", ..ANSWERED },
        Asks { outcome: "gave_up", attempts: 3, errors: "{unknown_column,timeout,timeout}", ..ANSWERED },
        Asks { outcome: "refused", attempts: 0, ..ANSWERED },
        Asks { count: 2, days: 1, cost: None, models: &unpriced, ..ANSWERED },
        Asks { days: 40, ..ANSWERED },
        Asks { count: 3, domain: "fleet", ..ANSWERED },
    ] {
        asks.put(&admin).await;
    }
    let since = Timestamp::now().checked_sub((24 * 7).hours()).unwrap();
    let Stats { all, days, surfaces, domains, models, error_types, lessons, examples, .. } =
        report.stats(Some(&domain), since).await.unwrap();
    assert_eq!((all.asks, all.answered, all.gave_up, all.refused), (12, 10, 1, 1));
    assert_eq!((all.empty, all.repaired, all.repair_rate), (1, 1, Some(0.5)));
    assert_eq!((all.attempts_per_success, all.attempts_mean), (Some(1.2), Some(15.0 / 11.0)));
    assert_eq!((all.latency_p50_ms, all.give_up_rate), (Some(10.0), Some(1.0 / 12.0)));
    assert_eq!((all.tokens.input, all.cost_usd, all.unpriced), (120, None, 2), "an unknown price is not 0");
    let by_day: Vec<(i64, Option<f64>)> =
        days.iter().map(|day| (day.tally.asks, day.tally.cost_usd)).collect();
    assert_eq!(by_day, [(10, Some(4.5)), (2, None)]);
    let named = |parts: &[airlock_knowledge::store::Part]| -> Vec<(String, i64)> {
        parts.iter().map(|part| (part.of.clone(), part.tally.asks)).collect()
    };
    assert_eq!(named(&surfaces), [("http".to_owned(), 11), ("mcp".to_owned(), 1)]);
    assert_eq!(named(&domains), [("shop".to_owned(), 12)]);
    let cost: Vec<_> =
        models.iter().map(|day| (day.model.as_str(), day.calls, day.tokens.input, day.cost_usd)).collect();
    assert_eq!(
        cost,
        [("m", 12, 48, Some(1.5)), ("n", 6, 12, Some(3.0)), ("m", 4, 16, None), ("n", 2, 4, Some(1.0))]
    );
    let errors: Vec<_> = error_types.iter().map(|kind| (kind.name.as_str(), kind.count)).collect();
    assert_eq!(errors, [("unknown_column", 3), ("timeout", 2)]);
    assert_eq!((lessons[0].count, examples.len(), examples[0].count), (12, 2, 12));
    let all = report.stats(None, since).await.unwrap();
    assert_eq!(named(&all.domains), [("shop".to_owned(), 12), ("fleet".to_owned(), 3)]);
}

#[tokio::test]
async fn answers_that_lately_take_more_attempts_are_an_alert_of_their_domain() {
    let (place, store) = Place::whole().await;
    let (admin, report, domain) = (place.admin().await, store.report(), shop());
    for asks in [
        Asks { count: 90, days: 20, ..ANSWERED },
        Asks { count: 10, days: 12, attempts: 2, errors: "{timeout}", ..ANSWERED },
        Asks { count: 30, days: 3, ..ANSWERED },
        // What is older than both windows, or failed by something else, says nothing.
        Asks { count: 200, days: 50, attempts: 3, ..ANSWERED },
        Asks { count: 50, days: 1, outcome: "failed", attempts: 2, ..ANSWERED },
        Asks { count: 500, days: 2, domain: "fleet", attempts: 3, ..ANSWERED },
    ] {
        asks.put(&admin).await;
    }
    let trend = report.trend(Some(&domain)).await.unwrap();
    assert_eq!(
        (trend.state, trend.attempts_per_success_before),
        (TrendState::Steady, Some(1.1)),
        "{trend:?}"
    );
    Asks { count: 30, days: 1, attempts: 3, errors: "{unknown_column,unknown_column}", ..ANSWERED }
        .put(&admin)
        .await;
    let trend = report.trend(Some(&domain)).await.unwrap();
    assert_eq!((trend.state, trend.attempts_per_success), (TrendState::Alert, Some(2.0)), "{trend:?}");
    assert_eq!(report.stats(Some(&domain), Timestamp::now()).await.unwrap().trend, trend);
}
