-- Fills the fleet. Everything is drawn from md5 of a fixed seed, a purpose and a row number, so every load makes the same
-- rows on every server; nothing depends on the day it runs. The books close on 2026-11-28.
--
-- Order: fixed lists, machines, hire and its invoices, work in the workshop, readings, what the old software left.

-- A number in [0, 1) for a purpose and a row.
CREATE FUNCTION pg_temp.roll(purpose text, n bigint) RETURNS double precision LANGUAGE sql IMMUTABLE AS
$$ SELECT ('x' || substr(md5('boyne-plant-1994|' || purpose || '|' || n::text), 1, 8))::bit(32)::bigint::double precision / 4294967296 $$;

-- One of a list.
CREATE FUNCTION pg_temp.pick(list text[], dice double precision) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT list[1 + floor(dice * array_length(list, 1))::int] $$;

-- A serial as people write it down: no two of them agree.
CREATE FUNCTION pg_temp.spelt(serial integer, dice double precision) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT (ARRAY[
    'SN-' || lpad(serial::text, 5, '0'), 'sn ' || serial, 'S/N ' || lpad(serial::text, 5, '0') || '-A', 'SN' || lpad(serial::text, 5, '0'),
    's/n:' || serial, 'Serial no. ' || serial, 'S.N. ' || lpad(serial::text, 5, '0'), 'sn' || lpad(serial::text, 4, '0') || '/B', 'serial #' || serial
])[1 + floor(dice * 9)::int] $$;

-- ---------------------------------------------------------------------------------------------------- fixed lists

INSERT INTO fleet.models VALUES
    ('EX-14', 'Corrib', 'Corrib 14 Midi', 'Excavator', 74.0, 500, 128000), ('EX-21', 'Corrib', 'Corrib 21 LC', 'Excavator', 121.0, 500, 186500),
    ('EX-35', 'Halvorsen', 'H350', 'Excavator', 202.0, 500, 271000), ('LD-09', 'Halvorsen', 'L90 Loader', 'Loader', 128.0, 500, 164000),
    ('LD-15', 'Brennan', 'B150 Loader', 'Loader', 190.0, 500, 232500), ('TH-07', 'Brennan', 'Reach 7', 'Telehandler', 75.0, 400, 92400),
    ('TH-10', 'Corrib', 'Corrib T10', 'Telehandler', 93.0, 400, 118900), ('DT-09', 'Slaney', 'Slaney 9T', 'Dumper', 86.0, 250, 61500),
    ('TR-12', 'Agraria', 'Agraria 120', 'Tractor', 88.0, 500, 97800), ('TR-18', 'Agraria', 'Agraria 180 Power', 'Tractor', 132.0, 500, 149900),
    ('RL-13', 'Slaney', 'Slaney R13', 'Roller', 97.0, 250, 109000), ('GN-60', 'Voltera', 'Voltera 60', 'Generator', 60.0, 250, 24800);

INSERT INTO fleet.sites VALUES
    ('NAV', 'Navan Depot', 'Meath', '1994-03-01', NULL), ('DRO', 'Drogheda Yard', 'Louth', '2001-09-10', NULL), ('DUN', 'Dundalk Yard', 'Louth', '2008-05-19', NULL),
    ('NAA', 'Naas Depot', 'Kildare', '2012-02-06', NULL), ('MUL', 'Mullingar Yard', 'Westmeath', '2015-10-12', NULL), ('KEL', 'Kells Field Store', 'Meath', '2017-04-03', '2024-06-28'),
    ('CAV', 'Cavan Yard', 'Cavan', '2020-01-13', NULL), ('SWO', 'Swords Depot', 'Dublin', '2023-03-06', NULL);

INSERT INTO fleet.technicians VALUES
    (1, 'Ciaran Duffy', 'Foreman', 'NAV', '2003-05-12', NULL, 46.50), (2, 'Marta Wozniak', 'Senior', 'NAV', '2009-08-24', NULL, 41.00),
    (3, 'Declan Rooney', 'Senior', 'DRO', '2011-01-17', NULL, 41.00), (4, 'Aoife Brady', 'Senior', 'NAA', '2013-06-03', NULL, 40.25),
    (5, 'Piotr Zielinski', 'Fitter', 'DUN', '2016-09-05', NULL, 34.75), (6, 'Niall Geraghty', 'Fitter', 'MUL', '2017-02-20', '2025-01-31', 34.00),
    (7, 'Sinead Farrelly', 'Fitter', 'NAV', '2018-04-16', NULL, 34.75), (8, 'Tomas Keane', 'Fitter', 'NAA', '2019-11-04', NULL, 33.50),
    (9, 'Andrei Munteanu', 'Fitter', 'CAV', '2020-02-10', NULL, 33.50), (10, 'Orla Tighe', 'Electrician', 'NAV', '2020-08-31', NULL, 38.00),
    (11, 'Shane Mulvey', 'Fitter', 'SWO', '2023-03-20', NULL, 32.00), (12, 'Lucy Gorman', 'Apprentice', 'DRO', '2023-09-04', NULL, 19.50),
    (13, 'Eoin Traynor', 'Apprentice', 'NAV', '2024-09-02', NULL, 18.75), (14, 'Ruta Petrauskaite', 'Fitter', 'MUL', '2025-02-17', NULL, 32.00);

-- A company is a place or a name, and a trade.
INSERT INTO fleet.customers
SELECT n, company, pg_temp.pick(ARRAY['Mary', 'John', 'Fiona', 'Kevin', 'Grace', 'Liam', 'Nora', 'Paul'], pg_temp.roll('first name', n)) || ' '
        || pg_temp.pick(ARRAY['Lynch', 'Carroll', 'Reilly', 'Nugent', 'Clarke', 'Sheridan', 'Mooney'], pg_temp.roll('last name', n)),
    'office' || n || '@' || lower(split_part(company, ' ', 1)) || '.example',
    pg_temp.pick(ARRAY['Meath', 'Louth', 'Kildare', 'Westmeath', 'Cavan', 'Dublin'], pg_temp.roll('county', n)), DATE '2004-01-15' + (n * 190)::int + floor(pg_temp.roll('since', n) * 90)::int
FROM (
    SELECT row_number() OVER (ORDER BY pg_temp.roll('company order', i * 10 + j)) AS n, place || ' ' || trade AS company
    FROM unnest(ARRAY['Boyneside', 'Tara', 'Slane', 'Loughcrew', 'Royal Canal', 'Ardee', 'Kinnegad']) WITH ORDINALITY AS p (place, i),
        unnest(ARRAY['Civil Works', 'Farm Services', 'Groundworks', 'Homes']) WITH ORDINALITY AS t (trade, j)
) AS named WHERE n <= 26;

INSERT INTO fleet.parts
SELECT 'P-' || (1000 + n * 13), part_name, category, unit_cost, floor(pg_temp.roll('on hand', n) * top)::int, reorder_at
FROM (VALUES (1, 'Engine oil filter', 'Filters', 18.40, 90, 20), (2, 'Fuel filter', 'Filters', 24.10, 80, 20), (3, 'Air filter', 'Filters', 46.75, 50, 12), (4, 'Hydraulic filter', 'Filters', 62.30, 40, 10),
    (5, 'Hydraulic hose 1/2 inch', 'Hydraulics', 71.00, 45, 15), (6, 'Hydraulic hose 3/4 inch', 'Hydraulics', 96.50, 35, 10), (7, 'Boom cylinder seal kit', 'Hydraulics', 148.00, 14, 4),
    (8, 'Hydraulic pump', 'Hydraulics', 2480.00, 3, 1), (9, 'Track shoe', 'Undercarriage', 54.20, 120, 40), (10, 'Track roller', 'Undercarriage', 189.00, 24, 8), (11, 'Idler', 'Undercarriage', 412.00, 6, 2),
    (12, 'Bucket tooth', 'Ground tools', 21.90, 150, 60), (13, 'Cutting edge', 'Ground tools', 236.00, 12, 4), (14, 'Tyre 17.5-25', 'Tyres', 1140.00, 8, 4), (15, 'Tyre 405/70-20', 'Tyres', 690.00, 10, 4),
    (16, 'Alternator 24 V', 'Electrical', 388.00, 5, 2), (17, 'Starter motor', 'Electrical', 455.00, 5, 2), (18, 'Battery 12 V 180 Ah', 'Electrical', 214.00, 18, 6), (19, 'Work lamp LED', 'Electrical', 58.60, 30, 10),
    (20, 'Wiring loom', 'Electrical', 640.00, 3, 1), (21, 'Brake pad set', 'Brakes', 172.00, 16, 6), (22, 'Brake caliper', 'Brakes', 530.00, 4, 2), (23, 'Fan belt', 'Engine', 32.80, 40, 10),
    (24, 'Water pump', 'Engine', 305.00, 6, 2), (25, 'Injector', 'Engine', 268.00, 12, 6), (26, 'Turbocharger', 'Engine', 1890.00, 2, 1), (27, 'Engine oil 20 l', 'Fluids', 94.00, 60, 20),
    (28, 'Hydraulic oil 20 l', 'Fluids', 88.00, 60, 20), (29, 'Coolant 20 l', 'Fluids', 61.50, 40, 10), (30, 'Cab door glass', 'Cab', 342.00, 4, 1)) AS p (n, part_name, category, unit_cost, top, reorder_at);

-- ------------------------------------------------------------------------------------------------------- machines

CREATE TEMP TABLE unit AS
SELECT n, serial, 'MK-' || lpad(serial::text, 5, '0') AS machine_key, m.model_code, m.family, m.list_price,
    pg_temp.pick(ARRAY['NAV', 'NAV', 'DRO', 'DUN', 'NAA', 'NAA', 'MUL', 'CAV', 'SWO'], pg_temp.roll('home', n)) AS home_site, bought_on,
    CASE WHEN bought_on < DATE '2020-01-01' AND pg_temp.roll('sold', n) < 0.3 THEN DATE '2024-01-15' + floor(pg_temp.roll('sold on', n) * 900)::int END AS sold_on,
    0.35 + 0.5 * pg_temp.roll('busy', n) AS busy
FROM (
    SELECT n, CASE n WHEN 44 THEN 412 ELSE 100 + n * 7 + floor(pg_temp.roll('serial', n) * 5)::int END AS serial,
        DATE '2015-02-01' + floor((n + 6 * pg_temp.roll('bought', n)) * 23)::int AS bought_on,
        (ARRAY['EX-14', 'EX-14', 'EX-21', 'EX-35', 'LD-09', 'LD-15', 'TH-07', 'TH-10', 'DT-09', 'TR-12', 'TR-12', 'TR-18', 'RL-13', 'GN-60'])[1 + floor(pg_temp.roll('model', n) * 14)::int] AS model_code
    FROM generate_series(1, 160) AS n
) AS u JOIN fleet.models m USING (model_code);

INSERT INTO fleet.machines
SELECT machine_key, pg_temp.spelt(serial, pg_temp.roll('plate', n)), model_code, home_site, CASE WHEN sold_on IS NULL THEN 'available' ELSE 'sold' END::fleet.machine_state,
    bought_on, round((list_price * (0.88 + 0.1 * pg_temp.roll('price', n)))::numeric, -2), sold_on
FROM unit ORDER BY n;

-- ----------------------------------------------------------------------------------------------- hire and invoices

-- Two machines of three are hired out, one contract after another: a stretch out, a stretch at home.
CREATE TEMP TABLE hire AS
WITH stretch AS (
    SELECT n, k, 8 + floor(power(pg_temp.roll('out', n * 100 + k), 2) * 130)::int AS out_days, 4 + floor(power(pg_temp.roll('home', n * 100 + k), 2) * 95)::int AS home_days
    FROM unit, generate_series(1, 60) AS k WHERE n % 3 <> 0
), placed AS (
    SELECT n, k, out_days, greatest(bought_on + 20, DATE '2023-01-02') + (sum(out_days + home_days) OVER (PARTITION BY n ORDER BY k))::int - out_days AS starts_on
    FROM stretch JOIN unit USING (n)
)
SELECT row_number() OVER (ORDER BY starts_on, n) AS c, n, machine_key, starts_on, starts_on + out_days AS ends_on, out_days,
    1 + floor(power(pg_temp.roll('hirer', n * 100 + k), 1.6) * 26)::int AS customer_no, round((list_price * (0.0019 + 0.0006 * pg_temp.roll('rate', n * 100 + k)))::numeric, 0) AS day_rate
FROM placed JOIN unit USING (n) WHERE starts_on + out_days < coalesce(sold_on, DATE '2027-06-01') AND starts_on <= DATE '2026-11-27';

INSERT INTO fleet.rental_contracts
SELECT 'RC-' || to_char(starts_on, 'YY') || '-' || lpad((row_number() OVER (PARTITION BY extract(year FROM starts_on) ORDER BY c))::text, 4, '0'), customer_no, machine_key,
    starts_on, CASE WHEN ends_on <= DATE '2026-11-28' THEN ends_on END, day_rate
FROM hire ORDER BY c;

-- Every thirty days and on return; now and then a delivery without a contract.
INSERT INTO fleet.invoices
WITH slice AS (
    SELECT h.c, h.n, h.customer_no, r.contract_no, h.day_rate, h.c * 10 + i AS seed, h.starts_on + least((i + 1) * 30, h.out_days) AS issued_on, least(h.out_days - i * 30, 30) AS days
    FROM hire h JOIN fleet.rental_contracts r ON r.machine_key = h.machine_key AND r.starts_on = h.starts_on, generate_series(0, (h.out_days - 1) / 30) AS i
), billed AS (
    SELECT seed, n, customer_no, contract_no, issued_on, day_rate * days AS net FROM slice WHERE issued_on <= DATE '2026-11-28'
    UNION ALL
    SELECT 900000 + i, 1 + i % 160, 1 + floor(pg_temp.roll('delivered to', i) * 26)::int, NULL, DATE '2023-01-20' + floor((i + pg_temp.roll('delivered on', i)) * 11.6)::int,
        round((120 + 380 * pg_temp.roll('delivery', i))::numeric, 0)
    FROM generate_series(1, 120) AS i
), judged AS (
    SELECT *, issued_on + 30 AS due_on, issued_on + 8 + floor(power(pg_temp.roll('pays after', seed), 2) * 80)::int AS pays_on,
        CASE WHEN pg_temp.roll('void', seed) < 0.02 THEN 'void' WHEN issued_on > DATE '2026-11-20' THEN 'draft' WHEN pg_temp.roll('never', seed) < 0.015 THEN 'sent' ELSE 'paid' END AS fate FROM billed
), settled AS (
    SELECT *, CASE WHEN fate = 'paid' AND pays_on > DATE '2026-11-28' THEN 'sent' ELSE fate END AS state FROM judged
)
SELECT 'IN-' || to_char(issued_on, 'YY') || '-' || lpad((row_number() OVER (PARTITION BY extract(year FROM issued_on) ORDER BY issued_on, seed))::text, 5, '0'), customer_no, contract_no, issued_on, due_on,
    CASE state WHEN 'paid' THEN pays_on END, state::fleet.invoice_state, net, round(net * 0.23, 2),
    CASE WHEN contract_no IS NULL THEN 'Delivery ' ELSE 'Hire of ' END || pg_temp.spelt((SELECT serial FROM unit WHERE unit.n = settled.n), pg_temp.roll('memo', seed))
FROM settled ORDER BY issued_on, seed;

-- -------------------------------------------------------------------------------------------------------- workshop

-- Work orders begin on 1 July 2023, when the old software was switched off. Some machines break more often than others.
CREATE TEMP TABLE job AS
WITH drawn AS (
    SELECT i, 1 + floor(power(pg_temp.roll('which machine', i), 1.35) * 160)::int AS n, pg_temp.roll('kind', i) AS k,
        (DATE '2023-07-01' + floor((i - 1 + pg_temp.roll('day', i)) / 1900 * 1246)::int) + TIME '06:30' + floor(pg_temp.roll('minute', i) * 660)::int * INTERVAL '1 minute' AS reported
    FROM generate_series(1, 1900) AS i
), timed AS (
    SELECT d.i, u.n, u.serial, u.machine_key, u.home_site, u.family, d.reported,
        CASE WHEN k < 0.46 THEN 'breakdown' WHEN k < 0.80 THEN 'service' WHEN k < 0.93 THEN 'inspection' ELSE 'campaign' END AS kind,
        5 + floor(power(pg_temp.roll('stood', i), 3) * 260)::int AS hours
    FROM drawn d JOIN unit u USING (n) WHERE d.reported::date > u.bought_on + 30 AND d.reported::date < coalesce(u.sold_on, DATE '2027-01-01')
), ended AS (
    SELECT *, reported + hours * INTERVAL '1 hour' + CASE kind WHEN 'breakdown' THEN INTERVAL '0' ELSE INTERVAL '1 day' END AS ends,
        CASE WHEN pg_temp.roll('cancelled', i) < 0.04 THEN 'cancelled' ELSE 'done' END AS fate FROM timed
)
SELECT *, CASE WHEN fate = 'cancelled' THEN 'cancelled'
        WHEN ends > TIMESTAMP '2026-11-28 12:00' OR (reported > TIMESTAMP '2026-10-20' AND pg_temp.roll('waits', i) < 0.35)
            THEN pg_temp.pick(ARRAY['open', 'in_progress', 'waiting_parts'], pg_temp.roll('where', i)) ELSE 'done' END AS state
FROM ended;

INSERT INTO fleet.work_orders
SELECT 'WO-' || to_char(reported, 'YY') || '-' || lpad((row_number() OVER (PARTITION BY extract(year FROM reported) ORDER BY reported, i))::text, 4, '0'), machine_key,
    CASE WHEN pg_temp.roll('elsewhere', i) < 0.2 THEN 'NAV' ELSE home_site END, kind::fleet.order_kind, state::fleet.order_state, 1 + floor(pg_temp.roll('lead', i) * 5)::int,
    reported AT TIME ZONE 'Europe/Dublin',
    CASE kind WHEN 'breakdown' THEN (reported - floor(pg_temp.roll('noticed', i) * 180)::int * INTERVAL '1 minute') AT TIME ZONE 'Europe/Dublin' END,
    CASE WHEN kind = 'breakdown' AND state = 'done' THEN ends AT TIME ZONE 'Europe/Dublin' END,
    CASE state WHEN 'done' THEN ends AT TIME ZONE 'Europe/Dublin' END,
    CASE kind
        WHEN 'breakdown' THEN pg_temp.pick(ARRAY['Hydraulic leak at boom', 'Will not start', 'Overheats under load', 'Track came off', 'Brakes pull to one side', 'No power in third', 'Boom drifts down', 'Warning lamp, loses oil', 'Cab door glass broken', 'Alternator not charging'], pg_temp.roll('complaint', i))
        WHEN 'service' THEN pg_temp.pick(ARRAY['Interval service due', 'Service and oil sample', 'Service before hire'], pg_temp.roll('complaint', i))
        WHEN 'inspection' THEN 'Repair after inspection' ELSE pg_temp.pick(ARRAY['Maker campaign: pump bracket', 'Maker campaign: software'], pg_temp.roll('complaint', i)) END
    || ', ' || pg_temp.spelt(serial, pg_temp.roll('called', i))
FROM job ORDER BY reported, i;

INSERT INTO fleet.labour_entries
SELECT row_number() OVER (ORDER BY worked_on, order_no, e), order_no, tech_no, worked_on, hours, hourly_cost
FROM (
    SELECT o.order_no, e, t.tech_no, least((o.reported_at AT TIME ZONE 'Europe/Dublin')::date + e, DATE '2026-11-28') AS worked_on,
        round((0.5 + 7 * power(pg_temp.roll('worked', j.i * 10 + e), 1.5))::numeric * 4, 0) / 4 AS hours, t.hourly_cost
    FROM job j JOIN fleet.work_orders o ON o.machine_key = j.machine_key AND o.reported_at = j.reported AT TIME ZONE 'Europe/Dublin'
    CROSS JOIN LATERAL generate_series(0, floor(pg_temp.roll('hands', j.i) * 3)::int) AS e
    JOIN LATERAL (
        SELECT tech_no, hourly_cost FROM fleet.technicians t WHERE hired_on < o.reported_at::date AND coalesce(left_on, DATE '2027-01-01') > o.reported_at::date + 5
        ORDER BY pg_temp.roll('who', j.i * 1000 + e * 20 + t.tech_no), tech_no LIMIT 1
    ) AS t ON true
    WHERE o.state IN ('done', 'in_progress', 'waiting_parts')
) AS worked WHERE hours > 0 ORDER BY 1;

INSERT INTO fleet.part_usages
SELECT row_number() OVER (ORDER BY used_on, order_no, part_no), order_no, part_no, used_on, qty, unit_cost
FROM (
    SELECT o.order_no, p.part_no, least((o.reported_at AT TIME ZONE 'Europe/Dublin')::date + 1, DATE '2026-11-28') AS used_on, max(CASE WHEN p.unit_cost < 100 THEN 1 + floor(pg_temp.roll('pieces', j.i * 10 + e) * 4)::int ELSE 1 END) AS qty,
        max(round(p.unit_cost * CASE WHEN j.reported < TIMESTAMP '2024-07-01' THEN 0.93 WHEN j.reported < TIMESTAMP '2025-07-01' THEN 0.97 ELSE 1 END, 2)) AS unit_cost
    FROM job j JOIN fleet.work_orders o ON o.machine_key = j.machine_key AND o.reported_at = j.reported AT TIME ZONE 'Europe/Dublin'
    CROSS JOIN LATERAL generate_series(1, floor(pg_temp.roll('parts', j.i) * 5)::int) AS e
    -- A service takes filters and oil, a breakdown takes anything; dear parts are rare.
    JOIN fleet.parts p ON p.part_no = 'P-' || (1000 + 13 * CASE WHEN j.kind = 'service' THEN (ARRAY[1, 2, 3, 4, 27, 28])[1 + floor(pg_temp.roll('which part', j.i * 10 + e) * 6)::int]
        ELSE 1 + floor(pg_temp.roll('which part', j.i * 10 + e) * 30)::int END)
    WHERE o.state IN ('done', 'in_progress') AND (p.unit_cost < 1000 OR pg_temp.roll('dear', j.i) < 0.3)
    GROUP BY o.order_no, p.part_no, o.reported_at
) AS used ORDER BY 1;

INSERT INTO fleet.inspections
SELECT row_number() OVER (ORDER BY on_day, n), machine_key, on_day, 1 + floor(pg_temp.roll('inspector', n * 10 + y) * 4)::int,
    CASE WHEN dice < 0.08 THEN 'fail' WHEN dice < 0.30 THEN 'advisory' ELSE 'pass' END::fleet.inspection_result,
    CASE WHEN dice < 0.30 THEN pg_temp.pick(ARRAY['Worn track', 'Seat belt frayed', 'Leak at swivel', 'Lamp out', 'Mirror missing'], pg_temp.roll('finding', n * 10 + y)) || ' on ' || pg_temp.spelt(serial, pg_temp.roll('found on', n * 10 + y)) END
FROM (
    SELECT u.*, y, DATE '2023-01-09' + y * 365 + floor(pg_temp.roll('inspected', u.n * 10 + y) * 330)::int AS on_day, pg_temp.roll('result', u.n * 10 + y) AS dice
    FROM unit u, generate_series(0, 3) AS y
) AS i WHERE on_day BETWEEN bought_on + 30 AND least(coalesce(sold_on, DATE '2026-11-28'), DATE '2026-11-28') ORDER BY 1;

-- ------------------------------------------------------------------------------------------------------- readings

-- Mondays. Building and fields rest around the turn of the year; one week in sixteen a machine stands.
CREATE TEMP TABLE reported AS
SELECT machine_key, read_on, round((start_hours + sum(hours) OVER (PARTITION BY n ORDER BY read_on))::numeric, 1) AS counter_hours, hours, round((hours * burn)::numeric, 1) AS litres
FROM (
    SELECT u.n, u.machine_key, d::date AS read_on, greatest((DATE '2023-01-02' - u.bought_on), 0) * 2.9 AS start_hours, m.power_kw * (0.11 + 0.03 * pg_temp.roll('burn', u.n)) AS burn,
        round((CASE WHEN r < 0.0625 THEN 0 ELSE 40 * u.busy * (0.72 + 0.4 * sin((extract(doy FROM d) - 90) / 365 * 2 * pi())) * (0.6 + 0.8 * r) END)::numeric, 1) AS hours
    FROM unit u JOIN fleet.models m USING (model_code), generate_series(DATE '2023-01-02', DATE '2026-11-23', INTERVAL '7 days') AS d,
        LATERAL (SELECT pg_temp.roll('week', u.n * 10000 + (d::date - DATE '2023-01-02')) AS r) AS dice
    WHERE d::date >= u.bought_on AND d::date < coalesce(u.sold_on, DATE '2027-01-01')
) AS ran;

-- The monthly table was refreshed when October was closed: November is in the readings and not yet in it.
INSERT INTO fleet.meter_readings SELECT * FROM reported WHERE read_on < DATE '2026-11-01';
REFRESH MATERIALIZED VIEW fleet.machine_months;
INSERT INTO fleet.meter_readings SELECT * FROM reported WHERE read_on >= DATE '2026-11-01';

-- --------------------------------------------------------------------------------------------------- old software

-- The first half of 2023. Where nobody could tell the machine from what was typed, the key is missing.
INSERT INTO fleet."LegacyServiceLog"
SELECT i, pg_temp.spelt(serial, pg_temp.roll('typed', i)), CASE WHEN pg_temp.roll('unclear', i) < 0.94 THEN machine_key END,
    DATE '2023-01-03' + floor((i - 1 + pg_temp.roll('done', i)) / 240 * 176)::int,
    pg_temp.pick(ARRAY['Service', 'Oil and filters', 'Hose replaced', 'Electrical fault', 'Track tension', 'Tyre'], pg_temp.roll('job', i)), round((60 + 900 * power(pg_temp.roll('cost', i), 2))::numeric, 2)
FROM (SELECT i, 1 + floor(pg_temp.roll('old machine', i) * 120)::int AS n FROM generate_series(1, 240) AS i) AS o JOIN unit USING (n) ORDER BY i;

-- ------------------------------------------------------------------------------------------------------------ end

-- Where each machine is on the evening of 2026-11-28.
UPDATE fleet.machines m SET state = CASE
        WHEN EXISTS (SELECT FROM fleet.work_orders o WHERE o.machine_key = m.machine_key AND o.kind = 'breakdown' AND o.state IN ('open', 'in_progress', 'waiting_parts')) THEN 'in_workshop'
        WHEN EXISTS (SELECT FROM fleet.rental_contracts r WHERE r.machine_key = m.machine_key AND r.ends_on IS NULL) THEN 'on_hire' ELSE 'available' END::fleet.machine_state
WHERE sold_on IS NULL;

DROP TABLE unit, hire, job, reported;
DROP FUNCTION pg_temp.roll(text, bigint);
DROP FUNCTION pg_temp.pick(text[], double precision);
DROP FUNCTION pg_temp.spelt(integer, double precision);
ANALYZE;
