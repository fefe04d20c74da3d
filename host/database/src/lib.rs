//! The database envelope: read-only execution of approved SQL, the catalogue, the SQLSTATE taxonomy, probes.
