//! The words of PostgreSQL's own messages about values. Everything else in such a message may be a value.
//!
//! Most of its messages put a value between quotes, some do not: `Ada Lovelace is not a valid encoding name`,
//! `index 32000 out of valid range, 0..0`. Nobody can list those that do not, so what may stay is listed: the words that
//! its sources (15, `src/backend/utils/adt` and their like) write such messages with, and the names of its types.

use super::CUT;

/// Sorted. A value that consists of these words alone is let through, and tells nothing of the row.
#[rustfmt::skip]
const OWN: &[&str] = &[
    "ASCII", "BY", "CASE", "COALESCE", "DISTINCT", "FETCH", "FIRST", "FOLLOWING", "FROM", "GROUP",
    "GROUPS", "HAVING", "IN", "ISO", "JSON", "LIKE", "LIMIT", "NULL", "NULLIF", "NaN", "OFFSET", "ORDER",
    "PRECEDING", "RANGE", "ROWS", "SELECT", "SQL", "TIES", "UTF", "UTF8", "Unicode", "WHERE", "WITH",
    "WITHIN", "XML", "XPath", "a", "abstime", "accept", "access", "accumulate", "add", "added", "addition",
    "affix", "aggregate", "alias", "ambiguous", "an", "and", "any", "appear", "appears", "applied", "are",
    "argument", "argument's", "arguments", "array", "arrays", "as", "at", "attribute", "available",
    "backreference", "base", "base64", "be", "been", "between", "bigint", "binary", "bit", "bits", "bool",
    "boolean", "both", "bound", "bounds", "box", "brackets", "bucket", "buffer", "but", "by", "bytea",
    "bytes", "cache", "calculate", "call", "called", "calls", "can", "cannot", "cast", "change", "changed",
    "char", "character", "characters", "check", "cidr", "circle", "class", "code", "coerced", "collating",
    "collation", "column", "columns", "combination", "combine", "compare", "comparison", "compatible",
    "complete", "complex", "component", "composite", "compression", "concatenate", "condition", "constant",
    "constraint", "constructed", "constructor", "contain", "containing", "contains", "content", "context",
    "control", "conventions", "conversion", "convert", "converted", "converter", "copied", "could",
    "count", "cross", "cstring", "current", "data", "date", "dates", "datetime", "day", "days", "decimal",
    "declaration", "declared", "deconstruct", "degrees", "delimiter", "denied", "depth", "detail",
    "determine", "dictionary", "difference", "different", "digit", "digits", "dimension", "dimensional",
    "dimensionality", "dimensions", "direction", "discrete", "dissimilar", "distinct", "divide",
    "division", "document", "does", "domain", "double", "duplicate", "during", "dynamic", "each", "either",
    "element", "elements", "empty", "encoding", "end", "ended", "ending", "enum", "equal", "equality",
    "error", "escape", "even", "exactly", "exceed", "exceeded", "exceeds", "exclusive", "executed",
    "exhausted", "exist", "exists", "expected", "explicitly", "expression", "external", "extract",
    "factorial", "failed", "failure", "family", "feature", "field", "fields", "filter", "final", "finite",
    "first", "flag", "flags", "float", "following", "for", "form", "format", "formatted", "formatting",
    "found", "fraction", "frame", "from", "function", "functions", "generate", "generated", "given",
    "greater", "group", "had", "hash", "have", "hexadecimal", "hours", "hstore", "hypothetical",
    "identical", "identifier", "identify", "image", "immutable", "implementation", "implemented", "in",
    "in_range", "including", "inclusive", "incompatible", "inconsistent", "incorrect", "index", "inet",
    "inf", "infinite", "infinitely", "infinity", "inherited", "input", "input's", "insufficient",
    "int2vector", "integer", "integral", "internal", "internally", "interval", "intervals", "into",
    "invalid", "invalidated", "is", "it", "item", "iterator", "join", "json", "jsonb", "jsonpath", "key",
    "keys", "kind", "label", "language", "large", "last", "leap", "least", "left", "length", "less",
    "level", "lexeme", "lexemes", "limit", "line", "list", "lists", "literal", "locale", "localized",
    "logarithm", "logical", "long", "lookup", "low", "lower", "lseg", "macaddr", "macaddr8", "malformed",
    "manager", "many", "mask", "match", "matched", "matches", "matching", "maximum", "may", "member",
    "memory", "message", "method", "minimum", "minutes", "missing", "mode", "modifier", "modulo",
    "modulus", "money", "month", "months", "more", "multibyte", "multidimensional", "multiple",
    "multiplication", "multiply", "multirange", "multiranges", "must", "name", "named", "names",
    "namespace", "nan", "near", "negate", "negative", "nested", "no", "non", "nondeterministic", "nonempty",
    "nonstandard", "normal", "normalization", "not", "nth_value", "ntile", "null", "nulls", "number",
    "numbers", "numeric", "object", "octal", "odd", "of", "offset", "oid", "oidvector", "on", "once",
    "one", "only", "open", "opening", "operand", "operands", "operation", "operator", "operators",
    "option", "options", "or", "order", "ordered", "origin", "other", "out", "outer", "output", "overflow",
    "overflows", "overlap", "own", "pair", "parameter", "parentheses", "parser", "part", "partial",
    "parts", "passed", "path", "pattern", "percentage", "percentile", "permission", "permitted", "point",
    "points", "polygon", "position", "positive", "power", "preceding", "precision", "predicate", "prefix",
    "present", "previous", "privileges", "procedure", "processing", "quantifier", "query", "quoted",
    "quotes", "radians", "radius", "raised", "range", "ranges", "reached", "read", "real", "recognized",
    "record", "recursion", "recursive", "reference", "references", "regexp", "regular", "relation",
    "repetition", "replacement", "represent", "requested", "requires", "reset", "result", "results",
    "return", "returned", "returning", "right", "root", "row", "rows", "run", "safe", "same", "sample",
    "scalar", "scalars", "scale", "schema", "search", "second", "seconds", "selects", "separator",
    "separators", "sequence", "session", "set", "sets", "setting", "settings", "shift", "short", "side",
    "sign", "simple", "simultaneous", "simultaneously", "single", "size", "skewed", "skip", "skipping",
    "slice", "small", "smallint", "snapshot", "sort", "source", "specified", "specifier", "specify",
    "specifying", "square", "starting", "stat", "state", "statement", "statements", "step", "stop",
    "string", "strings", "structured", "subexpression", "subquery", "subscript", "subscripts",
    "substitution", "substring", "subtract", "subtraction", "subtype", "sum", "supplied", "supported",
    "surrogate", "symbol", "synonym", "syntax", "system", "table", "tables", "take", "target", "template",
    "terminated", "terms", "text", "than", "that", "the", "this", "time", "times", "timestamp",
    "timestamptz", "timetz", "to", "token", "too", "total", "trailing", "transform", "transition",
    "translated", "trigonometric", "tsquery", "tsvector", "twice", "two", "type", "typed", "types",
    "typmod", "unable", "unary", "unbalanced", "undefined", "underflow", "unexpected", "unique", "unit",
    "units", "unknown", "unless", "unrecognized", "unsupported", "unterminated", "up", "upper", "use",
    "used", "using", "uuid", "valid", "value", "value's", "values", "varbit", "varchar", "variable",
    "varying", "vector", "violates", "void", "volatile", "was", "weeks", "weight", "weights", "when",
    "which", "while", "whole", "width", "width_bucket", "wildcard", "window", "with", "within", "without",
    "word", "would", "wrong", "xid", "xml", "year", "years", "yields", "your", "zero", "zone",
];

/// The text with everything cut that PostgreSQL did not write: foreign words, and all numbers.
pub(super) fn own(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        let space = piece.get(word.len()..).unwrap_or_default();
        let core = word.trim_matches(|c: char| c.is_ascii_punctuation());
        if is_own(core) {
            kept.push_str(piece);
            continue;
        }
        // Neighbours that are cut are one hole: how many words a value has is its own business.
        let (lead, trail) = word.split_once(core).unwrap_or_default();
        if !(kept.trim_end().ends_with(CUT) && lead.is_empty()) {
            kept.push_str(lead);
            kept.push_str(CUT);
        }
        let kept_before = kept.trim_end().len();
        kept.truncate(kept_before);
        kept.push_str(trail);
        kept.push_str(space);
    }
    kept
}

/// Whether each part is one of its words; `date/time` has two.
fn is_own(core: &str) -> bool {
    core.split(['/', '-']).all(|part| part.is_empty() || OWN.binary_search(&part).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_postgresql_writes_stays_and_what_it_was_given_goes() {
        assert!(OWN.is_sorted());
        for (text, want) in [
            ("integer out of range", "integer out of range"),
            ("division by zero", "division by zero"),
            ("date/time field value out of range: ", "date/time field value out of range: "),
            (
                "invalid input syntax for type timestamp with time zone: ",
                "invalid input syntax for type timestamp with time zone: ",
            ),
            (
                "more than one row returned by a subquery used as an expression",
                "more than one row returned by a subquery used as an expression",
            ),
            (
                "invalid regular expression: quantifier operand invalid",
                "invalid regular expression: quantifier operand invalid",
            ),
            ("cannot take logarithm of a negative number", "cannot take logarithm of a negative number"),
            (
                "a negative number raised to a non-integer power yields a complex result",
                "a negative number raised to a non-integer power yields a complex result",
            ),
            ("could not determine polymorphic type", "could not determine … type"),
            ("invalid normalization form: Ramesh Kulkarni", "invalid normalization form: …"),
            ("Ramesh Kulkarni is not a valid encoding name", "… is not a valid encoding name"),
            ("32000 is not a valid encoding code", "… is not a valid encoding code"),
            ("index 32000 out of valid range, 0..0", "index … out of valid range, …"),
            ("bit index 32000 out of valid range (0..0)", "bit index … out of valid range (…)"),
            ("percentile value 12500 is not between 0 and 1", "percentile value … is not between … and …"),
            (
                "requested character too large for encoding: 3200000",
                "requested character too large for encoding: …",
            ),
            ("unrecognized weight: 82", "unrecognized weight: …"),
            ("date field value out of range: 2026-02-30", "date field value out of range: …"),
            ("Ada", "…"),
            ("naïve O'Hara-Smith, Ada: not valid", "…, …: not valid"),
        ] {
            assert_eq!(own(text), want, "{text}");
        }
    }
}
