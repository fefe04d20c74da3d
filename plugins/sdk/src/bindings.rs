//! What wit-bindgen makes of the contract: one module for each world, chained so that every record exists once.
//!
//! A world that merely names an interface of an earlier stage is pointed at the types that the earlier world made,
//! so that a `Plan` is the same Rust type in every stage. Each world keeps its own `export!` macro, and with it the
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

/// Catalogue, retrieval, SQL, log and the words every stage shares.
pub mod imports {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "host-imports",
        generate_unused_types: true,
        pub_export_macro: true,
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
    });
}

/// World `planner-stage`, and the records of the model.
pub mod planner {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "planner-stage",
        generate_unused_types: true,
        pub_export_macro: true,
        export_macro_name: "export_planner",
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
        with: {
            "airlock:plugin/types@0.1.0": crate::contract::types,
            "airlock:plugin/catalog@0.1.0": crate::contract::catalog,
            "airlock:plugin/retrieval@0.1.0": crate::contract::retrieval,
            "airlock:plugin/sql@0.1.0": crate::contract::sql,
            "airlock:plugin/log@0.1.0": crate::contract::log,
        },
    });
}

/// One world whose imports are all known already.
macro_rules! world {
    ($(#[$doc:meta])* $module:ident, $world:literal, $export:literal, { $($interface:literal: $path:path),* $(,)? }) => {
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
                    $($interface: $path,)*
                },
            });
        }
    };
}

world!(
    /// World `linker-stage`.
    linker, "linker-stage", "export_linker", {
        "airlock:plugin/model@0.1.0": crate::contract::model,
        "airlock:plugin/planner@0.1.0": crate::contract::planner,
    }
);
world!(
    /// World `generator-stage`.
    generator, "generator-stage", "export_generator", {
        "airlock:plugin/model@0.1.0": crate::contract::model,
        "airlock:plugin/planner@0.1.0": crate::contract::planner,
        "airlock:plugin/linker@0.1.0": crate::contract::linker,
    }
);
world!(
    /// World `repair-stage`.
    repair, "repair-stage", "export_repair", {
        "airlock:plugin/model@0.1.0": crate::contract::model,
        "airlock:plugin/planner@0.1.0": crate::contract::planner,
        "airlock:plugin/linker@0.1.0": crate::contract::linker,
    }
);
world!(
    /// World `answerer-stage`.
    answerer, "answerer-stage", "export_answerer", {
        "airlock:plugin/model@0.1.0": crate::contract::model,
        "airlock:plugin/planner@0.1.0": crate::contract::planner,
        "airlock:plugin/linker@0.1.0": crate::contract::linker,
        "airlock:plugin/repair@0.1.0": crate::contract::repair,
    }
);
world!(
    /// World `distill-stage`.
    distill, "distill-stage", "export_distill", {
        "airlock:plugin/model@0.1.0": crate::contract::model,
    }
);
world!(
    /// World `domain-adapter`.
    domain, "domain-adapter", "export_domain", {
        "airlock:plugin/model@0.1.0": crate::contract::model,
        "airlock:plugin/distill@0.1.0": crate::contract::distill,
    }
);
