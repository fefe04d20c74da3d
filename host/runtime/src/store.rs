//! The one place that makes a store: fresh for each call, with every limit on.

use std::sync::Arc;

use wasmtime::{Engine, ResourceLimiter, Store, UpdateDeadline};

use crate::bounds::line;
use crate::contract::log::Level;
use crate::contract::types::Attribute;
use crate::limits::{Limit, LimitHit, Limits, Spent};
use crate::meter::Meter;
use crate::services::Services;
use crate::wasi::Inert;

/// How a guest that computes for longer than a tick lets others run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// It yields to the executor at each tick.
    Yield,
    /// It keeps its thread, which is not the executor's.
    OwnThread,
}

/// A store for one call. Nothing survives it.
pub(crate) fn fresh(
    engine: &Engine,
    services: Arc<dyn Services>,
    limits: &Limits,
    sharing: Sharing,
    wasi: Option<Inert>,
) -> Store<State> {
    let state = State {
        services,
        meter: Arc::new(Meter::new()),
        guard: Guard::new(limits),
        log: LogBook::default(),
        look_ups: 0,
        limits: limits.clone(),
        wasi: wasi.map(Box::new),
    };
    let mut store = Store::new(engine, state);
    store.limiter(|state| &mut state.guard);
    store.set_hostcall_fuel(limits.output_bytes);
    store.set_max_component_handles(limits.handles);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |context| {
        let state = context.data();
        let spent = state.meter.compute();
        if spent > state.limits.compute {
            return Err(LimitHit::time(Limit::Compute, state.limits.compute, spent).into());
        }
        Ok(match sharing {
            Sharing::Yield => UpdateDeadline::Yield(1),
            Sharing::OwnThread => UpdateDeadline::Continue(1),
        })
    });
    store
}

/// What a store holds beside the guest.
pub(crate) struct State {
    services: Arc<dyn Services>,
    meter: Arc<Meter>,
    guard: Guard,
    log: LogBook,
    look_ups: u32,
    limits: Limits,
    /// The system interface, for a component whose grant gives one.
    wasi: Option<Box<Inert>>,
}

impl State {
    /// The system interface of this call.
    pub(crate) fn wasi(&mut self) -> wasmtime::Result<&mut Inert> {
        self.wasi.as_deref_mut().ok_or_else(|| wasmtime::format_err!("no system interface was granted"))
    }

    /// Writes what the guest printed to the log, when it runs no more.
    pub(crate) fn flush_printed(&mut self) {
        let Some(printed) = self.wasi.as_deref_mut().map(Inert::take_printed) else { return };
        // Before the lines, of which there may be too many: it is what explains the trap.
        self.log.panic_message = self.log.panic_message.take().or(printed.panic_message);
        for (level, text) in printed.lines {
            self.log_line(level, &text, &[]);
        }
        self.log.dropped = self.log.dropped.saturating_add(printed.dropped);
    }

    /// The clock of this call's compute time.
    pub(crate) fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// What this call may use.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What the guest's panic hook sent.
    pub(crate) fn panic_message(&self) -> Option<&str> {
        self.log.panic_message.as_deref()
    }

    /// What the call used so far.
    pub(crate) fn spent(&self) -> Spent {
        Spent {
            compute: self.meter.compute(),
            host: self.meter.host(),
            memory: self.guard.memory,
            look_ups: self.look_ups,
            log_lines: self.log.lines,
            log_dropped: self.log.dropped,
            ..Spent::default()
        }
    }

    /// Runs a look-up on the host's time, if the guest may have another.
    pub(crate) fn look_up<R>(&mut self, run: impl FnOnce(&dyn Services) -> R) -> wasmtime::Result<R> {
        self.look_ups = self.look_ups.saturating_add(1);
        if self.look_ups > self.limits.look_ups {
            let hit = LimitHit::count(Limit::LookUps, self.limits.look_ups as usize, self.look_ups as usize);
            return Err(hit.into());
        }
        Ok(self.meter.host_time(|| run(&*self.services)))
    }

    /// Keeps one log line, cut and cleaned, if there is room for another.
    pub(crate) fn log_line(&mut self, level: Level, message: &str, fields: &[Attribute]) {
        let most = self.limits.log_line_bytes;
        // The panic message is kept even when the guest has used up its lines: it is what explains the trap.
        if matches!(level, Level::Error) && message.starts_with(PANIC) {
            self.log.panic_message = Some(line(message.strip_prefix(PANIC).unwrap_or(message), most));
        }
        if self.log.lines >= self.limits.log_lines {
            self.log.dropped = self.log.dropped.saturating_add(1);
            return;
        }
        self.log.lines += 1;
        let message = line(message, most);
        let mut room = most.saturating_sub(message.len());
        let mut kept = Vec::new();
        for field in fields {
            let (key, value) = (line(&field.key, room), line(&field.value, room));
            let size = key.len() + value.len();
            if size > room || size == 0 {
                break;
            }
            room -= size;
            kept.push((key, value));
        }
        self.meter.host_time(|| self.services.log(level, &message, &kept));
    }
}

/// How the SDK's panic hook begins the line it sends.
const PANIC: &str = "panic: ";

#[derive(Debug, Default)]
struct LogBook {
    lines: u32,
    dropped: u32,
    panic_message: Option<String>,
}

/// Counts memory, tables and instances over the whole store, and stops the guest with a typed error.
#[derive(Debug)]
struct Guard {
    memory: usize,
    elements: usize,
    most_memory: usize,
    most_elements: usize,
    instances: usize,
    tables: usize,
    memories: usize,
}

impl Guard {
    fn new(limits: &Limits) -> Self {
        Self {
            memory: 0,
            elements: 0,
            most_memory: limits.memory,
            most_elements: limits.table_elements,
            instances: limits.instances,
            tables: limits.tables,
            memories: limits.memories,
        }
    }
}

impl ResourceLimiter for Guard {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.memory.saturating_add(desired.saturating_sub(current));
        if total > self.most_memory {
            return Err(LimitHit::count(Limit::Memory, self.most_memory, total).into());
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.elements.saturating_add(desired.saturating_sub(current));
        if total > self.most_elements {
            return Err(LimitHit::count(Limit::Tables, self.most_elements, total).into());
        }
        self.elements = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn tables(&self) -> usize {
        self.tables
    }

    fn memories(&self) -> usize {
        self.memories
    }
}
