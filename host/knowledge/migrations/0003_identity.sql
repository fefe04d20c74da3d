-- Whoever holds a key may be somebody to the data source, so that row policies apply; and an ask that was answered to
-- somebody in particular says so, because nothing of it may become what everybody is told.

ALTER TABLE airlock.api_keys ADD COLUMN identity jsonb
    CHECK (jsonb_typeof(identity) = 'object' AND pg_column_size(identity) < 8192);
ALTER TABLE airlock.asks ADD COLUMN under_identity boolean NOT NULL DEFAULT false;
