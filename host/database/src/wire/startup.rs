//! From a byte stream to a session: start-up, passwords, the right one of several hosts.

use bytes::BytesMut;
use postgres_protocol::authentication::{md5_hash, sasl};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use tokio::time::timeout;
use tokio_postgres::fallible_iterator::FallibleIterator;

use super::{Event, ServerError, Step, Wire, cells};
use crate::connection_string::{Address, ChannelBinding, ConnectionString, SessionTarget};
use crate::dial::{Attempt, attempts, dial};
use crate::error::DatabaseError;

/// Connects to the first host that answers and is what `target_session_attrs` asks for.
pub(crate) async fn connect(target: &ConnectionString) -> Result<Wire, DatabaseError> {
    let mut wanted = vec![target.session_target];
    if target.session_target == SessionTarget::PreferStandby {
        wanted = vec![SessionTarget::Standby, SessionTarget::Any];
    }
    let mut last = DatabaseError::no_host();
    let mut answered = Vec::new();
    for session in wanted {
        answered.clear();
        for address in &target.addresses {
            match one_host(target, address, session).await {
                Ok(Some(wire)) => return Ok(wire),
                Ok(None) => answered.push(address.to_string()),
                Err(error) if error.holds_for_every_host() => return Err(error),
                Err(error) => last = error,
            }
        }
    }
    // Who sees one that answers wants to know why not that one.
    Err(if answered.is_empty() {
        last
    } else {
        DatabaseError::NoSuchSession { answered: answered.join(", ") }
    })
}

async fn one_host(
    target: &ConnectionString,
    address: &Address,
    session: SessionTarget,
) -> Result<Option<Wire>, DatabaseError> {
    let limit = target.connect_timeout;
    let late = DatabaseError::ConnectTimeout { at: address.to_string(), seconds: limit.as_secs() };
    let connecting = async {
        let mut wire = with_or_without_tls(target, address).await?;
        Ok(if suits(&mut wire, session).await? { Some(wire) } else { None })
    };
    timeout(limit, connecting).await.unwrap_or(Err(late))
}

async fn with_or_without_tls(target: &ConnectionString, address: &Address) -> Result<Wire, DatabaseError> {
    let mut first = None;
    for attempt in attempts(target.ssl_mode, address) {
        match session(target, address, *attempt).await {
            Ok(wire) => return Ok(wire),
            Err(error) if error.invites_the_other_way() => first = first.or(Some(error)),
            Err(error) => return Err(first.unwrap_or(error)),
        }
    }
    Err(first.unwrap_or_else(DatabaseError::no_host))
}

async fn session(
    target: &ConnectionString,
    address: &Address,
    attempt: Attempt,
) -> Result<Wire, DatabaseError> {
    let dialled = dial(target, address, attempt).await?;
    let end_point = dialled.end_point.clone();
    let mut wire = Wire::new(dialled);
    let mut parameters = vec![
        ("user", target.user.as_str()),
        ("database", target.database.as_str()),
        ("application_name", target.application_name.as_str()),
        ("client_encoding", "UTF8"),
    ];
    if let Some(options) = &target.options {
        parameters.push(("options", options));
    }
    frontend::startup_message(parameters, &mut wire.outgoing)?;
    wire.unanswered = 1;
    wire.flush().await?;
    let refused = |error: &ServerError| refusal(target, address, error);
    authenticate(&mut wire, target, address, end_point.as_deref()).await?;
    loop {
        match wire.message(super::MESSAGE_LIMIT).await? {
            Message::BackendKeyData(body) => wire.cancel_key = (body.process_id(), body.secret_key()),
            Message::ParameterStatus(body) => {
                wire.parameters.insert(body.name()?.to_owned(), body.value()?.to_owned());
            }
            Message::NoticeResponse(_) => {}
            Message::ErrorResponse(body) => return Err(refused(&ServerError::read(&body)?)),
            Message::ReadyForQuery(body) => {
                wire.status = body.status();
                wire.unanswered = 0;
                return Ok(wire);
            }
            _ => return Err(DatabaseError::Protocol("an unexpected message at start-up".to_owned())),
        }
    }
}

async fn authenticate(
    wire: &mut Wire,
    target: &ConnectionString,
    address: &Address,
    end_point: Option<&[u8]>,
) -> Result<(), DatabaseError> {
    let denied = |reason: &str| DatabaseError::Authentication {
        at: address.to_string(),
        user: target.user.clone(),
        code: String::new(),
        reason: reason.to_owned(),
    };
    let bound = target.channel_binding == ChannelBinding::Require;
    let password = || {
        target
            .password
            .as_ref()
            .map(|p| p.reveal())
            .ok_or_else(|| denied("it wants a password and none was given"))
    };
    let mut scram = None;
    loop {
        match wire.message(super::MESSAGE_LIMIT).await? {
            Message::AuthenticationOk if bound && scram.is_none() => {
                return Err(denied("channel_binding=require, and the server let the client in without"));
            }
            Message::AuthenticationOk => return Ok(()),
            Message::AuthenticationCleartextPassword | Message::AuthenticationMd5Password(_) if bound => {
                return Err(denied("channel_binding=require, and the server does not use SCRAM"));
            }
            Message::AuthenticationCleartextPassword => {
                frontend::password_message(password()?.as_bytes(), &mut wire.outgoing)?;
                wire.flush().await?;
            }
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(target.user.as_bytes(), password()?.as_bytes(), body.salt());
                frontend::password_message(hash.as_bytes(), &mut wire.outgoing)?;
                wire.flush().await?;
            }
            Message::AuthenticationSasl(body) => {
                let (mut plain, mut plus) = (false, false);
                let mut mechanisms = body.mechanisms();
                while let Some(mechanism) = mechanisms.next()? {
                    plain |= mechanism == sasl::SCRAM_SHA_256;
                    plus |= mechanism == sasl::SCRAM_SHA_256_PLUS;
                }
                let end_point = end_point.filter(|_| target.channel_binding != ChannelBinding::Disable);
                let (binding, mechanism) = match end_point {
                    Some(hash) if plus => {
                        (sasl::ChannelBinding::tls_server_end_point(hash.to_vec()), sasl::SCRAM_SHA_256_PLUS)
                    }
                    _ if bound => return Err(denied("channel_binding=require, and it cannot be had here")),
                    Some(_) if plain => (sasl::ChannelBinding::unrequested(), sasl::SCRAM_SHA_256),
                    None if plain => (sasl::ChannelBinding::unsupported(), sasl::SCRAM_SHA_256),
                    _ => return Err(denied("it wants a password exchange that is not SCRAM-SHA-256")),
                };
                let exchange = sasl::ScramSha256::new(password()?.as_bytes(), binding);
                frontend::sasl_initial_response(mechanism, exchange.message(), &mut wire.outgoing)?;
                scram = Some(exchange);
                wire.flush().await?;
            }
            Message::AuthenticationSaslContinue(body) => {
                let exchange = scram.as_mut().ok_or_else(|| denied("it broke the password exchange"))?;
                exchange.update(body.data()).map_err(|_| denied("it broke the password exchange"))?;
                let mut answer = BytesMut::new();
                frontend::sasl_response(exchange.message(), &mut answer)?;
                wire.outgoing.extend_from_slice(&answer);
                wire.flush().await?;
            }
            Message::AuthenticationSaslFinal(body) => {
                let exchange = scram.as_mut().ok_or_else(|| denied("it broke the password exchange"))?;
                // The server proves here that it knows the password too.
                exchange
                    .finish(body.data())
                    .map_err(|_| denied("it could not prove that it knows the password"))?;
            }
            Message::NoticeResponse(_) => {}
            Message::ErrorResponse(body) => return Err(refusal(target, address, &ServerError::read(&body)?)),
            _ => {
                return Err(denied(
                    "it wants a way of proving identity that is not supported (GSSAPI, SSPI or other)",
                ));
            }
        }
    }
}

/// Why the server refused a session, by its code.
fn refusal(target: &ConnectionString, address: &Address, error: &ServerError) -> DatabaseError {
    let at = address.to_string();
    let reason = error.message.clone();
    match error.code.as_str() {
        "3D000" => DatabaseError::UnknownDatabase { at, database: target.database.clone() },
        code if code.starts_with("28") || code == "42501" => {
            DatabaseError::Authentication { at, user: target.user.clone(), code: code.to_owned(), reason }
        }
        "53300" => DatabaseError::TooManyConnections { at, reason },
        code if code.starts_with("57P") => DatabaseError::NotReady { at, reason },
        // A pooler speaks in codes of its own, and of the roles and databases behind it.
        _ => DatabaseError::NotReady { at, reason },
    }
}

/// Whether a server is what `target_session_attrs` asks for.
async fn suits(wire: &mut Wire, wanted: SessionTarget) -> Result<bool, DatabaseError> {
    if wanted == SessionTarget::Any {
        return Ok(true);
    }
    let sql =
        "SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('transaction_read_only') = 'on'";
    wire.push(&Step::new(sql, &[]))?;
    wire.push_sync();
    wire.flush().await?;
    let (mut standby, mut read_only) = (false, false);
    loop {
        match wire.next(super::MESSAGE_LIMIT).await? {
            Event::Row(row) => {
                let mut answers = cells(&row);
                standby = answers.next().transpose()?.flatten() == Some("t");
                read_only = answers.next().transpose()?.flatten() == Some("t");
            }
            Event::Failed(error) => return Err(DatabaseError::Server(error)),
            Event::Ready => break,
            Event::Columns(_) | Event::Done => {}
        }
    }
    Ok(match wanted {
        SessionTarget::Any | SessionTarget::PreferStandby => true,
        SessionTarget::ReadWrite => !read_only,
        SessionTarget::ReadOnly => read_only,
        SessionTarget::Primary => !standby,
        SessionTarget::Standby => standby,
    })
}
