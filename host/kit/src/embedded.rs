//! What the build put into the binary: templates, the SDK's source, the contract.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
