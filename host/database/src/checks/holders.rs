//! Claims about the roles that keys give to their holders: the reader takes one up for a transaction, and has none of it otherwise.

use super::{Finding, cells, reader};
use crate::error::DatabaseError;
use crate::exchange::Begin;
use crate::source::Source;
use crate::wire::Step;

/// The check about memberships, which knows of no keys.
pub(super) const BECOMES: &str = "reader-becomes-no-other-role";

/// What the reader is to each role of `$1`, a JSON list: whether the role is there, may be taken up, and is had without taking
/// it up. From version 16 on a member may take a role up only where the membership says so; one can be inherited all the same.
const STANDING: &str = "SELECT quote_ident(k.name), quote_ident(session_user),
        CASE WHEN r.oid IS NULL THEN 'absent' WHEN pg_has_role(session_user, r.oid, 'USAGE') THEN 'inherited'
             WHEN NOT s.takes THEN 'no-member' ELSE 'apart' END,
        (current_setting('server_version_num')::int >= 160000)::text, coalesce(s.takes, false)::text
    FROM jsonb_array_elements_text($1::text::jsonb) AS k(name) LEFT JOIN pg_roles r ON r.rolname = k.name,
        LATERAL (SELECT pg_has_role(session_user, r.oid,
            CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END) AS takes) AS s";

/// Roles that the reader can take up and that no key gives.
const OTHERS: &str = "SELECT quote_ident(r.rolname), quote_ident(session_user)
    FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid JOIN pg_roles me ON me.oid = m.member AND me.rolname = session_user
    WHERE r.rolname !~ '^pg_' AND coalesce((to_jsonb(m) ->> 'set_option')::boolean, true)
      AND NOT EXISTS (SELECT FROM jsonb_array_elements_text($1::text::jsonb) AS k(name) WHERE k.name = r.rolname)
    ORDER BY 1 LIMIT 20";

/// By which statement a reader becomes one that may take these roles up and has nothing of them otherwise.
fn grant(roles: &[String], member: &str, by_membership: bool) -> String {
    let grant = format!("GRANT {} TO {member}", roles.join(", "));
    if by_membership {
        format!("{grant} WITH INHERIT FALSE, SET TRUE")
    } else {
        format!("{grant}, whose role is NOINHERIT")
    }
}

/// Why the reader cannot take a role up, and what would help; `None` when it can.
pub(crate) async fn not_taken(source: &Source, role: &str) -> Result<Option<NotTaken>, DatabaseError> {
    let rows = rows(source, STANDING, &[role.to_owned()]).await?;
    let Some([role, reader, standing, of_16, takes]) = rows.first().map(Vec::as_slice) else {
        return Ok(None);
    };
    Ok(match (standing.as_str(), takes.as_str()) {
        ("absent", _) => {
            Some(NotTaken { why: format!("the data source has no role {role}"), remedy: ABSENT.to_owned() })
        }
        (_, "false") => Some(NotTaken {
            why: format!("the reader may not take the role {role} up"),
            remedy: grant(std::slice::from_ref(role), reader, of_16 == "true"),
        }),
        _ => None,
    })
}

/// A role that cannot be taken up.
pub(crate) struct NotTaken {
    /// Why not.
    pub(crate) why: String,
    /// What would help.
    pub(crate) remedy: String,
}

/// What helps where a key gives a role that is not there.
const ABSENT: &str = "make the role, or make the key again for another";

/// Each role is taken up and never inherited: what the reader inherits, its policies show to everybody.
pub(super) async fn are_apart(source: &Source, roles: &[String]) -> Result<Finding, DatabaseError> {
    let (mut inherited, mut no_member, mut absent, mut apart) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let (mut member, mut by_membership) = (String::new(), false);
    for row in rows(source, STANDING, roles).await? {
        let [role, reader, standing, of_16, _] = row.as_slice() else { continue };
        (member, by_membership) = (reader.clone(), of_16 == "true");
        match standing.as_str() {
            "inherited" => inherited.push(role.clone()),
            "no-member" => no_member.push(role.clone()),
            "absent" => absent.push(role.clone()),
            _ => apart += 1,
        }
    }
    let named = |roles: &[String]| reader::some(roles, ", ");
    // Each finding is mended by a statement about its own roles.
    let granted = |roles: &[String]| grant(roles, &member, by_membership);
    Ok(if !inherited.is_empty() {
        let found = format!("it has what {} may see without taking the role up", named(&inherited));
        let remedy =
            if by_membership { granted(&inherited) } else { format!("ALTER ROLE {member} NOINHERIT") };
        Finding::Broken { found, remedy }
    } else if !no_member.is_empty() {
        let found = format!("it may not take {} up, so asks with those keys fail", named(&no_member));
        Finding::Broken { found, remedy: granted(&no_member) }
    } else if !absent.is_empty() {
        let found = format!("the server has no role {}, so asks with those keys fail", named(&absent));
        Finding::Advised { found, remedy: ABSENT.to_owned() }
    } else {
        Finding::Holds(format!("{apart} are taken up and not inherited"))
    })
}

/// The claim about memberships where keys give roles: those are meant.
pub(super) async fn becomes_no_other(source: &Source, roles: &[String]) -> Result<Finding, DatabaseError> {
    let rows = rows(source, OTHERS, roles).await?;
    let others: Vec<String> = rows.iter().filter_map(|row| row.first().cloned()).collect();
    Ok(match rows.first().map(Vec::as_slice) {
        Some([role, reader]) => Finding::Broken {
            found: format!("it may SET ROLE {}, which no key gives", reader::some(&others, ", ")),
            remedy: format!("REVOKE {role} FROM {reader}; and grant SELECT to it directly"),
        },
        _ => Finding::Holds(format!("none beside the {} that keys give", roles.len())),
    })
}

async fn rows(source: &Source, sql: &str, roles: &[String]) -> Result<Vec<Vec<String>>, DatabaseError> {
    let list = serde_json::Value::from(roles.to_vec()).to_string();
    let parameters = [Some(list.as_str())];
    let results =
        source.fixed(Begin::Reading, &source.fixed_settings(), &[Step::new(sql, &parameters)]).await?;
    let texts = |row| cells(row).map(|cell| Ok(cell?.unwrap_or_default().to_owned())).collect();
    results.first().map_or_else(|| Ok(Vec::new()), |found| found.rows.iter().map(texts).collect())
}
