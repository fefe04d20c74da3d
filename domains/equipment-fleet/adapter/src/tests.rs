//! The adapter against recorded answers of the host's gate.

use airlock_plugin_sdk::harness::{Recorded, clock};

use super::*;
