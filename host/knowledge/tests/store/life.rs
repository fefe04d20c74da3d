//! The life of an item: proposed once, decided on by its hash, in service and out of it, with a history that says so.

use airlock_knowledge::store::{
    CandidateState, ContentError, CurationState, Filter, Ingested, ItemId, Kind, NewCurated, Order, Origin,
    StoreError, Vector,
};

use crate::harness::{Place, by, example, lesson, new, promoted, shop};

#[tokio::test]
async fn an_item_is_decided_on_by_its_hash_and_can_come_back() {
    let (_place, store) = Place::whole().await;
    let (distill, promote) = (store.distill(), store.promote());

    // The same SQL in other words is known, in whatever state the first one is.
    let first = new(example("How many bills?", "SELECT count(*) FROM bills"));
    assert_eq!(distill.ingest(&first).await.unwrap(), Ingested::Stored);
    assert_eq!(
        distill.ingest(&first).await.unwrap(),
        Ingested::Known,
        "handed in again after a lost connection"
    );
    let again = new(example("Number of bills?", "select  count(*) from bills -- all"));
    assert_eq!(distill.ingest(&again).await.unwrap(), Ingested::Known);
    let kept = promote.candidate(&shop(), first.id).await.unwrap();
    assert_eq!((kept.state, kept.seen), (CandidateState::Proposed, 2));
    let bad = distill.ingest(&new(example("How many?", "DROP TABLE"))).await.unwrap_err();
    assert!(matches!(bad, StoreError::Content(ContentError::Sql { field: "sql", .. })), "{bad}");

    // Nearly the same by its vector is counted and not kept.
    let near = |text: &str, values: [f32; 2]| {
        let vector = Some(Vector { model: "m".to_owned(), values: values.to_vec(), near: 0.995 });
        airlock_knowledge::store::NewCandidate { vector, ..new(lesson(text)) }
    };
    for (text, values, want) in [
        ("Revenue is net", [1.0, 0.0], Ingested::Stored),
        ("Revenue is the net amount", [1.0, 0.01], Ingested::Near),
        ("Bills are dated", [0.0, 1.0], Ingested::Stored),
    ] {
        assert_eq!(distill.ingest(&near(text, values)).await.unwrap(), want, "{text}");
    }
    // A pass reads the vectors of what was kept.
    let mut vectors = promote.vectors(&shop(), "m").await.unwrap();
    vectors.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap());
    let kept = [(lesson("Bills are dated"), vec![0.0, 1.0]), (lesson("Revenue is net"), vec![1.0, 0.0])];
    assert_eq!(vectors, kept);
    assert_eq!(promote.vectors(&shop(), "another model").await.unwrap(), []);

    // A decision names what was looked at.
    let (id, hash) = (first.id, first.content.hash());
    let other = lesson("x").hash();
    let changed = promote.promote(&shop(), id, other, &by("ana")).await.unwrap_err();
    assert!(
        matches!(&changed, StoreError::Changed { now, .. } if *now == hash) && changed.is_conflict(),
        "{changed}"
    );
    let elsewhere = promote.promote(&"fleet".parse().unwrap(), id, hash, &by("ana")).await.unwrap_err();
    assert!(matches!(elsewhere, StoreError::NotFound { .. }), "{elsewhere}");
    let nobody = promote.promote(&shop(), id, hash, &by(" ")).await.unwrap_err();
    assert!(matches!(nobody, StoreError::Content(ContentError::Wrong { field: "who", .. })), "{nobody}");
    assert_eq!(
        promote.candidate(&shop(), id).await.unwrap().state,
        CandidateState::Proposed,
        "nothing was changed"
    );

    // Two curators at once: one decides.
    let (ana, ben) = (by("ana"), by("ben"));
    let domain = shop();
    let (yes, no) =
        tokio::join!(promote.promote(&domain, id, hash, &ana), promote.reject(&domain, id, hash, &ben));
    assert_eq!(u8::from(yes.is_ok()) + u8::from(no.is_ok()), 1);
    let late = yes.as_ref().err().or(no.as_ref().err()).unwrap();
    assert!(matches!(late, StoreError::Decided { .. }) && late.is_conflict(), "{late}");
    if no.is_ok() {
        promote.set_back(&shop(), id, hash, &by("ana")).await.unwrap();
        promote.promote(&shop(), id, hash, &by("ana")).await.unwrap();
    }

    // Set back and promoted again it is the same curated item.
    let curated = promote.candidate(&shop(), id).await.unwrap().curated.unwrap();
    promote.set_back(&shop(), id, hash, &by("ana")).await.unwrap();
    assert_eq!(promote.curated(&shop(), curated).await.unwrap().state, CurationState::Withdrawn);
    let restore = promote.restore(&shop(), curated, hash, &by("ana")).await.unwrap_err();
    assert!(matches!(restore, StoreError::Decided { .. }), "it is decided on as the candidate: {restore}");
    let edited = example("How many bills are there?", "SELECT count(*) FROM bills");
    promote.edit_candidate(&shop(), id, hash, &edited, &by("ana")).await.unwrap();
    let stale_page = promote.promote(&shop(), id, hash, &by("ben")).await.unwrap_err();
    assert!(matches!(stale_page, StoreError::Changed { .. }), "{stale_page}");
    let hash = edited.hash();
    assert_eq!(promote.promote(&shop(), id, hash, &by("ana")).await.unwrap().curated, Some(curated));

    // Out of service and back, each step once.
    promote.demote(&shop(), curated, hash, &by("decay")).await.unwrap();
    assert!(promote.demote(&shop(), curated, hash, &by("decay")).await.unwrap_err().is_conflict());
    promote.supersede(&shop(), curated, hash, &by("schema")).await.unwrap();
    promote.restore(&shop(), curated, hash, &by("ana")).await.unwrap();
    let content = example("How many bills?", "SELECT count(*) AS bills FROM bills");
    promote.edit(&shop(), curated, hash, &content, &by("ana")).await.unwrap();
    let kind = promote.edit(&shop(), curated, content.hash(), &lesson("x"), &by("ana")).await.unwrap_err();
    assert!(matches!(kind, StoreError::Content(ContentError::Wrong { .. })), "{kind}");

    // A person's own is curated at once, and only once.
    let own = NewCurated {
        domain: shop(),
        content: example("All shops?", "SELECT * FROM shops"),
        origin: Origin::Person,
    };
    let added = promote.add(own.clone(), &by("ana")).await.unwrap().curated.unwrap();
    assert!(matches!(promote.add(own.clone(), &by("ana")).await.unwrap_err(), StoreError::Decided { .. }));
    promote.withdraw(&shop(), added, own.content.hash(), &by("ana")).await.unwrap();
    promote.restore(&shop(), added, own.content.hash(), &by("ana")).await.unwrap();

    let verdicts: Vec<String> = store
        .report()
        .decisions(&shop(), Some(curated), 100)
        .await
        .unwrap()
        .into_iter()
        .map(|decision| decision.verdict)
        .collect();
    assert_eq!(verdicts[..5], ["edit", "restore", "supersede", "demote", "promote"]);
    let counts = promote.counts(Some(&shop())).await.unwrap();
    let active: i64 = counts
        .iter()
        .filter(|count| count.shelf == "curated" && count.state == "active" && count.kind == Kind::Example)
        .map(|count| count.count)
        .sum();
    assert_eq!(active, 2);
}

#[tokio::test]
async fn lists_are_filtered_ordered_and_go_on_where_they_ended() {
    let (_place, store) = Place::whole().await;
    let mut ids: Vec<ItemId> = Vec::new();
    for n in 0..7 {
        let candidate = new(example(&format!("Question {n}?"), &format!("SELECT {n}")));
        store.distill().ingest(&candidate).await.unwrap();
        ids.push(candidate.id);
    }
    store.distill().ingest(&new(lesson("a"))).await.unwrap();
    promoted(&store, "Promoted?", "SELECT 99").await;
    let promote = store.promote();
    for order in [Order::OldestFirst, Order::NewestFirst] {
        let mut filter = Filter {
            domain: Some(shop()),
            kind: Some(Kind::Example),
            state: Some(CandidateState::Proposed),
            origin: Some(Origin::Agent),
            order,
            limit: 3,
            after: None,
        };
        let mut seen = Vec::new();
        loop {
            let page = promote.candidates(&filter).await.unwrap();
            let Some(last) = page.last() else { break };
            filter.after = Some(last.id);
            seen.extend(page.iter().map(|candidate| candidate.id));
        }
        if order == Order::NewestFirst {
            seen.reverse();
        }
        assert_eq!(seen, ids);
    }
    let pass = promote.pass().await.unwrap();
    assert!(matches!(promote.pass().await, Err(StoreError::PassRunning)));
    drop(pass);
    // The server notices that the connection is gone; how soon is its own affair.
    while promote.pass().await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
