//! A table of a pack file, read field by field. What was asked for is what is known: `finish` reports every other key,
//! with the known key it may have been meant to be.

use std::collections::BTreeSet;

use airlock_types::text::{Place, find_hidden, shorten};

use super::limits;
use super::report::{Findings, Located, Spot, suggest};
use super::tree::{Entry, Kind, Node};

/// One table with the findings it reports to.
pub(crate) struct Section<'a> {
    /// Where the table stands.
    pub(crate) spot: Spot,
    /// What it is, such as `tables.bills`, for messages.
    name: String,
    entries: Vec<Entry>,
    asked: BTreeSet<&'static str>,
    present: BTreeSet<&'static str>,
    /// How a key and its value are written where this stands.
    notation: Notation,
    findings: &'a Findings,
}

/// What a file is written in.
#[derive(Clone, Copy)]
enum Notation {
    Toml,
    Json,
}

impl<'a> Section<'a> {
    /// The node as a table; anything else is a finding.
    pub(crate) fn of(node: Node, name: impl Into<String>, findings: &'a Findings) -> Option<Self> {
        let name = name.into();
        Self::with(node, name, Notation::Toml, findings)
            .map_err(|(spot, name, found)| {
                findings.add(&spot, format!("`{name}` is {}", found.what()), "write a table here");
            })
            .ok()
    }

    /// A line of JSON as an object; anything else is a finding.
    pub(crate) fn of_line(node: Node, findings: &'a Findings) -> Option<Self> {
        Self::with(node, String::new(), Notation::Json, findings)
            .map_err(|(spot, _, found)| {
                let what = format!("the line is {}, and an object is wanted", found.what());
                findings.add(&spot, what, "write one JSON object a line");
            })
            .ok()
    }

    fn with(
        node: Node,
        name: String,
        notation: Notation,
        findings: &'a Findings,
    ) -> Result<Self, (Spot, String, Kind)> {
        let Kind::Table(entries) = node.kind else { return Err((node.spot, name, node.kind)) };
        let (asked, present) = (BTreeSet::new(), BTreeSet::new());
        Ok(Self { spot: node.spot, name, entries, asked, present, notation, findings })
    }

    fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn take(&mut self, key: &'static str) -> Option<Node> {
        self.asked.insert(key);
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        let entry = self.entries.remove(index);
        self.present.insert(key);
        // A table header is where its key stands; a scalar is on its own line.
        Some(Node { spot: entry.spot, kind: entry.node.kind })
    }

    fn wrong(&self, spot: &Spot, key: &str, found: &Kind, wanted: &str) {
        let what = match (self.notation, found) {
            (Notation::Json, Kind::Table(_)) => "an object",
            _ => found.what(),
        };
        self.findings.add(spot, format!("`{}` is {what}", self.path(key)), format!("write {wanted}"));
    }

    /// Reports something about this table.
    pub(crate) fn report(&self, spot: &Spot, what: impl Into<String>, remedy: impl Into<String>) {
        self.findings.add(spot, what, remedy);
    }

    /// Reports a key that must be there and is not. One that is there and wrong has its own finding already.
    pub(crate) fn need<T>(&self, value: Option<T>, key: &'static str, example: &str) -> Option<T> {
        if value.is_none() && !self.present.contains(key) {
            let written = match self.notation {
                Notation::Toml => format!("{key} = {example}"),
                Notation::Json => format!("\"{key}\": {example}"),
            };
            let missing = format!("`{}` is missing", self.path(key));
            self.findings.add(&self.spot, missing, format!("add it: {written}"));
        }
        value
    }

    /// Whether a key that was asked for is there, right or wrong.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.present.contains(key)
    }

    /// A text of at most `limit` characters, trimmed, not empty, nothing hidden in it.
    pub(crate) fn text(&mut self, key: &'static str, limit: usize) -> Option<Located<String>> {
        let node = self.take(key)?;
        self.text_of(node, key, limit, Place::Prose)
    }

    /// The same where null and the empty text say that there is none, as corpora write it.
    pub(crate) fn text_if_any(&mut self, key: &'static str, limit: usize) -> Option<Located<String>> {
        let node = self.take(key)?;
        match &node.kind {
            Kind::Other("null") => None,
            Kind::Text(text) if text.trim().is_empty() => None,
            _ => self.text_of(node, key, limit, Place::Prose),
        }
    }

    /// A name: a text in which no invisible character is spelling.
    pub(crate) fn name(&mut self, key: &'static str, limit: usize) -> Option<Located<String>> {
        let node = self.take(key)?;
        self.text_of(node, key, limit, Place::Identifier)
    }

    fn text_of(&self, node: Node, key: &str, limit: usize, place: Place) -> Option<Located<String>> {
        let Kind::Text(text) = node.kind else {
            self.wrong(&node.spot, key, &node.kind, "a text in quotes");
            return None;
        };
        check_text(&text, &self.path(key), limit, place, &node.spot, self.findings)
            .then(|| Located { value: text.trim().to_owned(), spot: node.spot })
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, key: &'static str) -> Option<bool> {
        let node = self.take(key)?;
        match node.kind {
            Kind::Flag(flag) => Some(flag),
            other => {
                self.wrong(&node.spot, key, &other, "true or false, without quotes");
                None
            }
        }
    }

    /// A whole number within bounds.
    pub(crate) fn integer(&mut self, key: &'static str, low: i64, high: i64) -> Option<Located<i64>> {
        let node = self.take(key)?;
        match node.kind {
            Kind::Integer(value) if (low..=high).contains(&value) => Some(Located { value, spot: node.spot }),
            Kind::Integer(value) => {
                let path = self.path(key);
                self.findings.add(&node.spot, format!("`{path}` is {value}"), format!("use {low} to {high}"));
                None
            }
            other => {
                self.wrong(&node.spot, key, &other, "a whole number, without quotes");
                None
            }
        }
    }

    /// One of a few words, as the value it stands for.
    pub(crate) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
    ) -> Option<Located<T>> {
        let text = self.name(key, limits::NAME)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text.value) {
            return Some(Located { value: *value, spot: text.spot });
        }
        self.findings.add(
            &text.spot,
            format!("`{}` is `{}`", self.path(key), shorten(&text.value, 60)),
            suggest(&text.value, words.iter().map(|(word, _)| *word)),
        );
        None
    }

    /// A list of texts, each of at most `limit` characters; equal ones are a finding. Absent: empty.
    pub(crate) fn texts(&mut self, key: &'static str, limit: usize, most: usize) -> Vec<Located<String>> {
        let texts = self.list(key, limit, most, Place::Prose, false);
        self.without_repeats(key, texts, str::to_lowercase)
    }

    /// A list of texts that may repeat. Absent: empty.
    pub(crate) fn texts_as_written(
        &mut self,
        key: &'static str,
        limit: usize,
        most: usize,
    ) -> Vec<Located<String>> {
        self.list(key, limit, most, Place::Prose, false)
    }

    /// A list of names; one name alone may be written without the brackets. Absent: empty.
    pub(crate) fn names(&mut self, key: &'static str, limit: usize, most: usize) -> Vec<Located<String>> {
        let names = self.list(key, limit, most, Place::Identifier, true);
        // PostgreSQL tells `Orders` from `orders`.
        self.without_repeats(key, names, str::to_owned)
    }

    fn list(
        &mut self,
        key: &'static str,
        limit: usize,
        most: usize,
        place: Place,
        bare: bool,
    ) -> Vec<Located<String>> {
        let Some(node) = self.take(key) else { return Vec::new() };
        let items = match node.kind {
            Kind::List(items) => items,
            Kind::Text(_) if bare => vec![Node { spot: node.spot.clone(), kind: node.kind }],
            other => {
                self.wrong(&node.spot, key, &other, "a list of texts, such as [\"a\", \"b\"]");
                return Vec::new();
            }
        };
        self.cap(&node.spot, key, items.len(), most);
        items.into_iter().take(most).filter_map(|item| self.text_of(item, key, limit, place)).collect()
    }

    fn without_repeats(
        &self,
        key: &str,
        items: Vec<Located<String>>,
        same: fn(&str) -> String,
    ) -> Vec<Located<String>> {
        let mut seen = BTreeSet::new();
        let (kept, repeated): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|item| seen.insert(same(&item.value)));
        for item in repeated {
            let what = format!("`{}` lists `{}` twice", self.path(key), shorten(&item.value, 60));
            self.findings.add(&item.spot, what, "write it once");
        }
        kept
    }

    fn cap(&self, spot: &Spot, key: &str, count: usize, most: usize) {
        if count > most {
            let what = format!("`{}` has {count} entries", self.path(key));
            self.findings.add(spot, what, format!("at most {most}"));
        }
    }

    /// A table inside this one.
    pub(crate) fn section(&mut self, key: &'static str) -> Option<Section<'a>> {
        let node = self.take(key)?;
        Section::of(node, self.path(key), self.findings)
    }

    /// A list of tables: `[[key]]`.
    pub(crate) fn sections(&mut self, key: &'static str, most: usize) -> Vec<Section<'a>> {
        let Some(node) = self.take(key) else { return Vec::new() };
        let Kind::List(items) = node.kind else {
            self.wrong(
                &node.spot,
                key,
                &node.kind,
                &format!("a list of tables, each under [[{}]]", self.path(key)),
            );
            return Vec::new();
        };
        self.cap(&node.spot, key, items.len(), most);
        let path = self.path(key);
        items
            .into_iter()
            .take(most)
            .filter_map(|item| Section::of(item, path.clone(), self.findings))
            .collect()
    }

    /// A table whose keys are names of things, each holding a table.
    pub(crate) fn named(&mut self, key: &'static str, most: usize) -> Vec<(Located<String>, Section<'a>)> {
        let Some(node) = self.take(key) else { return Vec::new() };
        let Kind::Table(entries) = node.kind else {
            self.wrong(&node.spot, key, &node.kind, "a table");
            return Vec::new();
        };
        self.cap(&node.spot, key, entries.len(), most);
        let path = self.path(key);
        entries
            .into_iter()
            .take(most)
            .filter_map(|entry| {
                let name = format!("{path}.{}", shorten(&entry.key, 60));
                let fine = check_text(
                    &entry.key,
                    &name,
                    limits::REFERENCE,
                    Place::Identifier,
                    &entry.spot,
                    self.findings,
                );
                let node = Node { spot: entry.spot.clone(), kind: entry.node.kind };
                let section = Section::of(node, name, self.findings)?;
                fine.then_some((Located { value: entry.key, spot: entry.spot }, section))
            })
            .collect()
    }

    /// Reports every key that nobody asked for.
    pub(crate) fn finish(self) {
        for entry in &self.entries {
            let place = if self.name.is_empty() { String::new() } else { format!(" of `{}`", self.name) };
            self.findings.add(
                &entry.spot,
                format!("unknown key `{}`{place}", shorten(&entry.key, 60)),
                suggest(&entry.key, self.asked.iter().copied()),
            );
        }
    }
}

/// Whether a text may stand here: not empty, not too long, nothing hidden in it. What is wrong is reported.
pub(crate) fn check_text(
    text: &str,
    path: &str,
    limit: usize,
    place: Place,
    spot: &Spot,
    findings: &Findings,
) -> bool {
    if text.trim().is_empty() {
        findings.add(spot, format!("`{path}` is empty"), "write something or remove the key");
        return false;
    }
    let length = text.chars().count();
    if length > limit {
        findings.add(spot, format!("`{path}` has {length} characters"), format!("at most {limit}"));
        return false;
    }
    if let Some(found) = find_hidden(text, place) {
        findings.add(spot, format!("`{path}` holds a {found}"), "type the text again without it");
        return false;
    }
    true
}
