//! What short parts of database names commonly stand for, in general English; no domain's own words.

/// The words a part of a name may stand for, likeliest first; empty when it is no common abbreviation.
#[must_use]
pub fn expansions(part: &str) -> &'static [&'static str] {
    ABBREVIATIONS
        .binary_search_by_key(&part, |(short, _)| short)
        .ok()
        .and_then(|at| ABBREVIATIONS.get(at))
        .map_or(&[], |(_, long)| long)
}

/// Sorted; a test holds that.
#[rustfmt::skip]
const ABBREVIATIONS: &[(&str, &[&str])] = &[
    ("acc", &["account"]), ("acct", &["account"]), ("act", &["actual", "active"]), ("addr", &["address"]),
    ("adj", &["adjustment"]), ("adm", &["admission", "administration"]), ("admin", &["administrator"]), ("agg", &["aggregate"]),
    ("agmt", &["agreement"]), ("alloc", &["allocation"]), ("alt", &["alternative"]), ("amt", &["amount"]),
    ("appl", &["application"]), ("appr", &["approval"]), ("approx", &["approximate"]), ("appt", &["appointment"]),
    ("apt", &["apartment", "appointment"]), ("assoc", &["association"]), ("attn", &["attention"]), ("attr", &["attribute"]),
    ("auth", &["authorization"]), ("avail", &["available"]), ("avg", &["average"]), ("bal", &["balance"]),
    ("bldg", &["building"]), ("bnk", &["bank"]), ("br", &["branch"]), ("brn", &["branch"]), ("calc", &["calculated"]),
    ("cat", &["category"]), ("catg", &["category"]), ("cd", &["code"]), ("cert", &["certificate"]), ("cfg", &["configuration"]),
    ("chg", &["charge", "change"]), ("chk", &["check"]), ("cls", &["class"]), ("cmp", &["company"]), ("cmt", &["comment"]),
    ("cnt", &["count"]), ("cntry", &["country"]), ("co", &["company"]), ("comm", &["commission", "comment"]),
    ("comp", &["company"]), ("conf", &["confirmation", "configuration"]), ("config", &["configuration"]),
    ("cont", &["contact"]), ("contr", &["contract"]), ("coord", &["coordinate"]), ("corp", &["corporate"]),
    ("cpn", &["coupon"]), ("crd", &["credit", "card"]), ("crs", &["course"]), ("ctg", &["category"]), ("ctry", &["country"]),
    ("cty", &["city", "county"]), ("cur", &["current", "currency"]), ("curr", &["current", "currency"]),
    ("cust", &["customer"]), ("dbl", &["double"]), ("dec", &["decimal"]), ("del", &["delivery", "deleted"]),
    ("deliv", &["delivery"]), ("dep", &["department", "deposit"]), ("dept", &["department"]), ("desc", &["description"]),
    ("descr", &["description"]), ("dest", &["destination"]), ("det", &["detail"]), ("dev", &["device"]),
    ("dim", &["dimension"]), ("dir", &["direction", "director"]), ("disc", &["discount"]), ("disp", &["dispatch"]),
    ("dist", &["distance", "district"]), ("div", &["division"]), ("dlv", &["delivery"]), ("dob", &["birth"]),
    ("doc", &["document"]), ("dpt", &["department"]), ("drv", &["driver"]), ("dt", &["date"]), ("dte", &["date"]),
    ("dtl", &["detail"]), ("dtm", &["date", "time"]), ("dur", &["duration"]), ("edu", &["education"]), ("eff", &["effective"]),
    ("emp", &["employee"]), ("employ", &["employee"]), ("eng", &["engine"]), ("eq", &["equipment"]), ("equip", &["equipment"]),
    ("err", &["error"]), ("est", &["estimate"]), ("evt", &["event"]), ("exch", &["exchange"]), ("exec", &["execution"]),
    ("exp", &["expiry", "expense"]), ("ext", &["extension", "external"]), ("fac", &["facility"]), ("fin", &["finance"]),
    ("flt", &["flight"]), ("fname", &["first", "name"]), ("freq", &["frequency"]), ("fy", &["fiscal", "year"]),
    ("gen", &["general"]), ("geo", &["geography"]), ("gl", &["ledger"]), ("gndr", &["gender"]), ("gov", &["government"]),
    ("grp", &["group"]), ("hdr", &["header"]), ("hist", &["history"]), ("hosp", &["hospital"]), ("hr", &["hour"]),
    ("hrs", &["hour"]), ("htl", &["hotel"]), ("id", &["identifier"]), ("ident", &["identifier"]), ("img", &["image"]),
    ("ind", &["indicator"]), ("info", &["information"]), ("ins", &["insurance"]), ("inst", &["institution"]),
    ("instr", &["instructor"]), ("int", &["interest"]), ("intl", &["international"]), ("inv", &["invoice", "inventory"]),
    ("itm", &["item"]), ("lang", &["language"]), ("lat", &["latitude"]), ("ldr", &["leader"]), ("lib", &["library"]),
    ("lic", &["license"]), ("ln", &["line"]), ("lname", &["last", "name"]), ("loc", &["location"]), ("lon", &["longitude"]),
    ("long", &["longitude"]), ("lvl", &["level"]), ("maint", &["maintenance"]), ("manuf", &["manufacturer"]),
    ("mat", &["material"]), ("max", &["maximum"]), ("med", &["medical"]), ("mem", &["member"]), ("mfg", &["manufacturing"]),
    ("mfr", &["manufacturer"]), ("mgmt", &["management"]), ("mgr", &["manager"]), ("min", &["minimum"]), ("mkt", &["market"]),
    ("mktg", &["marketing"]), ("mob", &["mobile"]), ("mod", &["modified"]), ("mon", &["month"]), ("msg", &["message"]),
    ("mst", &["master"]), ("mstr", &["master"]), ("mtg", &["meeting"]), ("mth", &["month"]), ("nat", &["nationality"]),
    ("nbr", &["number"]), ("nm", &["name"]), ("no", &["number"]), ("notif", &["notification"]), ("num", &["number"]),
    ("nxt", &["next"]), ("obj", &["object"]), ("occ", &["occupation"]), ("op", &["operation"]), ("oper", &["operator"]),
    ("opp", &["opportunity"]), ("ord", &["order"]), ("org", &["organization"]), ("orig", &["original", "origin"]),
    ("pax", &["passenger"]), ("pct", &["percent"]), ("perc", &["percent"]), ("perf", &["performance"]),
    ("perm", &["permission"]), ("ph", &["phone"]), ("phn", &["phone"]), ("phys", &["physician"]), ("pkg", &["package"]),
    ("plcy", &["policy"]), ("pmt", &["payment"]), ("po", &["purchase", "order"]), ("pos", &["position"]),
    ("pract", &["practice"]), ("prc", &["price"]), ("pref", &["preference"]), ("prev", &["previous"]), ("prf", &["professor"]),
    ("prod", &["product"]), ("prof", &["professor"]), ("proj", &["project"]), ("promo", &["promotion"]),
    ("prov", &["provider", "province"]), ("prty", &["party", "property"]), ("pt", &["patient"]), ("pub", &["publication"]),
    ("purch", &["purchase"]), ("pwd", &["password"]), ("pymt", &["payment"]), ("qlty", &["quality"]), ("qtr", &["quarter"]),
    ("qty", &["quantity"]), ("rcpt", &["receipt"]), ("rcv", &["receive"]), ("rcvd", &["receive"]), ("rec", &["record"]),
    ("recv", &["receive"]), ("ref", &["reference"]), ("reg", &["registration", "region"]), ("rel", &["relation"]),
    ("rep", &["representative"]), ("req", &["request"]), ("res", &["reservation"]), ("resp", &["response"]),
    ("ret", &["return"]), ("rev", &["revenue", "review"]), ("rgn", &["region"]), ("rm", &["room"]), ("rtn", &["return"]),
    ("sal", &["salary"]), ("sched", &["schedule"]), ("sec", &["section"]), ("sem", &["semester"]), ("seq", &["sequence"]),
    ("ser", &["serial"]), ("sess", &["session"]), ("shp", &["shipment"]), ("sig", &["signature"]), ("spec", &["specialty"]),
    ("src", &["source"]), ("st", &["street", "state"]), ("sta", &["station"]), ("stat", &["status", "statistic"]),
    ("std", &["standard"]), ("stk", &["stock"]), ("stmt", &["statement"]), ("str", &["store", "street"]), ("sts", &["status"]),
    ("stud", &["student"]), ("subj", &["subject"]), ("subs", &["subscription"]), ("sum", &["summary"]), ("sup", &["supplier"]),
    ("supp", &["supplier"]), ("suppl", &["supplier"]), ("svc", &["service"]), ("sys", &["system"]), ("tech", &["technician"]),
    ("tel", &["telephone"]), ("temp", &["temperature"]), ("term", &["terminal"]), ("tkt", &["ticket"]), ("tm", &["time"]),
    ("tot", &["total"]), ("tr", &["transaction"]), ("tran", &["transaction"]), ("trans", &["transaction"]),
    ("treat", &["treatment"]), ("trk", &["truck", "track"]), ("trn", &["transaction"]), ("trx", &["transaction"]),
    ("ts", &["timestamp"]), ("txn", &["transaction"]), ("typ", &["type"]), ("univ", &["university"]),
    ("uom", &["unit", "measure"]), ("upd", &["update"]), ("usr", &["user"]), ("util", &["utilization"]), ("val", &["value"]),
    ("veh", &["vehicle"]), ("vend", &["vendor"]), ("ver", &["version"]), ("vis", &["visit"]), ("vnd", &["vendor"]),
    ("vol", &["volume"]), ("wgt", &["weight"]), ("wh", &["warehouse"]), ("whs", &["warehouse"]), ("whse", &["warehouse"]),
    ("wk", &["week"]), ("wt", &["weight"]), ("xfer", &["transfer"]), ("yr", &["year"]), ("yrs", &["year"]),
    ("zip", &["postal"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_abbreviation_is_found() {
        assert!(ABBREVIATIONS.is_sorted_by(|a, b| a.0 < b.0));
        for (short, long) in ABBREVIATIONS {
            assert_eq!(expansions(short), *long);
        }
        assert!(expansions("customer").is_empty());
    }
}
