//! Words of general English that stand for each other in talk of business and of people: who asks for a teacher may mean a
//! table of instructors. No domain's own words; those are in its glossary and synonyms.

use super::words::words;

/// The stems a stem may also stand for, by rule of the language; empty for most.
#[must_use]
pub(crate) fn kindred(folded: &str) -> Vec<String> {
    let Some(at) = KINDRED.iter().position(|(forms, _)| forms.contains(&folded)) else { return Vec::new() };
    let related = KINDRED.get(at).map_or("", |(_, related)| related);
    words(related).into_iter().map(|word| word.stem).collect()
}

/// Forms of a word, and what they may stand for.
#[rustfmt::skip]
const KINDRED: &[(&[&str], &str)] = &[
    (&["revenue", "revenues", "turnover"], "sale order payment amount"),
    (&["income", "incomes"], "salary revenue payment"),
    (&["sell", "sells", "sold", "selling", "sale", "sales"], "sale sell order"),
    (&["buy", "buys", "bought", "buying"], "order purchase sale transaction"),
    (&["purchase", "purchases", "purchased"], "order sale"),
    (&["spend", "spends", "spent", "spending"], "order payment amount"),
    (&["order", "orders", "ordered"], "purchase"),
    (&["pay", "pays", "paid", "paying"], "payment"),
    (&["earn", "earns", "earned", "earning"], "salary payment"),
    (&["client", "clients", "buyer", "buyers", "shopper", "shoppers"], "customer"),
    (&["customer", "customers"], "client user"),
    (&["user", "users"], "customer account"),
    (&["employee", "employees"], "staff worker person"),
    (&["staff", "worker", "workers"], "employee"),
    (&["teacher", "teachers", "lecturer", "lecturers"], "instructor professor faculty"),
    (&["instructor", "instructors"], "teacher professor"),
    (&["professor", "professors"], "instructor faculty teacher"),
    (&["faculty"], "instructor professor"),
    (&["teach", "teaches", "taught", "teaching"], "instructor course class"),
    (&["student", "students"], "pupil learner"),
    (&["pupil", "pupils", "learner", "learners"], "student"),
    (&["enroll", "enrolled", "enrol", "enrolling"], "registration enrollment student"),
    (&["grade", "grades"], "score mark enrollment"),
    (&["course", "courses"], "class subject"),
    (&["class", "classes"], "course"),
    (&["doctor", "doctors"], "physician provider"),
    (&["physician", "physicians"], "doctor provider"),
    (&["film", "films"], "movie"),
    (&["movie", "movies"], "film"),
    (&["song", "songs"], "track"),
    (&["company", "companies", "firm", "firms"], "organization business"),
    (&["organization", "organizations", "organisation", "organisations"], "company institution"),
    (&["business", "businesses"], "company"),
    (&["store", "stores"], "shop branch"),
    (&["shop", "shops"], "store"),
    (&["product", "products"], "item"),
    (&["item", "items", "goods"], "product"),
    (&["article", "articles", "paper", "papers"], "publication"),
    (&["publish", "published", "publishes"], "publication"),
    (&["write", "writes", "wrote", "written", "writing"], "author writes writer"),
    (&["cite", "cites", "cited"], "citation"),
    (&["review", "reviews", "reviewed"], "rating feedback"),
    (&["rating", "ratings", "rated", "rate"], "review score"),
    (&["power", "powers"], "ability"),
    (&["ability", "abilities"], "power"),
    (&["nation", "nations"], "country"),
    (&["country", "countries"], "nation"),
    (&["town", "towns"], "city"),
    (&["speak", "speaks", "spoken", "spoke"], "language"),
    (&["live", "lives", "living", "lived"], "address city residence"),
    (&["vehicle", "vehicles", "automobile", "automobiles"], "car vehicle"),
    (&["car", "cars"], "vehicle"),
    (&["signup", "signups", "sign", "signed", "register", "registered", "join", "joined"], "registration join signup"),
    (&["hire", "hires", "hired"], "employee"),
    (&["manage", "manages", "managed"], "manager"),
    (&["supervise", "supervises", "supervised"], "manager advisor"),
    (&["advise", "advises", "advised"], "advisor"),
    (&["ship", "ships", "shipped", "shipping"], "shipment delivery"),
    (&["deliver", "delivers", "delivered"], "delivery shipment"),
    (&["refund", "refunds", "refunded"], "return"),
    (&["stock", "stocks"], "inventory ticker"),
    (&["share", "shares"], "stock"),
    (&["trade", "trades", "traded"], "transaction"),
    (&["price", "prices"], "cost"),
    (&["cost", "costs"], "price expense"),
    (&["bill", "bills"], "invoice"),
    (&["invoice", "invoices"], "bill"),
    (&["book", "books"], "title"),
    (&["borrow", "borrows", "borrowed"], "loan checkout"),
    (&["lend", "lends", "lent"], "loan"),
    (&["male", "males", "female", "females", "men", "women"], "gender sex"),
    (&["fast", "faster", "fastest", "slow", "slower", "slowest"], "speed duration time"),
    (&["tall", "taller", "tallest", "shorter", "shortest"], "height length"),
    (&["heavy", "heavier", "heaviest", "lighter", "lightest"], "weight"),
    (&["older", "oldest", "young", "younger", "youngest"], "age birth"),
    (&["cheap", "cheaper", "cheapest", "expensive"], "price cost"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_form_stands_once() {
        let forms: Vec<&str> = KINDRED.iter().flat_map(|(forms, _)| forms.iter().copied()).collect();
        assert_eq!(forms.iter().collect::<BTreeSet<_>>().len(), forms.len());
        assert!(kindred("taught").contains(&"instructor".to_owned()));
        assert!(kindred("hinge").is_empty());
        // What is old, short or light is many a thing; what is older, shorter or lighter is measured.
        for (broad, measured) in [("old", "older"), ("short", "shorter"), ("light", "lighter")] {
            assert!(kindred(broad).is_empty() && !kindred(measured).is_empty(), "{broad}");
        }
    }
}
