//! The SQL gate: text in, Approved or Rejection out. Pure: no I/O, no async, no clock.
