//! A pack's database: loaded once, loaded again when it changed, never left half loaded, read by a proven reader.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use airlock_setup::demo::{DemoDatabase, load};
use airlock_setup::fitness::unfit;
use airlock_setup::roles::Reach;
use airlock_setup::{Durability, PrivateConfig, PrivatePostgres, SetupError};

fn write_pack(dir: &Path, schema: &str, data: &str) {
    fs::create_dir_all(dir.join("db")).unwrap();
    fs::write(dir.join("db/schema.sql"), schema).unwrap();
    fs::write(dir.join("db/data.sql"), data).unwrap();
}

async fn load_pack(postgres: &PrivatePostgres, name: &str, dir: &Path) -> Result<DemoDatabase, SetupError> {
    load(postgres, &name.parse().unwrap(), dir, Reach::Schemas(vec!["public".to_owned()]), |_| {}).await
}

/// Through the connection string that is handed out, as the host would.
async fn ask(demo: &DemoDatabase, sql: &str) -> i64 {
    let (client, connection) = demo
        .reader_url
        .parse::<tokio_postgres::Config>()
        .unwrap()
        .connect(tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    assert_eq!(unfit(&client, &demo.reader).await.unwrap(), []);
    client.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn a_pack_is_loaded_when_it_is_new_or_changed() {
    let dir = tempfile::tempdir().unwrap();
    let postgres =
        PrivatePostgres::start(&PrivateConfig::new(dir.path().join("pg"), Durability::Demo)).await.unwrap();
    let pack = dir.path().join("corner-shop");
    let count = "SELECT count(*) FROM bills";

    write_pack(
        &pack,
        "CREATE TABLE bills (id int);",
        "SET search_path = public; INSERT INTO bills VALUES (1), (2);",
    );
    let first = load_pack(&postgres, "corner-shop", &pack).await.unwrap();
    assert_eq!(
        (first.database.as_str(), first.reader.as_str(), first.loaded),
        ("corner_shop", "corner_shop_reader", true)
    );
    assert!(first.proofs > 5);
    assert_eq!(ask(&first, count).await, 2);

    let unchanged = load_pack(&postgres, "corner-shop", &pack).await.unwrap();
    assert!(!unchanged.loaded);
    assert_eq!(unchanged.reader_url, first.reader_url);
    assert_eq!(ask(&unchanged, count).await, 2);

    write_pack(
        &pack,
        "CREATE TABLE bills (id int);",
        "INSERT INTO bills VALUES (1); INSERT INTO nowhere VALUES (1);",
    );
    let error = load_pack(&postgres, "corner-shop", &pack).await.unwrap_err().to_string();
    assert!(error.contains("db/data.sql") && error.contains("nowhere"), "{error}");

    write_pack(&pack, "CREATE TABLE bills (id int);", "INSERT INTO bills VALUES (1);");
    let mended = load_pack(&postgres, "corner-shop", &pack).await.unwrap();
    assert!(mended.loaded);
    assert_eq!(ask(&mended, count).await, 1);
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn the_hardware_shop_loads() {
    let dir = tempfile::tempdir().unwrap();
    let postgres = PrivatePostgres::start(&PrivateConfig::new(dir.path(), Durability::Demo)).await.unwrap();
    let pack = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../domains/hardware-shop");
    let shop = load_pack(&postgres, "hardware-shop", &pack).await.unwrap();
    assert_eq!(ask(&shop, "SELECT count(*) FROM bills").await, 1400);
    assert_eq!(ask(&shop, "SELECT count(*) FROM bill_archive").await, 900);
    postgres.stop().await.unwrap();
}
