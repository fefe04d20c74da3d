//! Ways to a server and ways to fail, each told apart.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use airlock_database::{ConnectionString, DatabaseError, Source, SourceConfig};
use support::{Postgres, eventually};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

async fn connect(url: &str) -> Result<Source, DatabaseError> {
    Source::connect(SourceConfig { pool_size: 1, ..SourceConfig::new(url) }).await
}

fn openssl(directory: &Path, arguments: &str) {
    let output = Command::new("openssl").current_dir(directory).args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// An authority, and a certificate of its for `localhost`.
fn certificates(directory: &Path) {
    fs::write(directory.join("names"), "subjectAltName=DNS:localhost").unwrap();
    for arguments in [
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=authority -days 30",
        "req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.crt -subj /CN=other -days 30",
        "req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost",
        "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt -extfile names -days 30",
    ] {
        openssl(directory, arguments);
    }
}

#[tokio::test]
async fn tls_and_passwords_as_the_string_says() {
    let made = tempfile::tempdir().unwrap();
    certificates(made.path());
    let (server, port) = Postgres::on_a_port(
        &["ssl=on", "listen_addresses=127.0.0.1", "password_encryption=scram-sha-256"],
        |data| {
            for name in ["server.key", "server.crt"] {
                fs::copy(made.path().join(name), data.join(name)).unwrap();
            }
            Command::new("chmod").arg("600").arg(data.join("server.key")).status().unwrap();
            fs::write(
                data.join("pg_hba.conf"),
                "local all all trust\nhostssl all scram 127.0.0.1/32 scram-sha-256\nhostssl all md5 127.0.0.1/32 md5\n\
                 hostssl all clear 127.0.0.1/32 password\nhostnossl all plain 127.0.0.1/32 trust\nhostssl all tls 127.0.0.1/32 trust\n",
            )
            .unwrap();
        },
    );
    server.psql(
        "CREATE ROLE scram LOGIN PASSWORD 'p@ss word'; CREATE ROLE clear LOGIN PASSWORD 'p@ss word';
         CREATE ROLE plain LOGIN; CREATE ROLE tls LOGIN; SET password_encryption = md5; CREATE ROLE md5 LOGIN PASSWORD 'p@ss word'",
    );
    let at = format!("localhost:{port}/postgres?hostaddr=127.0.0.1");
    let root = |name: &str| format!("&sslrootcert={}", made.path().join(name).display());
    for (credentials, more, fails) in [
        ("scram:p%40ss%20word", String::new(), None),
        ("md5:p%40ss%20word", String::new(), None),
        ("clear:p%40ss%20word", String::new(), None),
        ("scram:p%40ss%20word", "&sslmode=require&channel_binding=require".into(), None),
        ("scram:p%40ss%20word", "&sslmode=require&channel_binding=disable".into(), None),
        ("md5:p%40ss%20word", "&channel_binding=require".into(), Some("channel_binding")),
        ("scram:hunter2", String::new(), Some("password authentication failed")),
        ("scram", String::new(), Some("none was given")),
        ("tls", "&sslmode=require".into(), None),
        ("tls", "&sslmode=allow".into(), None),
        ("tls", "&sslmode=disable".into(), Some("no pg_hba.conf entry")),
        ("plain", "&sslmode=prefer".into(), None),
        ("plain", "&sslmode=disable".into(), None),
        ("plain", "&sslmode=require".into(), Some("no pg_hba.conf entry")),
        ("tls", format!("&sslmode=verify-full{}", root("ca.crt")), None),
        ("tls", format!("&sslmode=verify-ca{}", root("ca.crt")), None),
        ("tls", format!("&sslmode=verify-full{}", root("server.crt")), None),
        ("tls", format!("&sslmode=verify-ca{}", root("other.crt")), Some("certificate")),
        ("tls", format!("&sslmode=require{}", root("other.crt")), Some("certificate")),
        ("tls", format!("&sslmode=verify-full{}", root("absent.crt")), Some("cannot be read")),
        ("tls", "&sslmode=verify-full".into(), Some("certificate")),
    ] {
        let url = format!("postgresql://{credentials}@{at}{more}");
        match (connect(&url).await, fails) {
            (Ok(_), None) => {}
            (Err(error), Some(want)) => {
                assert!(error.to_string().contains(want), "{url}: {error}");
                assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
            }
            (got, want) => panic!("{url}: {:?}, wanted {want:?}", got.err()),
        }
    }
    // The certificate is for localhost.
    let by_number =
        format!("postgresql://tls@127.0.0.1:{port}/postgres?sslmode=verify-full{}", root("ca.crt"));
    assert!(matches!(connect(&by_number).await, Err(DatabaseError::Tls { .. })));
    let by_number = format!("postgresql://tls@127.0.0.1:{port}/postgres?sslmode=verify-ca{}", root("ca.crt"));
    connect(&by_number).await.unwrap();
    // An ordinary client goes the same ways.
    let target: ConnectionString =
        format!("postgresql://scram:p%40ss%20word@{at}&sslmode=verify-full{}", root("ca.crt"))
            .parse()
            .unwrap();
    let answer = target.client().await.unwrap().query_one("SELECT 7", &[]).await.unwrap();
    assert_eq!(answer.get::<_, i32>(0), 7);
}

#[tokio::test]
async fn each_way_to_fail_has_a_name() {
    let server = Postgres::with_settings(&["max_connections=4", "superuser_reserved_connections=1"]);
    server.psql("CREATE ROLE reader LOGIN");
    let socket = server.socket().display();
    // Nobody listens on the first port.
    assert!(matches!(
        connect("postgresql://reader@127.0.0.1:1/postgres").await,
        Err(DatabaseError::Unreachable { .. })
    ));
    assert!(matches!(connect("host=/nowhere user=reader").await, Err(DatabaseError::Unreachable { .. })));
    assert!(matches!(
        connect("host=no-such-host.invalid user=reader").await,
        Err(DatabaseError::Unreachable { .. })
    ));
    assert!(matches!(
        connect(&format!("host={socket} user=reader dbname=nowhere")).await,
        Err(DatabaseError::UnknownDatabase { database, .. }) if database == "nowhere"
    ));
    assert!(matches!(
        connect(&format!("host={socket} user=nobody dbname=postgres")).await,
        Err(DatabaseError::Authentication { user, .. }) if user == "nobody"
    ));
    assert!(matches!(connect("host=h user=u sslmode=maybe").await, Err(DatabaseError::ConnectionString(_))));

    let mut held = Vec::new();
    let full = loop {
        match connect(&server.url("reader")).await {
            Ok(source) => held.push(source),
            Err(error) => break error,
        }
        assert!(held.len() < 10);
    };
    assert!(matches!(full, DatabaseError::TooManyConnections { .. }), "{full:?}");
    held.clear();
    // The server lets connections go when it gets to it.
    eventually("the server has a place again", async || match connect(&server.url("reader")).await {
        Ok(_) => true,
        Err(DatabaseError::TooManyConnections { .. }) => false,
        Err(other) => panic!("{other:?}"),
    })
    .await;
}

/// The first that answers and is what is wanted.
#[tokio::test]
async fn of_several_hosts_one_is_taken() {
    let server = Postgres::start();
    let socket = server.socket().display();
    let two = format!(
        "host=/nowhere,{socket} user=postgres dbname=postgres application_name=x options='-c geqo=off'"
    );
    connect(&two).await.unwrap();
    connect(&format!("{two} target_session_attrs=primary")).await.unwrap();
    connect(&format!("{two} target_session_attrs=prefer-standby")).await.unwrap();
    for wanted in ["standby", "read-only"] {
        let none = connect(&format!("{two} target_session_attrs={wanted}")).await;
        let Err(DatabaseError::NoSuchSession { answered }) = none else { panic!("{wanted}") };
        assert!(answered.contains(".s.PGSQL."), "the one that answered is named: {answered}");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let silent = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    let url = format!("postgresql://u@127.0.0.1:{port}/d?connect_timeout=1&sslmode=disable");
    assert!(matches!(connect(&url).await, Err(DatabaseError::ConnectTimeout { seconds: 1, .. })));
    silent.abort();
}

#[tokio::test]
async fn what_is_no_postgresql_is_said_to_be_none() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 512];
            let _ = stream.read(&mut buffer).await;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    for mode in ["disable", "require"] {
        let error =
            connect(&format!("postgresql://u@127.0.0.1:{port}/d?sslmode={mode}")).await.err().unwrap();
        assert!(
            matches!(
                error,
                DatabaseError::Protocol(_) | DatabaseError::Tls { .. } | DatabaseError::TooLarge { .. }
            ),
            "{mode}: {error:?}"
        );
    }
}

/// A server that lets a client in and then says anything: nothing panics, nothing hangs, every end is typed.
#[tokio::test]
async fn what_a_broken_server_says_is_survived() {
    let noises: &[&[u8]] = &[
        b"D\x7f\xff\xff\xff",
        b"D\0\0\0\x03",
        b"D\0\0\0\x06\xff\xff",
        b"T\0\0\0\x06\0\x05",
        b"E\0\0\0\x05\0",
        b"E\0\0\0\x08Sxx",
        b"N\xff\xff\xff\xff",
        b"S\0\0\0\x05x",
        b"G\0\0\0\x07\0\0\0",
        b"Z\0\0\0\x05IZ\0\0\0\x05I",
        b"C\0\0\0\x05\0C\0\0\0\x05\0C\0\0\0\x05\0C\0\0\0\x05\0",
        b"\xff\xff\xff\xff\xff\xff",
        b"R\0\0\0\x08\0\0\0\x03",
    ];
    for noise in noises {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut buffer = [0; 4096];
                let _ = stream.read(&mut buffer).await;
                let _ =
                    stream.write_all(b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x01\0\0\0\x02Z\0\0\0\x05I").await;
                let _ = stream.read(&mut buffer).await;
                let _ = stream.write_all(noise).await;
            }
        });
        let source = connect(&format!("postgresql://u@127.0.0.1:{port}/d?sslmode=disable")).await.unwrap();
        let gate = airlock_gate::Gate::new(Default::default(), Default::default());
        let run = source.run(&gate.check("SELECT 1").unwrap(), &Default::default()).await;
        let failure = run.expect_err(&noise.escape_ascii().to_string());
        assert!(
            !failure.repairable || failure.error_type == airlock_types::ErrorType::Resource,
            "{failure:?}"
        );
    }
}

/// Speaks just enough to let a client in, then answers nothing, cancellations included.
#[tokio::test]
async fn a_server_that_overruns_trips_the_breaker() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 512];
            let _ = stream.read(&mut buffer).await;
            let _ = stream.write_all(b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x01\0\0\0\x02Z\0\0\0\x05I").await;
            held.push(stream);
        }
    });
    let config = SourceConfig {
        pool_size: 1,
        pool_wait: Duration::from_millis(500),
        statement_timeout: Duration::from_millis(50),
        grace: Duration::from_millis(50),
        ..SourceConfig::new(format!("postgresql://u@127.0.0.1:{port}/d?sslmode=disable"))
    };
    let source = Source::connect(config).await.unwrap();
    let gate = airlock_gate::Gate::new(Default::default(), Default::default());
    let approved = gate.check("SELECT 1").unwrap();
    let failure = source.run(&approved, &Default::default()).await.unwrap_err();
    // Whoever answers nobody else either says nothing about the text.
    assert_eq!(failure.error_type, airlock_types::ErrorType::Infrastructure, "{failure:?}");
    assert!(failure.message.contains("did not answer"), "{}", failure.message);
    let failure = source.run(&approved, &Default::default()).await.unwrap_err();
    assert_eq!(failure.error_type, airlock_types::ErrorType::Infrastructure);
    assert!(failure.message.contains("rests"), "{}", failure.message);
    assert!(source.resting().is_some());
}
