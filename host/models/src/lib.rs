//! Chat providers behind one trait: roles, keys, budgets, retries, deadlines, replies cleaned.
