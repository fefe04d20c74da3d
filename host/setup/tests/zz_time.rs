//! temp
#![allow(clippy::unwrap_used)]
use std::time::Instant;
use airlock_setup::*;
#[tokio::test]
async fn t() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        let a = Instant::now();
        let p = PrivatePostgres::start(&PrivateConfig::new(dir.path(), Durability::Demo)).await.unwrap();
        let b = Instant::now();
        let d = demo::load(&p, &"hardware-shop".parse().unwrap(), std::path::Path::new("../../domains/hardware-shop"), roles::Reach::Schemas(vec!["public".into()]), |_| {}).await.unwrap();
        let c = Instant::now();
        p.stop().await.unwrap();
        println!("start {:?} load {:?} ({} {}) stop {:?}", b - a, c - b, d.loaded, d.proofs, c.elapsed());
    }
}
