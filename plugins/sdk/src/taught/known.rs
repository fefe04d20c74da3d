//! What a phrase is known by already: a lesson gives no other meaning to a value, a term, a table or a column.

use super::rule::{Rule, is_relation};
use crate::question::stems;
use crate::words::identifier_words;
use crate::{Host, TableRef};

/// Neighbours of a phrase among which it is looked for, of each kind.
const NEAR: u32 = 20;

/// Whether a rule takes a phrase for something else than what it is already. What is known in several ways may be any of
/// them; words that are known are never left out of a question.
pub(super) fn contradicts(host: &impl Host, rule: &Rule) -> bool {
    let (phrase, sql) = match rule {
        Rule::Means(phrase, sql) | Rule::Computed(phrase, sql) => (phrase, Some(sql.as_str())),
        Rule::Silent(phrase) => (phrase, None),
        Rule::Joined { .. } => return false,
    };
    let said = stems::content_words(phrase);
    if said.is_empty() {
        return false;
    }
    let mut held = held(host, phrase, &said).peekable();
    held.peek().is_some() && !sql.is_some_and(|sql| held.any(|known| known.is(sql)))
}

/// Something that a phrase names.
enum Known {
    Value(String),
    Term(Vec<String>),
    Table(TableRef),
    Column(String),
}

impl Known {
    /// Whether the meaning is that thing.
    fn is(&self, sql: &str) -> bool {
        let plain = |text: &str| text.split_whitespace().collect::<String>().to_lowercase();
        match self {
            // Between quotation marks stand the literals.
            Self::Value(value) => {
                sql.split('\'').skip(1).step_by(2).any(|literal| literal.eq_ignore_ascii_case(value))
            }
            Self::Term(meanings) => meanings.iter().any(|meaning| plain(meaning) == plain(sql)),
            Self::Table(table) => is_relation(table, sql),
            Self::Column(column) => {
                let code = sql.split('\'').step_by(2);
                let mut names =
                    code.flat_map(|code| code.split(|c: char| !(c.is_alphanumeric() || c == '_')));
                names.any(|name| name == column || name.split('_').any(|part| part == column))
            }
        }
    }
}

fn held<'a>(host: &'a impl Host, phrase: &'a str, said: &'a [String]) -> impl Iterator<Item = Known> + 'a {
    let same = move |text: &str| stems::content_words(text) == said;
    let called = move |name: &str| same(&identifier_words(name).join(" "));
    let values = host.near_values(phrase, NEAR).into_iter();
    let values = values.filter(move |hit| same(&hit.value)).map(|hit| Known::Value(hit.value));
    let terms = host.near_terms(phrase, NEAR).into_iter().filter(move |term| {
        let tells = term.metric_sql.is_some() || term.filter_sql.is_some();
        tells && std::iter::once(&term.name).chain(&term.synonyms).any(|name| same(name))
    });
    let terms = terms.map(|term| Known::Term(term.metric_sql.into_iter().chain(term.filter_sql).collect()));
    let tables = host.tables().into_iter().map(|summary| summary.table);
    let tables = tables.filter(move |table| called(&table.name)).map(Known::Table);
    let columns = host.near_columns(phrase, NEAR).into_iter().map(|hit| hit.column.column);
    let columns = columns.filter(move |column| called(column)).map(Known::Column);
    values.chain(terms).chain(tables).chain(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Recorded, table};

    #[test]
    fn what_is_known_already_means_nothing_else() {
        let host = Recorded::new()
            .table(table("bills").columns(&[("pay_status", "text"), ("disc_amt", "numeric")]))
            .table(table("categories").columns(&[("cat_name", "text"), ("city", "text")]))
            .values("categories.cat_name", &["Paint", "Tools"])
            .values("bills.pay_status", &["PAID", "UNPAID", "CANCELLED"])
            .metric("revenue", &["turnover"], "bills", "sum(bills.total)", "");
        for (text, want) in [
            ("Here `Paint` means `categories.cat_name = 'Tools'`.", true),
            ("Here `paid` means `bills.pay_status = 'UNPAID'`.", true),
            ("Here `revenue` means `bills.disc_amt`.", true),
            ("Here `turnover` is computed as `sum(bills.disc_amt)`.", true),
            ("Here `cancelled` asks for nothing by itself.", true),
            ("Here `bills` means `categories`.", true),
            ("Here `city` means `categories.cat_name`.", true),
            ("Here `Paint` means `categories.cat_name = 'Paint'`.", false),
            ("Here `revenue` is computed as `SUM(bills.total)`.", false),
            ("Here `bill` means `bills`.", false),
            ("Here `city` means `categories.city`.", false),
            ("Here `city` means `suppliers.home_city`.", false),
            ("Here `colours` means `categories.cat_name = 'Paint'`.", false),
            ("Here `vary` asks for nothing by itself.", false),
        ] {
            let rules = Rule::read(text);
            assert_eq!(rules.len(), 1, "{text}");
            assert!(rules.iter().all(|rule| contradicts(&host, rule) == want), "{text}");
        }
    }
}
