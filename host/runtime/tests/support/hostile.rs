//! One guest that exports every function of the contract and misbehaves in each of them as it is told.
//!
//! It asks the host for the server's version and takes that for its orders, so every export can be told everything.

use std::path::Path;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::abi::{AbiVariant, WasmType};
use wit_parser::{Resolve, SizeAlign, Type, WorldItem};

use super::value::{Memory, Twist, Writer};

/// What the guest can be told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    EndlessLoop,
    DeepRecursion,
    MemoryGrowth,
    LogFlood,
    LookUpFlood,
    Trap,
    Panic,
    /// Returns this.
    Returns(Twist),
    /// Calls this function of a system interface, if it was given one.
    Calls(System),
    /// Imports what no host has; told by being built so.
    UnknownImport,
}

/// A function of the system interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    Exit,
    Clock,
    Entropy,
    Sleep,
    File,
    Socket,
}

impl System {
    pub const ALL: [Self; 6] =
        [Self::Exit, Self::Clock, Self::Entropy, Self::Sleep, Self::File, Self::Socket];

    /// The interface it is of.
    pub fn interface(self) -> &'static str {
        match self {
            Self::Exit => "wasi:cli/exit@0.2.6",
            Self::Clock => "wasi:clocks/wall-clock@0.2.6",
            Self::Entropy => "wasi:random/random@0.2.6",
            Self::Sleep => "wasi:clocks/monotonic-clock@0.2.6",
            Self::File => "wasi:filesystem/types@0.2.6",
            Self::Socket => "wasi:sockets/tcp-create-socket@0.2.6",
        }
    }

    /// Its import, and a call of it.
    fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::Exit => (r#""exit" (func $exit (param i32))"#, "(call $exit (i32.const 1))"),
            Self::Clock => (r#""now" (func $clock (param i32))"#, "(call $clock (i32.const 64))"),
            Self::Entropy => (
                r#""get-random-bytes" (func $entropy (param i64 i32))"#,
                "(call $entropy (i64.const 16) (i32.const 64))",
            ),
            Self::Sleep => (
                r#""subscribe-duration" (func $sleep (param i64) (result i32))"#,
                "(drop (call $sleep (i64.const 1000000000)))",
            ),
            Self::File => (
                r#""[method]descriptor.sync" (func $file (param i32 i32))"#,
                "(call $file (i32.const 3) (i32.const 64))",
            ),
            Self::Socket => (
                r#""create-tcp-socket" (func $socket (param i32 i32))"#,
                "(call $socket (i32.const 0) (i32.const 64))",
            ),
        }
    }
}

/// As much of the system interface as the guest calls.
const SYSTEM: &str = "
    package wasi:cli@0.2.6 { interface exit { exit: func(status: result); } }
    package wasi:clocks@0.2.6 {
        interface wall-clock {
            record datetime { seconds: u64, nanoseconds: u32 }
            now: func() -> datetime;
        }
        interface monotonic-clock {
            use wasi:io/poll@0.2.6.{pollable};
            subscribe-duration: func(when: u64) -> pollable;
        }
    }
    package wasi:io@0.2.6 { interface poll { resource pollable { ready: func() -> bool; } } }
    package wasi:random@0.2.6 { interface random { get-random-bytes: func(len: u64) -> list<u8>; } }
    package wasi:filesystem@0.2.6 {
        interface types {
            enum error-code { access }
            resource descriptor { sync: func() -> result<_, error-code>; }
        }
    }
    package wasi:sockets@0.2.6 {
        interface tcp { resource tcp-socket { unused: func(); } }
        interface tcp-create-socket {
            use tcp.{tcp-socket};
            enum family { ipv4, ipv6 }
            enum error-code { access-denied }
            create-tcp-socket: func(family: family) -> result<tcp-socket, error-code>;
        }
    }
    package evil:net@1.0.0 { interface socket { open: func(); } }
";

/// An exported function of the contract.
#[derive(Debug, Clone)]
pub struct Export {
    /// The interface's name, such as `planner`.
    pub interface: String,
    pub function: String,
    name: String,
    params: Vec<WasmType>,
    result: Type,
}

/// The contract, with a world that exports all of it and one that has a system interface too.
pub struct World {
    resolve: Resolve,
    sizes: SizeAlign,
    pub exports: Vec<Export>,
}

/// Interfaces that are imported: every other one with a function is exported.
const IMPORTS: [&str; 4] = ["catalog", "retrieval", "sql", "log"];

impl World {
    pub fn of_contract() -> Self {
        let mut resolve = Resolve::default();
        let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
        let (package, _) = resolve.push_dir(&wit).expect("the contract parses");
        let version = resolve.packages[package].name.version.clone().unwrap();
        let stages = resolve.packages[package].interfaces.iter();
        let stages = stages.filter(|(name, id)| {
            !IMPORTS.contains(&name.as_str()) && !resolve.interfaces[**id].functions.is_empty()
        });
        let exports: String =
            stages.map(|(name, _)| format!("export airlock:plugin/{name}@{version};\n")).collect();
        let mut system: String = String::new();
        for function in System::ALL {
            system += &format!("import {};\n", function.interface());
        }
        let worlds = format!(
            "package airlock:hostile;
             world plain {{ include airlock:plugin/host-imports@{version}; {exports} }}
             world system {{ include plain; import evil:net/socket@1.0.0; {system} }}
             {SYSTEM}"
        );
        resolve.push_source("hostile.wit", &worlds).expect("the worlds parse");
        let mut sizes = SizeAlign::default();
        sizes.fill(&resolve).expect("sizes");
        let world = select(&resolve, "plain");
        let mut found = Vec::new();
        for item in resolve.worlds[world].exports.values() {
            let WorldItem::Interface { id, .. } = item else { continue };
            let interface = &resolve.interfaces[*id];
            for function in interface.functions.values() {
                found.push(Export {
                    interface: interface.name.clone().unwrap(),
                    function: function.name.clone(),
                    name: format!("{}#{}", resolve.id_of(*id).unwrap(), function.name),
                    params: resolve.wasm_signature(AbiVariant::GuestExport, function).params,
                    result: function.result.expect("every function of a stage has a result"),
                });
            }
        }
        Self { resolve, sizes, exports: found }
    }

    /// The guest. `behaviours` are numbered from zero; the number is the order.
    pub fn guest(&self, behaviours: &[Behaviour]) -> Vec<u8> {
        self.build(behaviours, &self.exports, None)
    }

    /// One that serves this interface alone, keeps every rule and was built for the contract's own world.
    pub fn sound(&self, interface: &str, world: &str) -> Vec<u8> {
        let mine: Vec<Export> =
            self.exports.iter().filter(|export| export.interface == interface).cloned().collect();
        self.build(&[Behaviour::Returns(Twist::Sound)], &mine, Some(world))
    }

    fn build(&self, behaviours: &[Behaviour], exports: &[Export], world: Option<&str>) -> Vec<u8> {
        let mut memory = Memory::new(4_096);
        let rows = memory.room(exports.len() * behaviours.len() * 4);
        let mut functions = String::new();
        for (row, export) in exports.iter().enumerate() {
            let start = rows + row * behaviours.len() * 4;
            for (at, behaviour) in behaviours.iter().enumerate() {
                let twist = if let Behaviour::Returns(twist) = behaviour { *twist } else { Twist::Sound };
                let address = self.lay_out(&mut memory, export, twist).unwrap_or_default();
                memory.put(start + at * 4, &u32::try_from(address).unwrap().to_le_bytes());
            }
            let params: String = export.params.iter().map(|ty| format!(" {}", core(*ty))).collect();
            functions += &format!(
                "(func (export \"{}\") (param{params}) (result i32) (call $behave (i32.const {start})))\n",
                export.name
            );
        }
        let orders: String = behaviours
            .iter()
            .enumerate()
            .map(|(order, behaviour)| {
                let body = body(*behaviour);
                format!("(if (i32.eq (local.get $order) (i32.const {order})) (then {body}))\n")
            })
            .collect();
        let calls: Vec<System> = behaviours
            .iter()
            .filter_map(
                |behaviour| if let Behaviour::Calls(system) = behaviour { Some(*system) } else { None },
            )
            .collect();
        let mut imports: String = calls
            .iter()
            .map(|system| format!("(import \"{}\" {})\n", system.interface(), system.text().0))
            .collect();
        if behaviours.contains(&Behaviour::UnknownImport) {
            imports += r#"(import "evil:net/socket@1.0.0" "open" (func $open))"#;
        }
        let data: String = memory.bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
        let text = format!(
            r#"(module
                (import "airlock:plugin/log@0.1.0" "write" (func $log (param i32 i32 i32 i32 i32)))
                (import "airlock:plugin/catalog@0.1.0" "server-version" (func $order (result i32)))
                {imports}
                (memory (export "memory") 64)
                (global $top (mut i32) (i32.const 524288))
                (data (i32.const 16) "panic: it was told to")
                (data (i32.const {}) "{data}")
                (func $deep (param i32) (result i32) (i32.add (i32.const 1) (call $deep (local.get 0))))
                (func $behave (param $row i32) (result i32)
                    (local $order i32) (local $n i32)
                    (local.set $order (call $order))
                    {orders}
                    (i32.load (i32.add (local.get $row) (i32.mul (local.get $order) (i32.const 4)))))
                {functions}
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                    (local $at i32)
                    (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
                    (global.set $top (i32.add (local.get $at) (local.get 3)))
                    (local.get $at)))"#,
            memory.base
        );
        let system = !imports.is_empty();
        let world = world.unwrap_or(if system { "system" } else { "plain" });
        let world = select(&self.resolve, world);
        let mut module = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text:.4000}"));
        embed_component_metadata(&mut module, &self.resolve, world, StringEncoding::UTF8, false).unwrap();
        ComponentEncoder::default().module(&module).unwrap().validate(true).encode().unwrap()
    }

    /// Whether the function's result can be spoilt so.
    pub fn can(&self, export: &Export, twist: Twist) -> bool {
        self.lay_out(&mut Memory::new(4_096), export, twist).is_some()
    }

    fn lay_out(&self, memory: &mut Memory, export: &Export, twist: Twist) -> Option<usize> {
        Writer::write(&self.resolve, &self.sizes, memory, &export.result, twist)
    }
}

fn select(resolve: &Resolve, world: &str) -> wit_parser::WorldId {
    resolve.worlds.iter().find(|(_, it)| it.name == world).expect("a world of this name").0
}

fn core(ty: WasmType) -> &'static str {
    match ty {
        WasmType::I64 | WasmType::PointerOrI64 => "i64",
        WasmType::F32 => "f32",
        WasmType::F64 => "f64",
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "i32",
    }
}

fn body(behaviour: Behaviour) -> &'static str {
    match behaviour {
        Behaviour::EndlessLoop => "(loop $again (br $again))",
        Behaviour::DeepRecursion => "(drop (call $deep (i32.const 0)))",
        Behaviour::MemoryGrowth => "(loop $again (drop (memory.grow (i32.const 16))) (br $again))",
        Behaviour::LogFlood => {
            "(loop $again
                (call $log (i32.const 2) (i32.const 16) (i32.const 5) (i32.const 0) (i32.const 0))
                (local.set $n (i32.add (local.get $n) (i32.const 1)))
                (br_if $again (i32.lt_u (local.get $n) (i32.const 1000))))"
        }
        Behaviour::LookUpFlood => "(loop $again (drop (call $order)) (br $again))",
        Behaviour::Trap => "(unreachable)",
        Behaviour::Panic => {
            "(call $log (i32.const 4) (i32.const 16) (i32.const 21) (i32.const 0) (i32.const 0)) (unreachable)"
        }
        Behaviour::Returns(_) => "",
        Behaviour::Calls(system) => system.text().1,
        Behaviour::UnknownImport => "(call $open)",
    }
}
