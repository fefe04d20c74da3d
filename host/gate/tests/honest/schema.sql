CREATE SCHEMA mill;
CREATE TYPE mill.grade AS ENUM ('low', 'mid', 'high');
CREATE TYPE mill.address AS (street text, city text, zip text);
CREATE DOMAIN mill.percent AS numeric CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN mill.code AS text CHECK (VALUE ~ '^[A-Z]{2}[0-9]+$') CHECK (length(VALUE) < 12);
CREATE TABLE mill.plants (id int PRIMARY KEY, name text NOT NULL, city text, opened date, boss int, tags text[], spec jsonb, place point, located mill.address, open tstzrange);
CREATE TABLE mill.runs (id bigint PRIMARY KEY, plant_id int REFERENCES mill.plants, started timestamptz, ended timestamptz, grade mill.grade, tons numeric(12,3), scrap mill.percent, lot mill.code, note text, log json, temps double precision[], net tsvector GENERATED ALWAYS AS (to_tsvector('english', coalesce(note, ''))) STORED);
CREATE TABLE mill."Shift Log" ("Run Id" bigint, "Who" text, hours int, "select" text);
CREATE TABLE mill.prices (day date, grade mill.grade, price money, rate real) PARTITION BY RANGE (day);
CREATE TABLE mill.prices_25 PARTITION OF mill.prices FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE VIEW mill.daily AS SELECT plant_id, started::date AS day, sum(tons) AS tons, count(*) AS runs FROM mill.runs GROUP BY 1, 2;
CREATE MATERIALIZED VIEW mill.best AS SELECT DISTINCT ON (plant_id) plant_id, id, tons FROM mill.runs ORDER BY plant_id, tons DESC;
CREATE FUNCTION mill.runs_of(p int) RETURNS SETOF mill.runs LANGUAGE sql STABLE AS 'SELECT * FROM mill.runs WHERE plant_id = p';
CREATE FUNCTION mill.spread(p int, OUT lowest numeric, OUT most numeric) LANGUAGE sql STABLE AS 'SELECT min(tons), max(tons) FROM mill.runs WHERE plant_id = p';
CREATE FUNCTION mill.total_of(p int, OUT total numeric) LANGUAGE sql STABLE AS 'SELECT sum(tons) FROM mill.runs WHERE plant_id = p';
CREATE FUNCTION mill.days(p int) RETURNS TABLE (day date, tons numeric) LANGUAGE sql STABLE AS 'SELECT started::date, sum(tons) FROM mill.runs WHERE plant_id = p GROUP BY 1';
INSERT INTO mill.plants VALUES
  (1, 'North', 'Lund', '1999-05-01', NULL, '{old,steel}', '{"lines": [{"n": 1, "kw": 20.5}, {"n": 2, "kw": 7}], "owner": {"name": "A"}}', '(1,2)', ROW('a st', 'Lund', '1'), '[2020-01-01,2030-01-01)'),
  (2, 'South', 'Pune', '2010-01-15', 1, '{new}', '{"lines": []}', '(3,4)', NULL, '[2021-01-01,)'),
  (3, 'East', 'Pune', NULL, 2, NULL, NULL, NULL, ROW('b', NULL, ''), NULL);
INSERT INTO mill.runs SELECT n, n % 3 + 1, timestamptz '2025-01-01 06:00+00' + n * interval '7 hours', timestamptz '2025-01-01 09:00+00' + n * interval '7 hours', (ARRAY['low','mid','high'])[n % 3 + 1]::mill.grade, n * 1.125, n % 100, 'LO' || n, CASE WHEN n % 4 = 0 THEN 'the furnace tripped again' END, json_build_object('n', n, 'ok', n % 2 = 0), ARRAY[n, n + 0.5, n * 2] FROM generate_series(1, 120) n;
INSERT INTO mill."Shift Log" SELECT n, 'p' || n % 5, n % 9, 'x' FROM generate_series(1, 40) n;
INSERT INTO mill.prices SELECT date '2025-01-01' + n, (ARRAY['low','mid','high'])[n % 3 + 1]::mill.grade, (n * 1.5)::numeric::money, n / 7.0 FROM generate_series(0, 60) n;
REFRESH MATERIALIZED VIEW mill.best;
ANALYZE;
