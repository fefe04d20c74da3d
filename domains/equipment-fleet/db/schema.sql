-- The tables of the fleet, in a schema of their own. PostgreSQL 13 to 18, an empty database.

CREATE SCHEMA fleet;

CREATE TYPE fleet.machine_state AS ENUM ('available', 'on_hire', 'in_workshop', 'sold');
CREATE TYPE fleet.order_kind AS ENUM ('breakdown', 'service', 'inspection', 'campaign');
CREATE TYPE fleet.order_state AS ENUM ('open', 'in_progress', 'waiting_parts', 'done', 'cancelled');
CREATE TYPE fleet.invoice_state AS ENUM ('draft', 'sent', 'paid', 'void');
CREATE TYPE fleet.inspection_result AS ENUM ('pass', 'advisory', 'fail');

CREATE TABLE fleet.models (
    model_code       text PRIMARY KEY,
    maker            text NOT NULL,
    model_name       text NOT NULL,
    family           text NOT NULL,
    power_kw         numeric(6,1),
    service_every_h  integer NOT NULL,
    list_price       numeric(12,2) NOT NULL
);

CREATE TABLE fleet.sites (
    site_code text PRIMARY KEY,
    site_name text NOT NULL,
    county    text NOT NULL,
    opened_on date NOT NULL,
    closed_on date
);

CREATE TABLE fleet.machines (
    machine_key  text PRIMARY KEY CHECK (machine_key ~ '^MK-[0-9]{5}$'),
    plate_text   text NOT NULL,
    model_code   text NOT NULL REFERENCES fleet.models,
    home_site    text NOT NULL REFERENCES fleet.sites,
    state        fleet.machine_state NOT NULL,
    bought_on    date NOT NULL,
    bought_for   numeric(12,2) NOT NULL,
    sold_on      date
);
COMMENT ON COLUMN fleet.machines.plate_text IS 'serial as somebody typed it off the plate';

CREATE TABLE fleet.technicians (
    tech_no     integer PRIMARY KEY,
    full_name   text NOT NULL,
    grade       text NOT NULL,
    base_site   text NOT NULL REFERENCES fleet.sites,
    hired_on    date NOT NULL,
    left_on     date,
    hourly_cost numeric(6,2) NOT NULL
);

CREATE TABLE fleet.customers (
    customer_no  integer PRIMARY KEY,
    company      text NOT NULL UNIQUE,
    contact_name text,
    email        text,
    county       text NOT NULL,
    since_on     date NOT NULL
);

CREATE TABLE fleet.rental_contracts (
    contract_no text PRIMARY KEY,
    customer_no integer NOT NULL REFERENCES fleet.customers,
    machine_key text NOT NULL REFERENCES fleet.machines,
    starts_on   date NOT NULL,
    ends_on     date,
    day_rate    numeric(8,2) NOT NULL,
    CHECK (ends_on > starts_on)
);
COMMENT ON COLUMN fleet.rental_contracts.ends_on IS 'day it comes back, not charged; NULL while it is out';

CREATE TABLE fleet.work_orders (
    order_no       text PRIMARY KEY,
    machine_key    text NOT NULL REFERENCES fleet.machines,
    site_code      text NOT NULL REFERENCES fleet.sites,
    kind           fleet.order_kind NOT NULL,
    state          fleet.order_state NOT NULL,
    lead_tech      integer REFERENCES fleet.technicians (tech_no),
    reported_at    timestamptz NOT NULL,
    down_from      timestamptz,
    down_until     timestamptz,
    finished_at    timestamptz,
    complaint_text text NOT NULL,
    CHECK (down_until > down_from)
);

CREATE TABLE fleet.labour_entries (
    entry_no    integer PRIMARY KEY,
    order_no    text NOT NULL REFERENCES fleet.work_orders,
    tech_no     integer NOT NULL REFERENCES fleet.technicians,
    worked_on   date NOT NULL,
    hours       numeric(5,2) NOT NULL CHECK (hours > 0),
    hourly_cost numeric(6,2) NOT NULL
);

CREATE TABLE fleet.parts (
    part_no    text PRIMARY KEY,
    part_name  text NOT NULL,
    category   text NOT NULL,
    unit_cost  numeric(10,2) NOT NULL,
    on_hand    integer NOT NULL,
    reorder_at integer NOT NULL
);

CREATE TABLE fleet.part_usages (
    usage_no  integer PRIMARY KEY,
    order_no  text NOT NULL REFERENCES fleet.work_orders,
    part_no   text NOT NULL REFERENCES fleet.parts,
    used_on   date NOT NULL,
    qty       integer NOT NULL CHECK (qty > 0),
    unit_cost numeric(10,2) NOT NULL
);

CREATE TABLE fleet.invoices (
    invoice_no  text PRIMARY KEY,
    customer_no integer NOT NULL REFERENCES fleet.customers,
    contract_no text REFERENCES fleet.rental_contracts,
    issued_on   date NOT NULL,
    due_on      date NOT NULL,
    paid_on     date,
    state       fleet.invoice_state NOT NULL,
    net_amount  numeric(12,2) NOT NULL,
    vat_amount  numeric(12,2) NOT NULL,
    memo_text   text
);

CREATE TABLE fleet.inspections (
    inspection_no integer PRIMARY KEY,
    machine_key   text NOT NULL REFERENCES fleet.machines,
    inspected_on  date NOT NULL,
    inspector     integer NOT NULL REFERENCES fleet.technicians (tech_no),
    result        fleet.inspection_result NOT NULL,
    findings_text text
);

-- The telematics box reports once a week. One partition a year.
CREATE TABLE fleet.meter_readings (
    machine_key   text NOT NULL REFERENCES fleet.machines,
    read_on       date NOT NULL,
    counter_hours numeric(9,1) NOT NULL,
    hours_run     numeric(6,1) NOT NULL,
    fuel_litres   numeric(8,1) NOT NULL,
    PRIMARY KEY (machine_key, read_on)
) PARTITION BY RANGE (read_on);
CREATE TABLE fleet.meter_readings_2023 PARTITION OF fleet.meter_readings FOR VALUES FROM ('2023-01-01') TO ('2024-01-01');
CREATE TABLE fleet.meter_readings_2024 PARTITION OF fleet.meter_readings FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE fleet.meter_readings_2025 PARTITION OF fleet.meter_readings FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE fleet.meter_readings_2026 PARTITION OF fleet.meter_readings FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');

-- Taken over from the workshop software before this one, which quoted every name.
CREATE TABLE fleet."LegacyServiceLog" (
    "LogId"      integer PRIMARY KEY,
    "SerialNo"   text NOT NULL,
    "MachineKey" text,
    "DoneOn"     date NOT NULL,
    "JobText"    text,
    "CostEUR"    numeric(10,2)
);

CREATE INDEX ON fleet.rental_contracts (machine_key);
CREATE INDEX ON fleet.work_orders (machine_key);
CREATE INDEX ON fleet.labour_entries (order_no);
CREATE INDEX ON fleet.part_usages (order_no);
CREATE INDEX ON fleet.invoices (issued_on);
CREATE INDEX ON fleet.inspections (machine_key);

-- What a work order cost: hours of technicians and parts, each added up before they meet.
CREATE VIEW fleet.order_costs AS
SELECT o.order_no, o.machine_key, o.kind, (o.finished_at AT TIME ZONE 'Europe/Dublin')::date AS finished_on,
    coalesce(l.cost, 0) AS labour_cost, coalesce(p.cost, 0) AS parts_cost, coalesce(l.cost, 0) + coalesce(p.cost, 0) AS total_cost
FROM fleet.work_orders o
LEFT JOIN (SELECT order_no, sum(hours * hourly_cost) AS cost FROM fleet.labour_entries GROUP BY order_no) l USING (order_no)
LEFT JOIN (SELECT order_no, sum(qty * unit_cost) AS cost FROM fleet.part_usages GROUP BY order_no) p USING (order_no)
WHERE o.state = 'done';

-- Hours a machine stood still because it was broken, by work order.
CREATE VIEW fleet.downtimes AS
SELECT order_no, machine_key, site_code, down_from, down_until,
    round(extract(epoch FROM down_until - down_from)::numeric / 3600, 1) AS down_hours
FROM fleet.work_orders
WHERE down_from IS NOT NULL AND down_until IS NOT NULL AND state <> 'cancelled';

-- One row for each machine and month in which it reported. Refreshed when a month is closed.
CREATE MATERIALIZED VIEW fleet.machine_months AS
SELECT machine_key, date_trunc('month', read_on)::date AS month, sum(hours_run) AS hours_run, sum(fuel_litres) AS fuel_litres,
    40.0 * count(*) AS available_hours, round(sum(hours_run) / (40.0 * count(*)), 4) AS utilisation
FROM fleet.meter_readings
GROUP BY machine_key, date_trunc('month', read_on)
WITH NO DATA;
CREATE UNIQUE INDEX ON fleet.machine_months (machine_key, month);
