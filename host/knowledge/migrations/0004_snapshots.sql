-- Names and types of a domain's tables when it was loaded: what is drift is told against it.

CREATE TABLE airlock.snapshots (
    domain text PRIMARY KEY,
    content jsonb NOT NULL CHECK (jsonb_typeof(content) = 'object'),
    pack_hash text NOT NULL,
    taken_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    taken_by text NOT NULL CHECK (length(taken_by) BETWEEN 1 AND 200)
);

REVOKE ALL ON airlock.snapshots FROM PUBLIC;
GRANT SELECT ON airlock.snapshots TO {recall};
GRANT SELECT, INSERT, UPDATE ON airlock.snapshots TO {promote};
