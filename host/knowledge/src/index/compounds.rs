//! Names in which words run together: PostgreSQL folds `dailyPrice` to `dailyprice`, and only the words of a question tell
//! where one ends.

/// Shortest word that is looked for at the beginning or the end of a name.
const SHORTEST: usize = 4;

/// Stems of name parts, by their beginnings and by their ends.
#[derive(Debug, Default)]
pub(crate) struct Compounds {
    /// Sorted.
    heads: Vec<String>,
    /// Each backwards, with its stem; sorted.
    tails: Vec<(String, String)>,
}

impl Compounds {
    /// Takes a stem; [`Self::sort`] ends the taking.
    pub(crate) fn add(&mut self, stem: &str) {
        if stem.chars().count() > SHORTEST {
            self.heads.push(stem.to_owned());
        }
    }

    pub(crate) fn sort(&mut self) {
        self.heads.sort();
        self.heads.dedup();
        self.tails = self.heads.iter().map(|stem| (backwards(stem), stem.clone())).collect();
        self.tails.sort();
    }

    /// Stems that begin or end with a word and go on.
    pub(crate) fn with<'a>(&'a self, word: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        // A word that is too short is looked for as nothing, and nothing is taken below.
        let word = if word.chars().count() >= SHORTEST { word.to_owned() } else { String::new() };
        let reversed = backwards(&word);
        let heads = self.heads.get(self.heads.partition_point(|stem| *stem <= word)..).unwrap_or_default();
        let tails =
            self.tails.get(self.tails.partition_point(|(tail, _)| *tail <= reversed)..).unwrap_or_default();
        heads
            .iter()
            .map(String::as_str)
            .take_while(move |stem| !word.is_empty() && stem.starts_with(&word))
            .chain(
                tails
                    .iter()
                    .take_while(move |(tail, _)| !reversed.is_empty() && tail.starts_with(&reversed))
                    .map(|(_, stem)| stem.as_str()),
            )
    }
}

fn backwards(text: &str) -> String {
    text.chars().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_at_either_end() {
        let mut compounds = Compounds::default();
        for stem in ["dailyprice", "pricelist", "price", "reprices", "transact"] {
            compounds.add(stem);
        }
        compounds.sort();
        for (word, want) in [
            ("price", &["pricelist", "dailyprice"][..]),
            ("daily", &["dailyprice"]),
            ("list", &["pricelist"]),
            ("act", &[]),
        ] {
            assert_eq!(compounds.with(word).collect::<Vec<_>>(), want, "{word}");
        }
    }
}
