//! What a cross-encoder computes, and what a reranker says of one that is none.

use std::collections::HashMap;
use std::path::Path;

use candle_core::{Device, Tensor};
use serde_json::json;

use super::*;

const SIZE: usize = 8;
const WIDE: usize = 16;
const LAYERS: usize = 2;
const WORDS: [&str; 8] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "apple", "pear", "price", "of"];

/// A BERT of two layers whose every number follows from its place and the name of its tensor.
fn tensors(numbers: usize) -> HashMap<String, Tensor> {
    let mut tensors = HashMap::new();
    let mut add = |name: &str, shape: &[usize]| {
        let count: usize = shape.iter().product();
        let number = |at: usize| ((at * at) as f64 * 0.37 + name.len() as f64).sin() as f32;
        let numbers: Vec<f32> = (0..count).map(number).collect();
        tensors.insert(name.to_owned(), Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap());
    };
    let embeddings = "bert.embeddings";
    add(&format!("{embeddings}.word_embeddings.weight"), &[WORDS.len(), SIZE]);
    add(&format!("{embeddings}.position_embeddings.weight"), &[64, SIZE]);
    add(&format!("{embeddings}.token_type_embeddings.weight"), &[2, SIZE]);
    let mut linear = |name: &str, to: usize, from: usize| {
        add(&format!("{name}.weight"), &[to, from]);
        add(&format!("{name}.bias"), &[to]);
    };
    for number in 0..LAYERS {
        let layer = format!("bert.encoder.layer.{number}");
        for part in ["self.query", "self.key", "self.value", "output.dense"] {
            linear(&format!("{layer}.attention.{part}"), SIZE, SIZE);
        }
        linear(&format!("{layer}.intermediate.dense"), WIDE, SIZE);
        linear(&format!("{layer}.output.dense"), SIZE, WIDE);
    }
    linear("bert.pooler.dense", SIZE, SIZE);
    linear("classifier", numbers, SIZE);
    let mut norms = vec![format!("{embeddings}.LayerNorm")];
    for number in 0..LAYERS {
        let layer = format!("bert.encoder.layer.{number}");
        norms.extend([format!("{layer}.attention.output.LayerNorm"), format!("{layer}.output.LayerNorm")]);
    }
    for norm in norms {
        add(&format!("{norm}.weight"), &[SIZE]);
        add(&format!("{norm}.bias"), &[SIZE]);
    }
    tensors
}

fn write(folder: &Path, kind: &str, tensors: &HashMap<String, Tensor>) {
    let config = json!({
        "model_type": kind, "vocab_size": WORDS.len(), "hidden_size": SIZE, "num_hidden_layers": LAYERS,
        "num_attention_heads": 2, "intermediate_size": WIDE, "max_position_embeddings": 64, "type_vocab_size": 2,
        "hidden_act": "gelu",
    });
    let special = |name: &str, kind: u8| json!({"SpecialToken": {"id": name, "type_id": kind}});
    let text = |name: &str, kind: u8| json!({"Sequence": {"id": name, "type_id": kind}});
    let token = |name: &str, id: u8| json!({"id": name, "ids": [id], "tokens": [name]});
    let vocabulary: HashMap<&str, usize> = WORDS.iter().enumerate().map(|(at, word)| (*word, at)).collect();
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "Whitespace"}, "decoder": null,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special("[CLS]", 0), text("A", 0), special("[SEP]", 0)],
            "pair": [special("[CLS]", 0), text("A", 0), special("[SEP]", 0), text("B", 1), special("[SEP]", 1)],
            "special_tokens": {"[CLS]": token("[CLS]", 2), "[SEP]": token("[SEP]", 3)},
        },
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    });
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    candle_core::safetensors::save(tensors, folder.join("model.safetensors")).unwrap();
}

fn of(folder: &Path) -> Result<Option<Reranker>, RerankConfigError> {
    Reranker::from_config(&RerankConfig { path: Some(folder.to_owned()), pairs: None })
}

#[tokio::test]
async fn each_pair_scores_what_another_implementation_computes_for_it_alone() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "bert", &tensors(1));
    let reranker = of(folder.path()).unwrap().unwrap();
    assert_eq!(reranker.condition(), Condition::Idle);
    // By the same formulas in numpy, in double precision, one pair at a time.
    let known = [
        ("apple", 2.598_343_5),
        ("pear", 2.597_322),
        ("apple pear apple of price pear", 2.581_237_8),
        ("price of plum", 2.591_089),
    ];
    // More than one batch, of unequal lengths: the filling counts for nothing, and each score is in its document's place.
    let asked: Vec<(&str, f32)> = known.iter().cycle().take(BATCH * 2 + 3).copied().collect();
    let documents: Vec<String> = asked.iter().map(|(document, _)| (*document).to_owned()).collect();
    let scores = reranker.scores("price of apple", &documents).await.unwrap();
    assert_eq!(scores.len(), asked.len());
    for ((document, want), got) in asked.iter().zip(scores) {
        assert!((got - want).abs() < 1e-4, "{document}: {got}, not {want}");
    }
    assert_eq!(reranker.condition(), Condition::Working);
    let long = "apple ".repeat(1_000);
    let scores = reranker.scores(&long, std::slice::from_ref(&long)).await.unwrap();
    assert!(scores[0].is_finite(), "what is too long is cut");
}

#[tokio::test]
async fn a_model_that_cannot_be_loaded_is_told_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut headless = tensors(1);
    headless.remove("bert.pooler.dense.weight");
    let damaged: [(&str, &dyn Fn()); 3] = [
        ("pooler.dense.weight", &|| write(folder.path(), "bert", &headless)),
        ("classifier.weight", &|| write(folder.path(), "bert", &tensors(3))),
        ("model.safetensors", &|| {
            write(folder.path(), "bert", &tensors(1));
            std::fs::write(folder.path().join("model.safetensors"), b"no weights").unwrap();
        }),
    ];
    for (named, damage) in damaged {
        damage();
        let reranker = of(folder.path()).unwrap().unwrap();
        let error = reranker.scores("apple", &["pear".to_owned()]).await.unwrap_err();
        assert!(matches!(&error, RerankError::Directory(why) if why.contains(named)), "{named}: {error}");
        assert!(matches!(reranker.condition(), Condition::Degraded(_)));
        let again = reranker.scores("apple", &["pear".to_owned()]).await.unwrap_err();
        assert!(matches!(again, RerankError::Resting(_)), "{again}");
    }
}

#[test]
fn a_configuration_names_what_is_wrong_with_it() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "xlm-roberta", &tensors(1));
    let path = folder.path().display();
    for (text, want) in [
        (String::new(), None),
        ("pairs = 10".to_owned(), Some("rerank.path")),
        ("path = '/nonexistent'".to_owned(), Some("config.json")),
        (format!("path = '{path}'\npairs = 1"), Some("rerank.pairs")),
        (format!("path = '{path}'\npairs = 51"), Some("rerank.pairs")),
        (format!("path = '{path}'"), Some("xlm-roberta")),
    ] {
        let config: RerankConfig = toml::from_str(&text).unwrap();
        match (Reranker::from_config(&config), want) {
            (Ok(None), None) => {}
            (Err(error), Some(want)) => assert!(error.to_string().contains(want), "{text}: {error}"),
            (other, _) => panic!("{text}: {other:?}"),
        }
    }
    assert!(toml::from_str::<RerankConfig>("kind = 'local'").is_err(), "an unknown key");
}
