//! What wit-bindgen makes of the contract: one module for each world, and one for the records they share, so that a
//! `Plan` is the same Rust type in every stage. Each world keeps its own `export!` macro, and with it the
//! description of exactly that world, which is what lets `wit-component` drop the imports a stage never calls.
#![allow(
    unsafe_code,
    unused_qualifications,
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "generated: the canonical ABI needs raw pointers, and the contract's own comments are its documentation"
)]

/// Catalogue, retrieval, SQL, log, and the records that stages share.
pub mod imports {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "host-imports",
        generate_unused_types: true,
        pub_export_macro: true,
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
    });
}

/// One world; its imports are those of `imports`.
macro_rules! world {
    ($(#[$doc:meta])* $module:ident, $world:literal, $export:literal) => {
        $(#[$doc])*
        pub mod $module {
            wit_bindgen::generate!({
                path: "../../wit",
                world: $world,
                generate_unused_types: true,
                pub_export_macro: true,
                export_macro_name: $export,
                additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
                with: {
                    "airlock:plugin/types@0.1.0": crate::contract::types,
                    "airlock:plugin/catalog@0.1.0": crate::contract::catalog,
                    "airlock:plugin/retrieval@0.1.0": crate::contract::retrieval,
                    "airlock:plugin/sql@0.1.0": crate::contract::sql,
                    "airlock:plugin/log@0.1.0": crate::contract::log,
                    "airlock:plugin/model@0.1.0": crate::contract::model,
                    "airlock:plugin/work@0.1.0": crate::contract::work,
                },
            });
        }
    };
}

world!(
    /// World `planner-stage`.
    planner, "planner-stage", "export_planner"
);
world!(
    /// World `linker-stage`.
    linker, "linker-stage", "export_linker"
);
world!(
    /// World `generator-stage`.
    generator, "generator-stage", "export_generator"
);
world!(
    /// World `repair-stage`.
    repair, "repair-stage", "export_repair"
);
world!(
    /// World `answerer-stage`.
    answerer, "answerer-stage", "export_answerer"
);
world!(
    /// World `distill-stage`.
    distill, "distill-stage", "export_distill"
);
world!(
    /// World `domain-adapter`.
    domain, "domain-adapter", "export_domain"
);
