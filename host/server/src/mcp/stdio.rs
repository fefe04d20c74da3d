//! MCP over stdin and stdout, for a client that starts airlock as its own process.

use std::io::{BufRead, ErrorKind, Write as _};
use std::sync::Arc;

use airlock_knowledge::store::Store;
use airlock_pipeline::Host;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt};
use tokio::sync::{mpsc, oneshot};

use super::frame::Frame;
use super::under_way::UnderWay;
use super::{Agents, Door};

/// Most bytes of one message: SQL of 64 KiB with every character escaped fits.
const LINE: usize = 1024 * 1024;
/// Messages between the streams and the protocol.
const WAITING: usize = 4;

/// Serves one client until it closes stdin, or `stop` is done.
///
/// # Errors
/// When the client does not speak the protocol.
pub async fn serve(
    host: Arc<Host>,
    store: Option<Store>,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let agents = Agents::new(host, store, Door::Local);
    let (read, lines) = mpsc::channel(WAITING);
    let (out, written) = mpsc::channel(WAITING);
    // Threads of their own: a read of stdin that never ends must not keep the process from ending.
    std::thread::spawn({
        let gone = agents.gone.clone();
        move || {
            from_stdin(&mut std::io::stdin().lock(), &read);
            // A client that closes stdin waits for nothing any more.
            gone.cancel();
        }
    });
    let (flushed, all_written) = oneshot::channel();
    std::thread::spawn(move || {
        to_stdout(written);
        let _ = flushed.send(());
    });
    let streams = Streams { lines, out: Some(out), unsent: None, under_way: UnderWay::default() };
    let ended = tokio::select! {
        served = async {
            match agents.clone().serve(streams).await {
                Ok(service) => service.waiting().await.map(|_| ()).map_err(anyhow::Error::from),
                // A client that goes before it has begun was there to look whether the program starts.
                Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
                Err(error) => Err(error.into()),
            }
        } => {
            // The last answers leave before the process does.
            let _ = all_written.await;
            served
        }
        () = stop => Ok(()),
    };
    agents.settle().await;
    ended
}

/// One line of stdin.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole(Vec<u8>),
    /// It was longer than a message may be, and was not kept.
    TooLong,
}

/// Stdin and stdout as the protocol sees them.
struct Streams {
    lines: mpsc::Receiver<Line>,
    out: Option<mpsc::Sender<Vec<u8>>>,
    /// What is to be said of a line that was no message. Kept here, as a wait for room may be given up and begun again.
    unsent: Option<Vec<u8>>,
    under_way: UnderWay,
}

impl Transport<RoleServer> for Streams {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let out = self.out.clone();
        async move {
            let closed = || std::io::Error::new(ErrorKind::NotConnected, "the client has gone");
            let bytes = serde_json::to_vec(&message)?;
            out.ok_or_else(closed)?.send(bytes).await.map_err(|_| closed())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.unsent.is_some() {
                let place = self.out.as_ref()?.reserve().await.ok()?;
                if let Some(reply) = self.unsent.take() {
                    place.send(reply);
                }
            }
            let frame = match self.lines.recv().await? {
                Line::Whole(line) => Frame::read(&line),
                Line::TooLong => Frame::too_long(LINE),
            };
            // The request is under way until who answers it lets go of its extensions.
            let (frame, entered) = self.under_way.enter(frame);
            match frame {
                Frame::Message(message) => {
                    let mut message = *message;
                    if let ClientJsonRpcMessage::Request(request) = &mut message {
                        request.request.extensions_mut().insert(entered);
                    }
                    return Some(message);
                }
                Frame::Ignored => {}
                Frame::Wrong(error) => {
                    tracing::info!(code = error.error.code.0, "a line was no message of the protocol");
                    self.unsent = serde_json::to_vec(&error).ok();
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.out = None;
        Ok(())
    }
}

/// Gives on line by line, until there is no more or nobody takes them.
fn from_stdin(stdin: &mut impl BufRead, lines: &mpsc::Sender<Line>) {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let bytes = match stdin.fill_buf() {
            Ok([]) => break,
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let piece = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
        too_long |= line.len() + piece.len() > LINE;
        if too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(piece);
        }
        let read = end.map_or(bytes.len(), |end| end + 1);
        stdin.consume(read);
        if end.is_none() {
            continue;
        }
        let whole = std::mem::take(&mut line);
        let whole = if std::mem::take(&mut too_long) { Line::TooLong } else { Line::Whole(whole) };
        let blank = matches!(&whole, Line::Whole(line) if line.iter().all(u8::is_ascii_whitespace));
        if !blank && lines.blocking_send(whole).is_err() {
            break;
        }
    }
}

fn to_stdout(mut messages: mpsc::Receiver<Vec<u8>>) {
    let mut stdout = std::io::stdout().lock();
    while let Some(mut message) = messages.blocking_recv() {
        message.push(b'\n');
        if stdout.write_all(&message).and_then(|()| stdout.flush()).is_err() {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_are_given_on_whole_and_none_is_longer_than_it_may_be() {
        let long = "x".repeat(LINE + 1);
        let fits = "y".repeat(LINE);
        let text = format!("a\r\n\n  \n{long}\n{fits}\nb\nunfinished");
        // Pieces that end anywhere.
        for piece in [7, 8 * 1024] {
            let (sender, mut lines) = mpsc::channel(16);
            from_stdin(&mut BufReader::with_capacity(piece, text.as_bytes()), &sender);
            drop(sender);
            let mut read = Vec::new();
            while let Some(line) = lines.blocking_recv() {
                read.push(line);
            }
            let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
            assert!(read == [whole("a\r"), Line::TooLong, whole(&fits), whole("b")], "{piece}");
        }
    }
}
