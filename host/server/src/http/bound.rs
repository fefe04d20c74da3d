//! A listener that is taken before anything else is started, and what must stand before strangers can reach it.

use std::net::SocketAddr;
use std::time::Duration;

use airlock_knowledge::store::Store;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::guard::Door;
use super::listen;
use super::mcp::Mcp;
use super::tls::Tls;
use crate::config::server::{AccessSettings, is_loopback};
use crate::exit::usage;
use crate::service::Service;

/// A server that is listening but not yet serving.
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    access: AccessSettings,
    tls: Option<Tls>,
}

/// Takes the address.
///
/// # Errors
/// When other machines reach it and nobody said how what travels there is kept secret, when the certificate is wrong, or
/// when the address is taken.
pub async fn bind(address: SocketAddr, access: &AccessSettings) -> anyhow::Result<Bound> {
    access.allow(address).map_err(usage)?;
    let tls = access.tls.as_ref().map(Tls::read).transpose().map_err(usage)?;
    let listener = TcpListener::bind(address).await.map_err(|error| {
        usage(format!("server.listen: {address} cannot be listened on ({error}): choose another port, or 0 for a free one"))
    })?;
    let address = listener.local_addr()?;
    Ok(Bound { listener, address, access: access.clone(), tls })
}

impl Bound {
    /// Where its page is.
    pub fn page(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/", self.address)
    }

    /// Refuses to serve other machines when nobody could have a key. A store that does not answer now may have some: until
    /// it does, everybody is turned away.
    ///
    /// # Errors
    /// When there is no store, or no key in it.
    pub async fn guarded(&self, store: Option<&Store>) -> anyhow::Result<()> {
        if is_loopback(self.address.ip()) {
            return Ok(());
        }
        let found = match store {
            None => Err("there is no knowledge store to keep keys in: configure [store]"),
            Some(store) => match store.ops().has_key().await {
                Ok(true) => Ok(()),
                Ok(false) => Err("no key is in force: make one by `airlock key create NAME --scope ask`"),
                Err(error) if error.is_passing() => {
                    tracing::warn!(%error, "the store does not answer: everybody is turned away until it does");
                    Ok(())
                }
                Err(error) => return Err(usage(error)),
            },
        };
        found.map_err(|why| {
            usage(format!("server.listen: {} can be reached from other machines, and {why}", self.address))
        })
    }

    /// Serves until `stop` is done; asks in flight are finished first, but no later than `grace` after it.
    pub async fn serve(self, service: Service, stop: impl Future<Output = ()>, grace: Duration) {
        let ops = service.store.as_ref().map(Store::ops);
        let door = Door::new(self.address, &self.access, ops);
        let mcp = Mcp::new(&service);
        let router = super::router(service, door.clone(), mcp.clone());
        let stopping = CancellationToken::new();
        let stop = async {
            stop.await;
            stopping.cancel();
        };
        let late = async {
            stopping.cancelled().await;
            tokio::time::sleep(grace).await;
            tracing::warn!("asks were still running after the grace and were cancelled");
        };
        let renewed = async {
            match &self.tls {
                None => std::future::pending().await,
                Some(tls) => tls.follow().await,
            }
        };
        tokio::select! {
            () = listen::serve(self.listener, self.tls.as_ref(), router, stop) => {}
            () = late => {}
            () = renewed => {}
            never = mcp.keep(&door) => match never {},
        }
        mcp.end().await;
    }
}
