//! Vetted extensions: which of their functions only compute. Their types, operators and casts are C code of the same
//! authors and are trusted as a whole; their functions are named one by one, because some read or change settings.

/// An extension and the functions of it that may be called.
struct Vetted {
    name: &'static str,
    functions: Functions,
}

enum Functions {
    /// These and no others.
    Only(&'static [&'static str]),
    /// Every one whose name begins so, except those that contain one of the second list.
    Prefixed(&'static [&'static str], &'static [&'static str], &'static [&'static str]),
}

use Functions::{Only, Prefixed};

const VETTED: &[Vetted] = &[
    // Index support for ordinary types: distances, which are called by their operator.
    Vetted { name: "btree_gin", functions: Only(&[]) },
    Vetted { name: "btree_gist", functions: Only(&[]) },
    Vetted {
        name: "citext",
        functions: Only(&[
            "citext",
            "max",
            "min",
            "regexp_match",
            "regexp_matches",
            "regexp_replace",
            "regexp_split_to_array",
            "regexp_split_to_table",
            "replace",
            "split_part",
            "strpos",
            "translate",
        ]),
    },
    Vetted {
        name: "cube",
        functions: Only(&[
            "cube",
            "cube_coord",
            "cube_dim",
            "cube_distance",
            "cube_enlarge",
            "cube_inter",
            "cube_is_point",
            "cube_ll_coord",
            "cube_size",
            "cube_subset",
            "cube_union",
            "cube_ur_coord",
            "distance_chebyshev",
            "distance_taxicab",
        ]),
    },
    Vetted {
        name: "earthdistance",
        functions: Only(&[
            "earth",
            "earth_box",
            "earth_distance",
            "gc_to_sec",
            "geo_distance",
            "latitude",
            "ll_to_earth",
            "longitude",
            "sec_to_gc",
        ]),
    },
    Vetted {
        name: "fuzzystrmatch",
        functions: Only(&[
            "daitch_mokotoff",
            "difference",
            "dmetaphone",
            "dmetaphone_alt",
            "levenshtein",
            "levenshtein_less_equal",
            "metaphone",
            "soundex",
        ]),
    },
    Vetted {
        name: "hstore",
        functions: Only(&[
            "akeys",
            "avals",
            "defined",
            "delete",
            "each",
            "exist",
            "hstore",
            "hstore_to_array",
            "hstore_to_json",
            "hstore_to_json_loose",
            "hstore_to_jsonb",
            "hstore_to_jsonb_loose",
            "hstore_to_matrix",
            "skeys",
            "slice",
            "svals",
        ]),
    },
    Vetted {
        name: "intarray",
        functions: Only(&[
            "icount",
            "idx",
            "intset",
            "querytree",
            "sort",
            "sort_asc",
            "sort_desc",
            "subarray",
            "uniq",
        ]),
    },
    Vetted {
        name: "isn",
        // Not isn_weak: it changes a setting of the session.
        functions: Only(&[
            "is_valid",
            "isbn",
            "isbn13",
            "ismn",
            "ismn13",
            "issn",
            "issn13",
            "make_valid",
            "upc",
        ]),
    },
    Vetted {
        name: "ltree",
        functions: Only(&["index", "lca", "ltree2text", "nlevel", "subltree", "subpath", "text2ltree"]),
    },
    Vetted {
        name: "pg_trgm",
        functions: Only(&["show_trgm", "similarity", "strict_word_similarity", "word_similarity"]),
    },
    // Not crypt and gen_salt, nor what derives keys: a text sets how long they compute.
    Vetted { name: "pgcrypto", functions: Only(&["digest", "gen_random_uuid", "hmac"]) },
    Vetted {
        name: "postgis",
        functions: Prefixed(
            &["st_"],
            &[
                "addband",
                "asgeobuf",
                "createoverview",
                "estimatedextent",
                "fileread",
                "findextent",
                "gdal",
                "mapalgebra",
                "outdb",
                "pipeline",
                "rastfrom",
            ],
            &["box2d", "box3d", "geography", "geometry", "geometrytype"],
        ),
    },
    Vetted { name: "seg", functions: Only(&["seg_center", "seg_lower", "seg_size", "seg_upper"]) },
    Vetted {
        name: "timescaledb",
        functions: Only(&[
            "first",
            "histogram",
            "interpolate",
            "last",
            "locf",
            "time_bucket",
            "time_bucket_gapfill",
        ]),
    },
    Vetted { name: "unaccent", functions: Only(&["unaccent"]) },
    Vetted {
        name: "uuid-ossp",
        functions: Only(&[
            // Not uuid_generate_v1: it tells the address of the server's network card.
            "uuid_generate_v1mc",
            "uuid_generate_v3",
            "uuid_generate_v4",
            "uuid_generate_v5",
            "uuid_nil",
            "uuid_ns_dns",
            "uuid_ns_oid",
            "uuid_ns_url",
            "uuid_ns_x500",
        ]),
    },
    Vetted {
        name: "vector",
        functions: Only(&[
            "avg",
            "binary_quantize",
            "cosine_distance",
            "hamming_distance",
            "inner_product",
            "jaccard_distance",
            "l1_distance",
            "l2_distance",
            "l2_norm",
            "l2_normalize",
            "subvector",
            "sum",
            "vector_dims",
            "vector_norm",
        ]),
    },
];

/// Whether the extension is vetted: its operators, casts and types may be used, and the functions of it that only compute.
#[must_use]
pub fn is_vetted(extension: &str) -> bool {
    VETTED.iter().any(|vetted| vetted.name == extension)
}

/// Whether this function of a vetted extension may be called.
pub(crate) fn allows(extension: &str, function: &str) -> bool {
    VETTED.iter().filter(|vetted| vetted.name == extension).any(|vetted| match vetted.functions {
        Only(names) => names.contains(&function),
        Prefixed(prefixes, except, also) => {
            also.contains(&function)
                || prefixes.iter().any(|prefix| function.starts_with(prefix))
                    && !except.iter().any(|part| function.contains(part))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_touch_settings_or_files_are_left_out() {
        for (extension, function, want) in [
            ("pg_trgm", "similarity", true),
            ("pg_trgm", "set_limit", false),
            ("pg_trgm", "show_limit", false),
            ("postgis", "st_area", true),
            ("postgis", "st_estimatedextent", false),
            ("postgis", "postgis_full_version", false),
            ("dblink", "dblink", false),
            ("pgcrypto", "crypt", false),
            ("pgcrypto", "pgp_sym_encrypt", false),
            ("pgcrypto", "digest", true),
            ("isn", "isn_weak", false),
            ("isn", "isbn13", true),
            ("btree_gist", "int4_dist", false),
        ] {
            assert_eq!(allows(extension, function), want, "{extension}.{function}");
        }
    }
}
