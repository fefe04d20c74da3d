//! One failure to repair: the text, its tokens, the place, and what the catalogue knows of what it reads.

use std::ops::Range;

use airlock_plugin_sdk::contract::catalog::TableDetail;
use airlock_plugin_sdk::contract::repair::RepairInput;
use airlock_plugin_sdk::{Failure, Host, failure as words};

use crate::block::{Block, Source, around, blocks, with_names};
use crate::edit::Edit;
use crate::tokens::{Kind, Tokens};

/// An edit that may repair a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    pub edits: Vec<Edit>,
    /// What is changed, one sentence.
    pub change: String,
    /// Why, one sentence.
    pub reason: String,
}

/// A failure with all that strategies look at.
pub struct Case<'a, H> {
    pub host: &'a H,
    pub input: &'a RepairInput,
    pub failure: &'a Failure,
    pub tokens: Tokens<'a>,
    /// The token that the failure's position points at.
    pub place: Option<usize>,
}

/// A column as the text writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// All its tokens.
    pub range: Range<usize>,
    /// The token of the qualifier, if there is one.
    pub qualifier: Option<usize>,
    /// The token of the column.
    pub column: usize,
}

/// Something a block reads, with its columns where the catalogue has them.
pub struct Relation {
    pub source: Source,
    pub detail: Option<TableDetail>,
}

impl Relation {
    /// Whether it has a column of this very name.
    pub fn has(&self, column: &str) -> bool {
        self.detail.as_ref().is_some_and(|detail| detail.columns.iter().any(|known| known.name == column))
    }
}

impl<'a, H: Host> Case<'a, H> {
    /// Reads a failed text.
    pub fn new(host: &'a H, input: &'a RepairInput, failure: &'a Failure) -> Self {
        let tokens = Tokens::of(&failure.sql);
        let place = failure
            .position
            .and_then(|position| words::byte_offset(&failure.sql, position))
            .and_then(|offset| tokens.at(offset));
        Self { host, input, failure, tokens, place }
    }

    /// The column reference that failed: at the failure's place, else the first one the message's name fits.
    pub fn reference(&self) -> Option<Reference> {
        if let Some(place) = self.place {
            return self.reference_at(place);
        }
        let named = self.named()?;
        let name = named.rsplit('.').next().unwrap_or(&named).to_owned();
        (0..self.tokens.all.len())
            .filter(|index| self.tokens.name(*index).as_deref() == Some(&name))
            .find_map(|index| self.reference_at(index))
    }

    /// The chain of names around a token, if it is one and no call.
    pub fn reference_at(&self, index: usize) -> Option<Reference> {
        let tokens = &self.tokens;
        tokens.name(index)?;
        let mut start = index;
        while start >= 2 && tokens.kind(start - 1) == Some(Kind::Dot) && tokens.name(start - 2).is_some() {
            start -= 2;
        }
        let mut end = index + 1;
        while tokens.kind(end) == Some(Kind::Dot) && tokens.name(end + 1).is_some() {
            end += 2;
        }
        let column = end - 1;
        let call = tokens.kind(end) == Some(Kind::Open) && tokens.kind(column) == Some(Kind::Word);
        (!call).then(|| Reference {
            range: start..end,
            qualifier: column.checked_sub(2).filter(|q| *q >= start),
            column,
        })
    }

    /// The name that the message speaks of: behind `column`, else what stands in its first double quotes.
    pub fn named(&self) -> Option<String> {
        let message = &self.failure.message;
        let behind = |word: &str| message.split(word).nth(1);
        if let Some(name) = behind("column \"").or_else(|| message.split_once('"').map(|(_, rest)| rest)) {
            return name.split('"').next().map(str::to_owned);
        }
        behind("column ")?.split_whitespace().next().map(str::to_owned)
    }

    /// The innermost block around a token.
    pub fn block(&self, index: usize) -> Option<Block> {
        around(&self.tokens, index)
    }

    /// The innermost block around a token that reads something under this name.
    pub fn block_with(&self, index: usize, name: &str) -> Option<Block> {
        let reads =
            |block: &Block| block.sources(&self.tokens).iter().any(|source| source.visible() == Some(name));
        blocks(&self.tokens)
            .into_iter()
            .filter(|block| block.range.contains(&index) && reads(block))
            .min_by_key(|block| block.range.len())
    }

    /// What a block reads.
    pub fn relations(&self, block: &Block) -> Vec<Relation> {
        let common = with_names(&self.tokens);
        let sources = block.sources(&self.tokens).into_iter();
        sources
            .map(|source| {
                let own = source.schema.is_none()
                    && source.relation.as_ref().is_some_and(|name| common.contains(name));
                let detail = match (&source.relation, own) {
                    (Some(name), false) => self.describe(source.schema.as_deref(), name),
                    _ => None,
                };
                Relation { source, detail }
            })
            .collect()
    }

    /// A listed relation by its name as written. Without a schema, `public` goes before others.
    fn describe(&self, schema: Option<&str>, name: &str) -> Option<TableDetail> {
        let listed = self.host.tables().into_iter().map(|summary| summary.table);
        let named =
            listed.filter(|table| table.name == name && schema.is_none_or(|schema| table.schema == schema));
        let found = named.min_by_key(|table| table.schema != "public")?;
        self.host.describe(&found)
    }

    /// Every reference in a block that is written with the same names, the block's subqueries included when it is
    /// qualified.
    pub fn occurrences(&self, block: &Block, wanted: &Reference) -> Vec<Reference> {
        let names = |reference: &Reference| -> Vec<Option<String>> {
            reference.range.clone().map(|index| self.tokens.name(index)).collect()
        };
        let same = names(wanted);
        let mut found: Vec<Reference> = Vec::new();
        for index in block.range.clone() {
            let Some(reference) = self.reference_at(index) else { continue };
            // An alias is a new name and no reference.
            let alias =
                reference.range.start.checked_sub(1).is_some_and(|before| self.tokens.is(before, "AS"));
            let here = wanted.qualifier.is_some() || self.block(index).as_ref() == Some(block);
            if reference.range.start == index && !alias && here && names(&reference) == same {
                found.push(reference);
            }
        }
        found
    }

    /// The tokens in a block where a name qualifies a column.
    pub fn qualifiers(&self, block: &Block, name: &str) -> Vec<usize> {
        block
            .range
            .clone()
            .filter(|index| {
                let first =
                    index.checked_sub(1).is_none_or(|before| self.tokens.kind(before) != Some(Kind::Dot));
                first
                    && self.tokens.kind(index + 1) == Some(Kind::Dot)
                    && self.tokens.name(*index).as_deref() == Some(name)
            })
            .collect()
    }

    /// The bytes of one token.
    pub fn span(&self, index: usize) -> Option<Range<usize>> {
        self.tokens.get(index).map(|token| token.span.clone())
    }
}
