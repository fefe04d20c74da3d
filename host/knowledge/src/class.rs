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
        // A truth value tells little by itself, whatever it is about: `email_verified`.
        if column.family == TypeFamily::Boolean {
            return Self::Plain;
        }
        let parts: Vec<String> = name_parts(&column.name).into_iter().map(|part| part.folded).collect();
        let name = Name { parts: parts.iter().map(String::as_str).collect() };
        let comment: Vec<String> = words(column.comment.as_deref().unwrap_or_default())
            .into_iter()
            .map(|word| word.folded)
            .collect();
        let comment = Name { parts: comment.iter().map(String::as_str).collect() };
        if is_secret(&name) || comment.any(&["password", "secret"]) {
            Self::Secret
        } else if is_personal(relation, column, &name, &comment) {
            Self::Personal
        } else if is_amount(column, &name) {
            Self::Amount
        } else {
            Self::Plain
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
    "password", "passwd", "passphrase", "pwd", "secret", "secrets", "token", "tokens", "apikey", "otp", "totp", "cvv", "cvc",
    "credential", "credentials", "salt",
];

#[rustfmt::skip]
const PERSONAL: &[&str] = &[
    "email", "mail", "phone", "phoneno", "mobile", "mob", "tel", "telephone", "cell", "cellphone", "fax", "whatsapp", "address", "addr",
    "street", "postcode", "postal", "zip", "zipcode", "pincode", "dob", "birth", "birthday", "birthdate", "gender", "sex", "ssn",
    "passport", "aadhaar", "religion", "ethnicity", "marital", "iban", "username", "firstname", "lastname", "fullname", "surname",
    "fname", "lname", "nickname", "biometric",
];

#[rustfmt::skip]
const PERSONS: &[&str] = &[
    "customer", "cust", "client", "employee", "emp", "staff", "person", "people", "user", "usr", "patient", "student", "teacher",
    "professor", "instructor", "member", "contact", "guest", "doctor", "physician", "driver", "owner", "manager", "mgr", "agent",
    "technician", "operator", "worker", "applicant", "candidate", "passenger", "tenant", "subscriber", "beneficiary", "visitor",
    "cashier", "salesperson", "seller", "buyer", "holder", "resident", "citizen",
];

#[rustfmt::skip]
const AMOUNTS: &[&str] = &[
    "amount", "amt", "price", "prc", "cost", "total", "subtotal", "salary", "wage", "wages", "pay", "payroll", "balance", "bal", "revenue",
    "fee", "fees", "tax", "vat", "gst", "discount", "payment", "paid", "charge", "charges", "margin", "profit", "commission", "bonus",
    "credit", "debit", "income", "expense", "expenses", "budget", "turnover", "mrp", "msrp", "premium", "deposit", "refund", "rent",
];

/// Last parts that make a number a count, a share or a reference and not money.
#[rustfmt::skip]
const NO_AMOUNT: &[&str] = &[
    "id", "no", "num", "number", "nbr", "code", "count", "cnt", "qty", "quantity", "pct", "percent", "percentage", "rate", "ratio",
    "days", "hours", "months", "years", "type", "status", "flag", "rank", "score", "units", "items", "stars", "votes", "points",
];

/// Last parts that make a text about a thing and not the thing: `address_type`, `mail_id` apart.
const ABOUT: &[&str] =
    &["id", "type", "status", "flag", "count", "kind", "verified", "format", "template", "provider"];

fn is_secret(name: &Name<'_>) -> bool {
    name.any(SECRETS)
        || name.is(&["pass", "pin"])
        || name
            .pair(&["api", "private", "access", "encryption", "signing", "secret", "auth"], &["key", "keys"])
        || name.pair(&["security"], &["answer", "code"])
}

fn is_personal(relation: &Relation, column: &Column, name: &Name<'_>, comment: &Name<'_>) -> bool {
    let dated = matches!(column.family, TypeFamily::Date | TypeFamily::Timestamp);
    if dated {
        return name.any(&["dob", "birth", "birthday", "birthdate"]) || comment.any(&["birth", "birthday"]);
    }
    if comment.any(&["email", "phone", "telephone", "birth", "birthday", "pii", "gdpr"])
        || comment.pair(&["personal"], &["data", "information"])
    {
        return true;
    }
    if name.pair(
        &["national", "tax", "social", "passport", "licence", "license", "insurance"],
        &["id", "no", "number", "security"],
    ) || name.pair(&["card", "account", "iban"], &["no", "num", "number", "nbr"])
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
    if column.type_name.name == "money" {
        return true;
    }
    column.family == TypeFamily::Number && name.any(AMOUNTS) && !name.ends_with(NO_AMOUNT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn classes_are_guessed_from_name_type_and_comment() {
        use ColumnClass::{Amount, Personal, Plain, Secret};
        for (column, sql_type, comment, want) in [
            ("customers.name", "text", "", Personal),
            ("products.name", "text", "", Plain),
            ("products.prod_name", "text", "", Plain),
            ("orders.custName", "text", "", Personal),
            ("orders.cust_id", "integer", "", Plain),
            ("staff.first_name", "text", "", Personal),
            ("staff.dob", "date", "", Personal),
            ("staff.password_hash", "text", "", Secret),
            ("staff.pwd", "text", "", Secret),
            ("t.api_key", "text", "", Secret),
            ("t.key", "text", "", Plain),
            ("t.email", "text", "", Personal),
            ("t.email_verified", "boolean", "", Plain),
            ("t.address_type", "text", "", Plain),
            ("t.ship_addr1", "text", "", Personal),
            ("t.x1", "text", "phone of the buyer", Personal),
            ("t.x2", "text", "personal data", Personal),
            ("t.total_amt", "numeric(12,2)", "", Amount),
            ("t.unit_price", "double precision", "", Amount),
            ("t.price_list", "text", "", Plain),
            ("t.discount_pct", "numeric(5,2)", "", Plain),
            ("t.m", "money", "", Amount),
            ("t.qty", "integer", "", Plain),
            ("t.status", "text", "", Plain),
            ("t.created_at", "timestamp with time zone", "", Plain),
            ("t.card_number", "text", "", Personal),
            ("t.city", "text", "", Plain),
        ] {
            let (table, name) = column.split_once('.').unwrap();
            let mut made = testing::column(name, sql_type);
            made.comment = (!comment.is_empty()).then(|| comment.to_owned());
            let relation = testing::relation(table, vec![made.clone()]);
            assert_eq!(ColumnClass::guess(&relation, &made), want, "{column}");
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
