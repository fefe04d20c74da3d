//! An inert system interface: WASI 0.2 as a guest's toolchain wants it linked, with nothing behind it.
//!
//! The functions a standard library calls by itself are answered: no arguments, no environment, no directory, input
//! that is closed, output that becomes log lines, the ask's `now` for every clock, and bytes that follow from the ask.
//! All others of the packages below are linked and refuse: a call of one ends the guest with [`Denied`]. No
//! implementation of files or sockets is part of this host, so there is none that a mistake could switch on.

use std::fmt;

use airlock_types::ContentHash;
use sha2::{Digest, Sha256};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{
    Component as Code, ComponentType, Lift, Linker, LinkerInstance, Lower, Resource, ResourceType, Val,
};
use wasmtime::{Engine, StoreContextMut};

use crate::contract::log::Level;
use crate::limits::{Limit, LimitHit, Limits};
use crate::stages::Moment;
use crate::store::State;

/// Packages of which a granted component may import interfaces.
const PACKAGES: [&str; 6] = ["cli", "clocks", "filesystem", "io", "random", "sockets"];
/// Bytes that a guest may write at once.
const WRITE: u64 = 64 << 10;
/// Nanoseconds that pass on the monotonic clock with each look at it.
const STEP: u64 = 1_000;
/// Bytes of what was printed that become a trap's message.
const MESSAGE: usize = 512;

/// Whether an interface such as `wasi:clocks/wall-clock@0.2.6` is part of the inert system interface.
pub(crate) fn offers(name: &str) -> bool {
    let parts = name.strip_prefix("wasi:").and_then(|rest| rest.split_once('/'));
    parts.is_some_and(|(package, rest)| PACKAGES.contains(&package) && rest.contains("@0.2."))
}

/// What the inert system interface is.
pub(crate) fn offered() -> Vec<String> {
    PACKAGES.iter().map(|package| format!("wasi:{package}@0.2")).collect()
}

/// A call of something that the inert system interface refuses.
#[derive(Debug, Clone)]
pub(crate) struct Denied(pub(crate) String);

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is refused", self.0)
    }
}

impl std::error::Error for Denied {}

/// A guest that ended itself.
#[derive(Debug)]
pub(crate) struct Exit(pub(crate) u8);

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit with code {}", self.0)
    }
}

impl std::error::Error for Exit {}

/// The system interface of one call.
#[derive(Debug)]
pub(crate) struct Inert {
    now: jiff::Timestamp,
    looks: u64,
    entropy: Entropy,
    printed: [Printed; 2],
    /// Bytes that are kept of each stream.
    most: usize,
}

/// What a guest printed, when it runs no more.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) lines: Vec<(Level, String)>,
    /// Lines that were too much to keep.
    pub(crate) dropped: u32,
    /// The end of standard error from where it tells of a panic.
    pub(crate) panic_message: Option<String>,
}

#[derive(Debug, Default)]
struct Printed {
    kept: Vec<u8>,
    dropped: u32,
}

impl Inert {
    /// One for a call of the component with this digest. A function that is told no time has the beginning of 1970.
    pub(crate) fn new(component: ContentHash, moment: Moment<'_>, limits: &Limits) -> Self {
        let now = moment.now.and_then(|now| now.parse().ok()).unwrap_or_default();
        let mut seed = Sha256::new();
        for part in [&component.to_string(), moment.now.unwrap_or_default(), moment.words] {
            seed.update(part.len().to_le_bytes());
            seed.update(part);
        }
        let most = limits.log_line_bytes.saturating_mul(limits.log_lines as usize);
        let entropy = Entropy { seed: seed.finalize().into(), blocks: 0, left: Vec::new() };
        Self { now, looks: 0, entropy, printed: Default::default(), most }
    }

    /// The time on the monotonic clock: it goes on with each look, so that whoever waits for it does not wait for ever.
    fn look(&mut self) -> u64 {
        self.looks += 1;
        self.looks.saturating_mul(STEP)
    }

    fn print(&mut self, stream: u32, bytes: &[u8]) {
        let Some(printed) = self.printed.get_mut(stream as usize) else { return };
        let room = self.most.saturating_sub(printed.kept.len());
        let (kept, dropped) = bytes.split_at(room.min(bytes.len()));
        printed.kept.extend_from_slice(kept);
        let lines = dropped.iter().filter(|byte| **byte == b'\n').count();
        printed.dropped = printed.dropped.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
    }

    /// What was printed; nothing is left of it here.
    pub(crate) fn take_printed(&mut self) -> Lines {
        let mut all = Lines::default();
        let levels = [Level::Info, Level::Warn];
        for (printed, level) in std::mem::take(&mut self.printed).into_iter().zip(levels) {
            let text = String::from_utf8_lossy(&printed.kept);
            if level == Level::Warn {
                let panic = text.find("panicked at").and_then(|at| text.get(at..));
                all.panic_message = panic.map(|text| crate::bounds::line(text.trim_end(), MESSAGE));
            }
            all.lines.extend(text.lines().map(|line| (level, line.to_owned())));
            all.dropped = all.dropped.saturating_add(printed.dropped);
        }
        all
    }
}

/// Bytes that follow from the ask and from nothing else.
#[derive(Debug)]
struct Entropy {
    seed: [u8; 32],
    blocks: u64,
    left: Vec<u8>,
}

impl Entropy {
    fn take(&mut self, bytes: usize) -> Vec<u8> {
        while self.left.len() < bytes {
            let block = Sha256::new().chain_update(self.seed).chain_update(self.blocks.to_le_bytes());
            self.left.extend_from_slice(&block.finalize());
            self.blocks += 1;
        }
        self.left.drain(..bytes).collect()
    }

    fn number(&mut self) -> u64 {
        self.take(8).into_iter().fold(0, |number, byte| number << 8 | u64::from(byte))
    }
}

/// `wasi:io/streams.stream-error`
#[derive(ComponentType, Lift, Lower)]
#[component(variant)]
enum StreamError {
    #[component(name = "last-operation-failed")]
    #[allow(dead_code, reason = "no operation fails, and the type is what it is")]
    LastOperationFailed(Resource<IoError>),
    #[component(name = "closed")]
    Closed,
}

/// `wasi:clocks/wall-clock.datetime`
#[derive(ComponentType, Lift, Lower)]
#[component(record)]
struct Datetime {
    seconds: u64,
    nanoseconds: u32,
}

// What handles stand for. None of them has anything behind it; an output's number says which of the two it is.
enum IoError {}
enum Pollable {}
enum Input {}
enum Output {}
enum Nothing {}

const STDOUT: u32 = 0;
const STDERR: u32 = 1;

fn resource(name: &str) -> ResourceType {
    match name {
        "error" => ResourceType::host::<IoError>(),
        "pollable" => ResourceType::host::<Pollable>(),
        "input-stream" => ResourceType::host::<Input>(),
        "output-stream" => ResourceType::host::<Output>(),
        _ => ResourceType::host::<Nothing>(),
    }
}

/// The contract's linker with all that this component imports of WASI.
pub(crate) fn link(
    contract: &Linker<State>,
    code: &Code,
    engine: &Engine,
) -> wasmtime::Result<Linker<State>> {
    let mut linker = contract.clone();
    for (name, import) in code.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(instance) = import.ty else { continue };
        let Some(interface) = name.strip_prefix("wasi:").and_then(|rest| rest.split('@').next()) else {
            continue;
        };
        let mut at = linker.instance(name)?;
        for (item, export) in instance.exports(engine) {
            match export.ty {
                ComponentItem::Resource(_) => at.resource(item, resource(item), |_, _| Ok(()))?,
                ComponentItem::ComponentFunc(_) => define(&mut at, interface, item)?,
                _ => {}
            }
        }
    }
    Ok(linker)
}

type Store<'a> = StoreContextMut<'a, State>;
type Streamed<T> = wasmtime::Result<(Result<T, StreamError>,)>;

fn define(at: &mut LinkerInstance<'_, State>, interface: &str, function: &str) -> wasmtime::Result<()> {
    match interface {
        "cli/environment" | "cli/exit" | "filesystem/preopens" => process(at, interface, function),
        "io/streams" if function.contains("input-stream") => input(at, interface, function),
        "io/streams" => output(at, interface, function),
        "clocks/wall-clock" | "clocks/monotonic-clock" | "io/poll" => time(at, interface, function),
        "random/random" | "random/insecure" | "random/insecure-seed" => random(at, interface, function),
        _ => handles(at, interface, function),
    }
}

fn deny(at: &mut LinkerInstance<'_, State>, interface: &str, function: &str) -> wasmtime::Result<()> {
    let denied = Denied(format!("wasi:{interface}.{function}"));
    at.func_new(function, move |_, _, _, _| Err(denied.clone().into()))
}

fn process(at: &mut LinkerInstance<'_, State>, interface: &str, function: &str) -> wasmtime::Result<()> {
    match function {
        "get-environment" => at.func_wrap(function, |_: Store<'_>, ()| Ok((Vec::<(String, String)>::new(),))),
        "get-arguments" => at.func_wrap(function, |_: Store<'_>, ()| Ok((Vec::<String>::new(),))),
        "initial-cwd" => at.func_wrap(function, |_: Store<'_>, ()| Ok((None::<String>,))),
        "get-directories" => {
            at.func_wrap(function, |_: Store<'_>, ()| Ok((Vec::<(Resource<Nothing>, String)>::new(),)))
        }
        "exit" => at.func_wrap(function, |_: Store<'_>, (status,): (Result<(), ()>,)| {
            Err::<(), _>(Exit(u8::from(status.is_err())).into())
        }),
        "exit-with-code" => {
            at.func_wrap(function, |_: Store<'_>, (code,): (u8,)| Err::<(), _>(Exit(code).into()))
        }
        _ => deny(at, interface, function),
    }
}

fn handles(at: &mut LinkerInstance<'_, State>, interface: &str, function: &str) -> wasmtime::Result<()> {
    match function {
        "get-stdin" => at.func_wrap(function, |_: Store<'_>, ()| Ok((Resource::<Input>::new_own(0),))),
        "get-stdout" => at.func_wrap(function, |_: Store<'_>, ()| Ok((Resource::<Output>::new_own(STDOUT),))),
        "get-stderr" => at.func_wrap(function, |_: Store<'_>, ()| Ok((Resource::<Output>::new_own(STDERR),))),
        "get-terminal-stdin" | "get-terminal-stdout" | "get-terminal-stderr" => {
            at.func_wrap(function, |_: Store<'_>, ()| Ok((None::<Resource<Nothing>>,)))
        }
        "[method]error.to-debug-string" => {
            at.func_wrap(function, |_: Store<'_>, (_,): (Resource<IoError>,)| Ok((String::new(),)))
        }
        // Asked of any error of a stream: none of ours is of a file.
        "filesystem-error-code" => at.func_new(function, |_, _, _, results| {
            results.iter_mut().for_each(|result| *result = Val::Option(None));
            Ok(())
        }),
        _ => deny(at, interface, function),
    }
}

fn input(at: &mut LinkerInstance<'_, State>, interface: &str, function: &str) -> wasmtime::Result<()> {
    match function.rsplit('.').next().unwrap_or_default() {
        "read" | "blocking-read" => {
            at.func_wrap(function, |_: Store<'_>, (_, _): (Resource<Input>, u64)| -> Streamed<Vec<u8>> {
                Ok((Err(StreamError::Closed),))
            })
        }
        "skip" | "blocking-skip" => {
            at.func_wrap(function, |_: Store<'_>, (_, _): (Resource<Input>, u64)| -> Streamed<u64> {
                Ok((Err(StreamError::Closed),))
            })
        }
        "subscribe" => at.func_wrap(function, |_: Store<'_>, (_,): (Resource<Input>,)| Ok((ready(),))),
        _ => deny(at, interface, function),
    }
}

fn output(at: &mut LinkerInstance<'_, State>, interface: &str, function: &str) -> wasmtime::Result<()> {
    match function.rsplit('.').next().unwrap_or_default() {
        "check-write" => at.func_wrap(function, |_: Store<'_>, (_,): (Resource<Output>,)| -> Streamed<u64> {
            Ok((Ok(WRITE),))
        }),
        "write" | "blocking-write-and-flush" => at.func_wrap(
            function,
            |mut store: Store<'_>, (stream, bytes): (Resource<Output>, Vec<u8>)| -> Streamed<()> {
                store.data_mut().wasi()?.print(stream.rep(), &bytes);
                Ok((Ok(()),))
            },
        ),
        "flush" | "blocking-flush" => at
            .func_wrap(function, |_: Store<'_>, (_,): (Resource<Output>,)| -> Streamed<()> { Ok((Ok(()),)) }),
        "subscribe" => at.func_wrap(function, |_: Store<'_>, (_,): (Resource<Output>,)| Ok((ready(),))),
        _ => deny(at, interface, function),
    }
}

fn time(at: &mut LinkerInstance<'_, State>, interface: &str, function: &str) -> wasmtime::Result<()> {
    let denied = Denied(format!("wasi:{interface}.{function}"));
    // Nothing here ever takes time, so there is nothing to wait for.
    let wait = move |passed| if passed { Ok((ready(),)) } else { Err(denied.clone().into()) };
    match (interface, function) {
        ("clocks/wall-clock", "now") => at.func_wrap(function, |mut store: Store<'_>, ()| {
            let now = store.data_mut().wasi()?.now;
            Ok((Datetime {
                seconds: u64::try_from(now.as_second()).unwrap_or_default(),
                nanoseconds: u32::try_from(now.subsec_nanosecond()).unwrap_or_default(),
            },))
        }),
        ("clocks/wall-clock", "resolution") => {
            at.func_wrap(function, |_: Store<'_>, ()| Ok((Datetime { seconds: 1, nanoseconds: 0 },)))
        }
        ("clocks/monotonic-clock", "now") => {
            at.func_wrap(function, |mut store: Store<'_>, ()| Ok((store.data_mut().wasi()?.look(),)))
        }
        ("clocks/monotonic-clock", "resolution") => at.func_wrap(function, |_: Store<'_>, ()| Ok((STEP,))),
        ("clocks/monotonic-clock", "subscribe-duration") => {
            at.func_wrap(function, move |_: Store<'_>, (duration,): (u64,)| wait(duration == 0))
        }
        ("clocks/monotonic-clock", "subscribe-instant") => {
            at.func_wrap(function, move |mut store: Store<'_>, (instant,): (u64,)| {
                let now = store.data_mut().wasi()?.look();
                wait(instant <= now)
            })
        }
        ("io/poll", "poll") => at.func_wrap(function, |_: Store<'_>, (all,): (Vec<Resource<Pollable>>,)| {
            Ok(((0..u32::try_from(all.len()).unwrap_or_default()).collect::<Vec<_>>(),))
        }),
        ("io/poll", "[method]pollable.ready") => {
            at.func_wrap(function, |_: Store<'_>, (_,): (Resource<Pollable>,)| Ok((true,)))
        }
        ("io/poll", "[method]pollable.block") => {
            at.func_wrap(function, |_: Store<'_>, (_,): (Resource<Pollable>,)| Ok(()))
        }
        _ => deny(at, interface, function),
    }
}

fn random(at: &mut LinkerInstance<'_, State>, interface: &str, function: &str) -> wasmtime::Result<()> {
    match function {
        "get-random-bytes" | "get-insecure-random-bytes" => {
            at.func_wrap(function, |mut store: Store<'_>, (bytes,): (u64,)| {
                let state = store.data_mut();
                let most = state.limits().output_bytes;
                let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                if bytes > most {
                    return Err(LimitHit::count(Limit::Output, most, bytes).into());
                }
                Ok((state.wasi()?.entropy.take(bytes),))
            })
        }
        "get-random-u64" | "get-insecure-random-u64" => at
            .func_wrap(function, |mut store: Store<'_>, ()| Ok((store.data_mut().wasi()?.entropy.number(),))),
        "insecure-seed" => at.func_wrap(function, |mut store: Store<'_>, ()| {
            let entropy = &mut store.data_mut().wasi()?.entropy;
            Ok(((entropy.number(), entropy.number()),))
        }),
        _ => deny(at, interface, function),
    }
}

/// Something to wait for that has happened.
fn ready() -> Resource<Pollable> {
    Resource::new_own(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inert(digest: &str, now: &str, words: &str) -> Inert {
        Inert::new(ContentHash::of(digest), Moment { now: Some(now), words }, &Limits::default())
    }

    #[test]
    fn entropy_follows_from_the_ask() {
        let now = "2026-08-01T09:30:00Z";
        let of = |digest, now, words| inert(digest, now, words).entropy.take(100);
        assert_eq!(of("a", now, "x"), of("a", now, "x"));
        for (digest, now, words) in [("b", now, "x"), ("a", "2026-08-02T09:30:00Z", "x"), ("a", now, "y")] {
            assert_ne!(of("a", "2026-08-01T09:30:00Z", "x"), of(digest, now, words));
        }
        let mut parts = inert("a", now, "x");
        let joined = [parts.entropy.take(33), parts.entropy.take(67)].concat();
        assert_eq!(joined, of("a", now, "x"));
    }

    #[test]
    fn only_what_a_standard_library_links_is_offered() {
        for (name, want) in [
            ("wasi:cli/environment@0.2.0", true),
            ("wasi:io/streams@0.2.6", true),
            ("wasi:sockets/tcp@0.2.3", true),
            ("wasi:http/outgoing-handler@0.2.3", false),
            ("wasi:clocks/wall-clock@0.3.0", false),
            ("wasi:clocks/wall-clock", false),
            ("acme:cli/environment@0.2.0", false),
        ] {
            assert_eq!(offers(name), want, "{name}");
        }
    }

    #[test]
    fn what_is_printed_is_kept_up_to_the_limit_of_the_log() {
        let mut inert = inert("a", "", "");
        inert.print(STDOUT, b"one\ntwo\n");
        inert.print(STDERR, b"thread panicked at src/lib.rs:3:5:\nboom\n");
        inert.print(STDOUT, &b"0123456789\n".repeat(20_000));
        let lines = inert.take_printed();
        assert_eq!(lines.lines.first().map(|(_, line)| line.as_str()), Some("one"));
        assert!(
            lines.lines.len() < 13_000 && lines.dropped > 7_000,
            "{} {}",
            lines.lines.len(),
            lines.dropped
        );
        assert_eq!(lines.panic_message.as_deref(), Some("panicked at src/lib.rs:3:5: boom"));
        assert!(inert.take_printed().lines.is_empty());
    }
}
