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
        name: "ltree",
        functions: Only(&["index", "lca", "ltree2text", "nlevel", "subltree", "subpath", "text2ltree"]),
    },
    Vetted {
        name: "pg_trgm",
        functions: Only(&["show_trgm", "similarity", "strict_word_similarity", "word_similarity"]),
    },
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

/// Functions of extensions that are not vetted as a whole but whose overload of an allowed name is the same function.
const HARMLESS_OVERLOADS: &[(&str, &str)] = &[("pgcrypto", "gen_random_uuid")];

/// Whether the extension is vetted.
pub(crate) fn is_vetted(extension: &str) -> bool {
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

/// Whether an overload of an allowed name by this extension changes nothing.
pub(crate) fn is_harmless_overload(extension: &str, function: &str) -> bool {
    is_vetted(extension) || HARMLESS_OVERLOADS.contains(&(extension, function))
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
        ] {
            assert_eq!(allows(extension, function), want, "{extension}.{function}");
        }
    }
}
