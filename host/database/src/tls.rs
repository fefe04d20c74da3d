//! TLS as `sslmode` means it.
//!
//! | sslmode | chain checked | name checked |
//! | --- | --- | --- |
//! | allow, prefer, require | no | no |
//! | verify-ca (and require with sslrootcert) | yes | no |
//! | verify-full | yes | yes |
//!
//! A certificate that stands in `sslrootcert` itself is trusted as it is: self-signed server certificates are common
//! with PostgreSQL, and webpki would refuse one that calls itself an authority.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use sha2::{Digest, Sha256, Sha384, Sha512};

use crate::connection_string::{ConnectionString, RootCertificates, SslMode};

/// Builds the TLS client for a connection string. An error is a sentence.
pub(crate) fn client_config(target: &ConnectionString) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let checked = matches!(target.ssl_mode, SslMode::VerifyCa | SslMode::VerifyFull);
    let (roots, named) =
        if checked { roots(&target.root_certificates)? } else { (RootCertStore::empty(), Vec::new()) };
    let verifier = Verifier {
        roots: checked.then_some(roots),
        named,
        check_name: target.ssl_mode == SslMode::VerifyFull,
        provider: Arc::clone(&provider),
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let config = match &target.client_certificate {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = certificates(certificate)?;
            let key = PrivateKeyDer::from_pem_file(key)
                .map_err(|error| format!("sslkey {} cannot be read: {error}", key.display()))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| format!("sslcert and sslkey: {error}"))?
        }
    };
    Ok(Arc::new(config))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unreadable = |error| format!("the certificates of {} cannot be read: {error}", path.display());
    let found = CertificateDer::pem_file_iter(path).map_err(unreadable)?.collect::<Result<Vec<_>, _>>();
    match found.map_err(unreadable)? {
        none if none.is_empty() => Err(format!("{} holds no certificate in PEM form", path.display())),
        some => Ok(some),
    }
}

fn roots(from: &RootCertificates) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), String> {
    let mut store = RootCertStore::empty();
    match from {
        RootCertificates::System => {
            let found = rustls_native_certs::load_native_certs();
            store.add_parsable_certificates(found.certs);
            if store.is_empty() {
                return Err("the system has no root certificates: name a file with sslrootcert".to_owned());
            }
            Ok((store, Vec::new()))
        }
        RootCertificates::File(path) => {
            let named = certificates(path)?;
            store.add_parsable_certificates(named.iter().cloned());
            Ok((store, named))
        }
    }
}

/// Checks what the mode asks for, and no less.
#[derive(Debug)]
struct Verifier {
    /// None: the chain is not checked.
    roots: Option<RootCertStore>,
    /// Certificates trusted as they are.
    named: Vec<CertificateDer<'static>>,
    check_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(roots) = &self.roots else { return Ok(ServerCertVerified::assertion()) };
        let certificate = ParsedCertificate::try_from(end_entity)?;
        if !self.named.iter().any(|named| named == end_entity) {
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&certificate, roots, intermediates, now, algorithms)?;
        }
        if self.check_name {
            verify_server_name(&certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The hash that binds a password exchange to this channel (RFC 5929, `tls-server-end-point`). None when the
/// certificate is signed by an algorithm without a hash of its own that is known here.
pub(crate) fn end_point_hash(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    // Certificate ::= SEQUENCE { tbsCertificate SEQUENCE, signatureAlgorithm SEQUENCE { algorithm OID, .. }, .. }
    let body = der_value(certificate, 0x30)?.0;
    let after_tbs = der_value(body, 0x30)?.1;
    let algorithm = der_value(der_value(after_tbs, 0x30)?.0, 0x06)?.0;
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA_SHA2: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03];
    // MD5 and SHA-1 count as SHA-256 (RFC 5929, section 4.1).
    match algorithm {
        [prefix @ .., 4 | 5 | 11] if prefix == RSA => Some(Sha256::digest(certificate).to_vec()),
        [prefix @ .., 12] if prefix == RSA => Some(Sha384::digest(certificate).to_vec()),
        [prefix @ .., 13] if prefix == RSA => Some(Sha512::digest(certificate).to_vec()),
        [prefix @ .., 2] if prefix == ECDSA_SHA2 => Some(Sha256::digest(certificate).to_vec()),
        [prefix @ .., 3] if prefix == ECDSA_SHA2 => Some(Sha384::digest(certificate).to_vec()),
        [prefix @ .., 4] if prefix == ECDSA_SHA2 => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}

/// The value of the DER element with this tag at the front, and what follows it.
fn der_value(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        (digits.len() <= 4).then_some(())?;
        (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
    };
    (found == tag).then_some(())?;
    rest.split_at_checked(length)
}
