//! Whether a role is small enough to serve with: setup refuses to turn somebody else's role into a reader.
//!
//! What makes a role more than a reader stands in one library, [`CLAIMS`], which `serve`, `doctor` and health ask about the
//! role they are; here an administrator asks about another.

use airlock_database::checks::{CLAIMS, Power, Severity};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::error::SetupError;

/// Everything a role may do that a reader should not, by the catalogue. Any role may ask this about any other.
///
/// # Errors
/// When the catalogue cannot be read.
pub async fn powers(client: &Client, role: &str) -> Result<Vec<Power>, SetupError> {
    let failed = |error: tokio_postgres::Error| SetupError::database("looking at what a role may do", &error);
    let version = "SELECT current_setting('server_version_num')::int4 / 10000";
    // Unnamed statements: a pooler may hand each one to another session.
    let rows = client.query_typed(version, &[]).await.map_err(failed)?;
    let version: i32 = rows.first().map_or(0, |row| row.get(0));
    let version = u32::try_from(version).unwrap_or(0);
    let mut powers = Vec::new();
    for claim in CLAIMS.iter().filter(|claim| claim.since <= version) {
        let rows = client.query_typed(&claim.query(), &[(&role, Type::TEXT)]).await.map_err(failed)?;
        powers.extend(rows.iter().map(|row| Power::new(claim.name, row.get(0), row.get(1), row.get(2))));
    }
    Ok(powers)
}

/// Every reason not to serve as this role; none when it is fit.
///
/// # Errors
/// When the catalogue cannot be read.
pub async fn unfit(client: &Client, role: &str) -> Result<Vec<Power>, SetupError> {
    let mut powers = powers(client, role).await?;
    powers.retain(|power| power.severity == Severity::Unfit);
    Ok(powers)
}
