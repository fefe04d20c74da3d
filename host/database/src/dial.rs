//! From an address to a byte stream: TCP or Unix socket, with or without TLS.

use std::io;
use std::sync::Arc;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;

use crate::connection_string::{Address, ConnectionString, SslMode};
use crate::error::DatabaseError;
use crate::tls;

/// Both directions of a connection.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A connection before any PostgreSQL message.
pub(crate) struct Dialled {
    pub(crate) stream: Box<dyn Duplex>,
    /// How it was made; a cancellation is sent the same way.
    pub(crate) route: Route,
    /// What a password exchange can be bound to, over TLS.
    pub(crate) end_point: Option<Vec<u8>>,
}

/// How to reach the same server again.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) address: Address,
    tls: Option<Arc<ClientConfig>>,
}

/// Whether this attempt uses TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    Plain,
    /// TLS, or plain when the server has none.
    Either,
    Tls,
}

/// The attempts an `sslmode` allows, in order. A socket of this machine needs no TLS.
pub(crate) fn attempts(mode: SslMode, address: &Address) -> &'static [Attempt] {
    match (mode, address) {
        (_, Address::Socket { .. }) | (SslMode::Disable, _) => &[Attempt::Plain],
        (SslMode::Allow, _) => &[Attempt::Plain, Attempt::Tls],
        (SslMode::Prefer, _) => &[Attempt::Either, Attempt::Plain],
        (SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull, _) => &[Attempt::Tls],
    }
}

/// Connects to one address.
pub(crate) async fn dial(
    target: &ConnectionString,
    address: &Address,
    attempt: Attempt,
) -> Result<Dialled, DatabaseError> {
    let config = match attempt {
        Attempt::Plain => None,
        Attempt::Either | Attempt::Tls => {
            Some(tls::client_config(target).map_err(|reason| tls_error(address, reason))?)
        }
    };
    let mut route = Route { address: address.clone(), tls: config };
    let (stream, end_point, encrypted) = open(&route, attempt == Attempt::Tls).await?;
    if !encrypted {
        route.tls = None;
    }
    Ok(Dialled { stream, route, end_point })
}

/// Connects once more to the server of a connection, to cancel what runs there.
pub(crate) async fn dial_again(route: &Route) -> Result<Box<dyn Duplex>, DatabaseError> {
    open(route, route.tls.is_some()).await.map(|(stream, _, _)| stream)
}

type Opened = (Box<dyn Duplex>, Option<Vec<u8>>, bool);

async fn open(route: &Route, tls_required: bool) -> Result<Opened, DatabaseError> {
    let address = &route.address;
    let unreachable =
        |error: io::Error| DatabaseError::Unreachable { at: address.to_string(), reason: reason(&error) };
    let (host, stream) = match address {
        Address::Socket { directory, port } => {
            let path = directory.join(format!(".s.PGSQL.{port}"));
            let stream = UnixStream::connect(path).await.map_err(unreachable)?;
            return Ok((Box::new(stream), None, false));
        }
        Address::Tcp { host, ip: Some(ip), port } => (host, TcpStream::connect((*ip, *port)).await),
        Address::Tcp { host, ip: None, port } => (host, TcpStream::connect((host.as_str(), *port)).await),
    };
    let mut stream = stream.map_err(unreachable)?;
    stream.set_nodelay(true).map_err(unreachable)?;
    let Some(config) = &route.tls else { return Ok((Box::new(stream), None, false)) };

    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    stream.write_all(&request).await.map_err(unreachable)?;
    // One byte and no more: what a man in the middle put behind it must not count as the server's.
    match stream.read_u8().await.map_err(unreachable)? {
        b'S' => {}
        b'N' if !tls_required => return Ok((Box::new(stream), None, false)),
        b'N' => {
            return Err(tls_error(
                address,
                "the server has no TLS: set ssl = on there, with a certificate that sslrootcert names".into(),
            ));
        }
        _ => {
            return Err(tls_error(
                address,
                "the server answered with something that is not PostgreSQL".into(),
            ));
        }
    }
    let name = ServerName::try_from(host.clone())
        .map_err(|_| tls_error(address, "the host is no name that a certificate could be for".into()))?;
    let stream = TlsConnector::from(Arc::clone(config))
        .connect(name, stream)
        .await
        .map_err(|error| tls_error(address, advice(&error)))?;
    let end_point =
        stream.get_ref().1.peer_certificates().and_then(|chain| tls::end_point_hash(chain.first()?));
    Ok((Box::new(stream), end_point, true))
}

/// What the system said of a handshake. Where the certificate is not trusted, the remedy is to name whom to trust and never
/// to check less.
fn advice(error: &io::Error) -> String {
    let certificate = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match certificate {
        Some(rustls::Error::InvalidCertificate(_)) => format!(
            "{error}: name the file of the authority that signed the server's certificate, or of that certificate, with \
             sslrootcert, and connect by a name that stands in it"
        ),
        _ => error.to_string(),
    }
}

fn tls_error(address: &Address, reason: String) -> DatabaseError {
    DatabaseError::Tls { at: address.to_string(), reason }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            "connection refused; is it running and listening there?".to_owned()
        }
        io::ErrorKind::NotFound => {
            "there is no such socket; is it running and is the directory right?".to_owned()
        }
        _ => error.to_string(),
    }
}
