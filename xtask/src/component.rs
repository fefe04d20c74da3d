//! A core module into a component, and what the component wants.

use anyhow::{Context, Result, bail};
use wit_component::{ComponentEncoder, DecodedWasm};
use wit_parser::{Resolve, WorldItem, WorldKey};

/// A component and the interfaces it names.
pub struct Encoded {
    /// The component.
    pub bytes: Vec<u8>,
    /// Interfaces with functions that it calls, as `package/interface@version`.
    pub imports: Vec<String>,
    /// Interfaces that it serves.
    pub exports: Vec<String>,
}

/// Wraps a module whose custom section tells the world it was built for.
pub fn encode(module: &[u8]) -> Result<Encoded> {
    let (world, _) =
        wit_component::metadata::decode(module).context("the section of its world does not read")?;
    if world.is_none() {
        bail!("the module has no `component-type` section: it exports no stage of wit/");
    }
    let bytes = ComponentEncoder::default().validate(true).module(module)?.encode()?;
    let (imports, exports) = interfaces(&bytes)?;
    Ok(Encoded { bytes, imports, exports })
}

fn interfaces(component: &[u8]) -> Result<(Vec<String>, Vec<String>)> {
    let DecodedWasm::Component(resolve, world) = wit_component::decode(component)? else {
        bail!("what was encoded is a package of WIT, not a component");
    };
    let world = resolve.worlds.get(world).context("the component has no world")?;
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
pub fn short_name(interface: &str) -> &str {
    let inside = interface.strip_prefix("airlock:plugin/").unwrap_or(interface);
    if inside.len() == interface.len() { interface } else { inside.split('@').next().unwrap_or(inside) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_without_a_world_is_told_so() {
        let empty = b"\0asm\x01\0\0\0";
        let error = encode(empty).err().map(|error| error.to_string());
        assert!(error.as_deref().is_some_and(|text| text.contains("component-type")), "{error:?}");
        assert!(encode(b"not wasm").is_err());
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
