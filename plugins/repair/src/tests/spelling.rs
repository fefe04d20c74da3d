//! Values that the data spells otherwise, several in one text.

use airlock_plugin_sdk::Attribute;
use airlock_plugin_sdk::contract::sql::{ComparedLiteral, Facts};

use super::*;

#[test]
fn every_misspelt_value_is_put_right_at_once() {
    let told = |column: &str, literal: &str, spellings: &[&str]| {
        let spellings: Vec<String> = spellings.iter().map(|text| format!("\"{text}\"")).collect();
        Attribute {
            key: "misspelt".into(),
            value: format!(
                r#"{{"schema":"public","table":"bills","column":"{column}","literal":"{literal}","spellings":[{}]}}"#,
                spellings.join(",")
            ),
        }
    };
    let sql = "SELECT 1 FROM bills WHERE status IN ('paid', 'opne', 'void', 'odd') AND city = 'pune'";
    let mut input = input("empty_result", "no row", sql);
    input.attributes = vec![
        told("status", "paid", &["PAID"]),
        told("status", "opne", &["OPEN"]),
        // Two would do, none is there, and what cannot be read.
        told("status", "void", &["VOID", "Void"]),
        told("status", "odd", &[]),
        Attribute { key: "misspelt".into(), value: "{".into() },
        told("city", "pune", &["Pune"]),
    ];
    match run(&shop(), &input) {
        RepairStep::Rewrite(Rewrite { sql, change, reason }) => {
            assert_eq!(
                sql,
                "SELECT 1 FROM bills WHERE status IN ('PAID', 'OPEN', 'void', 'odd') AND city = 'Pune'"
            );
            assert_eq!(change, "'paid' is now 'PAID'. 'opne' is now 'OPEN'. 'pune' is now 'Pune'.");
            assert!(reason.contains("bills.city has no value 'pune' as the query compares it"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    // Which of two is meant is for a model, who is told all that is known, and without one for nobody.
    input.attributes.truncate(3);
    input.attributes.drain(..2);
    match run(&shop(), &input) {
        RepairStep::Stop(stop) => assert!(stop.reason.contains("Which one is meant"), "{}", stop.reason),
        other => panic!("{other:?}"),
    }
    input.attributes.push(told("city", "pune", &["Pune", "PUNE"]));
    input.model_available = true;
    match run(&shop(), &input) {
        RepairStep::Regenerate(Regenerate { instructions }) => {
            for part in ["bills.status has 'VOID', 'Void'", "bills.city has 'Pune', 'PUNE'"] {
                assert!(instructions.contains(part), "{instructions}");
            }
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_value_in_an_array_is_put_right_in_its_place() {
    let sql = "SELECT 1 FROM bills WHERE city = ANY('{pune,\"new delhi\",Sinnar}')";
    let at = |part: &str| {
        let start = sql.find(part).unwrap() as u32;
        (start, start + part.len() as u32)
    };
    let city = ColumnRef { table: table_ref("bills"), column: "city".into() };
    let compared = |literal: &str, part: &str| {
        let (start, end) = at(part);
        ComparedLiteral { column: city.clone(), operator: "=".into(), literal: literal.into(), start, end }
    };
    let facts = Facts {
        tables: vec![table_ref("bills")],
        columns: vec![city.clone()],
        functions: vec![],
        literals: vec![
            compared("pune", "pune"),
            compared("new delhi", "\"new delhi\""),
            compared("Sinnar", "Sinnar"),
        ],
    };
    let host = shop().verdict(sql, Ok(facts));
    let told = |literal: &str, spelling: &str| Attribute {
        key: "misspelt".into(),
        value: format!(
            r#"{{"schema":"public","table":"bills","column":"city","literal":"{literal}","spellings":["{spelling}"]}}"#
        ),
    };
    let mut input = input("empty_result", "no row", sql);
    input.attributes = vec![told("pune", "Pune, the city"), told("new delhi", "Delhi")];
    assert_eq!(
        rewritten(&host, &input).as_deref(),
        Some("SELECT 1 FROM bills WHERE city = ANY('{\"Pune, the city\",Delhi,Sinnar}')")
    );
}

#[test]
fn a_pattern_is_put_right_only_in_its_letters() {
    let told = |spelling: &str| Attribute {
        key: "misspelt".into(),
        value: format!(
            r#"{{"schema":"public","table":"bills","column":"city","literal":"%Pune%","spellings":["{spelling}"]}}"#
        ),
    };
    let sql = "SELECT 1 FROM bills WHERE lower(city) LIKE '%Pune%'";
    for (spelling, want) in
        [("%pune%", Some("SELECT 1 FROM bills WHERE lower(city) LIKE '%pune%'")), ("Pune", None)]
    {
        let mut input = input("empty_result", "no row", sql);
        input.attributes = vec![told(spelling)];
        assert_eq!(rewritten(&shop(), &input).as_deref(), want);
    }
}
