//! The built-in composer stage: the composer as a component. What it does is in `plugins/composer`, which the distill stage
//! composes with, too; a component exports only the stages it is granted.

pub use airlock_composer::Composer;

airlock_plugin_sdk::export!(generator: Composer);
