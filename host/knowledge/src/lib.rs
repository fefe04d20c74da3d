//! Domain packs, the retrieval index and what the system knows about a domain.
