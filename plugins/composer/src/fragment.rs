//! SQL fragments of the glossary, taken apart just far enough to see which tables and columns they name.

/// A piece of a fragment; all pieces together are the fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// `bills.total_amt`; a schema before it is dropped.
    Qualified(String, String),
    /// A bare name that is not a function.
    Name(String),
    /// Anything else: literals, operators, functions, space.
    Other(String),
}

/// Takes a fragment apart.
pub fn pieces(sql: &str) -> Vec<Piece> {
    let chars: Vec<char> = sql.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut found = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let c = at(i);
        if c == '\'' {
            let mut text = String::from(c);
            i += 1;
            while i < chars.len() {
                text.push(at(i));
                i += 1;
                if text.ends_with('\'') && at(i) != '\'' {
                    break;
                }
                if text.ends_with('\'') {
                    text.push(at(i));
                    i += 1;
                }
            }
            found.push(Piece::Other(text));
        } else if c.is_alphabetic() || c == '_' || c == '"' {
            let mut parts = Vec::new();
            loop {
                let (name, next) = name(&chars, i);
                i = next.max(i + 1);
                parts.push(name);
                let more = at(i) == '.' && (at(i + 1).is_alphabetic() || matches!(at(i + 1), '_' | '"'));
                if !more {
                    break;
                }
                i += 1;
            }
            let called = chars.get(i..).unwrap_or_default().iter().find(|c| !c.is_whitespace()) == Some(&'(');
            found.push(match parts.as_slice() {
                [.., table, column] if !called => Piece::Qualified(table.clone(), column.clone()),
                [only] if !called && !keyword(only) => Piece::Name(only.clone()),
                _ => Piece::Other(parts.join(".")),
            });
        } else {
            found.push(Piece::Other(c.to_string()));
            i += 1;
        }
    }
    found
}

fn name(chars: &[char], from: usize) -> (String, usize) {
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    if at(from) == '"' {
        let close = (from + 1..chars.len()).find(|i| at(*i) == '"').unwrap_or(chars.len());
        return (chars.get(from + 1..close).unwrap_or_default().iter().collect(), close + 1);
    }
    let end =
        (from..chars.len()).find(|i| !(at(*i).is_alphanumeric() || at(*i) == '_')).unwrap_or(chars.len());
    (chars.get(from..end).unwrap_or_default().iter().collect::<String>(), end)
}

fn keyword(word: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "and",
        "or",
        "not",
        "is",
        "null",
        "in",
        "like",
        "ilike",
        "between",
        "case",
        "when",
        "then",
        "else",
        "end",
        "distinct",
        "filter",
        "where",
        "true",
        "false",
        "as",
        "date",
        "interval",
        "timestamp",
        "numeric",
        "integer",
        "from",
        "any",
        "all",
    ];
    KEYWORDS.contains(&word.to_lowercase().as_str())
}

/// The names of the tables that a fragment qualifies columns with, those of its own subqueries left out.
pub fn tables(sql: &str) -> Vec<String> {
    let own = subquery_tables(sql);
    let mut found = Vec::new();
    for piece in pieces(sql) {
        if let Piece::Qualified(table, _) = piece
            && !found.contains(&table)
            && !own.contains(&table)
        {
            found.push(table);
        }
    }
    found
}

/// The names that a fragment's subqueries read from.
fn subquery_tables(sql: &str) -> Vec<String> {
    let words: Vec<&str> = sql
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')))
        .filter(|word| !word.is_empty())
        .collect();
    words
        .windows(2)
        .filter_map(|pair| match pair {
            [keyword, table]
                if keyword.eq_ignore_ascii_case("from") || keyword.eq_ignore_ascii_case("join") =>
            {
                Some(table.rsplit('.').next().unwrap_or(table).to_owned())
            }
            _ => None,
        })
        .collect()
}

/// The columns that a fragment names, with their table where it says so.
pub fn columns(sql: &str) -> Vec<(Option<String>, String)> {
    pieces(sql)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Qualified(table, column) => Some((Some(table), column)),
            Piece::Name(column) => Some((None, column)),
            Piece::Other(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_keep_their_literals() {
        assert_eq!(
            tables("sum(bills.total_amt * items.qty) FILTER (WHERE 'a.b' <> bills.x)"),
            ["bills", "items"]
        );
        assert_eq!(columns("sum(qty * t.price)"), [(None, "qty".into()), (Some("t".into()), "price".into())]);
        let text: String = pieces("status <> 'it''s x.y'")
            .into_iter()
            .map(|piece| match piece {
                Piece::Other(text) | Piece::Name(text) => text,
                Piece::Qualified(a, b) => format!("{a}.{b}"),
            })
            .collect();
        assert_eq!(text, "status <> 'it''s x.y'");
    }
}
