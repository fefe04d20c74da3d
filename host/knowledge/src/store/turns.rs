//! Conversations: finished asks of one asker in one domain, in their order. A follow-up joins the conversation of what it
//! follows.

use airlock_types::{AskId, DomainName, Outcome};

use super::error::StoreError;
use super::id::ItemId;
use super::ops::Ops;
use super::rows::{get, moment, word};

/// A turn of a conversation: what a follow-up refers to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Turn {
    /// The ask.
    pub ask: ItemId,
    /// The domain.
    pub domain: DomainName,
    /// The question.
    pub question: String,
    /// The SQL behind the answer.
    pub sql: Option<String>,
    /// The sentence.
    pub answer: Option<String>,
    /// How it ended; `None` of an ask that a host of before kept.
    pub outcome: Option<Outcome>,
}

/// A turn in its place among the others.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PastTurn {
    /// What was asked and answered.
    pub turn: Turn,
    /// The conversation it belongs to.
    pub conversation: ItemId,
    /// When it was kept.
    pub at: jiff::Timestamp,
}

/// A finished ask to keep: in the conversation of the ask it follows, when that is the same owner's in the same domain, else in
/// one of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTurn {
    /// Whose it is.
    pub owner: Option<String>,
    /// The ask it follows, which is kept already.
    pub follows: Option<AskId>,
    /// What was asked and answered.
    pub turn: Turn,
}

impl Ops {
    /// Keeps finished asks, all or none. None may follow another one of them.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn add_turns(&self, turns: &[NewTurn]) -> Result<(), StoreError> {
        let lease = self.pool.lease().await?;
        let query = "WITH given AS (
                SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
                    $8::text[], $9::text[]) AS g(ask, follows, begun, domain, owner, question, sql, answer, outcome)),
            prior AS (
                SELECT g.ask, c.id FROM given g JOIN airlock.turns t ON t.ask = g.follows
                JOIN airlock.conversations c ON c.id = t.conversation
                WHERE c.domain = g.domain AND c.owner IS NOT DISTINCT FROM g.owner),
            touched AS (
                UPDATE airlock.conversations SET changed_at = clock_timestamp() WHERE id IN (SELECT id FROM prior)
                RETURNING id),
            placed AS (
                SELECT g.*, coalesce(t.id, g.begun) AS conversation FROM given g
                LEFT JOIN prior p ON p.ask = g.ask LEFT JOIN touched t ON t.id = p.id),
            begun AS (
                INSERT INTO airlock.conversations (id, domain, owner)
                SELECT begun, domain, owner FROM placed WHERE conversation = begun)
            INSERT INTO airlock.turns (ask, conversation, domain, question, sql, answer, outcome)
            SELECT ask, conversation, domain, question, sql, answer, outcome FROM placed";
        let asks: Vec<&ItemId> = turns.iter().map(|new| &new.turn.ask).collect();
        let follows: Vec<Option<ItemId>> = turns.iter().map(|new| new.follows.map(ItemId::from)).collect();
        let begun: Vec<ItemId> = turns.iter().map(|_| ItemId::now()).collect();
        let domains: Vec<&str> = turns.iter().map(|new| new.turn.domain.as_str()).collect();
        let owners: Vec<Option<&str>> = turns.iter().map(|new| new.owner.as_deref()).collect();
        let questions: Vec<&str> = turns.iter().map(|new| new.turn.question.as_str()).collect();
        let texts: Vec<Option<&str>> = turns.iter().map(|new| new.turn.sql.as_deref()).collect();
        let answers: Vec<Option<&str>> = turns.iter().map(|new| new.turn.answer.as_deref()).collect();
        let outcomes: Vec<Option<&str>> =
            turns.iter().map(|new| new.turn.outcome.map(Outcome::as_str)).collect();
        lease
            .execute(
                query,
                &[&asks, &follows, &begun, &domains, &owners, &questions, &texts, &answers, &outcomes],
            )
            .await
            .map(|_| ())
            .map_err(|error| lease.error(&error))
    }

    /// A turn that a follow-up refers to, of its own domain and owner only.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn turn(
        &self,
        domain: &DomainName,
        owner: Option<&str>,
        ask: AskId,
    ) -> Result<Option<Turn>, StoreError> {
        let lease = self.pool.lease().await?;
        let query = "SELECT t.ask, t.domain, t.question, t.sql, t.answer, t.outcome FROM airlock.turns t
            JOIN airlock.conversations c ON c.id = t.conversation
            WHERE t.ask = $1 AND c.domain = $2 AND c.owner IS NOT DISTINCT FROM $3";
        let row = lease.query_opt(query, &[&ItemId::from(ask), &domain.as_str(), &owner]).await;
        row.map_err(|error| lease.error(&error))?.as_ref().map(read).transpose()
    }

    /// The turns of an owner, newest first, those before `before`.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn history(
        &self,
        owner: Option<&str>,
        before: Option<AskId>,
        limit: u16,
    ) -> Result<Vec<PastTurn>, StoreError> {
        let lease = self.pool.lease().await?;
        // Identities of asks are in the order of their time.
        let query = "SELECT t.ask, t.domain, t.question, t.sql, t.answer, t.outcome, t.conversation, t.at FROM airlock.turns t
            JOIN airlock.conversations c ON c.id = t.conversation
            WHERE c.owner IS NOT DISTINCT FROM $1 AND ($2::uuid IS NULL OR t.ask < $2) ORDER BY t.ask DESC LIMIT $3";
        let before = before.map(ItemId::from);
        let rows = lease.query(query, &[&owner, &before, &i64::from(limit)]).await;
        rows.map_err(|error| lease.error(&error))?
            .iter()
            .map(|row| {
                Ok(PastTurn {
                    turn: read(row)?,
                    conversation: get(row, "conversation")?,
                    at: moment(row, "at")?,
                })
            })
            .collect()
    }
}

fn read(row: &tokio_postgres::Row) -> Result<Turn, StoreError> {
    Ok(Turn {
        ask: get(row, "ask")?,
        domain: word(row, "domain")?,
        question: get(row, "question")?,
        sql: get(row, "sql")?,
        answer: get(row, "answer")?,
        outcome: get::<Option<String>>(row, "outcome")?.and_then(|word| word.parse().ok()),
    })
}
