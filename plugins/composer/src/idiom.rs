//! Everyday turns of speech in the words that the grammar reads: `gave away` for `given`, `year by year` for `by year`.

use airlock_plugin_sdk::Clock;
use airlock_plugin_sdk::question::moments;
use airlock_plugin_sdk::question::stems;
use airlock_plugin_sdk::question::tokens::{Token, TokenKind, tokenize};

/// Fixed phrases and what they say; an empty text says nothing that a query could hold.
const PHRASES: &[(&[&str], &str)] = &[
    (&["right", "now"], "now"),
    (&["gave", "away"], "given"),
    (&["giving", "away"], "given"),
    (&["given", "away"], "given"),
    (&["year", "by", "year"], "by year"),
    (&["quarter", "by", "quarter"], "by quarter"),
    (&["month", "by", "month"], "by month"),
    (&["week", "by", "week"], "by week"),
    (&["day", "by", "day"], "by day"),
    (&["'", "ve"], " have"),
    (&["\u{2019}", "ve"], " have"),
    (&["leaving", "out"], "excluding"),
    (&["a", "single", "thing"], "anything"),
];

/// Adverbs that only stress what is said; beside a negation they may carry it: `not completely paid`.
const STRESS: &[&str] = &["actually", "really", "completely", "entirely"];

/// Vessels and measures that goods are counted in.
const UNITS: &[&str] = &[
    "tins", "bags", "boxes", "packets", "packs", "pieces", "bottles", "rolls", "cans", "cartons", "crates",
    "coils", "sheets", "sets", "units", "lengths", "kilos", "litres", "liters", "metres", "meters",
];

/// Words that the greatest comes first by, and the least.
const GREATEST: &[&str] =
    &["most", "highest", "dearest", "costliest", "priciest", "largest", "biggest", "greatest", "best", "top"];
const LEAST: &[&str] = &["least", "lowest", "cheapest", "smallest", "fewest", "worst", "bottom"];

/// A piece of the question and what is put for it.
struct Change {
    first: usize,
    end: usize,
    text: String,
}

/// The question in plainer words, and what was put for what.
pub fn plain(question: &str, clock: &Clock) -> (String, Vec<String>) {
    let mut text = question.to_owned();
    let mut told = Vec::new();
    // One change may make room for the next; each makes the question plainer, so they end.
    for _ in 0..8 {
        let tokens = tokenize(&text);
        let said = Said { tokens: &tokens, text: &text, clock };
        let Some(change) = said.change() else { break };
        let (Some(first), Some(last)) =
            (tokens.get(change.first), change.end.checked_sub(1).and_then(|at| tokens.get(at)))
        else {
            break;
        };
        let (start, end) = (first.start, last.end.max(first.start));
        let before = text.get(start..end).unwrap_or_default().trim().to_owned();
        if !change.text.trim().is_empty() && before.chars().any(char::is_alphanumeric) {
            told.push(format!("`{before}` was read as `{}`.", change.text.trim()));
        }
        text.replace_range(start..end, &change.text);
    }
    (text.split_whitespace().collect::<Vec<_>>().join(" "), told)
}

struct Said<'a> {
    tokens: &'a [Token],
    text: &'a str,
    clock: &'a Clock,
}

impl Said<'_> {
    fn change(&self) -> Option<Change> {
        (0..self.tokens.len()).find_map(|at| {
            self.phrase(at)
                .or_else(|| self.stress(at))
                .or_else(|| self.so_far(at))
                .or_else(|| self.first_again(at))
                .or_else(|| self.week_before(at))
                .or_else(|| self.aged(at))
                .or_else(|| self.course(at))
                .or_else(|| self.in_hand(at))
                .or_else(|| self.paid_out(at))
                .or_else(|| self.worth(at))
                .or_else(|| self.changed(at))
                .or_else(|| self.more_or_less(at))
                .or_else(|| self.part_of_what(at))
        })
    }

    fn word(&self, at: usize) -> &str {
        self.tokens
            .get(at)
            .filter(|token| token.kind != TokenKind::Quoted)
            .map_or("", |token| token.lower.as_str())
    }

    fn is(&self, at: usize, words: &[&str]) -> bool {
        words.contains(&self.word(at))
    }

    fn follows(&self, at: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(step, word)| self.word(at + step) == *word)
    }

    /// The words from one token to before another, as they were written.
    fn between(&self, first: usize, end: usize) -> String {
        let (Some(start), Some(stop)) =
            (self.tokens.get(first), end.checked_sub(1).and_then(|at| self.tokens.get(at)))
        else {
            return String::new();
        };
        self.text.get(start.start..stop.end).unwrap_or_default().to_owned()
    }

    fn find(&self, from: usize, words: &[&str]) -> Option<usize> {
        (from..self.tokens.len()).find(|at| self.is(*at, words))
    }

    /// The end of the sentence that a token stands in.
    fn stop(&self, at: usize) -> usize {
        self.find(at, &[".", "?", "!", ";"]).unwrap_or(self.tokens.len())
    }

    fn phrase(&self, at: usize) -> Option<Change> {
        let (words, text) = PHRASES.iter().find(|(words, _)| self.follows(at, words))?;
        Some(Change { first: at, end: at + words.len(), text: (*text).into() })
    }

    fn stress(&self, at: usize) -> Option<Change> {
        let denied = |token: &Token| {
            token.lower.ends_with("n't") || matches!(token.lower.as_str(), "not" | "never" | "no")
        };
        let plain = self.is(at, STRESS) && !self.tokens.iter().any(denied);
        plain.then(|| Change { first: at, end: at + 1, text: String::new() })
    }

    /// `units stolen so far`: until now, which is all there is; `this year so far` is a time.
    fn so_far(&self, at: usize) -> Option<Change> {
        let step = |at: usize| self.is(at, &["day", "week", "month", "quarter", "year"]);
        let timed = at.checked_sub(1).is_some_and(step) || self.is(at + 2, &["this", "in", "for"]);
        (self.follows(at, &["so", "far"]) && !timed).then(|| Change {
            first: at,
            end: at + 2,
            text: String::new(),
        })
    }

    /// `our five costliest products, dearest first`: said twice; alone it is an order.
    fn first_again(&self, at: usize) -> Option<Change> {
        let (same, order) = if self.is(at, GREATEST) {
            (GREATEST, "highest first")
        } else if self.is(at, LEAST) {
            (LEAST, "lowest first")
        } else {
            return None;
        };
        if self.word(at + 1) != "first" {
            return None;
        }
        let comma = at.checked_sub(1).filter(|before| self.word(*before) == ",");
        let first = comma.unwrap_or(at);
        if (0..first).any(|before| self.is(before, same)) {
            return Some(Change { first, end: at + 2, text: String::new() });
        }
        let known = self.is(at, &["highest", "lowest"]);
        (!known).then(|| Change { first: at, end: at + 2, text: order.into() })
    }

    /// `last week … the week before it`.
    fn week_before(&self, at: usize) -> Option<Change> {
        let unit = self.word(at + 1);
        let known = matches!(unit, "day" | "week" | "month" | "quarter" | "year");
        if self.word(at) != "the" || !known || self.word(at + 2) != "before" {
            return None;
        }
        let last = (0..at).any(|before| self.word(before) == "last" && self.word(before + 1) == unit);
        let end = if self.is(at + 3, &["it", "that"]) { at + 4 } else { at + 3 };
        let whole = self.tokens.get(end).is_none_or(|token| token.kind == TokenKind::Mark);
        (last && whole).then(|| Change { first: at, end, text: format!("2 {unit}s ago") })
    }

    /// `bills more than 45 days old`: those of before a day. Ages of people are told in years.
    fn aged(&self, at: usize) -> Option<Change> {
        let (number, older) = if self.follows(at, &["more", "than"]) || self.follows(at, &["over"]) {
            (if self.word(at) == "over" { at + 1 } else { at + 2 }, false)
        } else if self.follows(at, &["older", "than"]) {
            (at + 2, true)
        } else {
            return None;
        };
        let count =
            stems::number(self.word(number)).filter(|count| count.fract() == 0.0 && *count < 5_000.0)?;
        let days = match self.word(number + 1) {
            "day" | "days" => 1,
            "week" | "weeks" => 7,
            _ => return None,
        };
        let end = match (older, self.word(number + 2)) {
            (_, "old") => number + 3,
            (true, _) => number + 2,
            _ => return None,
        };
        let day = moments::today(self.clock).add_days(-(count as i64) * days);
        Some(Change { first: at, end, text: format!("before {day}") })
    }

    /// `how has our turnover gone by year`.
    fn course(&self, at: usize) -> Option<Change> {
        let asks = self.word(at) == "how" && self.is(at + 1, &["has", "have", "did"]);
        let verb = ["gone", "developed", "moved", "changed", "evolved", "done", "go", "develop", "change"];
        let stop = self.stop(at);
        let place = self.find(at + 2, &verb).filter(|place| asks && *place < stop && *place > at + 2)?;
        let step = |at: usize| {
            self.word(at) == "by" && self.is(at + 1, &["day", "week", "month", "quarter", "year"])
        };
        let stepped = (place + 1..stop).any(step)
            || (at..stop).any(|at| self.is(at, &["yearly", "monthly", "weekly", "daily", "quarterly"]));
        stepped.then(|| Change { first: at, end: place + 1, text: self.between(at + 2, place) })
    }

    /// `how many tins of X do we have on the shelf`: what is in stock of it, in its own unit.
    fn in_hand(&self, at: usize) -> Option<Change> {
        if !self.follows(at, &["how", "many"]) && !self.follows(at, &["how", "much"]) {
            return None;
        }
        let counted = self.is(at + 2, UNITS) && self.word(at + 3) == "of";
        let start = if counted {
            at + 4
        } else if self.word(at + 2) == "of" {
            at + 3
        } else {
            at + 2
        };
        let held = (start + 1..self.tokens.len()).find(|at| {
            self.follows(*at, &["do", "we", "have"]) || self.follows(*at, &["have", "we", "got"])
        })?;
        let ends: &[&[&str]] = &[
            &["on", "the", "shelf"],
            &["on", "the", "shelves"],
            &["on", "hand"],
            &["in", "stock"],
            &["left", "in", "stock"],
        ];
        let end = ends.iter().find(|words| self.follows(held + 3, words))?;
        let end = held + 3 + end.len();
        let end = if self.follows(end, &["right", "now"]) { end + 2 } else { end };
        let end = if self.word(end) == "now" { end + 1 } else { end };
        let thing = self.between(start, held);
        counted.then(|| Change { first: at, end, text: format!("total stock of {thing}") })
    }

    /// `what do we pay out in salaries`.
    fn paid_out(&self, at: usize) -> Option<Change> {
        let asks = (self.word(at) == "what" || self.follows(at, &["how", "much"]))
            && (at..at + 6).any(|at| self.is(at, &["do", "did", "does"]));
        let verb = self.find(at, &["pay", "spend"]).filter(|verb| asks && *verb <= at + 4)?;
        let after = if self.word(verb + 1) == "out" { verb + 2 } else { verb + 1 };
        let noun = after + 1;
        let plain = self.tokens.get(noun).is_some_and(|token| token.kind == TokenKind::Word);
        (self.is(after, &["in", "on"]) && plain).then(|| Change {
            first: at,
            end: noun,
            text: "total".into(),
        })
    }

    /// `what did the stock we received cost us`, `what is the stock in each category worth`.
    fn worth(&self, at: usize) -> Option<Change> {
        if self.word(at) != "what" {
            return None;
        }
        let stop = self.stop(at);
        let (from, verb) = match self.word(at + 1) {
            "did" => (at + 2, "cost"),
            "is" | "was" => (at + 2, "worth"),
            _ => return None,
        };
        let end = stop - usize::from(stop > 0 && self.is(stop - 1, &["us"]));
        let last = end.checked_sub(1)?;
        // A thing and what is said of it: of a thing alone one price is asked.
        let clause = (from..last).any(|at| self.is(at, &["we", "each", "every", "all"]));
        (self.word(last) == verb && last > from + 1 && clause).then(|| Change {
            first: at,
            end: stop,
            text: if verb == "worth" {
                format!("value of {}", self.between(from, last))
            } else {
                format!("cost of {}", self.between(from, last))
            },
        })
    }

    /// `by what percentage was revenue in October up or down on September`.
    fn changed(&self, at: usize) -> Option<Change> {
        let asks = self.word(at) == "by"
            && self.is(at + 1, &["what", "how"])
            && (at + 2..at + 5).any(|at| self.is(at, &["percentage", "percent"]));
        if !asks {
            return None;
        }
        let verb =
            self.find(at + 2, &["was", "is", "were", "are", "did", "has"]).filter(|verb| *verb <= at + 5)?;
        let stop = self.stop(at);
        let ways = ["up", "down", "higher", "lower", "more", "less"];
        let way = self.find(verb + 1, &ways).filter(|way| *way < stop && self.word(way + 1) == "or")?;
        let against = (way + 3..=way + 4)
            .find(|at| self.is(*at, &["on", "from", "than", "over", "against", "with", "to"]))?;
        let (first, second) = (self.between(verb + 1, way), self.between(against + 1, stop));
        (!first.is_empty() && !second.is_empty()).then(|| Change {
            first: at,
            end: stop,
            text: format!("compare {first} with {second}"),
        })
    }

    /// `how many units more or less did we sell last week than in the week before`.
    fn more_or_less(&self, at: usize) -> Option<Change> {
        if self.word(at) != "how" || !self.is(at + 1, &["many", "much"]) {
            return None;
        }
        let ways = ["more", "less", "fewer", "up", "down"];
        let way = self.find(at + 2, &ways).filter(|way| *way <= at + 4 && self.word(way + 1) == "or")?;
        let stop = self.stop(at);
        let did = way + 3;
        let done = match self.word(did + 2) {
            "sell" => "sold",
            "receive" => "received",
            "collect" => "collected",
            "buy" => "bought",
            _ => return None,
        };
        let than = self.find(did, &["than"]).filter(|than| *than < stop)?;
        let subject = self.between(at + 2, way);
        let (first, second) = (self.between(did + 3, than), self.between(than + 1, stop));
        let second = second.strip_prefix("in ").unwrap_or(&second).to_owned();
        let known = self.word(did) == "did" && !first.is_empty() && !second.is_empty();
        known.then(|| Change {
            first: at,
            end: stop,
            text: format!("compare {subject} {done} {first} with {second}"),
        })
    }

    /// `how much of what customers owe us is on bills before May`.
    fn part_of_what(&self, at: usize) -> Option<Change> {
        if !self.follows(at, &["how", "much", "of", "what"]) {
            return None;
        }
        let is = self
            .find(at + 4, &["is", "was", "are"])
            .filter(|is| self.is(is + 1, &["on", "from", "in", "for"]))?;
        Some(Change { first: at, end: is + 1, text: format!("how much {}", self.between(at + 4, is)) })
    }
}

#[cfg(test)]
mod tests {
    use airlock_plugin_sdk::harness::clock;

    use super::plain;

    #[test]
    fn turns_of_speech_become_plain() {
        for (said, want) in [
            ("What discount did we give?", "What discount did we give?"),
            ("Total discount gave away in 2025", "Total discount given in 2025"),
            ("The five costliest rooms, dearest first", "The five costliest rooms"),
            ("Rooms by price, dearest first", "Rooms by price, highest first"),
            ("Rooms that are not completely paid", "Rooms that are not completely paid"),
            ("Units lost so far by ward", "Units lost by ward"),
            ("Average stay this year so far", "Average stay this year so far"),
            ("loans more than 3 weeks old", "loans before 2026-07-30"),
            ("patients older than 60 years", "patients older than 60 years"),
            ("How has our income gone month by month since May?", "our income by month since May?"),
            ("How has the roof gone?", "How has the roof gone?"),
            ("How many bags of Flour do we have in stock right now?", "total stock of Flour?"),
            ("How many bags of Flour did we sell?", "How many bags of Flour did we sell?"),
            ("What do we spend on wages?", "total wages?"),
            (
                "By what percentage was income in May up or down on April?",
                "compare income in May with April?",
            ),
            (
                "How many units more or less did we sell last week than in the week before it?",
                "compare units sold last week with 2 weeks ago?",
            ),
            ("How much of what clients owe is on loans from May?", "how much clients owe on loans from May?"),
            ("all the loans we've made", "all the loans we have made"),
            ("tasks called \"right now\"", "tasks called \"right now\""),
        ] {
            assert_eq!(plain(said, &clock("2026-08-20")).0, want, "{said}");
        }
    }
}
