//! Whether a role is small enough to serve with: `serve` refuses one that could change what it reads, and setup refuses
//! to turn somebody else's role into a reader.

use std::fmt;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::error::SetupError;

/// A reason not to serve with a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// It is, or can become, a superuser.
    Superuser {
        /// The role that is one: itself, or one it is a member of.
        through: String,
    },
    /// It is not held to row policies.
    BypassesRowSecurity {
        /// As above.
        through: String,
    },
    /// It makes roles or databases, or replicates.
    Administers {
        /// The attribute.
        attribute: String,
        /// As above.
        through: String,
    },
    /// It owns something here, and an owner may do anything with it.
    Owns {
        /// What: `database shop`, `schema public`, `table public.bills`.
        what: String,
        /// As above.
        through: String,
    },
    /// It is a member of a predefined role that writes or leaves the database.
    Predefined {
        /// The role.
        role: String,
    },
    /// It may write a relation.
    Writes {
        /// The relation.
        what: String,
        /// As above.
        through: String,
    },
    /// It may make relations in a schema.
    Creates {
        /// The schema.
        schema: String,
        /// As above.
        through: String,
    },
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Superuser { through } => write!(f, "`{through}` is a superuser"),
            Self::BypassesRowSecurity { through } => write!(f, "`{through}` bypasses row security"),
            Self::Administers { attribute, through } => write!(f, "`{through}` has {attribute}"),
            Self::Owns { what, through } => write!(f, "`{through}` owns {what}"),
            Self::Predefined { role } => write!(f, "it is a member of `{role}`"),
            Self::Writes { what, through } => write!(f, "`{through}` may write {what}"),
            Self::Creates { schema, through } if through == "PUBLIC" => write!(
                f,
                "everybody may make tables in schema {schema} (REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC mends it)"
            ),
            Self::Creates { schema, through } => write!(f, "`{through}` may make tables in schema {schema}"),
        }
    }
}

/// This role and every role it is a member of, at any distance.
const ROLES: &str = "WITH RECURSIVE held (oid) AS (
        SELECT oid FROM pg_roles WHERE rolname = $1
        UNION SELECT m.roleid FROM pg_auth_members m JOIN held ON m.member = held.oid
    ), roles AS (SELECT r.* FROM pg_roles r JOIN held USING (oid))";

const ATTRIBUTES: &str = "SELECT kind, rolname::text FROM roles
    CROSS JOIN LATERAL (VALUES ('superuser', rolsuper), ('bypassrls', rolbypassrls), ('CREATEROLE', rolcreaterole),
        ('CREATEDB', rolcreatedb), ('REPLICATION', rolreplication)) AS a (kind, has)
    WHERE has
    UNION ALL
    SELECT 'predefined', rolname::text FROM roles
    WHERE rolname IN ('pg_write_all_data', 'pg_write_server_files', 'pg_read_server_files', 'pg_execute_server_program',
        'pg_signal_backend', 'pg_checkpoint', 'pg_maintain', 'pg_create_subscription', 'pg_database_owner')
    ORDER BY 1, 2";

/// A few of each kind are enough to refuse, and to tell what to look at.
const POSSESSIONS: &str = "(SELECT 'owns', 'database ' || d.datname, rolname::text FROM pg_database d JOIN roles ON d.datdba = roles.oid
        WHERE d.datname = current_database())
    UNION ALL
    (SELECT 'owns', 'schema ' || n.nspname, rolname::text FROM pg_namespace n JOIN roles ON n.nspowner = roles.oid
        WHERE n.nspname !~ '^pg_' ORDER BY n.nspname LIMIT 5)
    UNION ALL
    (SELECT 'owns', 'relation ' || c.oid::regclass, rolname::text FROM pg_class c JOIN roles ON c.relowner = roles.oid
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND c.relpersistence <> 't' ORDER BY c.oid LIMIT 5)
    UNION ALL
    (SELECT 'writes', c.oid::regclass::text, coalesce(
            (SELECT rolname::text FROM roles WHERE has_table_privilege(roles.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
                OR has_any_column_privilege(roles.oid, c.oid, 'INSERT, UPDATE') ORDER BY rolname LIMIT 1), $1::text)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
          AND EXISTS (SELECT FROM roles WHERE has_table_privilege(roles.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
                OR has_any_column_privilege(roles.oid, c.oid, 'INSERT, UPDATE'))
        ORDER BY c.oid LIMIT 5)
    UNION ALL
    (SELECT 'creates', n.nspname::text,
            CASE WHEN has_schema_privilege('public', n.oid, 'CREATE') THEN 'PUBLIC' ELSE $1::text END
        FROM pg_namespace n
        WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
          AND EXISTS (SELECT FROM roles WHERE has_schema_privilege(roles.oid, n.oid, 'CREATE'))
        ORDER BY n.nspname LIMIT 5)";

/// Every reason not to serve as this role; none when it is fit. Any role may ask this about any other.
///
/// # Errors
/// When the catalogue cannot be read.
pub async fn unfit(client: &Client, role: &str) -> Result<Vec<Unfit>, SetupError> {
    let failed = |error: tokio_postgres::Error| SetupError::database("looking at what a role may do", &error);
    let attributes =
        client.query_typed(&format!("{ROLES} {ATTRIBUTES}"), &[(&role, Type::TEXT)]).await.map_err(failed)?;
    let mut reasons: Vec<Unfit> = attributes.iter().map(attribute).collect();
    // Whoever is a superuser has every privilege; a list of relations would say nothing more.
    if reasons.iter().any(|reason| matches!(reason, Unfit::Superuser { .. })) {
        return Ok(reasons);
    }
    let possessions = client
        .query_typed(&format!("{ROLES} {POSSESSIONS}"), &[(&role, Type::TEXT)])
        .await
        .map_err(failed)?;
    reasons.extend(possessions.iter().map(possession));
    Ok(reasons)
}

/// Fails with every reason when the role that this client connected as is not fit to serve with.
///
/// # Errors
/// [`SetupError::Unfit`], or when the catalogue cannot be read.
pub async fn refuse_unfit(client: &Client) -> Result<(), SetupError> {
    let failed = |error| SetupError::database("asking for the role's name", &error);
    // Unnamed statements, here and above: a pooler may hand each one to another session.
    let rows = client.query_typed("SELECT session_user::text", &[]).await.map_err(failed)?;
    let role: String = rows.first().map(|row| row.get(0)).unwrap_or_default();
    let unfit = unfit(client, &role).await?;
    if unfit.is_empty() { Ok(()) } else { Err(SetupError::Unfit { role, unfit }) }
}

impl Unfit {
    /// Whether it is in the nature of the role, and not in a grant that can be taken back.
    pub(crate) fn is_lasting(&self) -> bool {
        !matches!(self, Self::Writes { .. } | Self::Creates { .. })
    }
}

fn attribute(row: &Row) -> Unfit {
    let (kind, through): (&str, String) = (row.get(0), row.get(1));
    match kind {
        "superuser" => Unfit::Superuser { through },
        "bypassrls" => Unfit::BypassesRowSecurity { through },
        "predefined" => Unfit::Predefined { role: through },
        _ => Unfit::Administers { attribute: kind.to_owned(), through },
    }
}

fn possession(row: &Row) -> Unfit {
    let (kind, what, through): (&str, String, String) = (row.get(0), row.get(1), row.get(2));
    match kind {
        "owns" => Unfit::Owns { what, through },
        "creates" => Unfit::Creates { schema: what, through },
        _ => Unfit::Writes { what, through },
    }
}
