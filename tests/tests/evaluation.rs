//! `airlock eval` through the real binary: runs, recordings, interruptions, questions that cannot be used.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use airlock_tests::corpus::Corpus;
use airlock_tests::{Airlock, NOW, PATIENCE, Said, ScriptedModel, corpora, eventually, signal, under_test};
use serde_json::{Value, json};

/// An evaluator beside a demo, with a folder of its own.
struct Evaluator<'a> {
    airlock: &'a Airlock,
    folder: tempfile::TempDir,
}

impl<'a> Evaluator<'a> {
    fn new(airlock: &'a Airlock) -> Self {
        Self { airlock, folder: tempfile::Builder::new().prefix("eval").tempdir().unwrap() }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn questions(&self, lines: &[Value]) -> PathBuf {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.text(&text)
    }

    fn text(&self, text: &str) -> PathBuf {
        let file = self.folder.path().join("q.jsonl");
        fs::write(&file, text).unwrap();
        file
    }

    fn command(&self, arguments: &[&str], model: Option<&str>) -> Command {
        let mut command = under_test();
        command
            .args(["eval", "--json"])
            .args(arguments)
            .env("AIRLOCK_CONFIG", self.airlock.data.path().join("airlock.toml"));
        if let Some(url) = model {
            command.env("AIRLOCK_MODEL_URL", url).env("AIRLOCK_MODEL", "scripted");
            // A model that is silent on purpose is silent for longer than a test on a busy machine takes.
            command.env("AIRLOCK_MODEL_DEADLINE_SECONDS", "600");
        }
        command
    }

    fn eval(&self, arguments: &[&str], model: Option<&str>) -> (Option<i32>, Value, String) {
        said(&self.command(arguments, model).output().unwrap())
    }

    /// Asks these questions.
    fn run(&self, questions: &Path, more: &[&str], model: Option<&str>) -> (Option<i32>, Value, String) {
        let (questions, out) = (questions.to_string_lossy(), self.out());
        let out = out.to_string_lossy();
        let mut arguments = vec!["run", "--questions", &questions, "--out", &out];
        arguments.extend(more);
        self.eval(&arguments, model)
    }

    fn runs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.out()).into_iter().flatten();
        let mut runs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        runs.sort();
        runs
    }
}

/// Exit code, what was printed, and what was said beside it: of each line the text that its object carries.
fn said(output: &Output) -> (Option<i32>, Value, String) {
    let errors = String::from_utf8_lossy(&output.stderr);
    let told =
        errors.lines().map(|line| match serde_json::from_str::<serde_json::Map<String, Value>>(line) {
            Ok(fields) => fields.values().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
            Err(_) => line.to_owned(),
        });
    let told = told.collect::<Vec<_>>().join("\n");
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default(), told)
}

fn records(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("results.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Lines that are whole: the last one may be in the middle of being written.
fn graded(run: &Path) -> usize {
    fs::read_to_string(run.join("results.jsonl")).unwrap_or_default().matches('\n').count()
}

/// Every key of an object and of the objects in it, so that a shape can be compared.
fn shape(value: &Value, path: &str, keys: &mut BTreeSet<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        shape(value, &path, keys);
        if let Some(first) = value.as_array().and_then(|list| list.first()) {
            shape(first, &path, keys);
        }
        keys.insert(path);
    }
}

const CUSTOMERS: &str = "SELECT count(*) FROM customers";

fn customers() -> Value {
    json!({"id": "customers", "category": "simple", "question": "How many customers do we have?",
           "gold_sql": CUSTOMERS, "check_sql": "SELECT count(DISTINCT cust_id) FROM customers",
           "answerable": true, "order_matters": false, "now": NOW})
}

fn colour() -> Value {
    json!({"id": "colour", "category": "unanswerable", "question": "What is our employees' favourite colour?",
           "answerable": false, "gold_sql": null, "accepted_sql": [], "now": NOW})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_graded_kept_graded_again_and_compared() {
    let airlock = Airlock::demo().await;
    let evaluator = Evaluator::new(&airlock);
    // Of the last one the right answer is another than the question's, so that something is wrong.
    let wrong = || {
        json!({"id": "wrong", "category": "simple", "question": "How many customers do we have?",
        "gold_sql": "SELECT count(*) + 1 FROM customers", "now": NOW})
    };
    let questions = evaluator.questions(&[customers(), colour(), wrong()]);
    let (code, summary, errors) = evaluator.run(&questions, &["--domain", "hardware-shop"], None);
    assert_eq!(code, Some(0), "{errors}");
    for mode in ["agent", "baseline"] {
        let of = &summary[mode];
        assert_eq!(
            (&of["answerable"]["right"], &of["answerable"]["of"]),
            (&json!(1), &json!(2)),
            "{summary}"
        );
        assert_eq!((&of["refusals"]["right"], &of["refusals"]["of"]), (&json!(1), &json!(1)), "{summary}");
        assert_eq!(of["kinds"], json!({"right": 2, "other_values": 1}), "{summary}");
        assert_eq!((&of["healed"], &of["broken"], &of["cost"]), (&json!(0), &json!(0), &json!(0.0)));
    }
    assert_eq!(summary["paired"]["significant"], false);
    assert!(summary["says"].as_str().unwrap().contains("same 2 of 3"), "{summary}");
    let mut keys = BTreeSet::new();
    shape(&summary, "", &mut keys);
    insta::assert_json_snapshot!("summary_shape", keys);

    let [run] = evaluator.runs().try_into().unwrap();
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("How many customers do we have?") && page.contains("count(*) + 1"));
    assert!(!page.contains("http://") && !page.contains("https://"), "a page of its own");
    assert!(fs::read_to_string(run.join("report.md")).unwrap().contains("| answerable questions, right |"));
    let text = fs::read_to_string(run.join("results.jsonl")).unwrap();
    assert!(!text.contains("\"rows\""), "no rows are kept");

    let before = text.clone();
    let run = run.to_string_lossy();
    let (code, again, errors) = evaluator.eval(&["regrade", &run], None);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(again["agent"]["kinds"], summary["agent"]["kinds"]);
    assert_eq!(
        fs::read_to_string(Path::new(&*run).join("results.jsonl")).unwrap(),
        before,
        "never written over"
    );
    let second = again["folder"].as_str().unwrap();
    let (code, comparison, errors) = evaluator.eval(&["compare", &run, second], None);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!((&comparison["questions"], &comparison["modes"][0]["flips"]), (&json!(3), &json!([])));

    // Runs over other questions say nothing of each other.
    let elsewhere = json!({"id": "elsewhere", "category": "simple", "question": "How many customers do we have?",
        "gold_sql": CUSTOMERS, "now": NOW});
    let others = evaluator.text(&format!("{elsewhere}\n"));
    let (code, other, errors) = evaluator.run(&others, &["--domain", "hardware-shop"], None);
    assert_eq!(code, Some(0), "{errors}");
    let (code, nothing, errors) = evaluator.eval(&["compare", &run, other["folder"].as_str().unwrap()], None);
    assert_eq!((code, nothing), (Some(2), Value::Null), "{errors}");
    assert!(errors.contains("cannot be compared: no question of one"), "{errors}");

    let (code, baseline, errors) =
        evaluator.run(&questions, &["--domain", "hardware-shop", "--baseline", "only"], None);
    assert_eq!(code, Some(0), "{errors}");
    let (code, agent, errors) =
        evaluator.run(&questions, &["--domain", "hardware-shop", "--baseline", "off"], None);
    assert_eq!(code, Some(0), "{errors}");
    let folder = |run: &Value| run["folder"].as_str().unwrap().to_owned();
    let (code, nothing, errors) = evaluator.eval(&["compare", &folder(&baseline), &folder(&agent)], None);
    assert_eq!((code, nothing), (Some(2), Value::Null), "{errors}");
    assert!(errors.contains("cannot be compared: one is of the agent"), "{errors}");

    // A map that cannot be used is a mistake, whether or not a question needs it.
    let questions = evaluator.questions(&[customers(), colour(), wrong()]);
    for (maps, want) in [
        (&["--map", "shop=nowhere"][..], "nowhere"),
        (&["--map", "shop=hardware-shop", "--map", "shop=hardware-shop"], "`shop` is mapped twice"),
        (&["--map", "shop"], "`shop` is not DB=DOMAIN"),
    ] {
        let more: Vec<&str> = ["--domain", "hardware-shop"].iter().chain(maps).copied().collect();
        let (code, _, errors) = evaluator.run(&questions, &more, None);
        assert!(code == Some(2) && errors.contains("--map: ") && errors.contains(want), "{maps:?}: {errors}");
    }

    // The domain's own words are left out where they are told to be.
    let more = ["--domain", "hardware-shop", "--degrade", "samples,keys,notes", "--baseline", "off"];
    let (code, degraded, errors) = evaluator.run(&questions, &more, None);
    assert_eq!((code, &degraded["baseline"]), (Some(0), &Value::Null), "{errors}");
    assert_eq!(degraded["agent"]["refusals"]["of"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_question_that_cannot_be_used_is_named_before_any_is_asked() {
    let airlock = Airlock::demo().await;
    let evaluator = Evaluator::new(&airlock);
    let line = |id: &str, sql: &str| json!({"id": id, "question": "How many?", "gold_sql": sql});
    let lines = [
        customers(),
        line("refused", "DELETE FROM customers"),
        line("fails", "SELECT 1 / (count(*) - count(*)) FROM customers"),
        line("unknown", "SELECT nothing FROM customers"),
        json!({"id": "elsewhere", "db": "nowhere", "question": "How many?", "gold_sql": CUSTOMERS}),
        json!({"id": "differs", "question": "How many?", "gold_sql": CUSTOMERS,
               "check_sql": "SELECT count(*) + 1 FROM customers"}),
    ];
    let questions = evaluator.questions(&lines);
    let (code, _, errors) = evaluator.run(&questions, &["--domain", "hardware-shop"], None);
    assert_eq!(code, Some(2), "{errors}");
    for (number, word) in
        [(2, "right answer"), (3, "zero"), (4, "nothing"), (5, "--map nowhere=DOMAIN"), (6, "another result")]
    {
        let found = errors.lines().find(|line| line.contains(&format!("q.jsonl:{number}:")));
        assert!(found.is_some_and(|line| line.contains(word)), "{number}: {errors}");
    }
    assert!(!errors.contains("q.jsonl:1:"), "{errors}");

    // Lines that cannot be read are told in the same report, and in the order of the file.
    let mut broken: String = lines.iter().map(|line| format!("{line}\n")).collect();
    broken.insert_str(0, "{\"id\": \n");
    broken.push_str("{\"id\": \"a\"}\n");
    let questions = evaluator.text(&broken);
    let (code, _, errors) = evaluator.run(&questions, &["--domain", "hardware-shop"], None);
    assert_eq!(code, Some(2), "{errors}");
    let number = |line: &str| line.split("q.jsonl:").nth(1)?.split(':').next()?.parse::<u32>().ok();
    let mut told: Vec<u32> = errors.lines().filter_map(number).collect();
    assert!(told.is_sorted(), "{errors}");
    told.dedup();
    assert_eq!(told, [1, 3, 4, 5, 6, 7, 8], "{errors}");
    assert_eq!(evaluator.runs(), Vec::<PathBuf>::new(), "nothing was begun");

    // What can be used is asked when that is what is wanted, and the database may have another name than the domain.
    let mapped = json!({"id": "mapped", "db": "shop", "question": "How many customers do we have?",
        "gold_sql": CUSTOMERS, "accepted_sql": ["SELECT nothing FROM customers"], "now": NOW});
    let unknown = line("unknown", "SELECT nothing FROM customers");
    let questions = evaluator.text(&format!("{mapped}\n{unknown}\n{{\"id\"\n"));
    let more = ["--map", "shop=hardware-shop", "--skip-bad", "--baseline", "only"];
    let (code, summary, errors) = evaluator.run(&questions, &more, None);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!((&summary["questions"], &summary["skipped"]), (&json!(1), &json!(2)), "{summary}");
    assert_eq!((&summary["agent"], &summary["baseline"]["answerable"]["right"]), (&Value::Null, &json!(1)));
    assert!(errors.contains("q.jsonl:1: a further right answer"), "{errors}");

    for (arguments, word) in [
        (vec!["run"], "--questions"),
        (vec!["run", "--domain", "nowhere"], "nowhere"),
        (vec!["run", "--domain", "hardware-shop", "--degrade", "rows"], "--degrade"),
        (vec!["run", "--domain", "hardware-shop", "--map", "x"], "--map"),
        (vec!["run", "--domain", "hardware-shop", "--record", "x"], "--record"),
        (vec!["run", "--resume", "nowhere"], "not the folder of a run"),
        (vec!["regrade", "nowhere"], "not the folder of a run"),
    ] {
        let (code, _, errors) = evaluator.eval(&arguments, None);
        assert_eq!(code, Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(word), "{arguments:?}: {errors}");
    }
}

/// Questions that nothing but a model can answer, and what a model says to each.
fn hard(id: &str) -> Value {
    json!({"id": id, "question": format!("Which bills are the largest, in the words of {id}?"), "order_matters": true,
           "gold_sql": "SELECT bill_no FROM bills ORDER BY total_amt DESC, bill_no LIMIT 3"})
}

const RIGHT: &str = "SELECT bill_no FROM bills ORDER BY total_amt DESC, bill_no LIMIT 3";

#[tokio::test(flavor = "multi_thread")]
async fn what_repair_heals_is_counted_and_a_recording_replays_it_for_nothing() {
    let airlock = Airlock::demo().await;
    let evaluator = Evaluator::new(&airlock);
    let model = ScriptedModel::start(|prompt| match prompt {
        _ if !prompt.contains("in the words of") => "I do not know this question.".into(),
        // Healed by what the failure says.
        _ if prompt.contains("words of healed") && !prompt.contains("no_such_column") => {
            "SELECT bill_no, no_such_column FROM bills LIMIT 3".into()
        }
        _ if prompt.contains("words of wrong") => "SELECT bill_no FROM bills ORDER BY bill_no LIMIT 3".into(),
        _ => RIGHT.into(),
    })
    .await;
    let recording = evaluator.folder.path().join("recording");
    let recording = recording.to_string_lossy();
    let questions = evaluator.questions(&[hard("right"), hard("healed"), hard("wrong")]);
    let domain = ["--domain", "hardware-shop"];
    let (code, spoken, errors) =
        evaluator.run(&questions, &[domain.as_slice(), &["--record", &recording]].concat(), Some(&model.url));
    assert_eq!(code, Some(0), "{errors}");
    let agent = &spoken["agent"];
    assert_eq!((&agent["answerable"]["right"], &agent["healed"]), (&json!(2), &json!(1)), "{spoken}");
    assert_eq!((&agent["broken"], &agent["first_failed"]), (&json!(0), &json!(1)), "{spoken}");
    assert_eq!(spoken["baseline"]["kinds"], json!({"right": 1, "other_values": 1, "gave_up": 1}), "{spoken}");
    assert_eq!((&spoken["won"], &spoken["lost"]), (&json!(["healed"]), &json!([])));
    assert!(spoken["says"].as_str().unwrap().contains("noise"), "{spoken}");
    assert!(agent["tokens"]["input"].as_u64().unwrap() > 0);
    // No price is known, so neither is the cost.
    assert_eq!(agent["cost"], Value::Null);

    // Nobody is there any more; what was said is.
    let asked = model.prompts().len();
    drop(model);
    let replay = [domain.as_slice(), &["--replies", &recording]].concat();
    let (code, played, errors) = evaluator.run(&questions, &replay, None);
    assert_eq!(code, Some(0), "{errors}");
    for mode in ["agent", "baseline"] {
        for number in ["kinds", "healed", "tokens"] {
            assert_eq!(played[mode][number], spoken[mode][number], "{mode} {number}");
        }
    }
    assert!(asked > 0);

    // A question that was not recorded is nobody's wrong answer, and its key is named.
    let questions = evaluator.questions(&[hard("right"), hard("unrecorded")]);
    let (code, gaps, errors) = evaluator.run(&questions, &replay, None);
    assert_eq!(code, Some(3), "{errors}");
    assert_eq!(gaps["agent"]["answerable"]["of"], 1, "{gaps}");
    assert_eq!(
        (&gaps["agent"]["infrastructure"], &gaps["baseline"]["infrastructure"]),
        (&json!(1), &json!(1))
    );
    let run = gaps["folder"].as_str().unwrap();
    let missed = records(Path::new(run));
    let missed = missed.iter().find(|record| record["id"] == "unrecorded").unwrap();
    let why = missed["why"].as_str().unwrap();
    let key = why.split(' ').find_map(|word| word.trim_end_matches(';').strip_suffix(".json"));
    assert!(key.is_some_and(|key| key.len() == 64), "{why}");
    assert!(missed["verdict"] == "infrastructure", "{missed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_stopped_before_its_first_question_says_so_and_leaves_no_folder() {
    let airlock = Airlock::demo().await;
    let evaluator = Evaluator::new(&airlock);
    // Slow enough that the signal comes while the right answer is tried.
    let gold = "SELECT count(*) FROM bill_items a CROSS JOIN bill_items b CROSS JOIN bill_items c";
    let line = json!({"id": "slow", "question": "How many threes of items are there?", "gold_sql": gold});
    let questions = evaluator.questions(&[line]);
    let (questions, out) = (questions.to_string_lossy(), evaluator.out());
    let out = out.to_string_lossy();
    let arguments = ["run", "--questions", &questions, "--domain", "hardware-shop", "--out", &out];
    let child =
        evaluator.command(&arguments, None).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The demo's own host reads for a moment now and then; the right answer is read for longer.
    eventually("the right answer is tried", async || {
        let before = airlock.reading();
        tokio::time::sleep(std::time::Duration::from_millis(400)).await;
        let still = airlock.reading().into_iter().find(|process| before.contains(process));
        still.ok_or("nothing is read for long")
    })
    .await;
    signal(child.id(), "TERM");
    let (code, said, errors) = said(&child.wait_with_output().unwrap());
    assert_eq!(code, Some(3), "{said} {errors}");
    assert!(errors.contains("before a question was asked"), "{said} {errors}");
    assert_eq!(evaluator.runs(), Vec::<PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_killed_goes_on_where_it_was() {
    let airlock = Airlock::demo().await;
    let evaluator = Evaluator::new(&airlock);
    let silent = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let model = ScriptedModel::start({
        let silent = std::sync::Arc::clone(&silent);
        move |prompt| match prompt {
            _ if prompt.contains("words of third") && silent.load(std::sync::atomic::Ordering::Relaxed) => {
                Said::Silence(4 * PATIENCE)
            }
            _ if prompt.contains("in the words of") => RIGHT.into(),
            _ => "I do not know this question.".into(),
        }
    })
    .await;
    let ids = ["first", "second", "third", "fourth"];
    let questions = evaluator.questions(&ids.map(hard));
    let (questions, out) = (questions.to_string_lossy(), evaluator.out());
    let out = out.to_string_lossy();
    let arguments =
        ["run", "--questions", &questions, "--domain", "hardware-shop", "--out", &out, "--baseline", "off"];
    let mut child = evaluator
        .command(&arguments, Some(&model.url))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let run = eventually("two are graded and the third is asked", async || {
        let prompts = model.prompts();
        let there = evaluator.runs().into_iter().find(|run| graded(run) == 2);
        there.filter(|_| prompts.iter().any(|prompt| prompt.contains("words of third"))).ok_or(prompts.len())
    })
    .await;
    // Two at once is one too many.
    let path = run.to_string_lossy().into_owned();
    let (code, _, errors) = evaluator.eval(&["run", "--resume", &path], Some(&model.url));
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("another evaluation"), "{errors}");
    child.kill().unwrap();
    child.wait().unwrap();
    // What a kill in the middle of a line leaves.
    let mut results = fs::OpenOptions::new().append(true).open(run.join("results.jsonl")).unwrap();
    results.write_all(b"{\"id\":\"third\",\"mo").unwrap();
    drop(results);
    let ids_before: Vec<String> = ["first", "second"].map(str::to_owned).to_vec();

    // Under other conditions it is another run.
    let (code, _, errors) = evaluator.eval(&["run", "--resume", &path], None);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("the models"), "{errors}");

    silent.store(false, std::sync::atomic::Ordering::Relaxed);
    let asked = model.prompts().len();
    let (code, summary, errors) = evaluator.eval(&["run", "--resume", &path], Some(&model.url));
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(
        (&summary["agent"]["answerable"]["right"], &summary["missing"]),
        (&json!(4), &json!(0)),
        "{summary}"
    );
    let graded: Vec<String> =
        records(&run).iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(graded, ids, "each once");
    let again = model.prompts().split_off(asked);
    for id in ids_before {
        assert!(
            !again.iter().any(|prompt| prompt.contains(&format!("words of {id}"))),
            "{id} was asked again"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_down_is_nobodys_wrong_answer() {
    let airlock = Airlock::demo().await;
    let evaluator = Evaluator::new(&airlock);
    let down = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let model = ScriptedModel::start({
        let down = std::sync::Arc::clone(&down);
        move |prompt| match prompt {
            _ if down.load(std::sync::atomic::Ordering::Relaxed) => Said::Status(401),
            _ if prompt.contains("in the words of") => RIGHT.into(),
            _ if prompt.contains("customers") => CUSTOMERS.into(),
            _ => "I do not know this question.".into(),
        }
    })
    .await;
    let questions = evaluator.questions(&[hard("a"), customers()]);
    let (code, summary, errors) =
        evaluator.run(&questions, &["--domain", "hardware-shop", "--baseline", "off"], Some(&model.url));
    assert_eq!(code, Some(3), "{errors}");
    // The second could be answered without it, but that would say nothing of the model.
    assert_eq!(summary["agent"]["infrastructure"], 2, "{summary}");
    assert_eq!(summary["agent"]["answerable"]["of"], 0, "{summary}");
    // Asked again when the model is back, where it was.
    down.store(false, std::sync::atomic::Ordering::Relaxed);
    let run = summary["folder"].as_str().unwrap();
    let elsewhere = ScriptedModel::start(|_| RIGHT.into()).await;
    let (code, _, errors) = evaluator.eval(&["run", "--resume", run], Some(&elsewhere.url));
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("the configuration"), "{errors}");
    let (code, summary, errors) = evaluator.eval(&["run", "--resume", run], Some(&model.url));
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(summary["agent"]["answerable"]["right"], 2, "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_falls_silent_is_nobodys_wrong_answer() {
    let airlock = Airlock::demo().await;
    let file = airlock.data.path().join("airlock.toml");
    let mut config: toml::Table = fs::read_to_string(&file).unwrap().parse().unwrap();
    for (_, source) in config["sources"].as_table_mut().unwrap().iter_mut() {
        source.as_table_mut().unwrap().insert("statement_timeout_ms".to_owned(), 1_000.into());
    }
    fs::write(&file, config.to_string()).unwrap();
    let evaluator = Evaluator::new(&airlock);
    let silenced = std::sync::Arc::new(std::sync::Mutex::new(None));
    let model = ScriptedModel::start({
        let (silenced, server) = (std::sync::Arc::clone(&silenced), airlock.server());
        let fell = std::sync::Once::new();
        move |prompt| {
            // It is there while its questions are checked, and gone when a text is to be run.
            if prompt.contains("words of second") {
                fell.call_once(|| *silenced.lock().unwrap() = Some(server.silenced()));
            }
            if prompt.contains("in the words of") { RIGHT.into() } else { Said::Status(400) }
        }
    })
    .await;
    let questions = evaluator.questions(&["first", "second", "third"].map(hard));
    let (code, summary, errors) =
        evaluator.run(&questions, &["--domain", "hardware-shop", "--baseline", "off"], Some(&model.url));
    let was_silent = silenced.lock().unwrap().take().is_some();
    assert_eq!((code, was_silent), (Some(3), true), "{errors}");
    assert_eq!(summary["agent"]["infrastructure"], 2, "{summary}");
    assert_eq!(
        (&summary["agent"]["answerable"]["right"], &summary["agent"]["answerable"]["of"]),
        (&json!(1), &json!(1)),
        "{summary}"
    );
    let run = PathBuf::from(summary["folder"].as_str().unwrap());
    for record in records(&run).iter().skip(1) {
        assert_eq!(
            (&record["verdict"], &record["history"]),
            (&json!("infrastructure"), &json!([])),
            "{record}"
        );
    }
    let (code, summary, errors) =
        evaluator.eval(&["run", "--resume", &run.to_string_lossy()], Some(&model.url));
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(summary["agent"]["answerable"]["right"], 3, "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn public_questions_are_asked_of_the_databases_they_are_about() {
    let Some(corpora) = corpora() else {
        eprintln!("SKIPPED: there are no corpora; set AIRLOCK_CORPORA");
        return;
    };
    let corpus = Corpus::load(&corpora, &["world"]).await;
    corpus.add_instructions();
    let out = tempfile::tempdir().unwrap();
    let (questions, out) = (corpus.questions(), out.path().to_string_lossy().into_owned());
    let questions = questions.to_string_lossy();
    let arguments = ["run", "--json", "--skip-bad", "--questions", &questions, "--out", &out];
    let (code, summary, errors) = said(&corpus.eval(&arguments));
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(summary["questions"], 2, "{summary}");
    // Those about databases that are not loaded are named.
    let skipped = usize::try_from(summary["skipped"].as_u64().unwrap()).unwrap();
    assert_eq!(errors.matches("there is no domain for the database").count(), skipped, "{errors}");
    assert_eq!(summary["domains"][0]["name"], "world");
}
