//! Shares and ratios: one quantity divided by another one.

use crate::frame::Ratio;

use super::*;

impl Grammar<'_> {
    /// `percentage of orders that were cancelled`, `of female patients, what percentage smoke`.
    pub(super) fn percent(&mut self, at: usize) -> Result<(), Why> {
        // `percentage of blue cars among all cars`: two quantities.
        if let Some(apart) = self.apart(at, &["among", "amongst", "out"]) {
            return self.divided(at, apart, true);
        }
        self.take(at);
        // `our 2024 revenue`: a time may stand before the noun.
        let dated = |from: usize| {
            let mut next = self.next(from);
            while matches!(self.op(next), Some(Op::Moment(_))) {
                next = self.next(next);
            }
            let metric = matches!(self.target(next), Some(Target::Metric(_)));
            (next > from + 1 && metric && self.free(next)).then_some(next)
        };
        // `of all the bills since May, what percentage was cancelled`
        if self.noun(at).is_none()
            && let Some((first, table)) = self.led_by_of(at)
        {
            self.take(first);
            self.frame.share = Some((table, at));
            return Ok(());
        }
        let Some(noun) = self.noun(at).or_else(|| dated(at)) else {
            return Err(Why::Kind("a share whose whole is not a plain table".into()));
        };
        match self.target(noun).cloned() {
            Some(Target::Table(table)) => {
                self.take(noun);
                self.frame.share = Some((table, self.said_of(noun)));
                Ok(())
            }
            Some(Target::Metric(metric)) => self.share_of_measure(noun, metric),
            _ => Err(Why::Kind("a share whose whole is not a plain table".into())),
        }
    }

    /// `what share of the 2024 revenue was on account`: the measure of what stands behind its verb, in that of all.
    fn share_of_measure(&mut self, noun: usize, metric: usize) -> Result<(), Why> {
        let verb = self.said_of(noun);
        let end = (noun + 1..self.items.len())
            .find(|at| self.op(*at) == Some(&Op::Stop))
            .unwrap_or(self.items.len());
        let mut filters = Vec::new();
        for at in verb + 1..end {
            match self.part(at).cloned() {
                Some(Part::Mention(Target::Condition(term))) => {
                    filters.push((at, FilterKind::Condition(term)))
                }
                Some(Part::Mention(Target::Value(table, column, value))) => {
                    filters.push((at, FilterKind::Values(table, column, vec![value])));
                }
                Some(Part::Op(Op::Link | Op::Word | Op::By)) => continue,
                // `was sold on account`: how the measure came about.
                Some(Part::Mention(_))
                    if stems::is_participle(self.word(at))
                        && stems::is_relation(&stems::stem(self.word(at))) => {}
                _ => return Err(Why::Kind("a share of a measure by more than a condition".into())),
            }
            self.take(at);
        }
        if filters.is_empty() || verb == noun || self.frame.ratio.is_some() {
            return Err(Why::Kind("a share whose part and whole are not told apart".into()));
        }
        self.take(noun);
        for at in verb..end {
            if matches!(self.op(at), Some(Op::By)) {
                self.take(at);
            }
        }
        let below = Frame { measures: vec![Measure::Metric(metric)], ..Frame::default() };
        let filters = filters.into_iter().map(|(at, kind)| Filter { kind, negated: false, at }).collect();
        let above = Frame { filters, ..below.clone() };
        self.frame.ratio = Some(Box::new(Ratio { above, below, percent: true }));
        Ok(())
    }

    /// The things that a question begins with: `of all the bills …, what percentage`.
    fn led_by_of(&self, at: usize) -> Option<(usize, usize)> {
        let leads = self.reading.tokens.first().is_some_and(|token| token.is("of") || token.is("out"));
        let first = (0..at).find(|place| matches!(self.part(*place), Some(Part::Mention(_))))?;
        match self.target(first) {
            Some(Target::Table(table)) if leads && self.free(first) => Some((first, *table)),
            _ => None,
        }
    }

    /// Where what is said of the things begins: at the verb of the sentence, `products in stores are broken`, else right
    /// behind them.
    fn said_of(&self, noun: usize) -> usize {
        let verb = |at: usize| {
            matches!(self.word(at), "is" | "are" | "was" | "were" | "have" | "has" | "had")
                && matches!(self.part(at), Some(Part::Op(_)))
        };
        let clause = |at: usize| {
            at.checked_sub(1).is_some_and(|before| {
                matches!(self.word(before), "who" | "that" | "which" | "whose" | "been")
            })
        };
        let end = (noun + 1..self.items.len())
            .find(|at| self.op(*at) == Some(&Op::Stop))
            .unwrap_or(self.items.len());
        (noun + 1..end).rev().find(|at| verb(*at) && !clause(*at)).unwrap_or(noun)
    }

    /// `ratio of publications to authors`.
    pub(super) fn ratio(&mut self, at: usize) -> Result<(), Why> {
        let between = self.items.get(at).is_some_and(|item| {
            (item.first..item.end)
                .any(|token| self.reading.tokens.get(token).is_some_and(|token| token.is("between")))
        });
        let apart = if between { self.apart_and(at) } else { self.apart(at, &["to", "out"]) };
        match apart {
            Some(apart) => self.divided(at, apart, false),
            None => Err(Why::Kind("a ratio whose two quantities are not told apart".into())),
        }
    }

    /// Where the second quantity begins: the word that parts them.
    fn apart(&self, at: usize, words: &[&str]) -> Option<usize> {
        (at + 1..self.items.len()).take_while(|place| self.op(*place) != Some(&Op::Stop)).find(|place| {
            let parts =
                matches!(self.op(*place), Some(Op::Link | Op::Word)) && words.contains(&self.word(*place));
            let mut next = place + 1;
            while self.light(next) || matches!(self.op(next), Some(Op::Aggregate(_) | Op::Distinct)) {
                next += 1;
            }
            parts && matches!(self.part(next), Some(Part::Mention(_)))
        })
    }

    fn apart_and(&self, at: usize) -> Option<usize> {
        (at + 1..self.items.len())
            .take_while(|place| self.op(*place) != Some(&Op::Stop))
            .find(|place| self.op(*place) == Some(&Op::And))
    }

    /// Reads both sides as questions of their own. What follows the second one with `in` holds for both.
    fn divided(&mut self, at: usize, apart: usize, percent: bool) -> Result<(), Why> {
        if self.frame.ratio.is_some() || !self.frame.measures.is_empty() {
            return Err(Why::Kind("a ratio beside another measure".into()));
        }
        let end = (apart + 1..self.items.len())
            .find(|place| {
                matches!(self.op(*place), Some(Op::Stop | Op::Each | Op::Direction { .. } | Op::OrderBy))
                    || (*place >= apart + 2 && matches!(self.word(*place), "differ" | "change" | "vary"))
            })
            .unwrap_or(self.items.len());
        let things = |from: usize, to: usize| {
            (from..to).find(|place| {
                matches!(self.target(*place), Some(Target::Table(_) | Target::Metric(_) | Target::Column(..)))
            })
        };
        // `the ratio of male to female patients`: the noun is said once.
        let noun = things(apart + 1, end).filter(|_| things(at + 1, apart).is_none());
        let above = self.side(at + 1, apart, noun)?;
        let mut below = self.side(apart + 1, end, None)?;
        for place in at..end {
            self.take(place);
        }
        if matches!(self.word(end), "differ" | "change" | "vary") {
            self.take(end);
            self.meant.push(end);
        }
        let counted = |frame: &Frame| match frame.measures.as_slice() {
            [Measure::Count(table)] => Some(*table),
            _ => None,
        };
        let same = counted(&above).is_some() && counted(&above) == counted(&below);
        let out = self.word(apart) != "to";
        let restricted = |frame: &Frame, kind: &FilterKind| {
            frame.filters.iter().any(|filter| filter.kind.column() == kind.column())
        };
        if same {
            let (common, own): (Vec<Filter>, Vec<Filter>) =
                std::mem::take(&mut below.filters).into_iter().partition(|filter| {
                    let led = filter.at > 0
                        && self.items.get(filter.at).is_some_and(|item| {
                            let before = item.first.checked_sub(1).and_then(|at| self.reading.tokens.get(at));
                            before.is_some_and(|token| {
                                matches!(token.lower.as_str(), "in" | "from" | "at" | "for")
                            })
                        });
                    led && !restricted(&above, &filter.kind)
                });
            let clear = out || !own.is_empty() || common.is_empty();
            if !clear {
                return Err(Why::Ambiguous("whether the condition at the end holds for both sides".into()));
            }
            below.filters = own;
            self.frame.filters.extend(common);
        }
        if above.moments.is_empty() && !below.moments.is_empty() {
            self.frame.moments.append(&mut below.moments);
        }
        self.frame.ratio = Some(Box::new(Ratio { above, below, percent }));
        Ok(())
    }

    /// One side of a ratio: how many of the things, unless it says what is computed of them.
    fn side(&self, from: usize, end: usize, noun: Option<usize>) -> Result<Frame, Why> {
        let mut own: Vec<Item> = self.items.get(from..end).unwrap_or_default().to_vec();
        own.extend(noun.and_then(|noun| self.items.get(noun)).cloned());
        let leads = own.iter().find(|item| !matches!(item.part, Part::Op(Op::Link)));
        let computed = leads.is_some_and(|item| {
            matches!(item.part, Part::Op(Op::Aggregate(_)) | Part::Mention(Target::Metric(_)))
        });
        let first = self.items.get(from).map_or(0, |item| item.first);
        let mut items = own;
        let shift = if computed { 0 } else { 1 };
        if !computed {
            let part = Part::Op(Op::Aggregate(Aggregate::Count));
            items.insert(0, Item { part, first, end: first, used: false });
        }
        let mut side = Grammar {
            reading: self.reading,
            schema: self.schema,
            glossary: self.glossary,
            items,
            frame: Frame::default(),
            count: None,
            sized: false,
            one: false,
            meant: Vec::new(),
            ors: Vec::new(),
            named: self.named.clone(),
        };
        side.run()?;
        let mut frame = side.frame;
        let plain = frame.measures.len() == 1
            && frame.entity.is_none()
            && frame.rank.is_none()
            && frame.groups.is_empty()
            && frame.having.is_empty()
            && frame.outputs.is_empty();
        if !plain {
            return Err(Why::Kind("a ratio whose sides are no plain quantities".into()));
        }
        // Places are those of the whole question.
        let moved = |place: &mut usize| *place = (*place + from).saturating_sub(shift);
        frame.filters.iter_mut().for_each(|filter| moved(&mut filter.at));
        frame.context.iter_mut().for_each(|(_, at)| moved(at));
        frame.moments.iter_mut().for_each(|(_, at)| moved(at));
        Ok(frame)
    }
}
