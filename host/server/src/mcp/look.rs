//! What can be asked about: domains, tables, one table, and what a model would be given for a question.

use airlock_knowledge::TableView;
use airlock_pipeline::Domain;
use airlock_pipeline::context::{Block, render};
use airlock_types::text::shorten;
use airlock_types::{AskRequest, RawAskRequest, TableRef};
use serde_json::{Value, json};

use super::arguments::{Arguments, wrong};
use super::call::{Call, Told};
use super::problem::ToolProblem;
use super::said::{Said, plain};
use super::tools::Tool;
use crate::service::describe;

/// Most tables of one list.
pub(super) const TABLES: u32 = 500;
/// Tables of a list when nobody says how many.
const TABLES_USUAL: u32 = 100;
/// Most characters of a table's purpose in a list.
const PURPOSE: usize = 300;
/// Names that an unknown table is told of.
const NEAR: usize = 5;

impl Call<'_> {
    pub(super) fn list_domains(&self, arguments: Arguments) -> Told {
        arguments.nothing_else(Tool::ListDomains.arguments())?;
        let mut text = String::new();
        let domains = self.domains().map(|domain| {
            let settings = domain.knowledge().settings();
            text.push_str(&format!("{}: {}. {}\n", domain.name(), settings.title, settings.description));
            json!({
                "domain": domain.name(), "title": settings.title, "description": settings.description,
                "tables": domain.knowledge().views().len(),
            })
        });
        let domains: Vec<Value> = domains.collect();
        Ok(Said { structured: json!({"domains": domains}), text })
    }

    pub(super) fn list_tables(&self, mut arguments: Arguments) -> Told {
        let domain = self.domain(&arguments.domain()?)?;
        let search = arguments.text("search")?.filter(|words| !words.trim().is_empty());
        let after = arguments.text("after")?;
        let limit = arguments.number("limit", TABLES)?.unwrap_or(TABLES_USUAL);
        arguments.nothing_else(Tool::ListTables.arguments())?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let knowledge = domain.knowledge();
        let mut views: Vec<&TableView> = match &search {
            Some(words) => {
                let hits = knowledge.tables(words, limit.saturating_add(1));
                hits.iter().filter_map(|hit| knowledge.view(&hit.table)).collect()
            }
            None => {
                let after = after.unwrap_or_default();
                let rest = knowledge.views().iter().filter(|view| view.table.to_string() > after);
                let mut rest: Vec<&TableView> = rest.collect();
                rest.sort_by_key(|view| view.table.to_string());
                rest
            }
        };
        let truncated = views.len() > limit;
        views.truncate(limit);
        let next = views.last().filter(|_| truncated && search.is_none()).map(|view| view.table.to_string());
        let mut text = format!("Tables of {}:\n", domain.name());
        for view in &views {
            let dead = if view.in_use { "" } else { " (not in use)" };
            let purpose = plain(&shorten(&view.description, PURPOSE));
            text.push_str(&format!("- {}{dead}: {purpose}\n", view.table));
        }
        match &next {
            Some(next) => text.push_str(&format!("(There are more: call again with after = {next}.)\n")),
            None if truncated => text.push_str("(There are more that are farther away.)\n"),
            None => {}
        }
        let tables: Vec<Value> = views
            .iter()
            .map(|view| {
                json!({
                    "table": view.table.to_string(), "kind": view.kind.as_str(),
                    "description": shorten(&view.description, PURPOSE), "in_use": view.in_use,
                    "row_estimate": view.row_estimate, "columns": view.columns.len(),
                })
            })
            .collect();
        let structured =
            json!({"domain": domain.name(), "tables": tables, "truncated": truncated, "next": next});
        Ok(Said { structured, text })
    }

    pub(super) fn describe_table(&self, mut arguments: Arguments) -> Told {
        let domain = self.domain(&arguments.domain()?)?;
        let name = arguments.needed_text("table", "name one of `list_tables`")?;
        arguments.nothing_else(Tool::DescribeTable.arguments())?;
        let view = view(&domain, &name)?;
        let mut structured = json!(describe::Table::of(&domain, view));
        if let Value::Object(fields) = &mut structured {
            fields.insert("domain".to_owned(), json!(domain.name()));
            fields.insert("table".to_owned(), view.table.to_string().into());
            fields.insert("warnings".to_owned(), self.drifted(&domain, &view.table).into());
        }
        let text = in_words(&domain, view, &self.drifted(&domain, &view.table));
        Ok(Said { structured, text })
    }

    pub(super) async fn get_query_context(&self, mut arguments: Arguments) -> Told {
        let domain = self.domain(&arguments.domain()?)?;
        let raw = RawAskRequest {
            question: arguments.raw_text("question")?,
            now: arguments.text("now")?,
            domain: Some(domain.name().to_string()),
            ..RawAskRequest::default()
        };
        arguments.nothing_else(Tool::GetQueryContext.arguments())?;
        let request = AskRequest::try_from(raw)?;
        let blocks = self.host().context(&request, &self.caller.asker).await?.blocks;
        let text = if blocks.is_empty() {
            "Nothing of this domain is near to the question; it may be unclear, or not answerable here."
                .to_owned()
        } else {
            render(&blocks)
        };
        let block =
            |block: &Block| json!({"kind": block.kind, "vouched_by": block.vouched_by, "text": block.text});
        let blocks: Vec<Value> = blocks.iter().map(block).collect();
        Ok(Said { structured: json!({"domain": domain.name(), "blocks": blocks}), text })
    }
}

/// The table that a name means, with or without its schema.
pub(super) fn view<'a>(domain: &'a Domain, name: &str) -> Result<&'a TableView, ToolProblem> {
    let knowledge = domain.knowledge();
    let found = match name.split_once('.') {
        Some((schema, table)) => knowledge.view(&TableRef::new(schema, table)),
        None => domain.catalogue().resolve(name).and_then(|relation| knowledge.view(&relation.table)),
    };
    if let Some(found) = found {
        return Ok(found);
    }
    let near: Vec<String> =
        knowledge.tables(name, NEAR).iter().map(|hit| format!("`{}`", hit.table)).collect();
    let remedy = match near.as_slice() {
        [] => "`list_tables` shows what there is".to_owned(),
        near => format!("near to it are {}", near.join(", ")),
    };
    let shown = shorten(&plain(name), 100);
    Err(wrong("table", format!("there is no table `{shown}` in {}; {remedy}", domain.name())))
}

/// A table as a person would have it described.
fn in_words(domain: &Domain, view: &TableView, warnings: &[String]) -> String {
    let mut text = format!("{} ({}): {}\n", view.table, view.kind.as_str(), plain(&view.description));
    if !view.in_use {
        text.push_str("It is not in use.\n");
    }
    if !view.not_for.is_empty() {
        text.push_str(&format!("Not for: {}\n", plain(&view.not_for)));
    }
    if !view.primary_key.is_empty() {
        text.push_str(&format!("Primary key: {}\n", view.primary_key.join(", ")));
    }
    for column in &view.columns {
        let null = if column.nullable { "" } else { ", never NULL" };
        text.push_str(&format!("- {} {}{null}", column.name, column.sql_type));
        if column.class.as_str() != "plain" {
            text.push_str(&format!(" [{}]", column.class.as_str()));
        }
        if !column.description.is_empty() {
            text.push_str(&format!(": {}", plain(&column.description)));
        }
        let values = if column.enum_labels.is_empty() { &column.samples } else { &column.enum_labels };
        if !values.is_empty() {
            let values: Vec<String> = values.iter().map(|value| format!("'{}'", plain(value))).collect();
            text.push_str(&format!(" Values: {}", values.join(", ")));
        }
        text.push('\n');
    }
    for join in domain.knowledge().joins_of(&view.table) {
        let pairs: Vec<String> = join
            .from_columns
            .iter()
            .zip(&join.to_columns)
            .map(|(from, to)| format!("{}.{from} = {}.{to}", join.from, join.to))
            .collect();
        let doubt = if join.verified() { "" } else { " (unverified)" };
        text.push_str(&format!("Join: {}{doubt}\n", pairs.join(" AND ")));
    }
    warnings.iter().for_each(|warning| text.push_str(&format!("Note: {warning}\n")));
    text
}
