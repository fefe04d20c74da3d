-- Fills the hardware shop. Everything is drawn from md5 of a fixed seed, a purpose and a row number, so every load makes
-- the same rows on every server; nothing depends on the day it runs. The shop's books close on 2026-11-28.
--
-- Order: fixed lists, the calendar, sales of four years (two of them go to the archive), payments, losses, then goods
-- received in such amounts that no shelf is ever below nothing, and from those the orders that preceded them.

-- A number in [0, 1) for a purpose and a row.
CREATE FUNCTION pg_temp.roll(purpose text, n bigint) RETURNS double precision LANGUAGE sql IMMUTABLE AS
$$ SELECT ('x' || substr(md5('nashik-counter-1987|' || purpose || '|' || n::text), 1, 8))::bit(32)::bigint::double precision / 4294967296 $$;

-- A price as a shop writes it: whole rupees from 50 up, half rupees below.
CREATE FUNCTION pg_temp.tidy(price double precision) RETURNS numeric LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN price >= 50 THEN round(price::numeric, 0) ELSE greatest(round(price::numeric * 2, 0) / 2, 0.5) END $$;

-- ---------------------------------------------------------------------------------------------------- fixed lists

INSERT INTO categories VALUES
    (1, 'Plumbing', 'Pipes, fittings, taps and tanks'),
    (2, 'Electrical', 'Wires, switches, lamps and fans'),
    (3, 'Fasteners', 'Screws, nails, bolts and hinges'),
    (4, 'Paint', 'Emulsions, enamels, putty and brushes'),
    (5, 'Tools', 'Hand and power tools'),
    (6, 'Cement', 'Cement, adhesive and grout');

INSERT INTO suppliers VALUES
    (1, 'Deccan Cement Agencies', 'Vilas Shinde', '5550110021', 'Nashik', '27AADCD4417K1Z0'),
    (2, 'Godavari Building Materials', 'Prakash Aher', '5550110022', 'Nashik', '27AAGFG2093M1Z0'),
    (3, 'Sahyadri Pipes and Fittings', 'Nitin Gaikwad', '5550110023', 'Pune', '27AAKCS7781P1Z0'),
    (4, 'Trimurti Sanitary Stores', 'Hemant Bafna', '5550110024', 'Nashik', '27ABCFT5520Q1Z0'),
    (5, 'Panchavati Plumbing Depot', 'Dinkar Sonawane', '5550110025', 'Nashik', NULL),
    (6, 'Western Electricals', 'Jignesh Shah', '5550110026', 'Mumbai', '27AABCW3317R1Z0'),
    (7, 'Navkar Switchgear and Cables', 'Chetan Lodha', '5550110027', 'Mumbai', '27AAHFN8806B1Z0'),
    (8, 'Mahalaxmi Fasteners', 'Sanjay Jadhav', '5550110028', 'Pune', '27AAMFM1142C1Z0'),
    (9, 'Bharat Nut Bolt House', 'Iqbal Khatri', '5550110029', 'Nashik', NULL),
    (10, 'Rangoli Paint Distributors', 'Kirit Mehta', '5550110030', 'Nashik', '27AAJCR6639D1Z0'),
    (11, 'Shree Colour World', 'Ganesh Kale', '5550110031', 'Sinnar', '27ACLPK9054E1Z0'),
    (12, 'Om Tools and Machinery', 'Rajendra Chopda', '5550110032', 'Nashik', '27AAEFO2276F1Z0'),
    (13, 'Yusuf Tool Corner', 'Yusuf Shaikh', '5550110033', 'Malegaon', NULL);

INSERT INTO employees VALUES
    (1, 'Ramesh Kulkarni', 'OWNER', '5550120001', NULL, '1987-06-01', NULL, NULL),
    (2, 'Sunita Kulkarni', 'MANAGER', '5550120002', 32000, '2009-04-01', NULL, 1),
    (3, 'Anil Pawar', 'CASHIER', '5550120003', 18500, '2016-07-11', NULL, 2),
    (4, 'Farida Sayyed', 'CASHIER', '5550120004', 16000, '2022-02-01', NULL, 2),
    (5, 'Mahesh Borade', 'SALES', '5550120005', 17500, '2018-10-03', NULL, 2),
    (6, 'Deepak Wagh', 'SALES', '5550120006', 15500, '2021-06-14', '2025-08-31', 2),
    (7, 'Kavita More', 'SALES', '5550120007', 15000, '2025-09-01', NULL, 2),
    (8, 'Bhausaheb Nikam', 'STORE', '5550120008', 16500, '2012-01-09', NULL, 1),
    (9, 'Santosh Gavit', 'HELPER', '5550120009', 12500, '2023-03-20', NULL, 8);

-- Oldest first: the number of those who had an account on a day is the number of rows up to it.
WITH named (n, cust_name, since_dt) AS (VALUES
    (1, 'Patil Constructions', DATE '2009-08-17'), (2, 'Suresh Deshmukh', '2010-02-05'), (3, 'Sai Plumbing Works', '2011-11-21'),
    (4, 'Abdul Rehman Contractor', '2012-05-30'), (5, 'Joshi and Sons Builders', '2012-12-12'), (6, 'Vijay Ahire', '2013-03-08'),
    (7, 'Gangapur Road Housing Society', '2013-09-19'), (8, 'Shinde Electric Works', '2014-01-27'), (9, 'Meena Bhalerao', '2014-06-16'),
    (10, 'Trimbak Furniture Mart', '2014-10-01'), (11, 'Rajesh Gaikwad', '2015-02-14'), (12, 'Krishna Farm House', '2015-07-22'),
    (13, 'Ashok Painter', '2015-11-06'), (14, 'Nashik Heights CHS', '2016-01-18'), (15, 'Sandeep Mahajan', '2016-04-25'),
    (16, 'Balaji Fabricators', '2016-08-09'), (17, 'Pooja Interiors', '2016-12-20'), (18, 'Imran Khan Plumber', '2017-03-15'),
    (19, 'Hotel Panchvati', '2017-06-27'), (20, 'Yogesh Thakare', '2017-09-11'), (21, 'Sanjivani Hospital', '2017-11-29'),
    (22, 'Lata Kshirsagar', '2018-02-19'), (23, 'Modern English School', '2018-05-07'), (24, 'Ganesh Electricals', '2018-08-23'),
    (25, 'Ravindra Chavan', '2018-11-13'), (26, 'Om Sai Developers', '2019-01-30'), (27, 'Prakash Salunke', '2019-04-16'),
    (28, 'Royal Tiles and Ceramics', '2019-06-24'), (29, 'Dattatray Jagtap', '2019-09-05'), (30, 'Savita Nimbalkar', '2019-12-02'),
    (31, 'Godavari Grape Farms', '2020-02-11'), (32, 'Nilesh Dhikale', '2020-07-28'), (33, 'Mohammed Ansari', '2020-10-19'),
    (34, 'Sharda Mangal Karyalaya', '2021-01-08'), (35, 'Vishal Kotkar', '2021-03-23'), (36, 'Kishor Bagul Painter', '2021-07-12'),
    (37, 'Ambad Industrial Supplies', '2021-10-25'), (38, 'Manisha Tupe', '2022-01-17'), (39, 'Swami Samarth Builders', '2022-03-29'),
    (40, 'Arun Lokhande', '2022-06-06'), (41, 'Jain Sweets', '2022-09-20'), (42, 'Pravin Suryawanshi', '2022-11-15'),
    (43, 'Deolali Service Station', '2023-02-07'), (44, 'Rohini Pagare', '2023-05-18'), (45, 'Shivam Borewell', '2023-08-01'),
    (46, 'Tushar Avhad', '2023-10-30'), (47, 'Green Valley Nursery', '2024-01-22'), (48, 'Sachin Gite', '2024-04-03'),
    (49, 'Asha Clinic', '2024-06-19'), (50, 'Dinesh Rathod', '2024-08-28'), (51, 'Unity Gym', '2024-11-11'),
    (52, 'Nandkumar Mogal', '2025-01-20'), (53, 'Bhakti Ladies Hostel', '2025-04-09'), (54, 'Jitendra Sangle', '2025-06-30'),
    (55, 'Samruddhi Row Houses', '2025-09-17'), (56, 'Faizan Carpenter', '2025-12-08'), (57, 'Rekha Jadhav', '2026-03-02'),
    (58, 'Trident Cold Storage', '2026-06-15'), (59, 'Vaibhav Kasar', '2026-11-26'), (60, 'New Era Coaching', '2026-11-27')),
places AS (
    SELECT ARRAY['College Road', 'Gangapur Road', 'Panchavati', 'Indira Nagar', 'CIDCO', 'Satpur', 'Deolali Camp', 'Nashik Road', 'Dwarka',
        'Makhmalabad Naka', 'Ambad', 'Tidke Colony'] AS area,
        ARRAY['Flat', 'Shop', 'Plot', 'Bungalow', 'House'] AS kind)
INSERT INTO customers
SELECT n, cust_name, '55501' || lpad((30000 + floor(pg_temp.roll('customer phone', n) * 60000))::text, 5, '0'),
    kind[1 + floor(pg_temp.roll('customer kind', n) * 5)::int] || ' ' || (1 + floor(pg_temp.roll('customer door', n) * 120))::text
        || ', ' || area[1 + floor(pg_temp.roll('customer area', n) * 12)::int],
    CASE WHEN pg_temp.roll('customer city', n) < 0.9 THEN 'Nashik' ELSE 'Sinnar' END,
    (ARRAY[10000, 15000, 25000, 25000, 50000, 100000])[1 + floor(pg_temp.roll('customer limit', n) * 6)::int], since_dt
FROM named, places;

-- What the shop sells: name, unit, price today, quantity on one line (from, to, in steps of), how often it is asked for,
-- pack it is bought in, level to reorder at.
CREATE TEMP TABLE ware (
    prod_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cat_id integer, prod_name text, unit text, price numeric, q_from integer, q_to integer, q_step integer,
    wanted integer, pack integer, reorder integer);
INSERT INTO ware (cat_id, prod_name, unit, price, q_from, q_to, q_step, wanted, pack, reorder) VALUES
    (1, 'PVC Pipe 1/2 inch 3 m', 'LEN', 145, 2, 20, 1, 9, 25, 25), (1, 'PVC Pipe 1 inch 3 m', 'LEN', 215, 2, 16, 1, 9, 25, 25),
    (1, 'CPVC Pipe 3/4 inch 3 m', 'LEN', 335, 2, 24, 1, 10, 20, 20), (1, 'SWR Pipe 4 inch 3 m', 'LEN', 640, 1, 10, 1, 5, 10, 8),
    (1, 'PVC Elbow 1/2 inch', 'PCS', 9, 6, 40, 2, 8, 100, 80), (1, 'PVC Tee 1 inch', 'PCS', 22, 4, 24, 2, 6, 50, 40),
    (1, 'CPVC Elbow 3/4 inch', 'PCS', 19, 6, 40, 2, 8, 100, 80), (1, 'PVC Coupler 1 inch', 'PCS', 14, 4, 24, 2, 5, 50, 40),
    (1, 'PVC Solvent Cement 100 ml', 'PCS', 78, 1, 4, 1, 9, 24, 12), (1, 'Teflon Tape', 'PCS', 15, 5, 40, 5, 26, 100, 100),
    (1, 'Brass Ball Valve 1/2 inch', 'PCS', 265, 1, 6, 1, 6, 12, 10), (1, 'Gate Valve 1 inch', 'PCS', 545, 1, 3, 1, 3, 6, 5),
    (1, 'Bib Cock Chrome', 'PCS', 320, 1, 6, 1, 7, 12, 10), (1, 'Pillar Cock Chrome', 'PCS', 480, 1, 4, 1, 5, 12, 8),
    (1, 'Angle Cock Chrome', 'PCS', 290, 1, 6, 1, 6, 12, 10), (1, 'Overhead Shower 4 inch', 'PCS', 450, 1, 3, 1, 3, 6, 4),
    (1, 'Connection Pipe 18 inch', 'PCS', 120, 1, 6, 1, 7, 20, 12), (1, 'Waste Pipe 1.25 inch', 'PCS', 65, 1, 5, 1, 5, 20, 12),
    (1, 'Water Tank 500 L', 'PCS', 3450, 1, 2, 1, 2, 2, 2), (1, 'Flush Tank', 'PCS', 960, 1, 2, 1, 2, 4, 3),
    (1, 'Silicone Sealant 280 ml', 'PCS', 210, 1, 5, 1, 6, 24, 12), (1, 'Garden Hose 1/2 inch', 'MTR', 38, 10, 30, 5, 4, 100, 60),

    (2, 'Wire 1.0 sq mm 90 m', 'COIL', 1380, 1, 4, 1, 6, 6, 5), (2, 'Wire 1.5 sq mm 90 m', 'COIL', 1980, 1, 7, 1, 8, 6, 6),
    (2, 'Wire 2.5 sq mm 90 m', 'COIL', 3150, 1, 4, 1, 5, 4, 4), (2, 'LED Bulb 9 W', 'PCS', 95, 2, 10, 1, 14, 50, 30),
    (2, 'LED Tube 20 W', 'PCS', 265, 1, 6, 1, 8, 25, 12), (2, 'LED Panel 15 W', 'PCS', 420, 1, 8, 1, 5, 10, 8),
    (2, 'Switch 6 A', 'PCS', 38, 4, 24, 2, 10, 100, 60), (2, 'Socket 6 A', 'PCS', 66, 2, 14, 2, 9, 50, 30),
    (2, 'Switch 16 A', 'PCS', 98, 1, 8, 1, 6, 40, 20), (2, 'Modular Plate 8 M', 'PCS', 165, 1, 8, 1, 6, 20, 12),
    (2, 'MCB 16 A Single Pole', 'PCS', 185, 1, 6, 1, 6, 12, 10), (2, 'MCB 32 A Double Pole', 'PCS', 525, 1, 2, 1, 3, 6, 4),
    (2, 'Distribution Board 8 Way', 'PCS', 1150, 1, 2, 1, 2, 3, 2), (2, 'Ceiling Fan 1200 mm', 'PCS', 1850, 1, 4, 1, 5, 6, 5),
    (2, 'Exhaust Fan 9 inch', 'PCS', 1450, 1, 2, 1, 3, 4, 3), (2, 'PVC Conduit 20 mm 3 m', 'LEN', 62, 5, 30, 5, 7, 50, 40),
    (2, 'Insulation Tape', 'PCS', 12, 2, 12, 1, 12, 100, 50), (2, 'Extension Board 4 Way', 'PCS', 340, 1, 2, 1, 4, 10, 5),
    (2, 'Batten Holder', 'PCS', 35, 2, 10, 1, 5, 50, 20),

    (3, 'Wood Screw 1 inch', 'BOX', 72, 1, 8, 1, 8, 50, 25), (3, 'Wood Screw 2 inch', 'BOX', 118, 1, 6, 1, 7, 50, 20),
    (3, 'Drywall Screw 25 mm', 'BOX', 88, 1, 10, 1, 9, 50, 30), (3, 'Self Drilling Screw 32 mm', 'PCS', 3.5, 20, 80, 10, 6, 500, 300),
    (3, 'Hex Bolt M8 x 50', 'PCS', 11, 6, 40, 2, 6, 100, 60), (3, 'Hex Bolt M10 x 75', 'PCS', 19, 4, 24, 2, 5, 100, 50),
    (3, 'Hex Nut M8', 'PCS', 3, 10, 40, 5, 6, 200, 120), (3, 'Flat Washer M8', 'PCS', 1.5, 20, 60, 10, 4, 500, 200),
    (3, 'Wall Plug 8 mm', 'PCS', 1.5, 20, 60, 10, 7, 500, 300), (3, 'Anchor Bolt M10', 'PCS', 28, 4, 20, 2, 5, 50, 40),
    (3, 'Wire Nail 2 inch', 'KG', 96, 1, 8, 1, 9, 25, 20), (3, 'Wire Nail 3 inch', 'KG', 92, 1, 6, 1, 7, 25, 15),
    (3, 'Butt Hinge 4 inch', 'PCS', 48, 3, 18, 3, 7, 48, 30), (3, 'Tower Bolt 6 inch', 'PCS', 86, 1, 8, 1, 6, 24, 15),
    (3, 'Aldrop 10 inch', 'PCS', 210, 1, 4, 1, 4, 12, 8), (3, 'Binding Wire', 'KG', 88, 2, 15, 1, 7, 50, 30),
    (3, 'Cable Tie 200 mm', 'PKT', 74, 1, 4, 1, 5, 25, 10),

    (4, 'Interior Emulsion White 4 L', 'TIN', 1090, 1, 4, 1, 8, 6, 6), (4, 'Interior Emulsion White 20 L', 'TIN', 4750, 1, 4, 1, 5, 2, 3),
    (4, 'Exterior Emulsion 4 L', 'TIN', 1440, 1, 4, 1, 6, 6, 5), (4, 'Exterior Emulsion 20 L', 'TIN', 6400, 1, 3, 1, 4, 2, 2),
    (4, 'Enamel Gloss White 1 L', 'TIN', 335, 1, 5, 1, 8, 12, 10), (4, 'Enamel Brown 500 ml', 'TIN', 185, 1, 4, 1, 6, 12, 8),
    (4, 'Wood Primer 1 L', 'TIN', 240, 1, 4, 1, 6, 12, 8), (4, 'Red Oxide Primer 1 L', 'TIN', 215, 1, 5, 1, 5, 12, 8),
    (4, 'Wall Putty 20 kg', 'BAG', 790, 1, 15, 1, 9, 20, 12), (4, 'Wall Putty 5 kg', 'BAG', 235, 1, 4, 1, 6, 10, 8),
    (4, 'Paint Thinner 1 L', 'BTL', 130, 1, 5, 1, 8, 12, 10), (4, 'Waterproof Coating 4 L', 'TIN', 1680, 1, 4, 1, 4, 4, 4),
    (4, 'Paint Brush 2 inch', 'PCS', 55, 1, 6, 1, 9, 24, 15), (4, 'Paint Roller 9 inch', 'PCS', 165, 1, 4, 1, 6, 12, 8),
    (4, 'Sandpaper 120 Grit', 'SHT', 12, 5, 30, 5, 9, 100, 60), (4, 'Masking Tape 1 inch', 'PCS', 45, 1, 6, 1, 5, 48, 15),

    (5, 'Claw Hammer 500 g', 'PCS', 320, 1, 2, 1, 6, 6, 4), (5, 'Screwdriver Set 6 pc', 'SET', 285, 1, 2, 1, 7, 10, 5),
    (5, 'Combination Plier 8 inch', 'PCS', 260, 1, 2, 1, 7, 10, 5), (5, 'Adjustable Spanner 10 inch', 'PCS', 390, 1, 1, 1, 5, 6, 3),
    (5, 'Pipe Wrench 14 inch', 'PCS', 620, 1, 1, 1, 4, 6, 3), (5, 'Measuring Tape 5 m', 'PCS', 150, 1, 3, 1, 9, 12, 8),
    (5, 'Spirit Level 12 inch', 'PCS', 240, 1, 1, 1, 4, 6, 3), (5, 'Hacksaw Frame 12 inch', 'PCS', 225, 1, 2, 1, 5, 6, 4),
    (5, 'Hacksaw Blade', 'PCS', 25, 2, 12, 1, 9, 50, 30), (5, 'Impact Drill 13 mm', 'PCS', 2480, 1, 1, 1, 3, 2, 2),
    (5, 'Angle Grinder 4 inch', 'PCS', 2150, 1, 1, 1, 3, 2, 2), (5, 'Masonry Drill Bit 8 mm', 'PCS', 60, 1, 5, 1, 8, 20, 12),
    (5, 'Cutting Wheel 4 inch', 'PCS', 35, 2, 15, 1, 8, 50, 30), (5, 'Trowel 7 inch', 'PCS', 110, 1, 3, 1, 5, 12, 6),

    (6, 'OPC Cement 53 Grade 50 kg', 'BAG', 395, 5, 40, 1, 12, 100, 60), (6, 'PPC Cement 50 kg', 'BAG', 365, 5, 50, 1, 12, 100, 60),
    (6, 'White Cement 5 kg', 'BAG', 165, 1, 5, 1, 8, 20, 10), (6, 'Tile Adhesive 20 kg', 'BAG', 345, 2, 30, 1, 8, 25, 20),
    (6, 'Tile Grout 1 kg', 'PKT', 78, 2, 8, 1, 7, 24, 15), (6, 'Plaster of Paris 25 kg', 'BAG', 245, 1, 10, 1, 6, 20, 12),
    (6, 'Waterproofing Liquid 1 L', 'BTL', 148, 1, 6, 1, 7, 24, 12);

INSERT INTO products (prod_id, prod_name, cat_id, unit, sale_price, reorder_lvl, rack_no)
SELECT prod_id, prod_name, cat_id, unit, price, reorder,
    CASE WHEN pg_temp.roll('rack', prod_id) < 0.85 THEN substr('PEFCTG', cat_id, 1) || (1 + floor(pg_temp.roll('rack shelf', prod_id) * 14))::text END
FROM ware;

-- Half of the old master: numbers of its own, names in capitals, rates of years ago.
INSERT INTO tbl_prod_master_old
SELECT 'P' || lpad((900 - prod_id * 7)::text, 4, '0'), upper(prod_name), upper(left(c.cat_name, 5)),
    pg_temp.tidy(price::double precision * (0.60 + 0.15 * pg_temp.roll('old rate', prod_id))),
    floor(pg_temp.roll('old stock', prod_id) * reorder * 3)::int, DATE '2021-01-04' + floor(pg_temp.roll('old date', prod_id) * 600)::int
FROM ware JOIN categories c USING (cat_id)
WHERE pg_temp.roll('old kept', prod_id) < 0.55
ORDER BY prod_id DESC;

INSERT INTO store_settings VALUES
    ('store.name', 'Kulkarni Hardware and Paints', '2019-04-01'), ('store.city', 'Nashik', '2019-04-01'),
    ('store.gst_no', '27AAFFK0087H1Z0', '2019-04-01'), ('bill.prefix', 'B', '2025-01-01'), ('bill.round_off', 'Y', '2025-01-01'),
    ('bill.footer', 'Goods once sold are exchanged within 7 days with bill', '2021-08-10'), ('till.count', '2', '2022-02-01'),
    ('till.pin', '7193', '2024-10-05'), ('printer.model', 'TP-80', '2023-05-12'), ('hours.weekday', '09:00-20:00', '2019-04-01'),
    ('hours.sunday', '09:00-13:30', '2019-04-01'), ('credit.days', '45', '2020-11-16'), ('backup.last', '2026-11-28', '2026-11-28');

-- -------------------------------------------------------------------------------------------------- the calendar

-- How busy a month is (wedding and building season before the rains, painting before Diwali, quiet monsoon) and what is
-- asked for in it, by category in the order of `categories`.
CREATE TEMP TABLE season (mon integer PRIMARY KEY, busy numeric, asked numeric[]);
INSERT INTO season VALUES
    (1, 1.00, '{22,20,19,14,11,14}'), (2, 1.05, '{22,19,19,14,11,15}'), (3, 1.15, '{22,20,18,14,11,15}'),
    (4, 1.12, '{22,21,18,15,10,14}'), (5, 1.20, '{23,22,17,15,10,13}'), (6, 0.92, '{28,22,17,9,11,13}'),
    (7, 0.78, '{30,23,18,7,12,10}'), (8, 0.82, '{28,23,18,9,12,10}'), (9, 0.95, '{23,22,18,15,11,11}'),
    (10, 1.32, '{19,22,16,24,9,10}'), (11, 1.12, '{20,22,17,18,10,13}'), (12, 1.02, '{21,20,18,14,11,16}');

-- Weight of each day, summed over its era (1 is archived, 2 is in `bills`): a point below `upto` and not below the day
-- before falls on the day.
CREATE TEMP TABLE day_weight AS
SELECT era, dt, sum(weight) OVER (PARTITION BY era ORDER BY dt) AS upto
FROM (
    SELECT CASE WHEN d < DATE '2025-01-01' THEN 1 ELSE 2 END AS era, d AS dt,
        CASE WHEN to_char(d, 'MM-DD') IN ('01-26', '08-15') THEN 0
            WHEN d IN (DATE '2023-03-07', '2023-11-12', '2023-11-14', '2024-03-25', '2024-11-01', '2024-11-02', '2025-03-14', '2025-10-21',
                '2025-10-22', '2026-03-04', '2026-11-08', '2026-11-10') THEN 0
            ELSE busy * (1 + 0.06 * (extract(year FROM d)::int - 2023))
                * CASE extract(isodow FROM d)::int WHEN 7 THEN 0.5 WHEN 6 THEN 1.3 WHEN 1 THEN 1.1 ELSE 1.0 END
                * (0.7 + 0.6 * pg_temp.roll('weather', d - DATE '2000-01-01'))::numeric(6,4)
        END AS weight
    FROM (SELECT DATE '2023-01-01' + i AS d FROM generate_series(0, DATE '2026-11-28' - DATE '2023-01-01') AS i) AS days
    JOIN season ON mon = extract(month FROM d)::int
) AS weighed;
CREATE INDEX ON day_weight (era, upto, dt);

-- --------------------------------------------------------------------------------------------------------- sales

-- 900 bills of era 1 (2023 and 2024, numbers 1 to 900), 1,400 of era 2 (2025 on), in the order of their days.
CREATE TEMP TABLE sale AS
SELECT n, era, dt, cust_id, emp_id,
    CASE WHEN pg_temp.roll('cancelled', n) < 0.032 THEN 'CANCELLED' ELSE 'PAID' END AS status,
    row_number() OVER (PARTITION BY extract(year FROM dt) ORDER BY n) AS number_in_year
FROM (
    SELECT n, era, dt,
        CASE WHEN pg_temp.roll('on account', n) < 0.30
            THEN 1 + floor(pg_temp.roll('which customer', n) * (0.45 + 0.55 * pg_temp.roll('loyalty', n))
                * (SELECT count(*) FROM customers c WHERE c.since_dt <= dt))::int END AS cust_id,
        CASE WHEN pg_temp.roll('billed by', n) < 0.40 THEN 3 WHEN pg_temp.roll('billed by', n) < 0.68 THEN 4
            WHEN pg_temp.roll('billed by', n) < 0.82 THEN 5 WHEN pg_temp.roll('billed by', n) < 0.94 THEN CASE WHEN dt <= DATE '2025-08-31' THEN 6 ELSE 7 END
            ELSE 2 END AS emp_id
    FROM (
        SELECT n, era, d.dt
        FROM (
            SELECT n, era, (place + pg_temp.roll('moment', n))::numeric / bills * (SELECT max(upto) FROM day_weight w WHERE w.era = o.era) AS point
            FROM (
                SELECT n, 1 AS era, n - 1 AS place, 900 AS bills FROM generate_series(1, 900) AS n
                UNION ALL
                SELECT n, 2, n - 901, 1400 FROM generate_series(901, 2300) AS n
            ) AS o
            OFFSET 0
        ) AS placed
        CROSS JOIN LATERAL (SELECT dt FROM day_weight w WHERE w.era = placed.era AND w.upto > point ORDER BY w.upto, w.dt LIMIT 1) AS d
    ) AS on_day
) AS dated;

-- Lines: the first picks a category of the season, the others mostly stay with it; then a product by how often it is wanted.
CREATE TEMP TABLE cat_share AS
SELECT mon, cat_id, sum(share) OVER w - share AS from_share, sum(share) OVER w AS upto_share
FROM (SELECT mon, cat_id, asked[cat_id] / (SELECT sum(a) FROM unnest(asked) AS a) AS share FROM season, generate_series(1, 6) AS cat_id) AS s
WINDOW w AS (PARTITION BY mon ORDER BY cat_id);

CREATE TEMP TABLE ware_share AS
SELECT prod_id, cat_id, (sum(wanted) OVER w - wanted)::numeric / sum(wanted) OVER c AS from_share, sum(wanted) OVER w::numeric / sum(wanted) OVER c AS upto_share
FROM ware WINDOW w AS (PARTITION BY cat_id ORDER BY prod_id), c AS (PARTITION BY cat_id);

CREATE TEMP TABLE sale_line AS
WITH asked AS (
    SELECT s.n, s.dt, s.cust_id, k, s.n * 10 + k AS seed,
        pg_temp.roll('category', s.n * 10 + CASE WHEN pg_temp.roll('stays', s.n * 10 + k) < 0.55 THEN 1 ELSE k END) AS cat_roll
    FROM sale s
    CROSS JOIN generate_series(1, 6) AS k
    WHERE k <= CASE WHEN pg_temp.roll('lines', s.n) < 0.20 THEN 1 WHEN pg_temp.roll('lines', s.n) < 0.46 THEN 2 WHEN pg_temp.roll('lines', s.n) < 0.68 THEN 3
        WHEN pg_temp.roll('lines', s.n) < 0.84 THEN 4 WHEN pg_temp.roll('lines', s.n) < 0.94 THEN 5 ELSE 6 END
), picked AS (
    SELECT DISTINCT ON (a.n, w.prod_id) a.n, a.dt, a.cust_id, a.k, a.seed, w.prod_id
    FROM asked a
    JOIN cat_share c ON c.mon = extract(month FROM a.dt)::int AND a.cat_roll >= c.from_share AND a.cat_roll < c.upto_share
    JOIN ware_share w ON w.cat_id = c.cat_id AND pg_temp.roll('product', a.seed) >= w.from_share AND pg_temp.roll('product', a.seed) < w.upto_share
    ORDER BY a.n, w.prod_id, a.k
)
SELECT p.n, p.dt, p.k, p.prod_id, w.prod_name,
    -- Small quantities are the rule; who buys on account buys for a site.
    (w.q_from + w.q_step * floor(pg_temp.roll('quantity', p.seed) * pg_temp.roll('quantity again', p.seed) * ((w.q_to - w.q_from) / w.q_step + 1))::int)
        * CASE WHEN p.cust_id IS NULL OR w.q_to = 1 THEN 1 ELSE 1 + floor(pg_temp.roll('site', p.n) * 2.6)::int END AS qty,
    pg_temp.tidy(w.price::double precision * CASE WHEN p.dt < DATE '2024-01-01' THEN 0.88 WHEN p.dt < DATE '2025-01-01' THEN 0.93
        WHEN p.dt < DATE '2025-07-01' THEN 0.96 WHEN p.dt < DATE '2026-04-01' THEN 0.98 ELSE 1 END) AS rate
FROM picked p JOIN ware w USING (prod_id);

CREATE TEMP TABLE sale_total AS
SELECT n, gross, items, lines,
    -- Whole rupees off, on one bill in three and above all on the large ones.
    CASE WHEN pg_temp.roll('discount', n) < CASE WHEN gross >= 5000 THEN 0.6 WHEN gross >= 800 THEN 0.3 ELSE 0.05 END
        THEN floor(gross * (2 + floor(pg_temp.roll('discount rate', n) * 4)::int) / 100) ELSE 0 END + (gross - floor(gross)) AS disc
FROM (
    SELECT n, sum(qty * rate) AS gross, string_agg(prod_name || ' x' || qty::text, '; ' ORDER BY k) AS items, count(*) AS lines
    FROM sale_line GROUP BY n
) AS g;

-- Who buys on account pays later: the younger the bill, the likelier that it is still open.
UPDATE sale SET status = CASE WHEN r < paid THEN 'PAID' WHEN r < part THEN 'PARTIAL' ELSE 'UNPAID' END
FROM (
    SELECT n AS bill, pg_temp.roll('settled', n) AS r,
        CASE WHEN dt < DATE '2026-06-01' THEN 0.92 WHEN dt < DATE '2026-10-01' THEN 0.70 WHEN dt < DATE '2026-11-01' THEN 0.45 ELSE 0.25 END AS paid,
        CASE WHEN dt < DATE '2026-06-01' THEN 0.97 WHEN dt < DATE '2026-10-01' THEN 0.90 WHEN dt < DATE '2026-11-01' THEN 0.78 ELSE 0.55 END AS part
    FROM sale WHERE cust_id IS NOT NULL AND era = 2
) AS s
WHERE n = bill AND status = 'PAID';

INSERT INTO bills
SELECT n - 900, 'B' || to_char(dt, 'YYYY') || '-' || lpad(number_in_year::text, 4, '0'), dt, cust_id, emp_id, disc, gross - disc, status
FROM sale JOIN sale_total USING (n) WHERE era = 2 ORDER BY n;

INSERT INTO bill_items
SELECT row_number() OVER (ORDER BY n, k), n - 900, prod_id, qty, rate, qty * rate FROM sale_line WHERE n > 900 ORDER BY n, k;

INSERT INTO bill_archive
SELECT 'A' || to_char(dt, 'YYYY') || '-' || lpad(number_in_year::text, 4, '0'), dt, c.cust_name, e.emp_name, t.items, t.lines, t.disc, t.gross - t.disc,
    CASE WHEN s.status = 'CANCELLED' THEN NULL WHEN s.cust_id IS NOT NULL AND (unpaid OR pg_temp.roll('archive credit', n) < 0.6) THEN 'CREDIT'
        WHEN pg_temp.roll('archive mode', n) < 0.52 THEN 'CASH' WHEN pg_temp.roll('archive mode', n) < 0.90 THEN 'UPI' ELSE 'CARD' END,
    CASE WHEN s.status = 'PAID' AND s.cust_id IS NOT NULL AND unpaid THEN 'UNPAID' ELSE s.status END
FROM sale s JOIN sale_total t USING (n) JOIN employees e USING (emp_id) LEFT JOIN customers c USING (cust_id)
CROSS JOIN LATERAL (SELECT pg_temp.roll('never paid', n) < 0.02 AS unpaid) AS u
WHERE era = 1 ORDER BY n;

-- ------------------------------------------------------------------------------------------------------ payments

-- Walk-in: at the counter, now and then half in cash. On account: one to three instalments, the first of them sometimes at once.
-- Each instalment but the last is a rounded part of what is to be paid; the last is the rest.
INSERT INTO payments
WITH due AS (
    SELECT bill_id, bill_dt, cust_id, DATE '2026-11-28' - bill_dt AS age,
        CASE status WHEN 'PAID' THEN total_amt ELSE greatest(round(total_amt * (0.25 + 0.5 * pg_temp.roll('part paid', bill_id))::numeric, -1), 10) END AS paid
    FROM bills WHERE status IN ('PAID', 'PARTIAL') AND total_amt > 20
    UNION ALL
    SELECT bill_id, bill_dt, cust_id, 0, total_amt FROM bills WHERE status = 'PAID' AND total_amt <= 20
), parted AS (
    SELECT *, CASE WHEN paid < 300 THEN 1 WHEN cust_id IS NULL THEN CASE WHEN pg_temp.roll('split', bill_id) < 0.09 THEN 2 ELSE 1 END
        WHEN age < 2 THEN 1 ELSE 1 + floor(pg_temp.roll('instalments', bill_id) * 3)::int END AS parts FROM due
), instalment AS (
    SELECT p.*, i, bill_id * 10 + i AS seed, floor(paid / parts / 10) * 10 AS slice,
        CASE WHEN cust_id IS NULL THEN 0
            ELSE floor(least(age, 75) * (i - 1 + pg_temp.roll('pays after', bill_id * 10 + i)) / parts)::int END AS after_days
    FROM parted p, generate_series(1, parts) AS i
), dated AS (
    SELECT *, bill_dt + after_days AS dt FROM instalment
), moved AS (
    SELECT *, CASE WHEN extract(isodow FROM dt) = 7 THEN 4.4 ELSE 10.8 END AS open_hours, pg_temp.roll('method', seed) AS m FROM dated
), timed AS (
    SELECT bill_id, i, dt + TIME '09:00' + floor(open_hours * 60 * pg_temp.roll('hour', CASE WHEN cust_id IS NULL THEN bill_id ELSE seed END))::int * INTERVAL '1 minute'
            + CASE WHEN cust_id IS NULL THEN (i - 1) * INTERVAL '1 minute' ELSE INTERVAL '0' END AS at,
        CASE WHEN i < parts THEN slice ELSE paid - slice * (parts - 1) END AS amt,
        CASE WHEN cust_id IS NULL AND parts = 2 THEN CASE i WHEN 1 THEN 'CASH' ELSE 'UPI' END
            WHEN cust_id IS NULL THEN CASE WHEN m < 0.40 THEN 'CASH' WHEN m < 0.88 THEN 'UPI' ELSE 'CARD' END
            ELSE CASE WHEN m < 0.20 THEN 'CASH' WHEN m < 0.55 THEN 'UPI' WHEN m < 0.80 THEN 'BANK' ELSE 'CHEQUE' END END AS method,
        seed
    FROM moved
)
SELECT row_number() OVER (ORDER BY at, bill_id, i), bill_id, at, amt, method,
    CASE method WHEN 'UPI' THEN (600000000000 + floor(pg_temp.roll('reference', seed) * 99999999999)::bigint)::text
        WHEN 'CHEQUE' THEN lpad((100000 + floor(pg_temp.roll('reference', seed) * 899999)::int)::text, 6, '0')
        WHEN 'BANK' THEN 'NEFT' || lpad(floor(pg_temp.roll('reference', seed) * 99999999)::bigint::text, 8, '0') END
FROM timed ORDER BY 1;

-- ------------------------------------------------------------------------------------------ losses and stocktakes

INSERT INTO stock_adjustments
WITH happened AS (
    SELECT i, DATE '2025-01-06' + floor((i - 1 + pg_temp.roll('adjusted on', i)) / 110 * 690)::int AS dt,
        CASE WHEN pg_temp.roll('reason', i) < 0.56 THEN 'DAMAGE' WHEN pg_temp.roll('reason', i) < 0.74 THEN 'THEFT' ELSE 'STOCKTAKE' END AS reason
    FROM generate_series(1, 110) AS i
), suited AS (
    -- What breaks, leaks or sets hard; what fits in a pocket; anything can turn up at a count.
    SELECT h.i, h.dt, h.reason, w.prod_id, w.q_from, w.q_step, w.unit,
        row_number() OVER (PARTITION BY h.i ORDER BY pg_temp.roll('adjusted product', h.i * 1000 + w.prod_id), w.prod_id) AS choice
    FROM happened h JOIN ware w ON CASE h.reason
        WHEN 'DAMAGE' THEN w.cat_id IN (4, 6) OR w.prod_name ~ '^(LED|PVC|CPVC|Flush|Overhead)'
        WHEN 'THEFT' THEN w.cat_id = 5 OR w.prod_name ~ '(Cock|MCB|Switch|Teflon|Bulb)'
        ELSE true END
)
SELECT i, dt, prod_id,
    CASE reason WHEN 'STOCKTAKE' THEN 1 ELSE -1 END * greatest(1, q_from / 2) * (1 + floor(pg_temp.roll('adjusted by', i) * 3)::int),
    reason, CASE reason WHEN 'STOCKTAKE' THEN 2 ELSE 8 END,
    CASE reason WHEN 'STOCKTAKE' THEN CASE WHEN pg_temp.roll('remark', i) < 0.3 THEN 'found behind rack' END
        WHEN 'THEFT' THEN CASE WHEN pg_temp.roll('remark', i) < 0.4 THEN 'short at evening count' END
        ELSE CASE WHEN unit = 'BAG' THEN 'bag torn or damp' WHEN unit IN ('TIN', 'BTL') THEN 'leaking' ELSE 'damaged in store' END END
FROM suited WHERE choice = 1 ORDER BY i;

-- ------------------------------------------------------------------------------------- goods received and orders

-- A product is bought for a stretch of one, two or three months just before it begins: what the stretch will use, on top
-- of a cushion, up to whole packs. So the shelf never runs below nothing, and ends near its cushion.
CREATE TEMP TABLE receipt AS
WITH used AS (
    SELECT prod_id, dt, qty FROM sale_line JOIN sale USING (n, dt) WHERE era = 2 AND status <> 'CANCELLED'
    UNION ALL
    SELECT prod_id, txn_dt, -qty_change FROM stock_adjustments WHERE qty_change < 0
), rhythm AS (
    SELECT w.prod_id, w.cat_id, w.pack, w.price, CASE WHEN w.cat_id = 6 THEN 1 WHEN w.wanted >= 7 THEN 2 ELSE 3 END AS months,
        floor(w.reorder * (0.3 + 1.5 * pg_temp.roll('cushion', w.prod_id)))::int AS cushion
    FROM ware w
), monthly AS (
    SELECT prod_id, m, sum(coalesce(qty, 0)) OVER (PARTITION BY prod_id ORDER BY m) AS used_by_end
    FROM ware CROSS JOIN generate_series(0, 22) AS m
    LEFT JOIN (
        SELECT prod_id, extract(year FROM dt)::int * 12 + extract(month FROM dt)::int - 2025 * 12 - 1 AS m, sum(qty) AS qty FROM used GROUP BY 1, 2
    ) AS u USING (prod_id, m)
), stretch AS (
    SELECT r.prod_id, r.cat_id, r.pack, r.price, r.cushion, first_month, u.used_by_end
    FROM rhythm r CROSS JOIN LATERAL generate_series(0, 22, r.months) AS first_month
    JOIN monthly u ON u.prod_id = r.prod_id AND u.m = least(first_month + r.months - 1, 22)
), packs AS (
    SELECT *, ceil((used_by_end + cushion)::numeric / pack)::int AS bought_by_then FROM stretch
), bought AS (
    SELECT *, (bought_by_then - coalesce(lag(bought_by_then) OVER (PARTITION BY prod_id ORDER BY first_month), 0)) * pack AS qty FROM packs
), sourced AS (
    SELECT prod_id, first_month, qty, price, cat_id, (DATE '2025-01-01' + first_month * INTERVAL '1 month')::date AS starts,
        prod_id * 100 + first_month AS seed,
        -- A first supplier for a product, another one now and then.
        CASE cat_id WHEN 1 THEN ARRAY[3, 4, 5] WHEN 2 THEN ARRAY[7, 6] WHEN 3 THEN ARRAY[8, 9] WHEN 4 THEN ARRAY[10, 11] WHEN 5 THEN ARRAY[12, 13] ELSE ARRAY[1, 2] END AS firms
    FROM bought WHERE qty > 0
)
SELECT seed, prod_id, qty, price, cat_id, starts, first_month,
    firms[1 + floor((CASE WHEN pg_temp.roll('other supplier', seed) < 0.15 THEN pg_temp.roll('which other', seed)
        ELSE pg_temp.roll('first supplier', prod_id) * 0.85 END) * array_length(firms, 1))::int] AS supp_id,
    pg_temp.roll('without order', seed) < 0.08 AS bought_for_cash,
    pg_temp.roll('second delivery', seed) < 0.12 AS late
FROM sourced;

-- One order a month to a supplier for all that comes from it; some orders come short.
INSERT INTO purchase_orders
SELECT row_number() OVER (ORDER BY starts, supp_id), 'PO' || lpad((row_number() OVER (ORDER BY starts, supp_id))::text, 4, '0'), supp_id,
    starts - 12 + floor(pg_temp.roll('ordered on', supp_id * 100 + first_month) * 4)::int, starts - 5, 'RECEIVED'
FROM (SELECT DISTINCT supp_id, starts, first_month FROM receipt WHERE NOT bought_for_cash) AS o ORDER BY 1;

INSERT INTO stock_entries
SELECT row_number() OVER (ORDER BY dt, supp_id, prod_id), dt, supp_id, prod_id, po_id, qty,
    -- Cost is the day's sale price less the margin of the category, which moves a little from purchase to purchase.
    greatest(round((price * CASE WHEN starts < DATE '2025-07-01' THEN 0.96 WHEN starts < DATE '2026-04-01' THEN 0.98 ELSE 1 END
        * (1 - (ARRAY[0.22, 0.18, 0.30, 0.15, 0.21, 0.07])[cat_id] - 0.03 * pg_temp.roll('margin', seed)::numeric(6,4)))::numeric, 2), 0.40),
    CASE WHEN po_id IS NOT NULL THEN 'INV-' || lpad((1000 + supp_id * 371 + first_month * 17)::text, 5, '0') END
FROM (
    SELECT r.*, CASE WHEN bought_for_cash THEN NULL ELSE o.po_id END AS po_id,
        CASE WHEN bought_for_cash OR late THEN starts - 2 ELSE starts - 6 + r.supp_id % 3 END AS dt
    FROM receipt r LEFT JOIN purchase_orders o ON o.supp_id = r.supp_id AND o.exp_dt = r.starts - 5
) AS d ORDER BY 1;

INSERT INTO po_lines
SELECT row_number() OVER (ORDER BY e.po_id, e.prod_id), e.po_id, e.prod_id,
    e.qty + CASE WHEN pg_temp.roll('short order', e.po_id) < 0.14 AND pg_temp.roll('short line', e.entry_id) < 0.5 THEN w.pack ELSE 0 END, e.qty, e.cost_price
FROM stock_entries e JOIN ware w USING (prod_id) WHERE e.po_id IS NOT NULL ORDER BY 1;

UPDATE purchase_orders o SET status = 'PARTIAL'
WHERE EXISTS (SELECT 1 FROM po_lines l WHERE l.po_id = o.po_id AND l.qty_received < l.qty_ordered);

-- What the shelves hold on the evening of 2026-11-28.
UPDATE products p SET stock_qty = coalesce((SELECT sum(qty) FROM stock_entries e WHERE e.prod_id = p.prod_id), 0)
    - coalesce((SELECT sum(i.qty) FROM bill_items i JOIN bills b ON b.bill_id = i.bill_id WHERE i.prod_id = p.prod_id AND b.status <> 'CANCELLED'), 0)
    + coalesce((SELECT sum(qty_change) FROM stock_adjustments a WHERE a.prod_id = p.prod_id), 0);

-- Orders that brought nothing: one to each of six suppliers cancelled on the way, and those of the last fortnight still
-- open, for what has run low.
INSERT INTO purchase_orders
SELECT base + k, 'PO' || lpad((base + k)::text, 4, '0'), supp_id, po_dt, po_dt + 8, status
FROM (SELECT max(po_id) AS base FROM purchase_orders) AS b,
    (VALUES (1, 6, DATE '2025-03-19', 'CANCELLED'), (2, 11, '2025-09-10', 'CANCELLED'), (3, 2, '2026-02-24', 'CANCELLED'), (4, 9, '2026-05-13', 'CANCELLED'),
        (5, 13, '2026-07-08', 'CANCELLED'), (6, 4, '2026-09-22', 'CANCELLED'), (7, 3, '2026-11-17', 'OPEN'), (8, 7, '2026-11-19', 'OPEN'), (9, 8, '2026-11-20', 'OPEN'),
        (10, 10, '2026-11-23', 'OPEN'), (11, 12, '2026-11-24', 'OPEN'), (12, 1, '2026-11-26', 'OPEN')) AS extra (k, supp_id, po_dt, status);

INSERT INTO po_lines
SELECT (SELECT max(line_id) FROM po_lines) + row_number() OVER (ORDER BY po_id, prod_id), po_id, prod_id, pack * (1 + floor(pg_temp.roll('hoped for', po_id * 1000 + prod_id) * 2)::int), 0, cost
FROM (
    SELECT o.po_id, w.prod_id, w.pack, c.cost,
        row_number() OVER (PARTITION BY o.po_id ORDER BY p.stock_qty::numeric / p.reorder_lvl, w.prod_id) AS lowest
    FROM purchase_orders o
    JOIN (SELECT supp_id, prod_id, max(cost_price) AS cost FROM stock_entries GROUP BY supp_id, prod_id) AS c ON c.supp_id = o.supp_id
    JOIN ware w USING (prod_id) JOIN products p USING (prod_id)
    WHERE o.status IN ('OPEN', 'CANCELLED')
) AS wished WHERE lowest <= 4 ORDER BY po_id, prod_id;

-- ------------------------------------------------------------------------------------------------------------ end

DROP TABLE ware, season, day_weight, sale, cat_share, ware_share, sale_line, sale_total, receipt;
DROP FUNCTION pg_temp.roll(text, bigint);
DROP FUNCTION pg_temp.tidy(double precision);
ANALYZE;
