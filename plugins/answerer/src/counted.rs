//! What the one number of a plain query is called: by what it counts or sums, and by the domain.

use std::collections::BTreeSet;

use airlock_plugin_sdk::contract::answerer::AnswerInput;
use airlock_plugin_sdk::contract::catalog::TableDetail;
use airlock_plugin_sdk::contract::retrieval::Term;
use airlock_plugin_sdk::question::stems::stem;
use airlock_plugin_sdk::{Host, TableRef, words};

use crate::given::{NEAR, stems_of};
use crate::query::{Ended, Measure, Plain, Query, Relation, name_stems};

/// A term of the domain, by its name or a synonym of it.
pub struct Called {
    /// Stems that must all be said.
    pub stems: BTreeSet<String>,
    /// What the term keeps to, which need not be said besides.
    pub filter: Option<Query>,
}

/// What the one number of a plain query is.
pub struct Counted {
    pub measure: Measure,
    /// The names of which one must be said, each with all of its stems.
    pub names: Vec<BTreeSet<String>>,
    /// The name that the query gives a sum: what money is summed stands nowhere else. Of anything else it is no evidence.
    pub label: BTreeSet<String>,
    /// Further words of the relation.
    pub relation: BTreeSet<String>,
    /// Terms that are computed as the query computes its number.
    pub terms: Vec<Called>,
}

impl Counted {
    /// Of the query of a result; none where the query is not plain, or it is not known of what its rows are.
    pub fn of(host: &impl Host, input: &AnswerInput, query: &Query, label: &str) -> Option<Self> {
        let plain = query.plain()?;
        let catalogue = Catalogue { host, input };
        let counts = matches!(plain.measure, Measure::Rows | Measure::Filled(_) | Measure::Distinct(_));
        let relation = catalogue.counted(plain, query)?;
        let detail = catalogue.detail(&relation.name);
        let mut names: Vec<BTreeSet<String>> = Vec::new();
        if counts {
            let each = match &plain.measure {
                // Every row is counted where each has a value, and where each has another one.
                Measure::Filled(column) => detail.as_ref().is_some_and(|detail| {
                    plain.relations.len() == 1
                        && detail.columns.iter().any(|known| known.name == *column && !known.nullable)
                }),
                Measure::Distinct(column) => {
                    detail.as_ref().is_some_and(|detail| detail.primary_key == [column.clone()])
                }
                _ => true,
            };
            if !each {
                return None;
            }
            let last = words::identifier_words(&relation.name).pop().unwrap_or_default();
            names.extend(name_stems(&last).map(|part| BTreeSet::from([part])));
            names.extend(detail.iter().flat_map(|detail| &detail.synonyms).map(|text| stems_of(text)));
        } else if let Measure::Sum(of)
        | Measure::Average(of)
        | Measure::End { of, .. }
        | Measure::Stored(of) = &plain.measure
        {
            names.extend(of.iter().map(|part| BTreeSet::from([part.clone()])));
            let read = |name: &str| name_stems(name).all(|part| of.contains(&part));
            let columns =
                detail.iter().flat_map(|detail| &detail.columns).filter(|column| read(&column.name));
            names.extend(columns.flat_map(|column| &column.synonyms).map(|text| stems_of(text)));
        }
        let terms = host
            .near_terms(&input.question, NEAR)
            .into_iter()
            .flat_map(|term| called(&term, &relation.name, plain, query));
        Some(Self {
            measure: plain.measure.clone(),
            names,
            label: if matches!(plain.measure, Measure::Sum(_)) { stems_of(label) } else { BTreeSet::new() },
            relation: name_stems(&relation.name).collect(),
            terms: terms.collect(),
        })
    }

    /// Whether rows are counted.
    pub fn counts(&self) -> bool {
        matches!(self.measure, Measure::Rows | Measure::Filled(_) | Measure::Distinct(_))
    }
}

/// A term by its name and its synonyms, where the query's number is what the term means; and where it has no measure, what it
/// keeps to.
fn called(term: &Term, relation: &str, plain: &Plain, query: &Query) -> Vec<Called> {
    let table = term.table.as_ref().map(|table| table.name.as_str());
    let filter = term.filter_sql.as_deref().map(Query::of_condition);
    let measured = match &term.metric_sql {
        Some(metric) => {
            let metric = Query::of(&format!("SELECT {metric} FROM {relation}"));
            table == Some(relation) && metric.plain().is_some_and(|metric| metric.measure == plain.measure)
        }
        None => filter.is_some(),
    };
    if !measured || !filter.as_ref().is_none_or(|filter| query.holds(filter)) {
        return Vec::new();
    }
    let names = std::iter::once(&term.name).chain(&term.synonyms);
    names
        .map(|name| Called {
            stems: stems_of(name),
            filter: term.filter_sql.as_deref().map(Query::of_condition),
        })
        .collect()
}

/// The host's catalogue, by names as a query has them.
struct Catalogue<'a, H> {
    host: &'a H,
    input: &'a AnswerInput,
}

impl<H: Host> Catalogue<'_, H> {
    fn detail(&self, name: &str) -> Option<TableDetail> {
        let near = self.host.near_tables(&self.input.question, NEAR).into_iter().map(|hit| hit.table);
        let near: Vec<TableRef> = near.filter(|table| table.name == name).collect();
        match near.as_slice() {
            [table] => self.host.describe(table),
            _ => {
                let all = self.host.tables().into_iter().map(|known| known.table);
                match all.filter(|table| table.name == name).collect::<Vec<_>>().as_slice() {
                    [table] => self.host.describe(table),
                    _ => None,
                }
            }
        }
    }

    /// The relation whose rows are those of the query, one by one: the others only describe them.
    fn counted<'p>(&self, plain: &'p Plain, query: &Query) -> Option<&'p Relation> {
        if let ([only], []) = (plain.relations.as_slice(), plain.links.as_slice()) {
            return Some(only);
        }
        plain.relations.iter().find(|relation| self.describes(relation, plain, query).unwrap_or_default())
    }

    /// Whether each row of a relation comes once: all joins lead from it to the one row that goes with it, which is there or which
    /// a condition asks for.
    fn describes(&self, counted: &Relation, plain: &Plain, query: &Query) -> Option<bool> {
        let details: Vec<(&Relation, TableDetail)> = plain
            .relations
            .iter()
            .map(|known| Some((known, self.detail(&known.name)?)))
            .collect::<Option<_>>()?;
        let side = |(qualifier, column): &Ended| -> Option<usize> {
            let has = |(relation, detail): &(&Relation, TableDetail)| match qualifier {
                Some(name) => relation.alias == *name,
                None => detail.columns.iter().any(|known| known.name == *column),
            };
            details.iter().position(has)
        };
        let mut reached = vec![details.iter().position(|(relation, _)| *relation == counted)?];
        let mut open: Vec<&[Ended; 2]> = plain.links.iter().collect();
        while !open.is_empty() {
            let leads = |from: &Ended, to: &Ended| -> Option<usize> {
                let (a, b) = (side(from)?, side(to)?);
                let ((_, one), (there, other)) = (details.get(a)?, details.get(b)?);
                let join = one.joins.iter().find(|join| {
                    join.from == one.summary.table
                        && join.to == other.summary.table
                        && join.from_columns == [from.1.clone()]
                        && join.to_columns == [to.1.clone()]
                })?;
                let wanted = !join.optional || query.asks_of(&there.alias);
                (reached.contains(&a) && !reached.contains(&b) && join.many_to_one && wanted).then_some(b)
            };
            let next = open
                .iter()
                .enumerate()
                .find_map(|(at, [a, b])| Some((at, leads(a, b).or_else(|| leads(b, a))?)));
            let Some((at, found)) = next else { return Some(false) };
            open.remove(at);
            reached.push(found);
        }
        Some(reached.len() == details.len())
    }
}

/// Stems of the words that say nothing of a column but that it tells whether something is so.
pub fn is_marker(part: &str) -> bool {
    ["is", "has", "flag", "was", "yn"].iter().any(|word| stem(word) == part)
}
