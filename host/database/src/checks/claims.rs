//! What makes a role more than a reader, each kind as one look at the catalogue that names what was found and the statement
//! that takes it away.
//!
//! The same looks serve `doctor` and health about the reader itself, `serve` before it begins, and `setup` about a role
//! that is there already. Each is a query with the role's name as `$1`; its rows are how bad it is, what was found and the
//! remedy. What a role can become by `SET ROLE` counts as its own.

use std::fmt;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Every role of the database has it by default, and other walls hold; closing it is better.
    Advice,
    /// A reader should not have it.
    Broken,
    /// With it the role is no reader: nothing is served with it.
    Unfit,
}

/// One finding about a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Power {
    /// The check that names it.
    pub check: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// What the role may do.
    pub found: String,
    /// A statement to run, or what to do where there is none.
    pub remedy: String,
}

impl Power {
    /// Reads a row of a claim's query.
    #[must_use]
    pub fn new(check: &'static str, severity: &str, found: String, remedy: String) -> Self {
        let severity = match severity {
            "advice" => Severity::Advice,
            "broken" => Severity::Broken,
            _ => Severity::Unfit,
        };
        Self { check, severity, found, remedy }
    }

    /// Whether it is in the nature of the role, and not in a grant that can be taken back: somebody else's role.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        self.severity == Severity::Unfit
            && [SUPERUSER, BYPASSES, ROLES, DATABASES, REPLICATES, PREDEFINED, OWNS].contains(&self.check)
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}: {})", self.found, self.check, self.remedy)
    }
}

/// A kind of power that a reader must not have.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// Stable name of the check.
    pub name: &'static str,
    /// What is looked at.
    pub tried: &'static str,
    /// First major version that has what is looked at.
    pub since: u32,
    look: &'static str,
}

impl Claim {
    /// The query. `$1` is the role; its columns are severity, what was found and the remedy, as text.
    #[must_use]
    pub fn query(&self) -> String {
        let query = format!("{HELD}, harmful AS ({}) {} LIMIT {FOUND}", harmful_functions(), self.look);
        // Of this type whoever asks: a driver that leaves it open would have it guessed.
        query.replace("$1", "$1::text")
    }
}

/// A query for the functions that a reader never needs: one column, `harmful`, of their oids.
#[must_use]
pub fn harmful_functions() -> String {
    format!(
        "SELECT p.oid AS harmful FROM pg_proc p WHERE p.proname ~ {HARMFUL_NAMES}
           AND (p.pronamespace = 'pg_catalog'::regnamespace OR EXISTS (SELECT FROM pg_depend d
                WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'))
         UNION SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace
           AND p.proname = 'ts_rewrite' AND p.pronargs = 2"
    )
}

/// More findings of one kind tell nothing new.
const FOUND: usize = 20;

const SUPERUSER: &str = "reader-is-no-superuser";
const BYPASSES: &str = "reader-is-held-to-policies";
const ROLES: &str = "reader-makes-no-roles";
const DATABASES: &str = "reader-makes-no-databases";
const REPLICATES: &str = "reader-does-not-replicate";
const PREDEFINED: &str = "reader-has-no-predefined-role";
const OWNS: &str = "reader-owns-nothing";

/// Names of functions of the server, in `pg_catalog` or an extension, that a reader never needs and that PUBLIC may call
/// unless told otherwise: they write, signal, wait, lock, run a text as SQL, or reach another server. `set_config` is not
/// among them, because each transaction pins its settings with it; `nextval` and its like are not, because every insert of
/// every application calls them and grants on the sequences hold them.
const HARMFUL_NAMES: &str = "'^(lo_.*|lowrite|loread|pg_notify|pg_(try_)?advisory_.*|pg_sleep(_for|_until)?|(query|cursor|table|schema|database)_to_xml(schema|_and_xmlschema)?|ts_stat|pg_export_snapshot|pg_current_xact_id|txid_current|pg_cancel_backend|pg_terminate_backend|pg_logical_emit_message|pg_read_(binary_)?file.*|pg_ls_.*|pg_stat_file|pg_file_.*|pg_logdir_ls|dblink.*|postgres_fdw_.*|xpath_table|xslt_process|connectby|crosstab.*)$'";

/// Grants of some privileges on relations of one kind, and on their columns.
macro_rules! relation_grants {
    ($privileges:literal, $kind:literal, $severity:literal) => {
        concat!(
            "SELECT ",
            $severity,
            ", g.who || ' may ' || a.privilege_type || o.columns || ' ' || o.name,
                format('REVOKE %s%s ON %s%s FROM %s', a.privilege_type, o.columns, CASE o.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE '' END, o.name, g.q)
            FROM (SELECT c.relkind, n.nspname, format('%I.%I', n.nspname, c.relname), '', c.relacl
                    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                  UNION ALL
                  SELECT c.relkind, n.nspname, format('%I.%I', n.nspname, c.relname), format(' (%I)', t.attname), t.attacl
                    FROM pg_attribute t JOIN pg_class c ON c.oid = t.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
                   WHERE t.attacl IS NOT NULL AND NOT t.attisdropped) AS o (relkind, schema, name, columns, acl)
            CROSS JOIN LATERAL aclexplode(o.acl) a JOIN grantee g ON g.oid = a.grantee
            WHERE a.privilege_type IN (",
            $privileges,
            ") AND o.relkind ",
            $kind,
            // Everybody may write `pg_settings`: a view whose rule calls set_config.
            " AND (g.oid <> 0 OR o.schema NOT IN ('pg_catalog', 'information_schema')) ORDER BY o.name, a.privilege_type"
        )
    };
}

const HELD: &str = "\
WITH RECURSIVE member (oid) AS (
  SELECT oid FROM pg_roles WHERE rolname = $1
  UNION SELECT m.roleid FROM pg_auth_members m JOIN member ON m.member = member.oid),
role AS (
  SELECT r.*, r.rolname = $1 AS itself, quote_ident(r.rolname) AS q, quote_ident($1) AS reader FROM pg_roles r JOIN member USING (oid)),
-- A superuser has every privilege, and a list of them would say nothing more.
holder AS (
  SELECT oid, CASE WHEN itself THEN 'it' ELSE q || ', which it can become,' END AS who, q, reader FROM role
   WHERE NOT EXISTS (SELECT FROM role WHERE rolsuper)),
grantee AS (
  SELECT oid, who, q FROM holder
  UNION ALL SELECT 0::oid, 'everybody', 'PUBLIC' FROM holder WHERE q = reader)";

/// The claim about an attribute of roles: what was tried, what is found, the word that takes it away, and who has it.
macro_rules! attribute {
    ($name:expr, $tried:literal, $found:literal, $without:literal, $has:literal) => {
        Claim {
            name: $name,
            tried: $tried,
            since: 0,
            look: concat!(
                "SELECT 'unfit', q || '",
                $found,
                "', CASE WHEN itself THEN 'ALTER ROLE ' || q || ' ",
                $without,
                "' ELSE 'REVOKE ' || q || ' FROM ' || reader END FROM role WHERE ",
                $has
            ),
        }
    };
}

/// Every claim, in the order they are told.
pub const CLAIMS: &[Claim] = &[
    attribute!(
        SUPERUSER,
        "attributes of the reader and of every role it can become",
        " is a superuser",
        "NOSUPERUSER",
        "rolsuper"
    ),
    attribute!(BYPASSES, "BYPASSRLS", " bypasses row security", "NOBYPASSRLS", "rolbypassrls AND NOT rolsuper"),
    attribute!(ROLES, "CREATEROLE", " has CREATEROLE", "NOCREATEROLE", "rolcreaterole AND NOT rolsuper"),
    attribute!(DATABASES, "CREATEDB", " has CREATEDB", "NOCREATEDB", "rolcreatedb AND NOT rolsuper"),
    attribute!(REPLICATES, "REPLICATION", " has REPLICATION", "NOREPLICATION", "rolreplication AND NOT rolsuper"),
    Claim {
        name: PREDEFINED,
        tried: "memberships in roles that PostgreSQL or a provider defines",
        since: 0,
        look: "SELECT CASE WHEN rolname IN ('pg_read_all_data', 'pg_monitor', 'pg_read_all_settings', 'pg_read_all_stats',
                                    'pg_stat_scan_tables', 'pg_use_reserved_connections') THEN 'broken' ELSE 'unfit' END,
                'it is a member of ' || q, 'REVOKE ' || q || ' FROM ' || reader
            FROM role WHERE NOT itself AND (rolname ~ '^pg_' OR rolname IN ('rds_superuser', 'rds_replication', 'rds_password',
                'cloudsqlsuperuser', 'cloudsqlreplica', 'azure_pg_admin', 'azuresu', 'alloydbsuperuser', 'supabase_admin',
                'neon_superuser'))",
    },
    Claim {
        name: super::holders::BECOMES,
        tried: "memberships that SET ROLE takes up",
        since: 0,
        look: "SELECT 'broken', 'it may SET ROLE ' || quote_ident(r.rolname),
                CASE WHEN to_jsonb(m) ? 'set_option'
                     THEN 'GRANT ' || quote_ident(r.rolname) || ' TO ' || quote_ident($1) || ' WITH SET FALSE'
                     ELSE 'REVOKE ' || quote_ident(r.rolname) || ' FROM ' || quote_ident($1) || '; and grant SELECT to it directly' END
            FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid JOIN pg_roles me ON me.oid = m.member AND me.rolname = $1
            WHERE r.rolname !~ '^pg_' AND coalesce((to_jsonb(m) ->> 'set_option')::boolean, true)",
    },
    Claim {
        name: OWNS,
        tried: "owners of everything in the database, and of databases",
        since: 0,
        look: "SELECT 'unfit', who || ' owns ' || pg_describe_object(d.classid, d.objid, d.objsubid),
                'give it to another role, such as by REASSIGN OWNED BY ' || q || ' TO CURRENT_USER (run by a superuser; it moves all that '
                || q || ' owns here)'
            FROM pg_shdepend d JOIN holder ON d.refobjid = holder.oid
            WHERE d.refclassid = 'pg_authid'::regclass AND d.deptype = 'o'
              AND (d.dbid = 0 OR d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database()))
              AND NOT EXISTS (SELECT FROM pg_class c WHERE d.classid = 'pg_class'::regclass AND c.oid = d.objid AND c.relpersistence = 't')
              -- The row type of a table goes with the table, a column's default with its column.
              AND NOT (d.classid = 'pg_type'::regclass AND EXISTS (SELECT FROM pg_type t WHERE t.oid = d.objid AND (t.typrelid <> 0 OR t.typelem <> 0)))",
    },
    Claim {
        name: "reader-has-no-write-grant",
        tried: "INSERT, UPDATE and DELETE on every relation and column",
        since: 0,
        look: relation_grants!("'INSERT', 'UPDATE', 'DELETE', 'MAINTAIN'", "<> 'S'", "'unfit'"),
    },
    Claim {
        name: "reader-has-no-truncate-grant",
        tried: "TRUNCATE on every relation",
        since: 0,
        look: relation_grants!("'TRUNCATE'", "<> 'S'", "'unfit'"),
    },
    Claim {
        name: "reader-has-no-trigger-grant",
        tried: "TRIGGER and REFERENCES on every relation and column",
        since: 0,
        look: relation_grants!(
            "'TRIGGER', 'REFERENCES'",
            "<> 'S'",
            "CASE a.privilege_type WHEN 'TRIGGER' THEN 'unfit' ELSE 'broken' END"
        ),
    },
    Claim {
        name: "reader-moves-no-sequence",
        tried: "USAGE and UPDATE on every sequence",
        since: 0,
        look: relation_grants!(
            "'USAGE', 'UPDATE'",
            "= 'S'",
            "CASE a.privilege_type WHEN 'UPDATE' THEN 'unfit' ELSE 'broken' END"
        ),
    },
    Claim {
        name: "reader-creates-in-no-schema",
        tried: "CREATE on every schema",
        since: 0,
        look: "SELECT 'unfit', g.who || ' may make tables in schema ' || n.nspname,
                format('REVOKE CREATE ON SCHEMA %I FROM %s', n.nspname, g.q)
            FROM pg_namespace n CROSS JOIN LATERAL aclexplode(n.nspacl) a JOIN grantee g ON g.oid = a.grantee
            WHERE a.privilege_type = 'CREATE' AND n.nspname !~ '^pg_(toast_)?temp_' ORDER BY n.nspname",
    },
    Claim {
        name: "reader-creates-no-schema",
        tried: "CREATE on the database",
        since: 0,
        look: "SELECT 'unfit', g.who || ' may make schemas in this database',
                format('REVOKE CREATE ON DATABASE %I FROM %s', d.datname, g.q)
            FROM pg_database d CROSS JOIN LATERAL aclexplode(d.datacl) a JOIN grantee g ON g.oid = a.grantee
            WHERE d.datname = current_database() AND a.privilege_type = 'CREATE'",
    },
    Claim {
        name: "reader-makes-no-temporary-table",
        tried: "TEMPORARY on the database",
        since: 0,
        look: "SELECT CASE a.grantee WHEN 0 THEN 'advice' ELSE 'broken' END, g.who || ' may make temporary tables',
                format('REVOKE TEMPORARY ON DATABASE %I FROM %s', d.datname, g.q)
            FROM pg_database d CROSS JOIN LATERAL aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
            JOIN grantee g ON g.oid = a.grantee
            WHERE d.datname = current_database() AND a.privilege_type = 'TEMPORARY'",
    },
    Claim {
        name: "reader-calls-no-kept-function",
        tried: "EXECUTE on functions that PostgreSQL keeps from PUBLIC: files, settings, write-ahead log, large objects from files",
        since: 0,
        look: "SELECT 'unfit', g.who || ' may call ' || p.oid::regprocedure::text,
                'REVOKE EXECUTE ON FUNCTION ' || p.oid::regprocedure::text || ' FROM ' || g.q
            FROM pg_proc p JOIN pg_init_privs i ON i.objoid = p.oid AND i.classoid = 'pg_proc'::regclass
            CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a JOIN grantee g ON g.oid = a.grantee
            WHERE NOT EXISTS (SELECT FROM aclexplode(i.initprivs) b WHERE b.grantee IN (0, a.grantee)) ORDER BY p.proname",
    },
    Claim {
        name: "reader-calls-no-harmful-function",
        tried: "EXECUTE on functions that write, signal, wait, lock, run a text as SQL or reach another server",
        since: 0,
        look: "SELECT CASE a.grantee WHEN 0 THEN 'advice' ELSE 'broken' END, g.who || ' may call ' || p.oid::regprocedure::text,
                CASE a.grantee WHEN 0 THEN '`airlock setup --harden` prints and runs what closes all of these'
                ELSE 'REVOKE EXECUTE ON FUNCTION ' || p.oid::regprocedure::text || ' FROM ' || g.q END
            FROM pg_proc p
            CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a JOIN grantee g ON g.oid = a.grantee
            WHERE p.oid IN (SELECT harmful FROM harmful) ORDER BY a.grantee = 0, p.proname",
    },
    Claim {
        name: "reader-reaches-no-other-server",
        tried: "USAGE on foreign servers and foreign-data wrappers",
        since: 0,
        look: "SELECT 'broken', g.who || ' may use ' || o.what, 'REVOKE USAGE ON ' || o.sql || ' FROM ' || g.q
            FROM (SELECT format('the foreign server %I', srvname), format('FOREIGN SERVER %I', srvname), srvacl FROM pg_foreign_server
                  UNION ALL
                  SELECT format('the foreign-data wrapper %I', fdwname), format('FOREIGN DATA WRAPPER %I', fdwname), fdwacl
                    FROM pg_foreign_data_wrapper) AS o (what, sql, acl)
            CROSS JOIN LATERAL aclexplode(o.acl) a JOIN grantee g ON g.oid = a.grantee",
    },
    Claim {
        name: "reader-writes-no-large-object",
        tried: "UPDATE on every large object, and lo_compat_privileges",
        since: 0,
        look: "SELECT 'unfit', g.who || ' may write the large object ' || l.oid,
                format('REVOKE UPDATE ON LARGE OBJECT %s FROM %s', l.oid, g.q)
            FROM pg_largeobject_metadata l CROSS JOIN LATERAL aclexplode(l.lomacl) a JOIN grantee g ON g.oid = a.grantee
            WHERE a.privilege_type = 'UPDATE'
            UNION ALL SELECT 'broken', 'lo_compat_privileges is on: everybody may write every large object',
                'ALTER SYSTEM SET lo_compat_privileges = off'
            WHERE current_setting('lo_compat_privileges')::boolean AND EXISTS (SELECT FROM holder)",
    },
    Claim {
        name: "reader-sets-no-server-parameter",
        tried: "SET and ALTER SYSTEM on parameters of the server",
        since: 15,
        look: "SELECT CASE a.privilege_type WHEN 'ALTER SYSTEM' THEN 'unfit' ELSE 'broken' END,
                format('%s may %s %s', g.who, a.privilege_type, p.parname),
                format('REVOKE %s ON PARAMETER %s FROM %s', a.privilege_type, p.parname, g.q)
            FROM pg_parameter_acl p CROSS JOIN LATERAL aclexplode(p.paracl) a JOIN grantee g ON g.oid = a.grantee",
    },
    Claim {
        name: "reader-hands-nothing-on",
        tried: "grant options and admin options",
        since: 0,
        look: "SELECT 'broken', h.who || ' may grant ' || a.privilege_type || ' on ' || o.sql || ' to others',
                format('REVOKE GRANT OPTION FOR %s ON %s FROM %s CASCADE', a.privilege_type, o.sql, h.q)
            FROM (SELECT format('%s %I.%I', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, n.nspname, c.relname), c.relacl
                    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                  UNION ALL SELECT format('SCHEMA %I', nspname), nspacl FROM pg_namespace
                  UNION ALL SELECT format('DATABASE %I', datname), datacl FROM pg_database WHERE datname = current_database()
                  UNION ALL SELECT 'FUNCTION ' || oid::regprocedure::text, proacl FROM pg_proc WHERE prokind <> 'p'
                  UNION ALL SELECT format('FOREIGN SERVER %I', srvname), srvacl FROM pg_foreign_server) AS o (sql, acl)
            CROSS JOIN LATERAL aclexplode(o.acl) a JOIN holder h ON h.oid = a.grantee WHERE a.is_grantable
            UNION ALL SELECT 'broken', 'it may make others members of ' || quote_ident(r.rolname),
                format('REVOKE ADMIN OPTION FOR %I FROM %I', r.rolname, $1)
            FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid JOIN pg_roles me ON me.oid = m.member AND me.rolname = $1
            WHERE m.admin_option",
    },
];
