//! Words that say nothing of the data: the only ones that a model may add to those of the rows, the question and the query.
//!
//! Whatever counts, compares, ranks, denies, or tells of a change, a cause or a likelihood is not among them. A word that is
//! missing costs a sentence, and the table stands in its place; a word too many lets through what nobody can trace.

/// In lower case and alphabetical order; a test holds that. Contractions are what stands before and behind their apostrophes.
const PLAIN: &str = "\
    a about across add added additionally adds after along also although am among amount amounts an and answer \
    answers appear appears approximately are aren around as asked at be been before begin begins being between \
    bring brings brought but by came can case cent column columns come comes coming comprise comprises consist \
    consists constitute constitutes contain contained containing contains contribute contributed contributes \
    contributing contribution correspond corresponding correspondingly corresponds count counts cover covering \
    covers d data database date dates day days detail details did didn do does doesn doing don done during e \
    either empty entries entry etc figure figures finally find firstly following for found from g gave generate \
    generated generates generating get gets give given gives go goes got had hadn has hasn have haven having he \
    her here hers him his how however i id identified if in include included includes including individually \
    information into is isn it its itself kind kinds lastly like list listed lists ll m made make makes making \
    match matched matches matching me meaning means month months my name named namely names notably note noted \
    number numbers occur occurred of on onto or other our ours out own part pct per percent period periods \
    person please quarter quarters question range re read record recorded records refer related represent \
    represented represents respectively result results return returned returns roughly row rows s said say says \
    secondly see seen separately share shares she show showed showing shown shows since so specific specifically \
    stand stands start started starting starts stood such table tables taken that the their theirs them \
    themselves there these they thing things thirdly this those through throughout thus time to type types until \
    us used using value values ve was wasn we week weeks were weren what when where whether which while who whom \
    whose with within year years you your yours";

/// Whether a word in lower case is one of them.
pub fn is_plain(word: &str) -> bool {
    PLAIN.split(' ').any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_in_order_and_claim_nothing() {
        let words: Vec<&str> = PLAIN.split(' ').collect();
        assert!(words.is_sorted_by(|a, b| a < b));
        for claim in
            ["no", "most", "more", "rose", "half", "because", "may", "will", "all", "first", "last", "acme"]
        {
            assert!(!is_plain(claim), "{claim}");
        }
    }
}
