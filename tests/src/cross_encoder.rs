//! A cross-encoder that prefers documents with a certain word: a BERT of one layer, in the files of any other.

use std::path::Path;

use serde_json::{Map, Value, json};

/// Numbers of a token.
const SIZE: usize = 4;
/// Numbers between the two steps that end a layer.
const WIDE: usize = 4;
/// Tokens of a pair.
const PLACES: usize = 256;

/// Writes one into a folder, which is made. The more of a pair is `word`, the more it scores.
pub fn write(folder: &Path, word: &str) {
    std::fs::create_dir_all(folder).unwrap();
    let vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", word];
    let config = json!({
        "model_type": "bert", "vocab_size": vocabulary.len(), "hidden_size": SIZE, "num_hidden_layers": 1,
        "num_attention_heads": 1, "intermediate_size": WIDE, "max_position_embeddings": PLACES,
        "type_vocab_size": 2, "hidden_act": "gelu",
    });
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer(&vocabulary).to_string()).unwrap();
    std::fs::write(folder.join("model.safetensors"), weights(vocabulary.len())).unwrap();
}

/// Whole words, in lower case.
fn tokenizer(vocabulary: &[&str]) -> Value {
    let special = |name: &str, kind: u8| json!({"SpecialToken": {"id": name, "type_id": kind}});
    let text = |name: &str, kind: u8| json!({"Sequence": {"id": name, "type_id": kind}});
    let token = |name: &str, id: u8| json!({"id": name, "ids": [id], "tokens": [name]});
    let words: Map<String, Value> =
        vocabulary.iter().enumerate().map(|(at, word)| ((*word).to_owned(), at.into())).collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "decoder": null,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special("[CLS]", 0), text("A", 0), special("[SEP]", 0)],
            "pair": [special("[CLS]", 0), text("A", 0), special("[SEP]", 0), text("B", 1), special("[SEP]", 1)],
            "special_tokens": {"[CLS]": token("[CLS]", 2), "[SEP]": token("[SEP]", 3)},
        },
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"},
    })
}

/// Every token sees the mean of all, in which the word alone has the first number. What follows leaves it as it is, and the
/// score is that number.
fn weights(words: usize) -> Vec<u8> {
    let one = |rows: usize, columns: usize| -> Vec<f32> {
        (0..rows * columns).map(|at| f32::from(u8::from(at / columns == at % columns))).collect()
    };
    let none = |count: usize| vec![0.0; count];
    let mut embeddings = none(words * SIZE);
    for (at, number) in embeddings.iter_mut().enumerate() {
        let (token, place) = (at / SIZE, at % SIZE);
        *number = f32::from(u8::from(place == if token + 1 == words { 0 } else { 1 }));
    }
    let mut tensors: Vec<(String, Vec<usize>, Vec<f32>)> = vec![
        ("bert.embeddings.word_embeddings.weight".to_owned(), vec![words, SIZE], embeddings),
        ("bert.embeddings.position_embeddings.weight".to_owned(), vec![PLACES, SIZE], none(PLACES * SIZE)),
        ("bert.embeddings.token_type_embeddings.weight".to_owned(), vec![2, SIZE], none(2 * SIZE)),
    ];
    let layer = "bert.encoder.layer.0";
    let mut linear = |name: String, to: usize, from: usize, weight: Vec<f32>| {
        tensors.push((format!("{name}.weight"), vec![to, from], weight));
        tensors.push((format!("{name}.bias"), vec![to], none(to)));
    };
    linear(format!("{layer}.attention.self.query"), SIZE, SIZE, none(SIZE * SIZE));
    linear(format!("{layer}.attention.self.key"), SIZE, SIZE, none(SIZE * SIZE));
    linear(format!("{layer}.attention.self.value"), SIZE, SIZE, one(SIZE, SIZE));
    linear(format!("{layer}.attention.output.dense"), SIZE, SIZE, one(SIZE, SIZE));
    linear(format!("{layer}.intermediate.dense"), WIDE, SIZE, none(WIDE * SIZE));
    linear(format!("{layer}.output.dense"), SIZE, WIDE, none(SIZE * WIDE));
    linear("bert.pooler.dense".to_owned(), SIZE, SIZE, one(SIZE, SIZE));
    linear("classifier".to_owned(), 1, SIZE, one(1, SIZE));
    for norm in [
        "bert.embeddings.LayerNorm".to_owned(),
        format!("{layer}.attention.output.LayerNorm"),
        format!("{layer}.output.LayerNorm"),
    ] {
        tensors.push((format!("{norm}.weight"), vec![SIZE], vec![1.0; SIZE]));
        tensors.push((format!("{norm}.bias"), vec![SIZE], none(SIZE)));
    }
    safetensors(&tensors)
}

/// The length of a header, the header, the numbers.
fn safetensors(tensors: &[(String, Vec<usize>, Vec<f32>)]) -> Vec<u8> {
    let (mut header, mut numbers) = (Map::new(), Vec::new());
    for (name, shape, values) in tensors {
        let from = numbers.len();
        numbers.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let offsets = [from, numbers.len()];
        header.insert(name.clone(), json!({"dtype": "F32", "shape": shape, "data_offsets": offsets}));
    }
    let header = Value::Object(header).to_string().into_bytes();
    let length = (header.len() as u64).to_le_bytes();
    [length.as_slice(), &header, &numbers].concat()
}
