//! Documents cut into overlapping windows of five sentences, within their sections.

use crate::pack::Document;

/// Sentences of a window.
pub const SENTENCES: usize = 5;
/// Sentences from one window to the next: two are in both.
const STEP: usize = 3;
/// Most characters of a window.
const CHARACTERS: usize = 2_000;
/// Most windows of a domain.
pub const PASSAGES: usize = 50_000;

/// A window of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The document and its heading: `docs/returns.md: Refunds`.
    pub source: String,
    /// The sentences.
    pub text: String,
    /// Which document, and which of its sentences: two windows that overlap say the same in part.
    pub(crate) document: usize,
    pub(crate) sentences: std::ops::Range<usize>,
}

impl Passage {
    /// Whether two windows share a sentence.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.document == other.document
            && self.sentences.start < other.sentences.end
            && other.sentences.start < self.sentences.end
    }
}

/// The windows of all documents.
#[must_use]
pub fn passages(documents: &[Document]) -> Vec<Passage> {
    let mut passages = Vec::new();
    for (number, document) in documents.iter().enumerate() {
        let mut before = 0;
        for section in sections(&document.text) {
            let source = match section.heading {
                "" => document.path.to_string(),
                heading => format!("{}: {heading}", document.path),
            };
            let total = section.sentences.len();
            let mut start = 0;
            while start < total && passages.len() < PASSAGES {
                let end = (start + SENTENCES).min(total);
                let text = section.sentences.get(start..end).unwrap_or_default().join(" ");
                passages.push(Passage {
                    source: source.clone(),
                    text: airlock_types::text::shorten(&text, CHARACTERS),
                    document: number,
                    sentences: before + start..before + end,
                });
                if end == total {
                    break;
                }
                start += STEP;
            }
            before += total;
        }
    }
    passages
}

struct Section<'a> {
    heading: &'a str,
    sentences: Vec<String>,
}

/// Sections by heading; a list item or a table row is a sentence, a fenced block is one.
fn sections(text: &str) -> Vec<Section<'_>> {
    let mut done = Vec::new();
    let mut section = Section { heading: "", sentences: Vec::new() };
    let mut paragraph = String::new();
    let mut fenced = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            section.close(&mut paragraph, fenced);
            fenced = !fenced;
        } else if fenced {
            push_line(&mut paragraph, line);
        } else if let Some(heading) = heading(line) {
            section.close(&mut paragraph, false);
            done.push(std::mem::replace(&mut section, Section { heading, sentences: Vec::new() }));
        } else if line.is_empty() {
            section.close(&mut paragraph, false);
        } else {
            if is_item(line) {
                section.close(&mut paragraph, false);
            }
            push_line(&mut paragraph, line.trim_start_matches(['-', '*', '+', '|', ' ']));
        }
    }
    section.close(&mut paragraph, fenced);
    done.push(section);
    done.retain(|section| !section.sentences.is_empty());
    done
}

impl Section<'_> {
    /// Ends a paragraph: its sentences go to the section, a fenced block as one.
    fn close(&mut self, paragraph: &mut String, fenced: bool) {
        let text = std::mem::take(paragraph);
        if fenced {
            self.sentences.extend((!text.is_empty()).then_some(text));
        } else {
            self.sentences.extend(sentences(&text));
        }
    }
}

fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(line);
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with(' ')).then(|| rest.trim())
}

fn is_item(line: &str) -> bool {
    let numbered = line.split_once(['.', ')']).is_some_and(|(number, rest)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with(' ')
    });
    numbered || line.starts_with('|') || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

/// Short words that a full stop belongs to.
const ABBREVIATED: &[&str] = &[
    "e.g", "i.e", "etc", "no", "nos", "rs", "mr", "mrs", "ms", "dr", "st", "vs", "inc", "ltd", "co",
    "approx", "cf", "fig",
];

/// The sentences of a paragraph.
fn sentences(paragraph: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, character) in paragraph.char_indices() {
        let wide = matches!(character, '。' | '！' | '？');
        if !wide && !matches!(character, '.' | '!' | '?') {
            continue;
        }
        let end = at + character.len_utf8();
        let mut after = paragraph.get(end..).unwrap_or_default().chars();
        let ends = match (after.next(), after.next()) {
            (None, _) => true,
            (Some(' '), Some(next)) => {
                !next.is_lowercase() && !abbreviated(paragraph.get(start..at), character)
            }
            _ => wide,
        };
        if ends {
            sentences.push(paragraph.get(start..end).unwrap_or_default().trim().to_owned());
            start = end;
        }
    }
    sentences.push(paragraph.get(start..).unwrap_or_default().trim().to_owned());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

fn abbreviated(before: Option<&str>, mark: char) -> bool {
    let word = before.unwrap_or_default().rsplit([' ', '(']).next().unwrap_or_default().to_lowercase();
    mark == '.'
        && (ABBREVIATED.contains(&word.as_str())
            || (word.len() == 1 && word.bytes().all(|b| b.is_ascii_alphabetic())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_split_into_sentences() {
        for (text, want) in [
            ("One. Two! Three?", &["One.", "Two!", "Three?"][..]),
            ("It costs Rs. 500 e.g. Today. Next", &["It costs Rs. 500 e.g. Today.", "Next"]),
            ("Version 1.2 is out. Yes", &["Version 1.2 is out.", "Yes"]),
            ("一。二。", &["一。", "二。"]),
            ("", &[]),
        ] {
            assert_eq!(sentences(text), want, "{text}");
        }
    }

    #[test]
    fn windows_overlap_within_a_section() {
        let text = "Intro.\n\n# Returns\nA one. B two. C three. D four.\nE five. F six. G seven.\n\n- item x\n- item y\n";
        let document = Document { path: "docs/a.md".into(), text: text.into() };
        let found = passages(&[document]);
        let got: Vec<(&str, &str)> =
            found.iter().map(|passage| (passage.source.as_str(), passage.text.as_str())).collect();
        assert_eq!(
            got,
            [
                ("docs/a.md", "Intro."),
                ("docs/a.md: Returns", "A one. B two. C three. D four. E five."),
                ("docs/a.md: Returns", "D four. E five. F six. G seven. item x"),
                ("docs/a.md: Returns", "G seven. item x item y"),
            ]
        );
        assert!(found[1].overlaps(&found[2]) && !found[0].overlaps(&found[1]));
    }
}
