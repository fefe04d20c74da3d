//! TLS by certificate files. A renewed certificate is taken up by itself, and at once at SIGHUP; what is wrong with it is told
//! and the one in use stays.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use airlock_types::ContentHash;
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use thiserror::Error;
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::TlsAcceptor;

use crate::config::server::TlsFiles;

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(30);

/// Why there is no TLS by these files.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{0}: {path} cannot be read: {1}", path = .2.display())]
    Unreadable(&'static str, std::io::Error, PathBuf),
    /// No certificate.
    #[error("server.tls_certificate: {} holds no certificates in PEM", .0.display())]
    NoCertificate(PathBuf),
    /// No key.
    #[error("server.tls_key: {} holds no private key in PEM", .0.display())]
    NoKey(PathBuf),
    /// They do not go together, or are of a kind that is not spoken here.
    #[error("server.tls_certificate and server.tls_key: {0}")]
    Unfit(rustls::Error),
}

/// TLS of a listener.
pub struct Tls {
    files: TlsFiles,
    config: Arc<ServerConfig>,
    current: Arc<Current>,
}

/// The certificate in use.
struct Current(RwLock<(ContentHash, Arc<CertifiedKey>)>);

impl fmt::Debug for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Current(..)")
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let (_, key) = &*self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(key))
    }
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// Naming the key of the configuration and the file.
    pub fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let current = Arc::new(Current(RwLock::new(certified(files, &provider)?)));
        let resolver: Arc<dyn ResolvesServerCert> = Arc::clone(&current) as _;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Unfit)?
            .with_no_client_auth()
            .with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { files: files.clone(), config: Arc::new(config), current })
    }

    /// What takes up connections.
    pub fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }

    /// Takes up renewed files, for ever.
    pub async fn follow(&self) {
        let mut hangup = signal(SignalKind::hangup()).ok();
        loop {
            let told = async {
                match &mut hangup {
                    Some(hangup) => drop(hangup.recv().await),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = told => {}
                () = tokio::time::sleep(LOOK) => {}
            }
            self.renew();
        }
    }

    fn renew(&self) {
        match certified(&self.files, self.config.crypto_provider()) {
            Ok(renewed) => {
                let mut current = self.current.0.write().unwrap_or_else(PoisonError::into_inner);
                if current.0 != renewed.0 {
                    tracing::info!(file = %self.files.certificate.display(), "a renewed certificate is in use");
                    *current = renewed;
                }
            }
            Err(error) => {
                tracing::error!(%error, "the certificate files are wrong now; the certificate in use stays")
            }
        }
    }
}

/// The certificate and key of the files, and the hash of both.
fn certified(
    files: &TlsFiles,
    provider: &CryptoProvider,
) -> Result<(ContentHash, Arc<CertifiedKey>), TlsError> {
    let certificate = read("server.tls_certificate", &files.certificate)?;
    let key = read("server.tls_key", &files.key)?;
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&certificate)
        .collect::<Result<_, _>>()
        .map_err(|_| TlsError::NoCertificate(files.certificate.clone()))?;
    if chain.is_empty() {
        return Err(TlsError::NoCertificate(files.certificate.clone()));
    }
    let secret = PrivateKeyDer::from_pem_slice(&key).map_err(|_| TlsError::NoKey(files.key.clone()))?;
    let certified = CertifiedKey::from_der(chain, secret, provider).map_err(TlsError::Unfit)?;
    Ok((ContentHash::of([certificate, key].concat()), Arc::new(certified)))
}

fn read(key: &'static str, file: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(file).map_err(|error| TlsError::Unreadable(key, error, file.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A self-signed certificate and its key, by the openssl of this machine.
    fn made(dir: &Path, name: &str) -> TlsFiles {
        let files =
            TlsFiles { certificate: dir.join(format!("{name}.pem")), key: dir.join(format!("{name}.key")) };
        let made = std::process::Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
            .args(["-days", "2", "-subj", "/CN=localhost", "-out"])
            .arg(&files.certificate)
            .arg("-keyout")
            .arg(&files.key)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        files
    }

    #[test]
    fn wrong_files_are_named_and_a_renewed_certificate_is_taken_up() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (made(dir.path(), "one"), made(dir.path(), "other"));
        let with = |certificate: &Path, key: &Path| {
            let files = TlsFiles { certificate: certificate.to_owned(), key: key.to_owned() };
            Tls::read(&files).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(with(&one.certificate, &one.key), Ok(()));
        for (certificate, key, want) in [
            (&one.certificate, &other.key, "server.tls_certificate and server.tls_key"),
            (&one.key, &one.key, "server.tls_certificate"),
            (&one.certificate, &one.certificate, "server.tls_key"),
            (&dir.path().join("none"), &one.key, "server.tls_certificate"),
            (&one.certificate, &dir.path().join("none"), "server.tls_key"),
        ] {
            let error = with(certificate, key).unwrap_err();
            assert!(error.contains(want), "{error}");
        }

        let tls = Tls::read(&one).unwrap();
        let in_use = || tls.current.0.read().unwrap().0;
        let before = in_use();
        tls.renew();
        assert_eq!(in_use(), before);
        std::fs::write(&one.certificate, "half").unwrap();
        tls.renew();
        assert_eq!(in_use(), before, "a broken file changes nothing");
        std::fs::copy(&other.certificate, &one.certificate).unwrap();
        std::fs::copy(&other.key, &one.key).unwrap();
        tls.renew();
        assert_ne!(in_use(), before);
    }
}
