//! `README.md` of a draft: what to do with it, in the order in which it pays.

use super::settings::title;
use super::{Source, TO_WRITE};

pub(super) fn file(source: &Source<'_>) -> String {
    let (name, title) = (source.name.as_str(), title(source.name.as_str()));
    format!(
        r#"# {title}

A domain pack of airlock, drafted from the database. Only what the catalogue says is in it, and guesses that are marked as such. It works as
it is; each of these makes it answer more, in the order in which it pays:

1. **domain.toml**: the time zone, and under `values` the columns whose values people say ("paid", "Berlin").
2. **notes.toml**: `grep -n "{TO_WRITE}" *.toml` lists what nobody has written yet. Say what one row is; say what a table is *not* for where two
   look alike; mark dead tables `in_use = false`; check the guessed classes of columns.
3. **glossary.toml**: the words of the business and how they are computed. Without them a question about revenue is refused.
4. **joins.toml**: take the hash signs off the guesses that are right.
5. **golden.jsonl**: questions whose right answer is known, one JSON object a line. They are the first examples, and the test of every change:

   {{"id": "orders-july", "question": "How many orders were placed in July 2026?", "sql": "SELECT count(*) FROM orders WHERE placed_on >= '2026-07-01' AND placed_on < '2026-08-01'", "now": "2026-08-15"}}
   {{"id": "weather", "question": "How much did it rain?", "outcome": "refused"}}

6. **docs/**: Markdown texts that questions about meaning are answered from.

After each change:

    airlock domain check {name}      # every problem of every file, against the live catalogue
    airlock domain load {name}       # into service; prints at which rank each golden question finds its tables
    airlock ask --domain {name} "How many ... ?"

Credentials are never part of a pack. The database's address stands in the host's configuration, as `[sources.{name}]`.
"#
    )
}
