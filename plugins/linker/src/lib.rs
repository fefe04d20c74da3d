//! The built-in linker stage.
