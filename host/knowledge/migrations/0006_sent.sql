-- What left for a model because of an ask and is not in its record: the answer had gone, or it was asked beside it. As in the
-- record the text is not kept, but its hash and its length.

CREATE TABLE airlock.sent (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL,
    domain text NOT NULL,
    ask uuid NOT NULL,
    purpose text NOT NULL CHECK (length(purpose) <= 200),
    role text NOT NULL,
    model text NOT NULL,
    hash text NOT NULL,
    characters bigint NOT NULL
);
CREATE INDEX sent_of_ask ON airlock.sent (ask);
CREATE INDEX sent_at ON airlock.sent (at);

CREATE OR REPLACE FUNCTION airlock.retain(what text, until timestamptz, at_most int) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gone bigint;
BEGIN
    CASE what
        WHEN 'asks' THEN DELETE FROM airlock.asks WHERE id IN
            (SELECT id FROM airlock.asks WHERE asked_at < until ORDER BY asked_at LIMIT at_most);
        WHEN 'sent' THEN DELETE FROM airlock.sent WHERE id IN
            (SELECT id FROM airlock.sent WHERE at < until ORDER BY at LIMIT at_most);
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

CREATE OR REPLACE FUNCTION airlock.forget_ask(which uuid) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gone bigint;
    total bigint := 0;
BEGIN
    DELETE FROM airlock.asks WHERE id = which;
    GET DIAGNOSTICS gone = ROW_COUNT; total := total + gone;
    DELETE FROM airlock.sent WHERE ask = which;
    GET DIAGNOSTICS gone = ROW_COUNT; total := total + gone;
    DELETE FROM airlock.signals WHERE ask = which;
    GET DIAGNOSTICS gone = ROW_COUNT; total := total + gone;
    DELETE FROM airlock.feedback WHERE ask = which;
    GET DIAGNOSTICS gone = ROW_COUNT; total := total + gone;
    DELETE FROM airlock.turns WHERE ask = which;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN total + gone;
END $$;

REVOKE ALL ON airlock.sent FROM PUBLIC;
GRANT INSERT ON airlock.sent TO {log};
GRANT SELECT ON airlock.sent TO {report};
