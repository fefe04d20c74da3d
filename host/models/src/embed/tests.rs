//! What an embedder keeps, refuses and says when it is down.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::FutureExt;

use super::*;

/// Vectors of a text's length; of the wrong length or none at all when told so.
struct Scripted {
    asked: Arc<AtomicUsize>,
    dimension: Arc<AtomicUsize>,
}

impl Embeds for Scripted {
    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        self.asked.fetch_add(texts.len(), Ordering::SeqCst);
        let dimension = self.dimension.load(Ordering::SeqCst);
        let made = texts.iter().map(|text| vec![text.len() as f32; dimension]).collect();
        async move { if dimension == 0 { Err(EmbedError::Model("off".into())) } else { Ok(made) } }.boxed()
    }
}

fn embedder() -> (Embedder, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let (asked, dimension) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(4)));
    let inner = Scripted { asked: Arc::clone(&asked), dimension: Arc::clone(&dimension) };
    let embedder = Embedder {
        inner: Box::new(inner),
        model: "m".into(),
        query_prefix: String::new(),
        cache: None,
        dimension: Mutex::default(),
        pulse: Pulse::default(),
    };
    (embedder, asked, dimension)
}

#[tokio::test]
async fn a_text_is_computed_once() {
    let folder = std::env::temp_dir().join(format!("airlock-embedder-{}", std::process::id()));
    let (embedder, asked, _) = embedder();
    let embedder = embedder.with_cache(Arc::new(FileCache::new(&folder)));
    let texts: Vec<String> = ["a", "bb", "a", "ccc"].map(String::from).to_vec();
    let vectors = embedder.texts(&texts).await.unwrap();
    assert_eq!((vectors.len(), asked.load(Ordering::SeqCst)), (4, 3));
    assert_eq!(vectors[0], vec![0.5; 4], "each is one long");
    embedder.texts(&texts).await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn another_dimension_is_refused_and_told() {
    let (embedder, _, dimension) = embedder();
    embedder.question("one").await.unwrap();
    assert_eq!(embedder.condition(), Condition::Working);
    dimension.store(3, Ordering::SeqCst);
    let error = embedder.question("two").await.unwrap_err();
    assert_eq!(error, EmbedError::Dimension { want: 4, got: 3 });
    assert!(matches!(embedder.condition(), Condition::Degraded(_)));
}

#[tokio::test]
async fn one_that_is_down_is_left_alone() {
    let (embedder, asked, dimension) = embedder();
    dimension.store(0, Ordering::SeqCst);
    assert!(embedder.question("one").await.is_err());
    let error = embedder.question("two").await.unwrap_err();
    assert!(matches!(error, EmbedError::Resting(_)), "{error}");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[test]
fn a_configuration_is_held_to_its_kind() {
    for (text, want) in [
        ("", None),
        ("kind = 'none'", None),
        ("kind = 'local'", Some("embedder.path")),
        ("kind = 'local'\npath = '/nonexistent'", Some("config.json")),
        ("kind = 'openai-compatible'", Some("embedder.url")),
        ("kind = 'openai-compatible'\nurl = 'http://127.0.0.1:1'", Some("embedder.model")),
        (
            "kind = 'openai-compatible'\nurl = 'http://127.0.0.1:1'\nmodel = 'm'\nkey_env = 'K'",
            Some("K is not set"),
        ),
    ] {
        let config: EmbedderConfig = toml::from_str(text).unwrap();
        match (Embedder::from_config(&config, |_| None), want) {
            (Ok(None), None) => {}
            (Err(error), Some(want)) => assert!(error.to_string().contains(want), "{text}: {error}"),
            (other, _) => panic!("{text}: {other:?}"),
        }
    }
}
