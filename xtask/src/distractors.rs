//! Plausible tables of a large organisation, made from a seed: what a question does not mean, and a linker must pass over.

use std::collections::BTreeSet;
use std::fmt::Write;

/// Tables of one schema at most.
const PER_SCHEMA: usize = 35;
/// Columns of one table.
const COLUMNS: std::ops::RangeInclusive<u64> = 20..=40;

/// An area of an organisation and the things it keeps rows about.
const AREAS: [(&str, &[&str]); 40] = [
    (
        "accounting",
        &["journal_entry", "ledger_account", "cost_center", "fiscal_period", "tax_code", "accrual"],
    ),
    ("advertising", &["campaign", "ad_group", "creative", "impression", "click", "audience"]),
    ("agriculture", &["field", "crop", "harvest", "irrigation", "seed_lot", "soil_sample"]),
    ("assets", &["asset", "depreciation", "disposal", "asset_location", "custodian", "valuation"]),
    ("banking", &["account", "transfer", "card", "loan", "statement", "standing_order"]),
    ("benefits", &["benefit_plan", "enrolment", "dependent", "claim", "contribution", "eligibility"]),
    ("billing", &["invoice", "credit_note", "payment", "dunning", "subscription", "price_plan"]),
    ("booking", &["reservation", "room", "guest", "rate_plan", "folio", "housekeeping"]),
    ("clinic", &["patient", "visit", "diagnosis", "prescription", "provider", "lab_result"]),
    ("compliance", &["policy", "control", "finding", "risk", "attestation", "exception"]),
    ("construction", &["site", "work_order", "permit", "contractor", "inspection", "drawing"]),
    ("crm", &["lead", "opportunity", "contact", "customer", "activity", "territory"]),
    ("energy", &["meter", "reading", "tariff", "outage", "substation", "feeder"]),
    ("events", &["event", "session", "speaker", "attendee", "badge", "sponsor"]),
    ("facilities", &["building", "floor", "desk", "lease", "maintenance", "visitor"]),
    ("fleet", &["vehicle", "driver", "trip", "fuel_log", "service_record", "tyre"]),
    ("fundraising", &["donor", "gift", "pledge", "appeal", "grant_award", "volunteer"]),
    ("gaming", &["player", "match", "score", "purchase", "achievement", "guild"]),
    ("helpdesk", &["ticket", "agent", "queue", "escalation", "knowledge_article", "survey"]),
    ("hr", &["employee", "position", "absence", "appraisal", "training", "contract"]),
    ("insurance", &["policyholder", "premium", "coverage", "loss_event", "adjuster", "endorsement"]),
    ("inventory", &["stock_item", "bin", "stock_count", "movement", "lot", "reorder_rule"]),
    ("legal", &["matter", "filing", "hearing", "counsel", "docket", "retainer"]),
    ("library", &["title", "copy", "borrower", "checkout", "hold", "fine"]),
    ("logistics", &["shipment", "carrier", "route", "container", "customs_entry", "proof_of_delivery"]),
    ("manufacturing", &["bill_of_material", "production_order", "machine", "shift", "scrap", "operation"]),
    ("media", &["article", "video", "channel", "playlist", "subscriber", "comment"]),
    ("mobile", &["device", "install", "push_message", "crash", "screen_view", "app_version"]),
    ("payroll", &["payslip", "deduction", "earning", "pay_period", "tax_form", "garnishment"]),
    ("procurement", &["supplier", "requisition", "purchase_order", "quote", "goods_receipt", "tender"]),
    ("projects", &["project", "task", "milestone", "timesheet", "resource", "issue"]),
    ("quality", &["nonconformity", "audit", "corrective_action", "sample", "specification", "calibration"]),
    ("recruiting", &["applicant", "vacancy", "interview", "offer", "referral", "assessment"]),
    ("research", &["experiment", "specimen", "assay", "protocol", "funding", "investigator"]),
    ("retail", &["store", "register", "receipt", "promotion", "loyalty_member", "basket"]),
    ("school", &["pupil", "teacher", "lesson", "grade", "classroom", "timetable"]),
    ("security", &["user_account", "role", "permission", "login", "token", "incident"]),
    ("telecom", &["subscriber_line", "call_record", "tower", "sim", "bundle", "roaming"]),
    ("treasury", &["deposit", "hedge", "exposure", "forecast", "counterparty", "bond"]),
    ("warehouse", &["pallet", "dock", "pick_list", "put_away", "wave", "return_note"]),
];

/// What is kept beside a thing.
const ASPECTS: [&str; 16] = [
    "",
    "_history",
    "_line",
    "_status",
    "_type",
    "_note",
    "_document",
    "_assignment",
    "_rate",
    "_target",
    "_batch",
    "_schedule",
    "_tag",
    "_snapshot",
    "_approval",
    "_summary",
];

const QUALIFIERS: [&str; 24] = [
    "",
    "",
    "",
    "",
    "primary_",
    "billing_",
    "planned_",
    "actual_",
    "net_",
    "gross_",
    "previous_",
    "expected_",
    "last_",
    "first_",
    "local_",
    "external_",
    "original_",
    "approved_",
    "internal_",
    "default_",
    "parent_",
    "current_",
    "target_",
    "home_",
];

/// What a column may hold, and its type.
const ATTRIBUTES: [(&str, &str); 72] = [
    ("name", "text"),
    ("code", "varchar(20)"),
    ("status", "varchar(20)"),
    ("description", "text"),
    ("title", "text"),
    ("amount", "numeric(12,2)"),
    ("quantity", "integer"),
    ("price", "numeric(10,2)"),
    ("cost", "numeric(12,2)"),
    ("currency", "char(3)"),
    ("city", "text"),
    ("country", "text"),
    ("state", "text"),
    ("postal_code", "varchar(12)"),
    ("street", "text"),
    ("email", "text"),
    ("phone", "varchar(30)"),
    ("date", "date"),
    ("start_date", "date"),
    ("end_date", "date"),
    ("due_date", "date"),
    ("year", "integer"),
    ("month", "integer"),
    ("rating", "numeric(3,1)"),
    ("score", "integer"),
    ("level", "integer"),
    ("priority", "integer"),
    ("weight", "numeric(8,2)"),
    ("height", "numeric(8,2)"),
    ("length", "numeric(8,2)"),
    ("duration", "integer"),
    ("count", "integer"),
    ("percent", "numeric(5,2)"),
    ("region", "text"),
    ("department", "text"),
    ("language", "varchar(10)"),
    ("type", "varchar(30)"),
    ("category", "text"),
    ("reason", "text"),
    ("comment", "text"),
    ("reference", "varchar(40)"),
    ("number", "varchar(30)"),
    ("color", "varchar(20)"),
    ("size", "varchar(20)"),
    ("model", "text"),
    ("make", "text"),
    ("gender", "varchar(10)"),
    ("birth_date", "date"),
    ("salary", "numeric(12,2)"),
    ("balance", "numeric(14,2)"),
    ("tax", "numeric(10,2)"),
    ("discount", "numeric(5,2)"),
    ("total", "numeric(14,2)"),
    ("unit", "varchar(12)"),
    ("url", "text"),
    ("latitude", "numeric(9,6)"),
    ("longitude", "numeric(9,6)"),
    ("capacity", "integer"),
    ("population", "integer"),
    ("owner", "text"),
    ("manager", "text"),
    ("author", "text"),
    ("publisher", "text"),
    ("flag", "boolean"),
    ("active", "boolean"),
    ("deleted", "boolean"),
    ("version", "integer"),
    ("source", "text"),
    ("method", "varchar(30)"),
    ("channel", "varchar(30)"),
    ("created_at", "timestamptz"),
    ("updated_at", "timestamptz"),
];

/// A schema of tables.
pub struct Schema {
    /// Its name.
    pub name: &'static str,
    /// The statements that make it.
    pub sql: String,
    /// How many tables that is.
    pub tables: usize,
}

/// As many tables as wanted, schema by schema. The same seed gives the same tables.
pub fn schemas(wanted: usize, seed: u64) -> Vec<Schema> {
    let mut dice = Dice(seed);
    let mut made = Vec::new();
    let mut left = wanted.min(AREAS.len() * PER_SCHEMA);
    let each = left.div_ceil(AREAS.len()).max(1);
    for (name, things) in AREAS {
        let tables = each.min(left);
        if tables == 0 {
            break;
        }
        made.push(schema(name, things, tables, &mut dice));
        left -= tables;
    }
    made
}

fn schema(name: &'static str, things: &[&str], tables: usize, dice: &mut Dice) -> Schema {
    let mut sql = format!("CREATE SCHEMA {name};\n");
    let mut known: Vec<String> = Vec::new();
    // Each thing first by itself, then what is kept beside it.
    let mut names = ASPECTS.iter().flat_map(|aspect| things.iter().map(move |thing| (*thing, *aspect)));
    while known.len() < tables
        && let Some((thing, aspect)) = names.next()
    {
        let table = format!("{thing}{aspect}");
        if !known.contains(&table) {
            known.push(table.clone());
            write_table(&mut sql, name, thing, &table, &known, dice);
        }
    }
    Schema { name, sql, tables: known.len() }
}

fn write_table(sql: &mut String, schema: &str, thing: &str, table: &str, known: &[String], dice: &mut Dice) {
    let wanted = COLUMNS.start() + dice.below(COLUMNS.end() - COLUMNS.start() + 1);
    let mut columns = vec![format!("{table}_id bigint PRIMARY KEY")];
    let mut names: BTreeSet<String> = BTreeSet::from([format!("{table}_id")]);
    let others = dice.below(3) + u64::from(table != thing);
    for at in 0..others {
        // What is kept beside a thing refers to it; other keys lead anywhere in the schema.
        let other =
            if at == 0 && table != thing { thing } else { dice.pick(known).map_or(thing, String::as_str) };
        if other != table && names.insert(format!("{other}_id")) {
            columns.push(format!("{other}_id bigint REFERENCES {schema}.{other}"));
        }
    }
    while (columns.len() as u64) < wanted {
        let Some((base, kind)) = dice.pick(&ATTRIBUTES) else { break };
        let qualifier = dice.pick(&QUALIFIERS).copied().unwrap_or_default();
        let column = format!("{qualifier}{base}");
        if names.insert(column.clone()) {
            columns.push(format!("\"{column}\" {kind}"));
        }
    }
    let _ = writeln!(sql, "CREATE TABLE {schema}.\"{table}\" (\n  {}\n);", columns.join(",\n  "));
    if dice.below(2) == 0 {
        let words = table.replace('_', " ");
        let _ = writeln!(
            sql,
            "COMMENT ON TABLE {schema}.\"{table}\" IS 'One row a {words} of the {schema} department';"
        );
    }
}

/// A small generator of numbers (splitmix64): the same on every machine.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let at = usize::try_from(self.below(from.len() as u64)).ok()?;
        from.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_tables() {
        let text = |seed| schemas(1_400, seed).into_iter().map(|schema| schema.sql).collect::<String>();
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
    }

    #[test]
    fn as_many_tables_as_wanted_each_of_twenty_to_forty_columns() {
        for wanted in [0, 1, 100, 1_400] {
            let made = schemas(wanted, 1);
            assert_eq!(made.iter().map(|schema| schema.tables).sum::<usize>(), wanted);
            for table in made.iter().flat_map(|schema| schema.sql.split("CREATE TABLE").skip(1)) {
                let columns = table.split("\n);").next().unwrap().lines().count() - 1;
                assert!((20..=40).contains(&columns), "{columns}: {table}");
            }
        }
    }
}
