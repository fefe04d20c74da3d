-- The tables of the hardware shop, as years of hurried additions left them. PostgreSQL 13 to 18, an empty database.

CREATE TABLE categories (
    cat_id   integer PRIMARY KEY,
    cat_name varchar(30) NOT NULL UNIQUE,
    descr    text
);

CREATE TABLE suppliers (
    supp_id    integer PRIMARY KEY,
    supp_name  varchar(60) NOT NULL,
    contact_nm varchar(40),
    phone      varchar(15),
    city       varchar(30),
    gst_no     varchar(15)
);
COMMENT ON COLUMN suppliers.gst_no IS 'blank if unregistered';

CREATE TABLE employees (
    emp_id   integer PRIMARY KEY,
    emp_name varchar(40) NOT NULL,
    role     varchar(12) NOT NULL,
    phone    varchar(15),
    salary   numeric(10,2),
    join_dt  date NOT NULL,
    left_dt  date,
    mgr_id   integer REFERENCES employees (emp_id)
);

CREATE TABLE customers (
    cust_id   integer PRIMARY KEY,
    cust_name varchar(60) NOT NULL,
    phone     varchar(15),
    addr      text,
    city      varchar(30),
    cr_limit  numeric(10,2),
    since_dt  date NOT NULL
);
COMMENT ON TABLE customers IS 'khata customers only';

CREATE TABLE products (
    prod_id     integer PRIMARY KEY,
    prod_name   varchar(60) NOT NULL UNIQUE,
    cat_id      integer NOT NULL REFERENCES categories (cat_id),
    unit        varchar(8) NOT NULL,
    sale_price  numeric(10,2) NOT NULL,
    stock_qty   integer NOT NULL DEFAULT 0,
    reorder_lvl integer NOT NULL DEFAULT 0,
    rack_no     varchar(6)
);

-- Left behind by the software before this one.
CREATE TABLE tbl_prod_master_old (
    pcode  varchar(8),
    pname  varchar(60),
    cat    varchar(30),
    rate   numeric(10,2),
    qty    integer,
    upd_on date
);

CREATE TABLE purchase_orders (
    po_id   integer PRIMARY KEY,
    po_no   varchar(12) NOT NULL UNIQUE,
    supp_id integer NOT NULL REFERENCES suppliers (supp_id),
    po_dt   date NOT NULL,
    exp_dt  date,
    status  varchar(12) NOT NULL
);

CREATE TABLE po_lines (
    line_id      integer PRIMARY KEY,
    po_id        integer NOT NULL REFERENCES purchase_orders (po_id),
    prod_id      integer NOT NULL REFERENCES products (prod_id),
    qty_ordered  integer NOT NULL CHECK (qty_ordered > 0),
    qty_received integer NOT NULL DEFAULT 0 CHECK (qty_received >= 0),
    rate         numeric(10,2) NOT NULL,
    CHECK (qty_received <= qty_ordered)
);

CREATE TABLE stock_entries (
    entry_id   integer PRIMARY KEY,
    txn_dt     date NOT NULL,
    supp_id    integer NOT NULL REFERENCES suppliers (supp_id),
    prod_id    integer NOT NULL REFERENCES products (prod_id),
    po_id      integer REFERENCES purchase_orders (po_id),
    qty        integer NOT NULL CHECK (qty > 0),
    cost_price numeric(10,2) NOT NULL,
    inv_no     varchar(16)
);
COMMENT ON COLUMN stock_entries.cost_price IS 'per unit';

CREATE TABLE bills (
    bill_id   integer PRIMARY KEY,
    bill_no   varchar(12) NOT NULL UNIQUE,
    bill_dt   date NOT NULL,
    cust_id   integer REFERENCES customers (cust_id),
    emp_id    integer NOT NULL REFERENCES employees (emp_id),
    disc_amt  numeric(10,2) NOT NULL DEFAULT 0,
    total_amt numeric(12,2) NOT NULL,
    status    varchar(12) NOT NULL
);
COMMENT ON COLUMN bills.total_amt IS 'after disc, incl GST';

CREATE TABLE bill_items (
    item_id integer PRIMARY KEY,
    bill_id integer NOT NULL REFERENCES bills (bill_id),
    prod_id integer NOT NULL REFERENCES products (prod_id),
    qty     integer NOT NULL CHECK (qty > 0),
    rate    numeric(10,2) NOT NULL,
    amt     numeric(12,2) NOT NULL
);

-- One flat row for each bill of 2023 and 2024, copied out when the bills table was emptied.
CREATE TABLE bill_archive (
    bill_no   varchar(12),
    bill_dt   date,
    cust_nm   varchar(60),
    emp_nm    varchar(40),
    items_txt text,
    item_cnt  integer,
    disc_amt  numeric(10,2),
    total_amt numeric(12,2),
    pay_mode  varchar(10),
    status    varchar(12)
);

CREATE TABLE payments (
    pay_id  integer PRIMARY KEY,
    bill_id integer NOT NULL REFERENCES bills (bill_id),
    txn_dt  timestamp NOT NULL,
    amt     numeric(12,2) NOT NULL CHECK (amt > 0),
    method  varchar(10) NOT NULL,
    ref_no  varchar(20)
);

CREATE TABLE stock_adjustments (
    adj_id     integer PRIMARY KEY,
    txn_dt     date NOT NULL,
    prod_id    integer NOT NULL REFERENCES products (prod_id),
    qty_change integer NOT NULL,
    reason     varchar(12) NOT NULL,
    emp_id     integer REFERENCES employees (emp_id),
    remark     text
);
COMMENT ON COLUMN stock_adjustments.qty_change IS 'minus = stock went out';

CREATE TABLE store_settings (
    skey   varchar(40) PRIMARY KEY,
    sval   text,
    upd_on date
);

CREATE INDEX bills_bill_dt ON bills (bill_dt);
CREATE INDEX bill_items_bill_id ON bill_items (bill_id);
CREATE INDEX bill_items_prod_id ON bill_items (prod_id);
CREATE INDEX payments_bill_id ON payments (bill_id);
CREATE INDEX stock_entries_prod_id ON stock_entries (prod_id);
