-- The store's first shape. Run by the migrate role, which owns all of it; `{recall}` and its like stand for the names of
-- the roles. Numbers of changes, append-only tables and the wall between candidates and curated are held here, by the
-- database, and not by the goodwill of a host.

CREATE TABLE airlock.store (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    last_change bigint NOT NULL DEFAULT 0
);
INSERT INTO airlock.store DEFAULT VALUES;

-- What changed, in the order of commits: the row of airlock.store is locked from the number until the end of the transaction.
CREATE TABLE airlock.changes (
    number bigint PRIMARY KEY,
    domain text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('example', 'lesson', 'golden', 'pack')),
    item uuid,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX changes_of_domain ON airlock.changes (domain, number);

-- Packs that were loaded. One of each domain is current.
CREATE TABLE airlock.packs (
    id uuid PRIMARY KEY,
    domain text NOT NULL CHECK (domain ~ '^[a-z][a-z0-9-]{0,62}$'),
    hash text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    title text NOT NULL,
    source text NOT NULL,
    examples int NOT NULL,
    lessons int NOT NULL,
    loaded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    loaded_by text NOT NULL,
    is_current boolean NOT NULL
);
CREATE UNIQUE INDEX current_pack ON airlock.packs (domain) WHERE is_current;
CREATE INDEX packs_of_domain ON airlock.packs (domain, loaded_at);

-- Their files, once for each hash. What makes a demo's database is hashed and not kept.
CREATE TABLE airlock.pack_files (
    domain text NOT NULL,
    hash text NOT NULL,
    path text NOT NULL,
    file_hash text NOT NULL,
    content bytea,
    PRIMARY KEY (domain, hash, path)
);

-- What is proposed. Only the promotion gate reads it; the ingest function below is the only way in for distilling.
CREATE TABLE airlock.candidates (
    id uuid PRIMARY KEY,
    domain text NOT NULL CHECK (domain ~ '^[a-z][a-z0-9-]{0,62}$'),
    kind text NOT NULL CHECK (kind IN ('example', 'lesson', 'golden')),
    state text NOT NULL CHECK (state IN ('proposed', 'needs_evidence', 'duplicate', 'rejected', 'promoted')),
    content jsonb NOT NULL CHECK (pg_column_size(content) < 65536),
    hash text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    canonical text CHECK (canonical ~ '^[0-9a-f]{64}$'),
    source text NOT NULL CHECK (source IN ('person', 'agent', 'distilled', 'mined', 'adapter', 'feedback', 'imported')),
    evidence jsonb NOT NULL DEFAULT '{}' CHECK (pg_column_size(evidence) < 65536),
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    made_by text NOT NULL CHECK (length(made_by) <= 200),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen int NOT NULL DEFAULT 1,
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    curated uuid,
    CHECK ((state = 'promoted') = (curated IS NOT NULL))
);
CREATE INDEX candidates_of_domain ON airlock.candidates (domain, kind, state, made_at);
CREATE INDEX candidates_by_hash ON airlock.candidates (domain, kind, hash);
CREATE INDEX candidates_by_canonical ON airlock.candidates (domain, kind, canonical);

-- What the system trusts. One writer: the promotion gate.
CREATE TABLE airlock.curated (
    id uuid PRIMARY KEY,
    domain text NOT NULL CHECK (domain ~ '^[a-z][a-z0-9-]{0,62}$'),
    kind text NOT NULL CHECK (kind IN ('example', 'lesson', 'golden')),
    state text NOT NULL CHECK (state IN ('active', 'stale', 'superseded', 'withdrawn')),
    content jsonb NOT NULL CHECK (pg_column_size(content) < 65536),
    hash text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    canonical text CHECK (canonical ~ '^[0-9a-f]{64}$'),
    source text NOT NULL CHECK (source IN ('person', 'agent', 'distilled', 'mined', 'adapter', 'feedback', 'imported')),
    candidate uuid UNIQUE,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX curated_of_domain ON airlock.curated (domain, kind, state, made_at);
CREATE INDEX curated_by_hash ON airlock.curated (domain, kind, hash);
CREATE INDEX curated_by_canonical ON airlock.curated (domain, kind, canonical);

-- Who decided what, when, why and about which content. Nothing is ever changed or taken away here.
CREATE TABLE airlock.decisions (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    domain text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('example', 'lesson', 'golden', 'pack')),
    candidate uuid,
    curated uuid,
    verdict text NOT NULL CHECK (verdict IN ('promote', 'reject', 'duplicate', 'add', 'edit', 'set_back', 'demote', 'restore',
        'supersede', 'withdraw', 'load')),
    hash text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    hash_before text CHECK (hash_before ~ '^[0-9a-f]{64}$'),
    mode text NOT NULL CHECK (mode IN ('person', 'model', 'replay', 'auto', 'decay', 'schema', 'pack', 'gate')),
    who text NOT NULL CHECK (length(who) BETWEEN 1 AND 200),
    why text NOT NULL CHECK (length(why) <= 2000),
    evidence jsonb NOT NULL DEFAULT '{}' CHECK (pg_column_size(evidence) < 262144)
);
CREATE INDEX decisions_of_domain ON airlock.decisions (domain, at);
CREATE INDEX decisions_of_candidate ON airlock.decisions (candidate);
CREATE INDEX decisions_of_curated ON airlock.decisions (curated);

-- Where curated items took part, and how that went. A use is appended when an item is recalled and again when its success is
-- known.
CREATE TABLE airlock.uses (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    domain text NOT NULL,
    item uuid NOT NULL,
    ask uuid,
    event text NOT NULL CHECK (event IN ('recalled', 'succeeded', 'failed'))
);
CREATE INDEX uses_of_item ON airlock.uses (item, event, at);

CREATE TABLE airlock.feedback (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    domain text NOT NULL,
    ask uuid NOT NULL,
    verdict text NOT NULL CHECK (verdict IN ('right', 'wrong', 'corrected')),
    corrected_sql text CHECK (length(corrected_sql) <= 8000),
    note text CHECK (length(note) <= 2000),
    who text CHECK (length(who) <= 200),
    surface text NOT NULL CHECK (length(surface) <= 40)
);
CREATE INDEX feedback_of_ask ON airlock.feedback (ask);
CREATE INDEX feedback_of_domain ON airlock.feedback (domain, at);

CREATE TABLE airlock.signals (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    domain text NOT NULL,
    tool text NOT NULL CHECK (tool IN ('ask', 'query', 'dry_run')),
    ask uuid,
    question text CHECK (length(question) <= 4000),
    sql text CHECK (length(sql) <= 65536),
    tables text[] NOT NULL DEFAULT '{}',
    outcome text NOT NULL CHECK (length(outcome) <= 40),
    error_types text[] NOT NULL DEFAULT '{}'
);
CREATE INDEX signals_of_domain ON airlock.signals (domain, at);

-- One row for each finished ask.
CREATE TABLE airlock.asks (
    id uuid PRIMARY KEY,
    asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    domain text NOT NULL,
    question text NOT NULL CHECK (length(question) <= 4000),
    mode text NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('answered', 'clarification', 'refused', 'gave_up', 'failed')),
    final_sql text,
    attempts_used int NOT NULL,
    error_types text[] NOT NULL,
    refused boolean NOT NULL,
    gave_up boolean NOT NULL,
    rows_returned bigint NOT NULL,
    truncated boolean NOT NULL,
    latency_ms bigint NOT NULL,
    tokens_input bigint NOT NULL,
    tokens_output bigint NOT NULL,
    cost_usd double precision,
    model text,
    trace_id text NOT NULL,
    components jsonb NOT NULL,
    lessons text[] NOT NULL,
    examples text[] NOT NULL,
    tables_used text[] NOT NULL,
    degraded text,
    surface text NOT NULL CHECK (length(surface) <= 40),
    record jsonb
);
CREATE INDEX asks_by_time ON airlock.asks (asked_at);
CREATE INDEX asks_of_domain ON airlock.asks (domain, asked_at);

-- Vectors of texts, by the hash of the text: a changed model or text is another row.
CREATE TABLE airlock.embeddings (
    domain text NOT NULL,
    hash text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
    model text NOT NULL CHECK (length(model) <= 200),
    dimension int NOT NULL CHECK (dimension BETWEEN 1 AND 8192),
    vector real[] NOT NULL,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (domain, model, hash),
    CHECK (cardinality(vector) = dimension)
);

CREATE TABLE airlock.api_keys (
    id uuid PRIMARY KEY,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    hash text NOT NULL UNIQUE CHECK (hash ~ '^[0-9a-f]{64}$'),
    scopes text[] NOT NULL,
    domains text[] NOT NULL,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    made_by text NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz
);

CREATE TABLE airlock.sessions (
    hash text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
    key uuid REFERENCES airlock.api_keys,
    csrf_hash text NOT NULL CHECK (csrf_hash ~ '^[0-9a-f]{64}$'),
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_by_end ON airlock.sessions (expires_at);

CREATE TABLE airlock.conversations (
    id uuid PRIMARY KEY,
    domain text NOT NULL,
    owner text CHECK (length(owner) <= 200),
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX conversations_by_change ON airlock.conversations (changed_at);

CREATE TABLE airlock.turns (
    ask uuid PRIMARY KEY,
    conversation uuid NOT NULL REFERENCES airlock.conversations ON DELETE CASCADE,
    domain text NOT NULL,
    question text NOT NULL CHECK (length(question) <= 4000),
    sql text,
    answer text,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX turns_of_conversation ON airlock.turns (conversation, at);

-- Every change of what is curated, and every loaded pack, gets its number; whoever changed it and however.
CREATE FUNCTION airlock.number_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    next bigint;
    what text := CASE TG_TABLE_NAME WHEN 'packs' THEN 'pack' ELSE (to_jsonb(COALESCE(NEW, OLD)) ->> 'kind') END;
BEGIN
    UPDATE airlock.store SET last_change = last_change + 1 RETURNING last_change INTO next;
    INSERT INTO airlock.changes (number, domain, kind, item) VALUES (next, COALESCE(NEW.domain, OLD.domain), what, COALESCE(NEW.id, OLD.id));
    PERFORM pg_notify('airlock_changes', next::text);
    RETURN NULL;
END $$;
CREATE TRIGGER numbered AFTER INSERT OR UPDATE OR DELETE ON airlock.curated
    FOR EACH ROW EXECUTE FUNCTION airlock.number_change();
CREATE TRIGGER numbered AFTER INSERT OR UPDATE OR DELETE ON airlock.packs
    FOR EACH ROW EXECUTE FUNCTION airlock.number_change();

CREATE FUNCTION airlock.refuse_change() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'rows of airlock.% are never changed or taken away', TG_TABLE_NAME USING ERRCODE = '42501';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON airlock.decisions
    FOR EACH STATEMENT EXECUTE FUNCTION airlock.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON airlock.uses
    FOR EACH STATEMENT EXECUTE FUNCTION airlock.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON airlock.changes
    FOR EACH STATEMENT EXECUTE FUNCTION airlock.refuse_change();

CREATE FUNCTION airlock.cosine(a real[], b real[]) RETURNS double precision LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN cardinality(a) <> cardinality(b) THEN NULL
        ELSE sum(x::float8 * y) / NULLIF(sqrt(sum(x::float8 * x)) * sqrt(sum(y::float8 * y)), 0) END
    FROM unnest(a, b) AS both_of (x, y)
$$;

-- The one way in for what is distilled. It says what became of it and nothing of what else is there.
CREATE FUNCTION airlock.ingest(
    new_id uuid, of_domain text, of_kind text, in_state text, new_content jsonb, new_hash text, new_canonical text,
    of_source text, new_evidence jsonb, by_whom text, of_model text, new_vector real[], near double precision
) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known uuid;
BEGIN
    IF in_state NOT IN ('proposed', 'needs_evidence') THEN
        RAISE EXCEPTION 'a candidate begins as proposed or needs_evidence' USING ERRCODE = '22023';
    END IF;
    -- One at a time of a domain, so that two hosts do not both find nothing and both add it.
    PERFORM pg_advisory_xact_lock(7301, hashtext(of_domain));
    SELECT c.id INTO known FROM airlock.candidates c
        WHERE c.domain = of_domain AND c.kind = of_kind AND (c.id = new_id OR c.hash = new_hash OR c.canonical = new_canonical)
        ORDER BY c.made_at LIMIT 1;
    IF known IS NULL AND EXISTS (SELECT FROM airlock.curated c
        WHERE c.domain = of_domain AND c.kind = of_kind AND (c.hash = new_hash OR c.canonical = new_canonical)) THEN
        RETURN 'known';
    END IF;
    IF known IS NOT NULL THEN
        UPDATE airlock.candidates SET seen = seen + 1, seen_at = clock_timestamp() WHERE id = known AND id <> new_id;
        RETURN 'known';
    END IF;
    IF new_vector IS NOT NULL THEN
        SELECT c.id INTO known FROM airlock.candidates c
            JOIN airlock.embeddings e ON e.domain = c.domain AND e.hash = c.hash AND e.model = of_model
            WHERE c.domain = of_domain AND c.kind = of_kind AND airlock.cosine(e.vector, new_vector) >= near
            ORDER BY c.made_at LIMIT 1;
        IF known IS NOT NULL THEN
            UPDATE airlock.candidates SET seen = seen + 1, seen_at = clock_timestamp() WHERE id = known;
            RETURN 'near';
        END IF;
    END IF;
    IF (SELECT count(*) FROM (SELECT FROM airlock.candidates c WHERE c.domain = of_domain AND c.kind = of_kind
        AND c.state IN ('proposed', 'needs_evidence') LIMIT 20000) AS open) >= 20000 THEN
        RETURN 'full';
    END IF;
    INSERT INTO airlock.candidates (id, domain, kind, state, content, hash, canonical, source, evidence, made_by)
        VALUES (new_id, of_domain, of_kind, in_state, new_content, new_hash, new_canonical, of_source, new_evidence, by_whom);
    IF new_vector IS NOT NULL THEN
        INSERT INTO airlock.embeddings (domain, hash, model, dimension, vector)
            VALUES (of_domain, new_hash, of_model, cardinality(new_vector), new_vector) ON CONFLICT DO NOTHING;
    END IF;
    RETURN 'stored';
END $$;

-- What may grow old: rows of `what` from before `until`, at most `at_most` of them, oldest first. The number that went.
CREATE FUNCTION airlock.retain(what text, until timestamptz, at_most int) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gone bigint;
BEGIN
    CASE what
        WHEN 'asks' THEN DELETE FROM airlock.asks WHERE id IN
            (SELECT id FROM airlock.asks WHERE asked_at < until ORDER BY asked_at LIMIT at_most);
        WHEN 'signals' THEN DELETE FROM airlock.signals WHERE id IN
            (SELECT id FROM airlock.signals WHERE at < until ORDER BY at LIMIT at_most);
        WHEN 'feedback' THEN DELETE FROM airlock.feedback WHERE id IN
            (SELECT id FROM airlock.feedback WHERE at < until ORDER BY at LIMIT at_most);
        WHEN 'duplicates' THEN DELETE FROM airlock.candidates WHERE id IN
            (SELECT id FROM airlock.candidates WHERE state = 'duplicate' AND changed_at < until ORDER BY changed_at LIMIT at_most);
        WHEN 'sessions' THEN DELETE FROM airlock.sessions WHERE hash IN
            (SELECT hash FROM airlock.sessions WHERE expires_at < until ORDER BY expires_at LIMIT at_most);
        WHEN 'conversations' THEN DELETE FROM airlock.conversations WHERE id IN
            (SELECT id FROM airlock.conversations WHERE changed_at < until ORDER BY changed_at LIMIT at_most);
        ELSE RAISE EXCEPTION 'nothing called % grows old', what USING ERRCODE = '22023';
    END CASE;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END $$;

-- Takes one ask out of everything that quotes it: whoever asked it wants it forgotten.
CREATE FUNCTION airlock.forget_ask(which uuid) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gone bigint;
    total bigint := 0;
BEGIN
    DELETE FROM airlock.asks WHERE id = which;
    GET DIAGNOSTICS gone = ROW_COUNT; total := total + gone;
    DELETE FROM airlock.signals WHERE ask = which;
    GET DIAGNOSTICS gone = ROW_COUNT; total := total + gone;
    DELETE FROM airlock.feedback WHERE ask = which;
    GET DIAGNOSTICS gone = ROW_COUNT; total := total + gone;
    DELETE FROM airlock.turns WHERE ask = which;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN total + gone;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA airlock FROM PUBLIC;

GRANT SELECT ON airlock.migrations TO {recall}, {distill}, {promote}, {log}, {report}, {janitor}, {ops};
GRANT SELECT ON airlock.store, airlock.curated, airlock.changes, airlock.packs, airlock.pack_files, airlock.embeddings TO {recall};
GRANT EXECUTE ON FUNCTION airlock.ingest TO {distill};
GRANT SELECT, INSERT, UPDATE ON airlock.candidates, airlock.curated, airlock.packs TO {promote};
GRANT SELECT, INSERT ON airlock.decisions, airlock.pack_files, airlock.embeddings TO {promote};
GRANT SELECT ON airlock.uses, airlock.feedback, airlock.changes TO {promote};
GRANT INSERT ON airlock.asks, airlock.signals, airlock.feedback, airlock.uses TO {log};
GRANT SELECT ON airlock.asks, airlock.signals, airlock.feedback, airlock.uses, airlock.decisions, airlock.packs TO {report};
GRANT EXECUTE ON FUNCTION airlock.retain, airlock.forget_ask TO {janitor};
GRANT SELECT, INSERT, UPDATE, DELETE ON airlock.api_keys, airlock.sessions, airlock.conversations, airlock.turns TO {ops};
