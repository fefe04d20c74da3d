//! MCP over stdin and stdout, for a client that starts airlock as its own process.

use std::io::{BufRead, Write as _};
use std::sync::Arc;

use airlock_knowledge::store::Store;
use airlock_pipeline::Host;
use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::runtime::Handle;

use super::Agents;

/// Most bytes of one message: SQL of 64 KiB with every character escaped fits.
const LINE: usize = 1024 * 1024;
/// Bytes between the streams and the protocol.
const BUFFER: usize = 64 * 1024;

/// Serves one client until it closes stdin, or `stop` is done.
///
/// # Errors
/// When the client does not speak the protocol.
pub async fn serve(
    host: Arc<Host>,
    store: Option<Store>,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let agents = Agents::new(host, store);
    let (stdin, read) = tokio::io::duplex(BUFFER);
    let (stdout, written) = tokio::io::duplex(BUFFER);
    let runtime = Handle::current();
    // Threads of their own: a read of stdin that never ends must not keep the process from ending.
    std::thread::spawn({
        let (runtime, gone) = (runtime.clone(), agents.gone.clone());
        move || {
            from_stdin(&runtime, stdin);
            // A client that closes stdin waits for nothing any more.
            gone.cancel();
        }
    });
    let (flushed, all_written) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        to_stdout(&runtime, written);
        let _ = flushed.send(());
    });
    let transport = AsyncRwTransport::new_server(read, stdout).with_max_line_length(LINE);
    let ended = tokio::select! {
        served = async {
            match agents.clone().serve(transport).await {
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

fn from_stdin(runtime: &Handle, mut protocol: DuplexStream) {
    let mut stdin = std::io::stdin().lock();
    loop {
        let read = match stdin.fill_buf() {
            Ok([]) | Err(_) => break,
            Ok(bytes) => {
                if runtime.block_on(protocol.write_all(bytes)).is_err() {
                    break;
                }
                bytes.len()
            }
        };
        stdin.consume(read);
    }
    let _ = runtime.block_on(protocol.shutdown());
}

fn to_stdout(runtime: &Handle, mut protocol: DuplexStream) {
    let mut stdout = std::io::stdout().lock();
    let mut buffer = vec![0; BUFFER];
    while let Ok(read @ 1..) = runtime.block_on(protocol.read(&mut buffer)) {
        let Some(bytes) = buffer.get(..read) else { break };
        if stdout.write_all(bytes).and_then(|()| stdout.flush()).is_err() {
            break;
        }
    }
}
