//! `report.html`: one file without anything from elsewhere. Whatever a question, a model or a database wrote is text in it and
//! never markup.

use std::fmt::Write as _;

use airlock_knowledge::pack::GoldenOutcome;
use airlock_pipeline::golden::Verdict;
use airlock_types::Mode;

use super::{dollars, milliseconds, share};
use crate::folder::Manifest;
use crate::questions::Asked;
use crate::record::{Kind, Record};
use crate::summary::{Group, ModeSummary, Summary, pair};

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// The page of a run.
pub(super) fn page(
    manifest: &Manifest,
    summary: &Summary,
    questions: &[Asked],
    records: &[Record],
) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\"><title>{run}</title><style>{STYLE}</style></head><body>\n<h1>{run}</h1>\n",
        run = text(&manifest.run)
    );
    about(&mut out, manifest, summary);
    numbers(&mut out, summary);
    for (title, groups) in
        [("Category", &summary.categories), ("Set", &summary.sets), ("Domain", &summary.domains)]
    {
        group_table(&mut out, title, groups);
    }
    let graded = pair(questions, records);
    filters(&mut out, &graded);
    out.push_str("<main id=\"asks\">\n");
    for (asked, record) in &graded {
        ask(&mut out, asked, record);
    }
    let _ = write!(out, "</main>\n<script>{SCRIPT}</script>\n</body></html>\n");
    out
}

/// A text as it may stand between tags and in attributes.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

fn about(out: &mut String, manifest: &Manifest, summary: &Summary) {
    let models: Vec<String> =
        manifest.models.iter().map(|used| format!("{} {}", used.role, used.model)).collect();
    let components: Vec<String> = manifest
        .components
        .iter()
        .map(|used| format!("{} {} {}", used.stage, used.component, used.digest.short()))
        .collect();
    let domains: Vec<String> =
        manifest.domains.iter().map(|used| format!("{} ({})", used.name, used.pack.short())).collect();
    let left_out: Vec<&str> = [
        ("samples", manifest.degrade.samples),
        ("keys", manifest.degrade.keys),
        ("notes", manifest.degrade.notes),
    ]
    .into_iter()
    .filter_map(|(word, out)| out.then_some(word))
    .collect();
    out.push_str("<dl class=\"about\">");
    for (title, value) in [
        ("Begun", manifest.begun.clone()),
        ("Version", manifest.airlock.clone()),
        ("Questions", format!("{} from {}", summary.questions, manifest.questions.from)),
        ("Missing", if summary.missing > 0 { summary.missing.to_string() } else { String::new() }),
        ("Asked at", manifest.now.clone()),
        ("Models", if models.is_empty() { "none".to_owned() } else { models.join(", ") }),
        ("Left out", left_out.join(", ")),
        ("Graded again from", manifest.regrade_of.clone().unwrap_or_default()),
        ("Domains", domains.join(", ")),
        ("Components", components.join(", ")),
    ] {
        if !value.is_empty() {
            let _ = write!(out, "<dt>{title}</dt><dd>{}</dd>", text(&value));
        }
    }
    out.push_str("</dl>\n");
}

fn numbers(out: &mut String, summary: &Summary) {
    let modes: Vec<(&str, &ModeSummary)> = [("agent", &summary.agent), ("baseline", &summary.baseline)]
        .into_iter()
        .filter_map(|(name, mode)| Some((name, mode.as_ref()?)))
        .collect();
    out.push_str("<table><tr><th></th>");
    for (name, _) in &modes {
        let _ = write!(out, "<th>{name}</th>");
    }
    out.push_str("</tr>");
    let mut line = |title: &str, cell: &dyn Fn(&ModeSummary) -> String| {
        let _ = write!(out, "<tr><th>{title}</th>");
        for (_, mode) in &modes {
            let _ = write!(out, "<td>{}</td>", text(&cell(mode)));
        }
        out.push_str("</tr>");
    };
    line("answerable, right", &|mode| share(&mode.answerable));
    line("to refuse, refused", &|mode| share(&mode.refusals));
    line("unclear, asked back", &|mode| share(&mode.clarifications));
    line("answerable, refused", &|mode| share(&mode.false_refusals));
    line("healed and broken by repair", &|mode| format!("{} and {}", mode.healed, mode.broken));
    line("perhaps presentation alone", &|mode| mode.presentation.to_string());
    line("undecided; infrastructure", &|mode| format!("{}; {}", mode.undecided, mode.infrastructure));
    line("tokens in, out; cost", &|mode| {
        format!("{}, {}; {}", mode.tokens.input, mode.tokens.output, dollars(mode.cost))
    });
    line("latency, median and 95th", &|mode| {
        format!("{} and {}", milliseconds(mode.latency_ms.median), milliseconds(mode.latency_ms.p95))
    });
    out.push_str("</table>\n");
    if let Some(says) = &summary.says {
        let _ = writeln!(out, "<p>{}</p>", text(says));
    }
}

fn group_table(out: &mut String, title: &str, groups: &[Group]) {
    if groups.len() < 2 {
        return;
    }
    let _ = write!(
        out,
        "<details><summary>By {}</summary><table><tr><th>{title}</th><th>questions</th><th>agent</th>\
         <th>baseline</th></tr>",
        title.to_lowercase()
    );
    for group in groups {
        let of = |side: &Option<_>| side.as_ref().map(share).unwrap_or_default();
        let _ = write!(
            out,
            "<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td></tr>",
            text(&group.name),
            group.questions,
            of(&group.agent),
            of(&group.baseline)
        );
    }
    out.push_str("</table></details>\n");
}

fn filters(out: &mut String, graded: &[(&Asked, &Record)]) {
    out.push_str("<form id=\"filters\" onsubmit=\"return false\"><input type=\"search\" id=\"words\" placeholder=\"words\">");
    let mut choice = |name: &str, of: &dyn Fn(&Asked, &Record) -> String| {
        let mut values: Vec<String> = graded.iter().map(|(asked, record)| of(asked, record)).collect();
        values.sort();
        values.dedup();
        values.retain(|value| !value.is_empty());
        if values.len() < 2 {
            return;
        }
        let _ = write!(
            out,
            "<select data-filter=\"{name}\" aria-label=\"{name}\"><option value=\"\">any {name}</option>"
        );
        for value in values {
            let _ = write!(out, "<option>{}</option>", text(&value));
        }
        out.push_str("</select>");
    };
    choice("mode", &|_, record| mode(record).to_owned());
    choice("kind", &|asked, record| record.kind(asked.case.case.outcome).says().to_owned());
    choice("category", &|asked, _| asked.case.category.clone().unwrap_or_default());
    choice("set", &|asked, _| asked.case.set.clone().unwrap_or_default());
    choice("domain", &|asked, _| asked.domain.to_string());
    out.push_str("<label><input type=\"checkbox\" id=\"failures\" checked> only what is not right</label><output id=\"count\"></output></form>\n");
}

const fn mode(record: &Record) -> &'static str {
    match record.mode {
        Mode::Agent => "agent",
        Mode::Baseline => "baseline",
    }
}

fn ask(out: &mut String, asked: &Asked, record: &Record) {
    let case = &asked.case.case;
    let kind = record.kind(case.outcome);
    let attribute = |value: &Option<String>| text(value.as_deref().unwrap_or_default());
    let _ = write!(
        out,
        "<details class=\"ask {class}\" data-mode=\"{mode}\" data-kind=\"{says}\" data-category=\"{category}\" \
         data-set=\"{set}\" data-domain=\"{domain}\"><summary><b>{says}</b> <i>{mode}</i> <code>{id}</code> \
         {question}</summary>",
        class = match kind {
            Kind::Right => "right",
            Kind::Undecided | Kind::Infrastructure | Kind::Presentation => "open",
            _ => "wrong",
        },
        mode = mode(record),
        says = kind.says(),
        category = attribute(&asked.case.category),
        set = attribute(&asked.case.set),
        domain = asked.domain,
        id = text(&record.id),
        question = text(case.question.as_str()),
    );
    if let Some(why) = record.verdict.why() {
        let _ = write!(out, "<p>{}</p>", text(why));
    }
    if let Some(what) = &record.presentation {
        let _ = write!(out, "<p>The results agree but for {}.</p>", text(what));
    }
    if let Some(reason) = record.ended.as_ref().and_then(|ended| ended.reason.as_ref()) {
        let _ = write!(out, "<p>Said: {}</p>", text(reason));
    }
    if let Some(rule) = &asked.case.instructions {
        let _ = write!(out, "<p>The rule that belongs to it: {}</p>", text(rule));
    }
    for (at, attempt) in record.history.iter().enumerate() {
        let failed = attempt.error_type.map(airlock_types::ErrorType::as_str);
        let _ = write!(
            out,
            "<h4>Attempt {} by {}: {}</h4><pre>{}</pre>",
            at + 1,
            text(&attempt.origin),
            text(failed.unwrap_or("ran")),
            text(&attempt.sql)
        );
        for (title, said) in [("", &attempt.message), ("Hint: ", &attempt.hint)] {
            if let Some(said) = said {
                let _ = write!(out, "<p class=\"said\">{title}{}</p>", text(said));
            }
        }
    }
    if let Some(first) = &record.first {
        let word = match first {
            Verdict::Right => "right",
            _ => "not right",
        };
        let _ = write!(out, "<p>The first attempt was {word}.</p>");
    }
    match (&case.sql, case.outcome) {
        (Some(gold), _) => {
            let more = match case.accepted_sql.len() {
                0 => String::new(),
                more => format!(", and {more} more are accepted"),
            };
            let ordered = if case.ordered { ", in this order" } else { "" };
            let _ = write!(out, "<h4>Right{ordered}{more}</h4><pre>{}</pre>", text(&gold.value));
        }
        (None, GoldenOutcome::Clarification) => out.push_str("<h4>Right: asking back</h4>"),
        (None, _) => out.push_str("<h4>Right: refusing</h4>"),
    }
    let _ = writeln!(
        out,
        "<p class=\"said\">{} ms, {} and {} tokens{}</p></details>",
        record.latency_ms,
        record.tokens.input,
        record.tokens.output,
        record.ask_id.map(|id| format!(", ask {id}")).unwrap_or_default()
    );
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_others_wrote_is_never_markup() {
        assert_eq!(super::text("<b a=\"1\" c='2'>&"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
    }
}
