//! How much a word of a question says about which tables it means: words of operations, of time and of quantity say
//! nothing, and what nearly every table has a column for says little.

/// What of a word's weight counts where tables are looked for.
#[must_use]
pub(crate) fn weight(folded: &str) -> f32 {
    if LIGHT.binary_search(&folded).is_ok() {
        0.0
    } else if COMMON.binary_search(&folded).is_ok() {
        0.3
    } else {
        1.0
    }
}

/// Which words of a question belong to a phrase of ordering or comparing: `order by` is no order, `the same order` is one;
/// a `percentage change` is worked out, not stored.
pub(crate) fn without_operations(text: &str) -> Vec<bool> {
    let words: Vec<String> = super::words::words(text).into_iter().map(|word| word.folded).collect();
    let at = |index: usize| words.get(index).map_or("", String::as_str);
    (0..words.len())
        .map(|index| {
            let next = at(index + 1);
            let before = index.checked_sub(1).map_or("", at);
            match at(index) {
                "order" | "ordered" | "ordering" => {
                    matches!(next, "by" | "from")
                        || matches!(before, "ascending" | "descending" | "alphabetical" | "chronological")
                        || (before == "in" && matches!(next, "of" | "to"))
                }
                "sort" | "sorted" | "sorting" => matches!(next, "by" | "in" | "from"),
                "rank" | "ranked" | "ranking" | "group" | "grouped" => next == "by",
                "change" | "growth" | "increase" | "decrease" => matches!(before, "percentage" | "percent"),
                _ => false,
            }
        })
        .collect()
}

/// Sorted; a test holds that.
#[rustfmt::skip]
const LIGHT: &[&str] = &[
    "above", "across", "after", "ago", "along", "also", "among", "answer", "any", "ascending", "associated", "average", "based", "before",
    "below", "best", "between", "both", "bottom", "calculate", "certain", "compare", "compared", "compute", "consider",
    "considered", "considering", "consistently", "contain", "containing", "contains", "corresponding", "count", "current", "day",
    "days", "descending", "determine", "didn", "difference", "different", "distinct", "doesn", "don", "down", "during", "eight",
    "either", "end", "ending", "ends", "entire", "ever", "exactly", "exclude", "excluding", "exclusive", "existing", "fewest",
    "first", "five", "following", "four", "frequently", "given", "hasn", "haven", "he", "her", "highest", "him", "his", "ignore",
    "include", "including", "inclusive", "kind", "last", "least", "less", "likely", "lists", "lowest", "made", "make", "makes",
    "making", "maximum", "minimum", "month", "months", "more", "most", "never", "next", "nine", "no", "not", "number", "often",
    "one", "only", "other", "output", "over", "overall", "particular", "past", "percent", "percentage", "please", "possible", "previous", "prior", "provide",
    "rank", "ratio", "recent", "related", "respective", "respectively", "result", "results", "same", "seven", "she", "since",
    "six", "someone", "something", "sort", "sorted", "specific", "start", "starting", "starts", "sum", "sure", "ten", "thing",
    "things", "three", "today", "together", "top", "total", "two", "under", "unique", "until", "up", "use", "used", "using", "via", "want",
    "week", "weeks", "while", "whole", "within", "without", "worst", "year", "years", "yesterday", "yet",
];

/// Sorted; a test holds that.
const COMMON: &[&str] = &[
    "amount", "code", "date", "id", "ids", "level", "name", "names", "status", "time", "title", "type",
    "value", "values",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(LIGHT.is_sorted());
        assert!(COMMON.is_sorted());
    }

    #[test]
    fn an_order_is_told_from_ordering() {
        for (question, want) in [
            ("products by price, order by name", true),
            ("list them in descending order", true),
            ("its percentage change since last month", true),
            ("change of address", false),
            ("products of one order", false),
            ("customers who placed an order", false),
        ] {
            assert_eq!(without_operations(question).iter().any(|operation| *operation), want, "{question}");
        }
    }
}
