//! The class of a column: guessed from name, type and comment, set by people.

use airlock_types::catalogue::{Column, Relation, TypeFamily};
use serde::{Deserialize, Serialize};

use crate::index::words::{name_parts, words};

/// What kind of values a column holds, as far as it matters who may see them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnClass {
    /// Nothing speaks against showing a few values.
    #[default]
    Plain,
    /// Money.
    Amount,
    /// Tells something about a person.
    Personal,
    /// Opens something.
    Secret,
}

impl ColumnClass {
    /// Every class by its word.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("plain", Self::Plain),
        ("amount", Self::Amount),
        ("personal", Self::Personal),
        ("secret", Self::Secret),
    ];

    /// The word on every surface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Amount => "amount",
            Self::Personal => "personal",
            Self::Secret => "secret",
        }
    }

    /// What a column most likely is. In doubt between two, the one that shows less.
    #[must_use]
    pub fn guess(relation: &Relation, column: &Column) -> Self {
        Self::guess_with_reason(relation, column).0
    }

    /// The same, with what spoke for it: `name`, `type` or `comment`.
    #[must_use]
    pub fn guess_with_reason(relation: &Relation, column: &Column) -> (Self, &'static str) {
        // A truth value tells little by itself, whatever it is about: `email_verified`.
        if column.family == TypeFamily::Boolean {
            return (Self::Plain, "type");
        }
        let parts: Vec<String> = name_parts(&column.name).into_iter().map(|part| part.folded).collect();
        let name = Name { parts: parts.iter().map(String::as_str).collect() };
        let comment: Vec<String> = words(column.comment.as_deref().unwrap_or_default())
            .into_iter()
            .map(|word| word.folded)
            .collect();
        let comment = Name { parts: comment.iter().map(String::as_str).collect() };
        if is_secret(column, &name) {
            (Self::Secret, "name")
        } else if !is_dated(column) && comment.any(&["password", "secret"]) {
            (Self::Secret, "comment")
        } else if is_personal(relation, column, &name) {
            (Self::Personal, "name")
        } else if is_said_to_be_personal(column, &comment) {
            (Self::Personal, "comment")
        } else if column.type_name.name == "money" {
            (Self::Amount, "type")
        } else if is_amount(column, &name) {
            (Self::Amount, "name")
        } else {
            (Self::Plain, "name")
        }
    }
}

/// The parts of a name, or the words of a comment.
struct Name<'a> {
    parts: Vec<&'a str>,
}

impl Name<'_> {
    fn any(&self, words: &[&str]) -> bool {
        self.parts.iter().any(|part| words.contains(part))
    }

    /// Whether one word follows another.
    fn pair(&self, first: &[&str], second: &[&str]) -> bool {
        self.parts.windows(2).any(|pair| match pair {
            [a, b] => first.contains(a) && second.contains(b),
            _ => false,
        })
    }

    fn ends_with(&self, words: &[&str]) -> bool {
        self.parts.last().is_some_and(|last| words.contains(last))
    }

    fn is(&self, words: &[&str]) -> bool {
        self.parts.len() == 1 && self.any(words)
    }

    fn mentions_person(&self) -> bool {
        self.parts.iter().any(|part| {
            let singular = part.strip_suffix('s').unwrap_or(part);
            PERSONS.contains(part) || PERSONS.contains(&singular)
        })
    }
}

#[rustfmt::skip]
const SECRETS: &[&str] = &[
    "password", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "token", "tokens", "apikey", "otp", "totp", "cvv", "cvc",
    "credential", "credentials", "salt",
];

#[rustfmt::skip]
const PERSONAL: &[&str] = &[
    "email", "mail", "phone", "phoneno", "mobile", "mob", "tel", "telephone", "cell", "cellphone", "fax", "whatsapp", "address", "addr",
    "street", "postcode", "postal", "zip", "zipcode", "pincode", "dob", "birth", "birthday", "birthdate", "gender", "sex", "ssn",
    "passport", "aadhaar", "religion", "ethnicity", "marital", "iban", "username", "firstname", "lastname", "fullname", "surname",
    "fname", "lname", "nickname", "biometric", "diagnosis", "signature",
];

#[rustfmt::skip]
const PERSONS: &[&str] = &[
    "customer", "cust", "client", "employee", "emp", "staff", "person", "people", "user", "usr", "patient", "student", "teacher",
    "professor", "instructor", "member", "contact", "guest", "doctor", "physician", "driver", "owner", "manager", "mgr", "agent",
    "technician", "operator", "worker", "applicant", "candidate", "passenger", "tenant", "subscriber", "beneficiary", "visitor",
    "cashier", "salesperson", "seller", "buyer", "holder", "resident", "citizen", "father", "mother", "spouse", "guardian",
];

#[rustfmt::skip]
const AMOUNTS: &[&str] = &[
    "amount", "amt", "price", "prc", "cost", "total", "subtotal", "salary", "wage", "wages", "pay", "payroll", "balance", "bal", "revenue",
    "fee", "fees", "tax", "vat", "gst", "discount", "payment", "paid", "charge", "charges", "margin", "profit", "commission", "bonus",
    "credit", "debit", "income", "expense", "expenses", "budget", "turnover", "mrp", "msrp", "premium", "deposit", "refund", "rent",
    "gross", "net",
];

/// Last parts that make a number a count, a share or a reference and not money.
#[rustfmt::skip]
const NO_AMOUNT: &[&str] = &[
    "id", "no", "num", "number", "nbr", "code", "count", "cnt", "qty", "quantity", "pct", "percent", "percentage", "rate", "ratio",
    "days", "hours", "months", "years", "type", "status", "flag", "rank", "score", "units", "items", "stars", "votes", "points",
    "weight", "kg", "volume", "length",
];

/// Last parts that make a text about a thing and not the thing: `address_type`, `mail_id` apart.
const ABOUT: &[&str] =
    &["id", "type", "status", "flag", "count", "kind", "verified", "format", "template", "provider"];

fn is_secret(column: &Column, name: &Name<'_>) -> bool {
    // `password_changed_at`, `token_type`: about a secret, not one.
    if is_dated(column) || name.ends_with(ABOUT) && !name.pair(&["session"], &["id"]) {
        return false;
    }
    name.any(SECRETS)
        || name.is(&["pass", "pin"])
        || name.pair(&["auth", "recovery", "activation", "verification", "reset", "backup"], &["code", "codes"])
        || name.pair(&["license", "licence"], &["key", "keys"])
        // Elsewhere than in a text it is the number of a lesson.
        || column.family == TypeFamily::Text && name.pair(&["session"], &["id"])
        || name
            .pair(&["api", "private", "access", "encryption", "signing", "secret", "auth"], &["key", "keys"])
        || name.pair(&["security"], &["answer", "code"])
}

/// Whether a column holds a moment. Few of them say anything about a person.
fn is_dated(column: &Column) -> bool {
    matches!(column.family, TypeFamily::Date | TypeFamily::Timestamp)
}

fn is_said_to_be_personal(column: &Column, comment: &Name<'_>) -> bool {
    if is_dated(column) {
        return comment.any(&["birth", "birthday"]);
    }
    comment.any(&["email", "phone", "telephone", "birth", "birthday", "pii", "gdpr"])
        || comment.pair(&["personal"], &["data", "information"])
}

fn is_personal(relation: &Relation, column: &Column, name: &Name<'_>) -> bool {
    if is_dated(column) {
        return name.any(&["dob", "birth", "birthday", "birthdate"]);
    }
    if name.pair(
        &["national", "tax", "social", "passport", "licence", "license", "insurance"],
        &["id", "no", "number", "security"],
    ) || name.pair(&["card", "account", "iban", "pan"], &["no", "num", "number", "nbr"])
        || name.pair(&["bank"], &["account"])
        || name.pair(&["post"], &["code"])
        || name.pair(&["driver", "drivers"], &["license", "licence"])
        || name.pair(&["blood"], &["group", "type"])
        || name.pair(&["marital"], &["status"])
        || name.is(&["ip", "login"])
        || name.pair(&["mail", "email"], &["id"])
    {
        return true;
    }
    if name.any(PERSONAL) && !name.ends_with(ABOUT) {
        return true;
    }
    if column.family != TypeFamily::Text {
        return false;
    }
    let named = name.ends_with(&["name", "nm", "names"]);
    let of_person =
        name.mentions_person() || name.any(&["first", "last", "middle", "full", "family", "given", "maiden"]);
    let table = name_parts(&relation.table.name);
    let table = Name { parts: table.iter().map(|part| part.folded.as_str()).collect() };
    (named && of_person)
        || (name.is(&["name", "nm"]) && table.mentions_person())
        // `sales_person`, `technician`: the person itself, written out.
        || (name.mentions_person() && name.parts.last().is_some_and(|last| PERSONS.contains(last)))
}

fn is_amount(column: &Column, name: &Name<'_>) -> bool {
    const VALUED: &[&str] =
        &["loan", "invoice", "order", "contract", "asset", "book", "market", "face", "deal", "stock"];
    column.family == TypeFamily::Number
        && (name.any(AMOUNTS) || name.pair(VALUED, &["value", "val"]))
        && !name.ends_with(NO_AMOUNT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// Names as they are met in the wild, by the class a careful person would give them.
    #[rustfmt::skip]
    const NAMES: &[(&str, ColumnClass, &[&str])] = &[
        ("text", ColumnClass::Personal, &[
            "customers.name", "orders.custName", "staff.first_name", "staff.LastName", "t.email", "t.e_mail", "t.eMailAddress", "t.contact_email",
            "t.phone", "t.phone_no", "t.mobile_number", "t.home_tel", "t.ship_addr1", "t.billing_address", "t.street", "t.zip", "t.post_code",
            "t.postcode", "t.card_number", "t.credit_card_no", "t.account_number", "t.bank_account", "t.iban", "t.ssn", "t.social_security_number",
            "t.passport_no", "t.national_id", "t.drivers_license", "t.licence_number", "t.tax_id", "t.aadhaar_no", "t.pan_no", "t.gender", "t.sex",
            "t.religion", "t.marital_status", "t.ethnicity", "t.username", "t.user_name", "t.login", "t.nickname", "t.sales_person",
            "t.technician", "t.emergency_contact", "t.contact_name", "patients.name", "t.patient_name", "t.maiden_name", "t.father_name",
            "t.ip_address", "t.ip", "t.mac_address", "t.blood_group", "t.diagnosis", "t.signature",
        ]),
        ("date", ColumnClass::Personal, &["staff.dob", "t.birth_date", "t.date_of_birth", "t.birthday"]),
        ("integer", ColumnClass::Personal, &["t.birth_year", "t.year_of_birth", "t.phone"]),
        ("text", ColumnClass::Secret, &[
            "staff.password_hash", "staff.pwd", "t.passwd", "t.api_key", "t.apiKey", "t.secret", "t.client_secret", "t.access_token",
            "t.refreshToken", "t.private_key", "t.otp_code", "t.cvv", "t.pin", "t.salt", "t.session_token", "t.webhook_secret",
            "t.encryption_key", "t.security_answer", "t.recovery_code", "t.session_id", "t.auth_code", "t.activation_code", "t.license_key",
        ]),
        ("numeric(12,2)", ColumnClass::Amount, &[
            "t.total_amt", "t.unit_price", "t.salary", "t.base_pay", "t.balance", "t.revenue", "t.fee", "t.vat", "t.discount", "t.net_total",
            "t.gross", "t.net", "t.commission", "t.annual_income", "t.cost_price", "t.opening_bal", "t.amount_due", "t.paid_amount", "t.turnover",
            "t.mrp", "t.wage", "t.loan_value", "t.invoice_value", "t.price_eur", "t.usd_total",
        ]),
        ("money", ColumnClass::Amount, &["t.m", "t.anything"]),
        ("numeric(12,2)", ColumnClass::Plain, &[
            "t.discount_pct", "t.tax_rate", "t.qty", "t.weight_kg", "t.total_hours", "t.score", "t.total_count", "t.length", "t.ratio",
        ]),
        ("integer", ColumnClass::Plain, &[
            "orders.cust_id", "t.customer_no", "t.quantity", "t.total_units", "t.year", "t.status", "t.payment_id", "t.page", "t.image_count",
        ]),
        ("text", ColumnClass::Plain, &[
            "products.name", "products.prod_name", "t.city", "t.country", "t.status", "t.key", "t.sort_key", "t.address_type", "t.price_list",
            "t.category", "t.title", "t.file_name", "t.brand_name", "t.department_name", "t.course_name", "t.product_code", "t.currency",
            "t.payment_method", "t.email_template", "t.token_type", "t.color", "t.language", "t.author_type", "t.event_name", "t.table_name",
            "t.mailing_list", "t.cell_type", "t.login_count",
        ]),
        ("timestamp with time zone", ColumnClass::Plain, &["t.created_at", "t.password_changed_at", "t.last_login", "t.email_sent_at"]),
        ("boolean", ColumnClass::Plain, &["t.email_verified", "t.is_secret", "t.has_password"]),
    ];

    #[test]
    fn classes_are_guessed_from_name_and_type() {
        let mut wrong = Vec::new();
        for (sql_type, want, names) in NAMES {
            for column in *names {
                let (table, name) = column.split_once('.').unwrap();
                let made = testing::column(name, sql_type);
                let got = ColumnClass::guess(&testing::relation(table, vec![made.clone()]), &made);
                if got != *want {
                    wrong.push(format!("{column} {sql_type}: {got:?}, wanted {want:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_comment_and_a_type_speak_too() {
        use ColumnClass::{Amount, Personal, Plain, Secret};
        for (sql_type, comment, want) in [
            ("text", "phone of the buyer", (Personal, "comment")),
            ("text", "personal data", (Personal, "comment")),
            ("text", "hash of the password", (Secret, "comment")),
            ("date", "birthday, as the member gave it", (Personal, "comment")),
            ("date", "when the email was sent", (Plain, "name")),
            ("money", "", (Amount, "type")),
            ("boolean", "whether there is a secret", (Plain, "type")),
        ] {
            let mut made = testing::column("x1", sql_type);
            made.comment = (!comment.is_empty()).then(|| comment.to_owned());
            let relation = testing::relation("t", vec![made.clone()]);
            assert_eq!(ColumnClass::guess_with_reason(&relation, &made), want, "{sql_type} {comment}");
        }
    }

    #[test]
    fn the_word_of_a_class_is_the_same_everywhere() {
        for (word, class) in ColumnClass::WORDS {
            assert_eq!(class.as_str(), word);
            assert_eq!(serde_json::to_value(class).unwrap(), word);
        }
    }
}
