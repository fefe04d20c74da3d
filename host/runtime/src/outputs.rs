//! The rule of every field that a stage returns.

use crate::bounds::{
    ANSWER_CHARS, ATTRIBUTE_VALUE, ATTRIBUTES, Bounded, BrokenRule, Field, INSTRUCTIONS, ITEMS, LESSONS,
    MANY, NAME, OPTIONS, PROMPT, SENTENCE, SQL, TEXT, WORD,
};
use crate::contract::answerer::{Answer, AnswerStep};
use crate::contract::catalog::Join;
use crate::contract::distill::{DistillStep, LessonCandidate};
use crate::contract::domain::{Canonical, Finding, Opinion};
use crate::contract::generator::{Draft, GenerateStep, Refusal};
use crate::contract::linker::{LinkStep, NoMatch, SelectedTable, Selection};
use crate::contract::model::{ModelRequest, ReplyShape};
use crate::contract::planner::{Clarification, Filter, Group, Measure, Order, Plan, PlanStep};
use crate::contract::repair::{RepairStep, Rewrite};
use crate::contract::types::{Attribute, StageError, TableRef, TimeRange};

type Checked = Result<(), BrokenRule>;

impl Bounded for Attribute {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("key").text(&self.key, WORD)?;
        at.at("value").raw(&self.value, ATTRIBUTE_VALUE)
    }
}

impl Bounded for StageError {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        match self {
            Self::BadInput(text) => at.at("bad-input").raw(text, SENTENCE),
            Self::Unsupported(text) => at.at("unsupported").raw(text, SENTENCE),
            Self::Internal(text) => at.at("internal").raw(text, SENTENCE),
        }
    }
}

impl Bounded for ModelRequest {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("role").text(&self.role, WORD)?;
        at.at("purpose").text(&self.purpose, WORD)?;
        at.at("instructions").raw(&self.instructions, INSTRUCTIONS)?;
        at.at("context").list(&self.context, ITEMS, |_, _| Ok(()))?;
        at.at("prompt").raw(&self.prompt, PROMPT)?;
        if let ReplyShape::Json(schema) = &self.reply {
            at.at("reply").raw(schema, INSTRUCTIONS)?;
        }
        at.at("attributes").records(&self.attributes, ATTRIBUTES)
    }
}

impl Bounded for TableRef {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("schema").text(&self.schema, NAME)?;
        at.at("name").text(&self.name, NAME)
    }
}

impl Bounded for TimeRange {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("label").text(&self.label, NAME)?;
        at.at("from").optional_text(self.from.as_ref(), WORD)?;
        at.at("until").optional_text(self.until.as_ref(), WORD)
    }
}

impl Bounded for Measure {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("function").text(&self.function, WORD)?;
        at.at("target").text(&self.target, NAME)
    }
}

impl Bounded for Filter {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("target").text(&self.target, NAME)?;
        at.at("operator").text(&self.operator, WORD)?;
        at.at("values").texts(&self.values, MANY, NAME)
    }
}

impl Bounded for Group {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("target").text(&self.target, NAME)?;
        at.at("grain").optional_text(self.grain.as_ref(), WORD)
    }
}

impl Bounded for Order {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("target").text(&self.target, NAME)
    }
}

impl Bounded for Plan {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("intent").text(&self.intent, WORD)?;
        at.at("steps").texts(&self.steps, ITEMS, SENTENCE)?;
        at.at("keywords").texts(&self.keywords, MANY, NAME)?;
        at.at("measures").records(&self.measures, ITEMS)?;
        at.at("filters").records(&self.filters, ITEMS)?;
        at.at("time").records(&self.time, ITEMS)?;
        at.at("grouping").records(&self.grouping, ITEMS)?;
        at.at("order").records(&self.order, ITEMS)?;
        at.at("assumptions").texts(&self.assumptions, ITEMS, SENTENCE)?;
        at.at("attributes").records(&self.attributes, ATTRIBUTES)
    }
}

impl Bounded for Clarification {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("question").text(&self.question, SENTENCE)?;
        let options = at.at("options");
        if self.options.len() < 2 {
            return options.broken("has fewer than two items, so there is nothing to choose");
        }
        options.texts(&self.options, OPTIONS, SENTENCE)
    }
}

impl Bounded for PlanStep {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        match self {
            Self::Ask(request) => request.bounded(&at.at("ask")),
            Self::Done(plan) => plan.bounded(&at.at("done")),
            Self::Unanswerable(why) => at.at("unanswerable").at("reason").text(&why.reason, SENTENCE),
            Self::Unclear(clarification) => clarification.bounded(&at.at("unclear")),
        }
    }
}

impl Bounded for SelectedTable {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        self.table.bounded(&at.at("table"))?;
        at.at("columns").texts(&self.columns, MANY, NAME)?;
        at.at("reason").text(&self.reason, SENTENCE)?;
        at.at("score").finite(self.score)
    }
}

impl Bounded for Join {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        self.from.bounded(&at.at("from"))?;
        at.at("from-columns").texts(&self.from_columns, ITEMS, NAME)?;
        self.to.bounded(&at.at("to"))?;
        at.at("to-columns").texts(&self.to_columns, ITEMS, NAME)?;
        at.at("origin").text(&self.origin, WORD)
    }
}

impl Bounded for Selection {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("tables").records(&self.tables, ITEMS)?;
        at.at("joins").records(&self.joins, ITEMS)?;
        at.at("attributes").records(&self.attributes, ATTRIBUTES)
    }
}

impl Bounded for NoMatch {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("reason").text(&self.reason, SENTENCE)?;
        at.at("unknown-words").texts(&self.unknown_words, ITEMS, NAME)
    }
}

impl Bounded for LinkStep {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        match self {
            Self::Ask(request) => request.bounded(&at.at("ask")),
            Self::Done(selection) => selection.bounded(&at.at("done")),
            Self::Nothing(why) => why.bounded(&at.at("nothing")),
        }
    }
}

impl Bounded for Draft {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("sql").raw(&self.sql, SQL)?;
        at.at("reasoning").text(&self.reasoning, TEXT)?;
        if !(0.0..=1.0).contains(&self.confidence) {
            return at.at("confidence").broken("is not between 0 and 1");
        }
        at.at("assumptions").texts(&self.assumptions, ITEMS, SENTENCE)?;
        at.at("used").texts(&self.used, ITEMS, NAME)?;
        at.at("attributes").records(&self.attributes, ATTRIBUTES)
    }
}

impl Bounded for Refusal {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("reason").text(&self.reason, SENTENCE)?;
        at.at("missing").texts(&self.missing, ITEMS, NAME)
    }
}

impl Bounded for GenerateStep {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        match self {
            Self::Ask(request) => request.bounded(&at.at("ask")),
            Self::Done(draft) => draft.bounded(&at.at("done")),
            Self::Refuse(refusal) => refusal.bounded(&at.at("refuse")),
        }
    }
}

impl Bounded for Rewrite {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("sql").raw(&self.sql, SQL)?;
        at.at("change").text(&self.change, SENTENCE)?;
        at.at("reason").text(&self.reason, SENTENCE)
    }
}

impl Bounded for RepairStep {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        match self {
            Self::Ask(request) => request.bounded(&at.at("ask")),
            Self::Rewrite(rewrite) => rewrite.bounded(&at.at("rewrite")),
            Self::Regenerate(again) => at.at("regenerate").at("instructions").raw(&again.instructions, TEXT),
            Self::Widen(wider) => at.at("widen").at("instructions").raw(&wider.instructions, TEXT),
            Self::Stop(stop) => at.at("stop").at("reason").text(&stop.reason, SENTENCE),
        }
    }
}

impl Bounded for Answer {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        let text = at.at("text");
        text.text(&self.text, ANSWER_CHARS * 4)?;
        let characters = self.text.chars().count();
        if characters > ANSWER_CHARS {
            return text.broken(format!("has {characters} characters, at most {ANSWER_CHARS} are allowed"));
        }
        at.at("attributes").records(&self.attributes, ATTRIBUTES)
    }
}

impl Bounded for AnswerStep {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        match self {
            Self::Ask(request) => request.bounded(&at.at("ask")),
            Self::Done(answer) => answer.bounded(&at.at("done")),
        }
    }
}

impl Bounded for LessonCandidate {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("kind").text(&self.kind, WORD)?;
        at.at("text").text(&self.text, TEXT)?;
        at.at("trigger").text(&self.trigger, SENTENCE)?;
        at.at("tags").texts(&self.tags, ITEMS, WORD)?;
        at.at("attributes").records(&self.attributes, ATTRIBUTES)
    }
}

impl Bounded for DistillStep {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        match self {
            Self::Ask(request) => request.bounded(&at.at("ask")),
            Self::Done(candidates) => at.at("done").records(candidates, LESSONS),
        }
    }
}

impl Bounded for Canonical {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("kind").text(&self.kind, WORD)?;
        at.at("matched").text(&self.matched, NAME)?;
        at.at("key").text(&self.key, NAME)
    }
}

impl Bounded for Finding {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        at.at("code").text(&self.code, WORD)?;
        at.at("message").text(&self.message, SENTENCE)?;
        at.at("hint").optional_text(self.hint.as_ref(), SENTENCE)
    }
}

impl Bounded for Opinion {
    fn bounded(&self, at: &Field<'_>) -> Checked {
        match self {
            Self::NoObjection => Ok(()),
            Self::Reject(why) => at.at("reject").text(why, SENTENCE),
        }
    }
}

macro_rules! bounded_lists {
    ($($record:ty),*) => {$(
        /// What a function of the domain adapter returns.
        impl Bounded for Vec<$record> {
            fn bounded(&self, at: &Field<'_>) -> Checked {
                at.records(self, ITEMS)
            }
        }
    )*};
}
bounded_lists!(Canonical, Finding, LessonCandidate);
