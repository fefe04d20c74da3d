//! The score as a page for people.

use std::fmt::Write as _;

use super::score::{STATEMENT_TIMEOUT_MS, Score, Tally};

/// The page.
#[must_use]
pub fn page(score: &Score) -> String {
    let mut page = String::new();
    let _ = write!(
        page,
        "# The gate and the envelope, measured\n\n\
         Written by `cargo xtask gate-report`; change nothing here by hand. Every row of the corpora went through the real\n\
         `airlock check-sql --run` as the reader that `airlock setup` makes, on a private PostgreSQL {}, row cap 200, statement\n\
         timeout {} s. The corpora are not part of this repository: the command reads them from `--corpora`,\n\
         `$AIRLOCK_CORPORA`, or `../shared/corpora` beside it.\n\n",
        score.server,
        STATEMENT_TIMEOUT_MS / 1000
    );
    page.push_str("| corpus | size | refused | accepted | contained | wrong |\n| --- | ---: | ---: | ---: | ---: | ---: |\n");
    for (name, tallies) in [
        ("attacks", &score.attacks),
        ("valid statements", &score.valid),
        ("gold queries and their equals", &score.gold),
    ] {
        line(&mut page, &sum(name, tallies));
    }
    page.push_str(
        "\n- **refused**: the gate said no. Right for an attack, wrong for the others.\n\
         - **accepted**: the gate said yes and the rows are the ones PostgreSQL itself gives for the same text, value by value, \
         under the same cap. For\n  an attack this is right only where the corpus says that what runs must mean what PostgreSQL reads in the text.\n\
         - **contained**: the gate said yes, as to an honest query that no static check can tell from it, and the run was held: \
         time, memory of the host\n  and of the server, temporary files, bytes of the result, and no value of a row in a failure. \
         PostgreSQL stayed alive and the next statement was served.\n\
         - **wrong**: anything else.\n\n## Attacks by class\n\n\
         | class | size | refused | accepted | contained | wrong |\n| --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut classes = score.attacks.clone();
    classes.sort_by(|one, other| one.class.cmp(&other.class));
    classes.iter().for_each(|tally| line(&mut page, tally));
    page.push_str(
        "\n## What was contained, and what it cost\n\n\
         | row | what | ended as | seconds | host, MiB | server process, MiB | temporary files, MiB |\n\
         | --- | --- | --- | ---: | ---: | ---: | ---: |\n",
    );
    for held in &score.contained {
        let _ = writeln!(
            page,
            "| {} | {} | {} | {:.1} | {} | {} | {} |",
            held.id,
            held.kind,
            held.ended,
            held.took.as_secs_f64(),
            held.peak.host >> 20,
            held.peak.backend >> 20,
            held.peak.temporary >> 20
        );
    }
    for (title, tallies) in
        [("Valid statements by feature", &score.valid), ("Gold queries by database", &score.gold)]
    {
        let _ = write!(
            page,
            "\n## {title}\n\n| class | size | refused | accepted | contained | wrong |\n| --- | ---: | ---: | ---: | ---: | ---: |\n"
        );
        tallies.iter().for_each(|tally| line(&mut page, tally));
    }
    let wrong: Vec<&str> = score.wrong().collect();
    if !wrong.is_empty() {
        page.push_str("\n## Wrong\n\n");
        for why in wrong {
            let _ = writeln!(page, "- {}", why.replace('\n', " "));
        }
    }
    page
}

fn sum(name: &str, tallies: &[Tally]) -> Tally {
    let mut all = Tally { class: name.to_owned(), ..Tally::default() };
    for tally in tallies {
        all.size += tally.size;
        all.refused += tally.refused;
        all.accepted += tally.accepted;
        all.contained += tally.contained;
        all.wrong.extend(tally.wrong.iter().cloned());
    }
    all
}

fn line(page: &mut String, tally: &Tally) {
    let Tally { class, size, refused, accepted, contained, wrong } = tally;
    let _ = writeln!(page, "| {class} | {size} | {refused} | {accepted} | {contained} | {} |", wrong.len());
}
