//! What JSON Schema is: the one keyword table, the only recursive walker, references.
