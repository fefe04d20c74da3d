//! What the words of a question mean in the SQL that is known to answer it.

use airlock_plugin_sdk::Clock;
use airlock_plugin_sdk::Host;
use airlock_plugin_sdk::contract::distill::LessonCandidate;
use airlock_plugin_sdk::contract::generator::GenerateInput;
use airlock_plugin_sdk::contract::linker::{SelectedTable, Selection};
use airlock_plugin_sdk::contract::planner::Plan;
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::taught::Rule;

use crate::lesson;
use crate::remembered::Remembered;
use crate::right::Right;
use crate::search::Search;

/// Explanations that are offered, the gate's replay finding out which holds.
const OFFERED: usize = 2;

/// Lessons under which the question is composed as it should be.
pub fn lessons(host: &impl Host, question: &str, clock: &Clock, sql: &str) -> Vec<LessonCandidate> {
    let host = Remembered::new(host);
    let Some(right) = Right::read(&host, sql) else { return Vec::new() };
    let input = input(question, clock, &right);
    let found = Search::new(&host, &input, &right).run();
    found.into_iter().take(OFFERED).map(|found| told(&found.rules, question)).collect()
}

fn told(rules: &[Rule], question: &str) -> LessonCandidate {
    let sentences: Vec<String> = rules.iter().map(Rule::to_string).collect();
    let phrases: Vec<&str> = rules.iter().filter_map(Rule::phrase).collect();
    let kind = if rules.iter().all(|rule| matches!(rule, Rule::Silent(_))) {
        "resolution-pattern"
    } else {
        "schema-map"
    };
    let joins = rules.iter().any(|rule| matches!(rule, Rule::Joined { .. }));
    // A join is wanted by questions about its tables, whatever their words.
    let trigger = if phrases.is_empty() || joins { stems_of(question) } else { phrases.join(", ") };
    lesson(kind, sentences.join(" "), trigger, Vec::new())
}

fn stems_of(question: &str) -> String {
    let words = question.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let kept = words.filter(|word| !word.is_empty() && !stems::is_function_word(&word.to_lowercase()));
    kept.take(12).collect::<Vec<_>>().join(" ")
}

fn input(question: &str, clock: &Clock, right: &Right) -> GenerateInput {
    let selected = right.tables.iter().map(|table| SelectedTable {
        table: table.clone(),
        columns: Vec::new(),
        reason: String::new(),
        score: 1.0,
    });
    let plan = Plan {
        intent: "data".into(),
        steps: Vec::new(),
        keywords: Vec::new(),
        measures: Vec::new(),
        filters: Vec::new(),
        time: Vec::new(),
        grouping: Vec::new(),
        order: Vec::new(),
        limit: None,
        assumptions: Vec::new(),
        attributes: Vec::new(),
    };
    GenerateInput {
        question: question.to_owned(),
        clock: clock.clone(),
        plan,
        selection: Selection { tables: selected.collect(), joins: Vec::new(), attributes: Vec::new() },
        context: Vec::new(),
        attempts: Vec::new(),
        instructions: None,
        prior: None,
        row_cap: 200,
        model_available: false,
        attributes: Vec::new(),
    }
}
