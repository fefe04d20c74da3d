//! An ordinary driver connection for rooms that are not held by the envelope: set-up and the store with roles of its own.

use std::future::poll_fn;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, Client, Config, NoTls, Notification};

use crate::connection_string::{Address, ConnectionString};
use crate::dial::{Attempt, Dialled, attempts, dial};
use crate::error::DatabaseError;

/// A client, and what is notified to it.
type Connected = (Client, UnboundedReceiver<Notification>);

impl ConnectionString {
    /// Connects an ordinary client; a task drives the connection until the client is dropped. TLS is as `sslmode` says.
    ///
    /// # Errors
    /// [`DatabaseError`] of the last host tried.
    pub async fn client(&self) -> Result<Client, DatabaseError> {
        self.listening_client().await.map(|(client, _)| client)
    }

    /// The same, and what is notified to it.
    ///
    /// # Errors
    /// As [`ConnectionString::client`].
    pub async fn listening_client(&self) -> Result<Connected, DatabaseError> {
        let mut last = DatabaseError::no_host();
        for address in &self.addresses {
            match timeout(self.connect_timeout, self.client_of_host(address)).await {
                Ok(Ok(connected)) => return Ok(connected),
                Ok(Err(error)) if error.holds_for_every_host() => return Err(error),
                Ok(Err(error)) => last = error,
                Err(_) => {
                    let seconds = self.connect_timeout.as_secs();
                    last = DatabaseError::ConnectTimeout { at: address.to_string(), seconds };
                }
            }
        }
        Err(last)
    }

    async fn client_of_host(&self, address: &Address) -> Result<Connected, DatabaseError> {
        let mut first = None;
        for attempt in attempts(self.ssl_mode, address) {
            match self.client_at(address, *attempt).await {
                Ok(connected) => return Ok(connected),
                Err(error) if error.invites_the_other_way() => first = first.or(Some(error)),
                Err(error) => return Err(first.unwrap_or(error)),
            }
        }
        Err(first.unwrap_or_else(DatabaseError::no_host))
    }

    async fn client_at(&self, address: &Address, attempt: Attempt) -> Result<Connected, DatabaseError> {
        let Dialled { stream, .. } = dial(self, address, attempt).await?;
        let mut config = Config::new();
        // TLS is done already; the driver must not ask for it once more.
        config.user(&self.user).dbname(&self.database).application_name(&self.application_name);
        config.ssl_mode(tokio_postgres::config::SslMode::Disable);
        if let Some(password) = &self.password {
            config.password(password.reveal());
        }
        if let Some(options) = &self.options {
            config.options(options);
        }
        let (client, mut connection) =
            config.connect_raw(stream, NoTls).await.map_err(|error| self.refusal(address, &error))?;
        let (tell, notices) = unbounded_channel();
        tokio::spawn(async move {
            while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
                match message {
                    // Most clients listen to nothing, and nobody waits for what they are told.
                    Ok(AsyncMessage::Notification(notice)) => drop(tell.send(notice)),
                    Ok(_) => {}
                    Err(error) => {
                        tracing::debug!(%error, "a connection ended");
                        break;
                    }
                }
            }
        });
        Ok((client, notices))
    }

    fn refusal(&self, address: &Address, error: &tokio_postgres::Error) -> DatabaseError {
        let at = address.to_string();
        let Some(server) = error.as_db_error() else { return DatabaseError::Lost(error.to_string()) };
        let reason = server.message().to_owned();
        match server.code().code() {
            "3D000" => DatabaseError::UnknownDatabase { at, database: self.database.clone() },
            "53300" => DatabaseError::TooManyConnections { at, reason },
            code if code.starts_with("28") => {
                DatabaseError::Authentication { at, user: self.user.clone(), code: code.to_owned(), reason }
            }
            _ => DatabaseError::NotReady { at, reason },
        }
    }
}
