//! Why a question is not answered: the sentence for the asker, and the words it turns on.

use airlock_plugin_sdk::contract::generator::Refusal;
use airlock_plugin_sdk::question::{names, tokens};
use airlock_plugin_sdk::{Host, explained, words};

use crate::schema::Schema;

/// Why no query was composed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Words that nothing in the data is known by.
    Unknown(Vec<String>),
    /// It could mean more than one thing.
    Ambiguous(String),
    /// Tables that no verified key connects.
    Unconnected(Vec<String>),
    /// The data does not reach into the time asked for.
    Uncovered(String),
    /// A kind of question that is not composed without a model.
    Kind(String),
}

impl Why {
    /// How near a failed reading came; the nearest explains the refusal best.
    pub const fn nearness(&self) -> u8 {
        match self {
            Self::Uncovered(_) => 4,
            Self::Unknown(_) => 3,
            Self::Ambiguous(_) => 2,
            Self::Unconnected(_) => 1,
            Self::Kind(_) => 0,
        }
    }

    /// The refusal, with what the words may have been meant for, and with how a name is asked for that no index holds.
    pub fn refusal_near(&self, host: &impl Host, schema: &Schema, question: &str) -> Refusal {
        let mut refusal = self.refusal();
        let Self::Unknown(missing) = self else { return refusal };
        refusal.reason = explained::unknown(host, missing);
        let names = schema.tables.iter().flat_map(|table| {
            let columns = table.columns.iter().flat_map(|column| names::name_words(&column.name));
            let own = names::name_words(&table.reference.name)
                .into_iter()
                .flat_map(|word| [format!("{word}s"), word]);
            own.chain(columns).chain(table.said.iter().cloned())
        });
        let names: Vec<String> = names.collect();
        let found: Vec<String> = missing
            .iter()
            .filter_map(|word| words::nearest(word, names.iter().map(String::as_str)))
            .map(|name| format!("`{name}`"))
            .collect();
        let proper = tokens::tokenize(question)
            .iter()
            .skip(1)
            .any(|token| token.text.starts_with(char::is_uppercase) && missing.contains(&token.lower));
        if !found.is_empty() {
            refusal.reason.push_str(&format!(" Did you mean {}?", found.join(", ")));
        } else if proper {
            refusal.reason.push_str(
                " A name or a place is known only where its column is indexed by value; elsewhere put it in quotation marks after the name of its column.",
            );
        }
        refusal
    }

    /// The refusal as the contract has it.
    pub fn refusal(&self) -> Refusal {
        let quoted =
            |words: &[String]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let (reason, missing) = match self {
            Self::Unknown(words) => {
                (format!("Nothing in this data is known by {}.", quoted(words)), words.clone())
            }
            Self::Ambiguous(what) => {
                (format!("The question can be read in more than one way: {what}."), Vec::new())
            }
            Self::Unconnected(tables) if tables.is_empty() => {
                ("What the question brings together is not connected in this data.".into(), Vec::new())
            }
            Self::Unconnected(tables) => (format!("No key connects {}.", quoted(tables)), tables.clone()),
            Self::Uncovered(what) => (what.clone(), Vec::new()),
            Self::Kind(what) => {
                (format!("Without a model this kind of question is not composed: {what}."), Vec::new())
            }
        };
        Refusal { reason, missing }
    }
}
