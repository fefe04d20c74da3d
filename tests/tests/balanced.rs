//! Two hosts over one store and one source, behind a balancer that gives each connection to the next of them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use airlock_setup::PrivatePostgres;
use airlock_tests::{Airlock, Host, NOW, eventually, heard};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};

const CUSTOMERS: &str = "How many customers do we have?";

/// Connections to one host.
#[derive(Default)]
struct Backend {
    address: std::sync::Mutex<String>,
    served: AtomicUsize,
    /// Those that ended without an answer, or in the middle of one.
    broken: AtomicUsize,
}

/// A balancer: connections in turn, and past a host that takes none.
struct Balancer {
    url: String,
    backends: Arc<[Backend; 2]>,
    task: tokio::task::JoinHandle<()>,
}

impl Balancer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let backends: Arc<[Backend; 2]> = Arc::default();
        let task = tokio::spawn({
            let backends = Arc::clone(&backends);
            async move {
                for turn in 0.. {
                    let Ok((client, _)) = listener.accept().await else { return };
                    tokio::spawn(carry(client, Arc::clone(&backends), turn));
                }
            }
        });
        Self { url, backends, task }
    }

    fn name(&self) -> String {
        self.url.trim_start_matches("http://").to_owned()
    }

    fn send_to(&self, hosts: [&Host; 2]) {
        for (backend, host) in self.backends.iter().zip(hosts) {
            *backend.address.lock().unwrap() = host.url.trim_start_matches("http://").to_owned();
        }
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn carry(mut client: TcpStream, backends: Arc<[Backend; 2]>, turn: usize) {
    for at in [turn % 2, (turn + 1) % 2] {
        let backend = &backends[at];
        let address = backend.address.lock().unwrap().clone();
        let Ok(mut host) = TcpStream::connect(address).await else { continue };
        backend.served.fetch_add(1, Ordering::SeqCst);
        let ((mut asks, mut hears), (mut answers, mut asked)) = (client.split(), host.split());
        let whole = {
            let mut up = std::pin::pin!(tokio::io::copy(&mut asks, &mut asked));
            let mut down = std::pin::pin!(answer(&mut answers, &mut hears));
            tokio::select! {
                whole = &mut down => whole,
                // Whoever asked has said everything, and waits for the answer.
                _ = &mut up => down.await,
            }
        };
        if !whole {
            backend.broken.fetch_add(1, Ordering::SeqCst);
        }
        return;
    }
}

/// Carries an answer; whether there was one, and it ended as answers do.
async fn answer(from: &mut ReadHalf<'_>, to: &mut WriteHalf<'_>) -> bool {
    let (mut bytes, mut any) = ([0; 8_192], false);
    loop {
        match from.read(&mut bytes).await {
            Err(_) => return false,
            Ok(0) => return any,
            Ok(read) => {
                any = true;
                if to.write_all(&bytes[..read]).await.is_err() {
                    return true;
                }
            }
        }
    }
}

/// A client that opens a connection for each request, so that each goes to the next host.
#[derive(Clone)]
struct Client {
    url: String,
    key: Option<String>,
    http: reqwest::Client,
}

impl Client {
    fn of(url: &str) -> Self {
        Self { url: url.to_owned(), key: None, http: airlock_tests::client() }
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<(u16, Value), reqwest::Error> {
        let request = match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        };
        let response = request.send().await?;
        let status = response.status().as_u16();
        let text = response.text().await?;
        Ok((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }

    async fn post(&self, path: &str, body: &Value) -> Result<(u16, Value), reqwest::Error> {
        let request =
            self.http.post(format!("{}{path}", self.url)).header("content-type", "application/json");
        self.send(request.body(body.to_string())).await
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.send(self.http.get(format!("{}{path}", self.url))).await.unwrap()
    }

    async fn ask(&self, body: &Value) -> (u16, Value) {
        self.post("/api/ask", body).await.unwrap()
    }
}

/// Two hosts behind a balancer, beside the demo whose store and source they share.
async fn balanced(airlock: &Airlock) -> (Balancer, [Host; 2]) {
    let balancer = Balancer::start().await;
    let host = |name: &str| {
        Host::over(airlock, name, |config| {
            let server = config["server"].as_table_mut().unwrap();
            server.insert("names".to_owned(), vec![balancer.name()].into());
        })
    };
    let hosts = [host("one"), host("two")];
    balancer.send_to([&hosts[0], &hosts[1]]);
    (balancer, hosts)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_does_not_matter_which_host_a_request_comes_to() {
    let airlock = Airlock::demo().await;
    let (balancer, hosts) = balanced(&airlock).await;
    let client = Client::of(&balancer.url);

    // An ask and its follow-ups come to different hosts, three conversations at once.
    for _ in 0..3 {
        let (status, first) =
            client.ask(&json!({"question": "How many bills were there in January 2026?", "now": NOW})).await;
        assert_eq!((status, first["outcome"].as_str()), (200, Some("answered")), "{first}");
        let next = json!({"question": "And in February 2026?", "now": NOW, "follow_up_of": first["ask_id"]});
        let (status, second) = client.ask(&next).await;
        assert_eq!(status, 200, "the other host knows what it follows: {second}");
        assert_eq!(second["outcome"], "answered", "{second}");
        assert_ne!(second["sql"], first["sql"], "{second}");
    }
    let served: Vec<usize> = balancer.backends.iter().map(|one| one.served.load(Ordering::SeqCst)).collect();
    assert!(served.iter().all(|served| *served >= 3), "{served:?}");

    // A key that was made at one host opens both, and one that was taken back, soon neither.
    let made = hosts[0].command(&["key", "create", "app", "--scope", "ask,read,curate", "--json"]);
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let keyed = Client { key: made["key"].as_str().map(str::to_owned), ..client.clone() };
    for _ in 0..4 {
        let (status, me) = keyed.get("/api/me").await;
        assert_eq!((status, me["name"].as_str()), (200, Some("app")), "{me}");
    }

    // What one host approves is in force at the other before its next ask.
    let question = "How many faithful customers do we have?";
    let sql = "SELECT count(*) AS faithful FROM customers WHERE cust_id < 7";
    let one = Client { url: hosts[0].url.clone(), ..keyed.clone() };
    let two = Client { url: hosts[1].url.clone(), ..keyed.clone() };
    let added = hosts[0].command(&["examples", "add", "--question", question, "--sql", sql, "--json"]);
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let (_, page) = two.get("/api/examples?shelf=curated").await;
    let item =
        page["items"].as_array().unwrap().iter().find(|item| item.to_string().contains(question)).cloned();
    let item = item.unwrap_or_else(|| panic!("{page}"));
    for client in [&one, &two] {
        let answer = heard(async || client.ask(&json!({"question": question, "now": NOW})).await.1).await;
        assert_eq!(answer["sql"], sql, "{answer}");
    }
    let path = format!("/api/examples/{}/demote", item["id"].as_str().unwrap());
    let (status, demoted) =
        one.post(&path, &json!({"hash": item["hash"], "why": "they are not"})).await.unwrap();
    assert_eq!(status, 200, "{demoted}");
    let (_, answer) = two.ask(&json!({"question": question, "now": NOW})).await;
    assert_ne!(answer["sql"], sql, "what left service at one host left it at the other: {answer}");

    let id = made["id"].as_str().unwrap_or_else(|| panic!("{made}"));
    assert!(hosts[1].command(&["key", "revoke", id]).status.success());
    // Each host may trust a key for some seconds more than it should.
    let mut in_a_row = 0;
    eventually("a key that was taken back opens neither host", async || {
        let (status, said) = keyed.get("/api/me").await;
        in_a_row = if status == 401 { in_a_row + 1 } else { 0 };
        if in_a_row == 4 { Ok(()) } else { Err(said) }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_is_kept_although_the_connections_of_the_store_are_ended_meanwhile() {
    let airlock = Airlock::demo().await;
    let hosts = [Host::over(&airlock, "one", |_| {}), Host::over(&airlock, "two", |_| {})];
    let [one, two] = [&hosts[0], &hosts[1]].map(|host| Client::of(&host.url));
    let postgres = PrivatePostgres::join(airlock.data.path()).await.unwrap();
    let admin = postgres.connect("airlock").await.unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    for round in 0..30 {
        let (status, first) =
            one.ask(&json!({"question": "How many bills were there in January 2026?", "now": NOW})).await;
        assert_eq!((status, first["outcome"].as_str()), (200, Some("answered")), "{first}");
        // At another moment of the way into the store each time.
        tokio::time::sleep(Duration::from_millis(round % 6)).await;
        admin.execute(end, &[]).await.unwrap();
        let next = json!({"question": "And in February 2026?", "now": NOW, "follow_up_of": first["ask_id"]});
        let (status, second) = two.ask(&next).await;
        assert_eq!((status, second["outcome"].as_str()), (200, Some("answered")), "{round}: {second}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_dies_takes_along_what_was_under_way_at_it_and_nothing_else() {
    let airlock = Airlock::demo().await;
    let (balancer, mut hosts) = balanced(&airlock).await;
    let client = Client::of(&balancer.url);
    let (asked, lost) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let askers: Vec<_> = (0..8)
        .map(|_| {
            let (client, asked, lost) = (client.clone(), Arc::clone(&asked), Arc::clone(&lost));
            tokio::spawn(async move {
                let mut answered = Vec::new();
                for _ in 0..40 {
                    match client.post("/api/ask", &json!({"question": CUSTOMERS, "now": NOW})).await {
                        Ok((status, answer)) => {
                            assert_eq!(
                                (status, answer["outcome"].as_str()),
                                (200, Some("answered")),
                                "{answer}"
                            );
                            answered.push(answer["ask_id"].as_str().unwrap().to_owned());
                        }
                        Err(_) => drop(lost.fetch_add(1, Ordering::SeqCst)),
                    }
                    asked.fetch_add(1, Ordering::SeqCst);
                }
                answered
            })
        })
        .collect();
    while asked.load(Ordering::SeqCst) < 60 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let before = lost.load(Ordering::SeqCst);
    assert_eq!(before, 0, "nothing is lost while both live");
    tokio::task::block_in_place(|| hosts[0].kill());
    let mut answered = Vec::new();
    for asker in askers {
        answered.extend(asker.await.unwrap());
    }
    // What was lost was under way at the host that died; the other one answered all that came to it.
    let lost = lost.load(Ordering::SeqCst);
    let broken: Vec<usize> = balancer.backends.iter().map(|one| one.broken.load(Ordering::SeqCst)).collect();
    assert!(lost <= broken[0] && broken[1] == 0, "{lost} lost, {broken:?} connections broken");
    assert!(lost < 60, "{lost} of 320 were lost");
    assert_eq!(answered.len() + lost, 320);

    // Everything that the living host answered is in the log, whatever became of the other.
    let postgres = PrivatePostgres::join(airlock.data.path()).await.unwrap();
    let store = postgres.connect("airlock").await.unwrap();
    let (_, last) = client.ask(&json!({"question": CUSTOMERS, "now": NOW})).await;
    let query = "SELECT count(*) FROM airlock.asks WHERE id::text = $1";
    eventually("the last ask is logged", async || {
        let ask = last["ask_id"].as_str().unwrap();
        let logged: i64 = store.query_one(query, &[&ask]).await.unwrap().get(0);
        if logged == 1 { Ok(()) } else { Err(ask) }
    })
    .await;
    let query = "SELECT count(*) FROM airlock.asks WHERE id::text = ANY($1)";
    let logged: i64 = store.query_one(query, &[&answered]).await.unwrap().get(0);
    let missing = i64::try_from(answered.len()).unwrap() - logged;
    // What the dead host had answered and not yet written went with it: at most a batch of its writer.
    assert!(missing <= 64, "{missing} are not logged");
    let (status, health) = client.get("/api/health").await;
    assert_eq!((status, health["log"]["not_logged"].as_i64()), (200, Some(0)), "{health}");
}
