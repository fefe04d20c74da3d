//! A core module into a component, and what a component wants.

use thiserror::Error;
use wit_component::{ComponentEncoder, DecodedWasm};
use wit_parser::{Resolve, WorldItem, WorldKey};

/// A component and the interfaces it names.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// The component.
    pub bytes: Vec<u8>,
    /// Interfaces with functions that it calls, as `package/interface@version`.
    pub imports: Vec<String>,
    /// Interfaces that it serves.
    pub exports: Vec<String>,
}

/// Why bytes are no component of the contract.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// Not WebAssembly at all.
    #[error("it is not WebAssembly")]
    NotWasm,
    /// A module without the section that wit-bindgen leaves.
    #[error(
        "the module has no `component-type` section: it exports no stage; `airlock_plugin_sdk::export!` makes it one"
    )]
    NoWorld,
    /// The section does not read.
    #[error("the section of its world does not read: {0}")]
    World(String),
    /// The encoder refused it.
    #[error("it cannot be made a component: {0}")]
    Encode(String),
    /// A component that does not decode.
    #[error("its interfaces do not read: {0}")]
    Decode(String),
}

/// Whether these bytes are a core module: magic, then version 1 of layer 0.
#[must_use]
pub fn is_module(bytes: &[u8]) -> bool {
    matches!(bytes, [0, b'a', b's', b'm', 1, 0, 0, 0, ..])
}

/// Wraps a module whose custom section tells the world it was built for.
///
/// # Errors
/// When it is no module, has no such section, or does not validate.
pub fn encode(module: &[u8]) -> Result<Encoded, ComponentError> {
    if !is_module(module) {
        return Err(ComponentError::NotWasm);
    }
    let world = wit_component::metadata::decode(module);
    let (world, _) = world.map_err(|error| ComponentError::World(format!("{error:#}")))?;
    if world.is_none() {
        return Err(ComponentError::NoWorld);
    }
    let mut encoder = ComponentEncoder::default();
    let bytes = encoder.validate(true).module(module).and_then(|encoder| encoder.encode());
    let bytes = bytes.map_err(|error| ComponentError::Encode(format!("{error:#}")))?;
    let (imports, exports) = interfaces(&bytes)?;
    Ok(Encoded { bytes, imports, exports })
}

/// The interfaces with functions that a component calls, and those it serves.
///
/// # Errors
/// When the bytes are no component.
pub fn interfaces(component: &[u8]) -> Result<(Vec<String>, Vec<String>), ComponentError> {
    let decoded = wit_component::decode(component);
    let decoded = decoded.map_err(|error| ComponentError::Decode(format!("{error:#}")))?;
    let DecodedWasm::Component(resolve, world) = decoded else {
        return Err(ComponentError::Decode("it is a package of WIT, not a component".to_owned()));
    };
    let world = resolve.worlds.get(world);
    let world = world.ok_or_else(|| ComponentError::Decode("the component has no world".to_owned()))?;
    let name = |(key, _): (&WorldKey, &WorldItem)| resolve.name_world_key(key);
    let imports = world.imports.iter().filter(|(_, item)| callable(&resolve, item)).map(name).collect();
    Ok((imports, world.exports.iter().map(name).collect()))
}

/// An interface without functions only lends its types: nothing can be called, so nothing is asked for.
fn callable(resolve: &Resolve, item: &WorldItem) -> bool {
    match item {
        WorldItem::Interface { id, .. } => {
            resolve.interfaces.get(*id).is_none_or(|it| !it.functions.is_empty())
        }
        WorldItem::Function(_) => true,
        WorldItem::Type { .. } => false,
    }
}

/// The name of an interface inside its package: `catalog` of `airlock:plugin/catalog@0.1.0`. Anything else is itself.
#[must_use]
pub fn short_name(interface: &str) -> &str {
    let inside = interface.strip_prefix("airlock:plugin/").unwrap_or(interface);
    if inside.len() == interface.len() { interface } else { inside.split('@').next().unwrap_or(inside) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_without_a_world_is_told_so() {
        let error = encode(b"\0asm\x01\0\0\0").unwrap_err().to_string();
        assert!(error.contains("component-type"), "{error}");
        assert!(matches!(encode(b"not wasm"), Err(ComponentError::NotWasm)));
        assert!(interfaces(b"not wasm").is_err());
    }

    #[test]
    fn only_our_own_package_is_shortened() {
        for (given, want) in [
            ("airlock:plugin/catalog@0.1.0", "catalog"),
            ("airlock:plugin/log", "log"),
            ("wasi:cli/environment@0.2.6", "wasi:cli/environment@0.2.6"),
            ("other:plugin/catalog@0.1.0", "other:plugin/catalog@0.1.0"),
        ] {
            assert_eq!(short_name(given), want);
        }
    }
}
