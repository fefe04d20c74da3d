//! The functions, operators and types of `pg_catalog` that an analyst needs and that only compute: data, not code.
//!
//! What belongs here: documented functions that read their arguments and nothing else. What does not, whatever its
//! volatility says: anything that reads settings, roles, files, statistics or the catalogue, that locks, waits, writes or
//! notifies, that runs SQL held in a string, and the functions behind operators, types and indexes.

use std::collections::HashSet;
use std::sync::OnceLock;

/// Functions and aggregates, some of whose arguments are checked further where they are called.
const FUNCTIONS: &[&str] = &[
    // Text
    "ascii bit_length btrim casefold char_length character_length chr concat concat_ws format initcap \
     is_normalized left length like_escape lower lpad ltrim normalize octet_length overlay parse_ident \
     position quote_ident quote_literal quote_nullable repeat replace reverse right rpad rtrim \
     similar_escape similar_to_escape split_part starts_with string_to_array string_to_table strpos \
     substr substring to_ascii to_bin to_hex to_oct translate unistr upper",
    // Regular expressions
    "regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace \
     regexp_split_to_array regexp_split_to_table regexp_substr",
    // Bytes and bits
    "bit_count convert convert_from convert_to crc32 crc32c decode encode get_bit get_byte md5 set_bit \
     set_byte sha224 sha256 sha384 sha512",
    // Numbers
    "abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh cbrt ceil ceiling cos cosd cosh \
     cot cotd degrees div erf erfc exp factorial floor gamma gcd lcm lgamma ln log log10 min_scale mod pi \
     pow power radians random random_normal round scale sign sin sind sinh sqrt tan tand tanh to_number \
     trim_scale trunc width_bucket cash_words",
    // Dates and times
    "age clock_timestamp date_add date_bin date_part date_subtract date_trunc extract isfinite \
     justify_days justify_hours justify_interval make_date make_interval make_time make_timestamp \
     make_timestamptz now overlaps statement_timestamp timeofday timezone to_char to_date to_timestamp \
     transaction_timestamp",
    // Casts that are written as calls
    "bool bpchar date daterange datemultirange float4 float8 int2 int4 int8 interval jsonb money numeric \
     text time timestamp timestamptz timetz varchar",
    // JSON
    "array_to_json json_array_elements json_array_elements_text json_array_length json_build_array \
     json_build_object json_each json_each_text json_extract_path json_extract_path_text json_object \
     json_object_keys json_populate_record json_populate_recordset json_strip_nulls json_to_record \
     json_to_recordset json_to_tsvector json_typeof jsonb_array_elements jsonb_array_elements_text \
     jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text \
     jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_keys \
     jsonb_path_exists jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query \
     jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first jsonb_path_query_first_tz \
     jsonb_path_query_tz jsonb_populate_record jsonb_populate_recordset jsonb_pretty jsonb_set \
     jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_to_tsvector jsonb_typeof \
     row_to_json to_json to_jsonb",
    // Arrays
    "array_append array_cat array_dims array_fill array_length array_lower array_ndims array_position \
     array_positions array_prepend array_remove array_replace array_reverse array_sample array_shuffle \
     array_sort array_to_string array_to_tsvector array_upper cardinality generate_subscripts trim_array \
     unnest",
    // Ranges
    "int4multirange int4range int8multirange int8range isempty lower_inc lower_inf multirange \
     nummultirange numrange range_merge tsmultirange tsrange tstzmultirange tstzrange upper_inc upper_inf",
    // Enums, NULLs, series, identifiers, sizes for people
    "enum_first enum_last enum_range gen_random_uuid generate_series num_nonnulls num_nulls \
     pg_collation_for pg_column_size pg_input_is_valid pg_size_bytes pg_size_pretty pg_typeof \
     uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7",
    // Networks
    "abbrev broadcast family host hostmask inet_merge inet_same_family macaddr8_set7bit masklen netmask \
     network set_masklen",
    // Geometry
    "area bound_box box center circle diagonal diameter height isclosed ishorizontal isopen isparallel \
     isperp isvertical line lseg npoints path pclose point polygon popen radius slope width",
    // Full-text search
    "numnode phraseto_tsquery plainto_tsquery querytree setweight strip to_tsquery to_tsvector ts_delete \
     ts_filter ts_headline ts_rank ts_rank_cd ts_rewrite tsquery_phrase tsvector_to_array \
     websearch_to_tsquery",
    // XML
    "xml_is_well_formed xml_is_well_formed_content xml_is_well_formed_document xmlcomment xmlexists \
     xmltext xpath xpath_exists",
    // Aggregates
    "any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp \
     every json_agg json_agg_strict json_object_agg json_object_agg_strict json_object_agg_unique \
     json_object_agg_unique_strict jsonb_agg jsonb_agg_strict jsonb_object_agg jsonb_object_agg_strict \
     jsonb_object_agg_unique jsonb_object_agg_unique_strict max min mode percentile_cont percentile_disc \
     range_agg range_intersect_agg regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope \
     regr_sxx regr_sxy regr_syy stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance \
     xmlagg",
    // Window functions
    "cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number",
];

/// Functions that came with a version, for the versions that are not everywhere yet.
const SINCE: &[(u32, &str)] = &[
    (
        14,
        "bit_count bit_xor date_bin multirange range_agg range_intersect_agg string_to_table trim_array unistr",
    ),
    (15, "regexp_count regexp_instr regexp_like regexp_substr"),
    (
        16,
        "any_value array_sample array_shuffle date_add date_subtract erf erfc json_agg_strict \
         json_object_agg_strict json_object_agg_unique json_object_agg_unique_strict jsonb_agg_strict \
         jsonb_object_agg_strict jsonb_object_agg_unique jsonb_object_agg_unique_strict pg_input_is_valid \
         random_normal",
    ),
    (17, "to_bin to_oct uuid_extract_timestamp uuid_extract_version xmltext"),
    (18, "array_reverse array_sort casefold crc32 crc32c gamma lgamma uuidv4 uuidv7"),
];

/// Operators. Each is what it is in `pg_catalog` for every type there.
const OPERATORS: &[&str] =
    &["!! !~ !~* !~~ !~~* # ## #- #> #>> % & && &< &<| &> * *< *<= *<> *= *> *>= + - -> ->> -|- / < <-> << \
     <<= <<| <= <> <@ <^ = > >= >> >>= >^ ? ?# ?& ?- ?-| ?| ?|| @ @-@ @> @? @@ @@@ ^ ^@ | |&> |/ |>> || \
     ||/ ~ ~* ~<=~ ~<~ ~= ~>=~ ~>~ ~~ ~~*"];

/// Types that a value may be cast to.
const TYPES: &[&str] =
    &["bit bool box bpchar bytea char cidr circle date datemultirange daterange float4 float8 inet int2 \
     int2vector int4 int4multirange int4range int8 int8multirange int8range interval json jsonb jsonpath \
     line lseg macaddr macaddr8 money name numeric nummultirange numrange oid oidvector path point polygon \
     text time timestamp timestamptz timetz tsmultirange tsquery tsrange tstzmultirange tstzrange tsvector \
     uuid varbit varchar xml"];

/// Types of `pg_catalog` that look up, or stand for, things outside the query.
const INTERNAL_TYPES: &[&str] = &["aclitem cid cstring gtsvector pg_lsn pg_node_tree pg_snapshot record \
     refcursor regclass regcollation regconfig regdictionary regnamespace regoper regoperator regproc \
     regprocedure regrole regtype tid txid_snapshot unknown void xid xid8"];

/// Text search configurations every PostgreSQL has; only literals of these may be cast to `regconfig`.
const TEXT_SEARCH_CONFIGURATIONS: &[&str] =
    &["arabic armenian basque catalan danish dutch english finnish french german greek hindi hungarian \
     indonesian irish italian lithuanian nepali norwegian portuguese romanian russian serbian simple \
     spanish swedish tamil turkish yiddish"];

/// Beginnings of names of functions that reach outside the query, whichever version or extension brings them.
const FORBIDDEN_PREFIXES: &[&str] = &[
    "binary_upgrade_",
    "brin_",
    "current_",
    "cursor_to_",
    "database_to_",
    "dblink",
    "gin_clean",
    "has_",
    "inet_client",
    "inet_server",
    "lo_",
    "pg_",
    "query_to_",
    "schema_to_",
    "table_to_",
    "to_reg",
    "txid_",
];

/// Names of functions that reach outside the query and share no beginning.
const FORBIDDEN_NAMES: &[&str] =
    &["aclexplode col_description crosstab connectby currtid2 currval format_type get_current_ts_config \
     getdatabaseencoding getpgusername lastval loread lowrite mxid_age nextval obj_description \
     row_security_active session_user set_config set_limit setseed setval shobj_description sleep \
     ts_debug ts_lexize ts_parse ts_stat ts_token_type version xpath_table xslt_process"];

/// What to write instead of a function of another dialect.
const OTHER_DIALECTS: &[(&str, &str)] = &[
    ("charindex", "strpos(text, part)"),
    ("curdate", "current_date"),
    ("date_diff", "subtract the dates, or age(later, earlier)"),
    ("date_format", "to_char(value, 'YYYY-MM')"),
    ("dateadd", "value + interval '1 day'"),
    ("datediff", "subtract the dates, or age(later, earlier)"),
    ("datepart", "extract(field from value)"),
    ("day", "extract(day from value)"),
    ("days_between", "subtract the dates"),
    ("decode_oracle", "CASE"),
    ("first", "first_value(...) OVER (...), or min"),
    ("from_unixtime", "to_timestamp(seconds)"),
    ("getdate", "now()"),
    ("group_concat", "string_agg(value, ',')"),
    ("ifnull", "coalesce(a, b)"),
    ("iff", "CASE WHEN ... THEN ... ELSE ... END"),
    ("if", "CASE WHEN ... THEN ... ELSE ... END"),
    ("instr", "strpos(text, part)"),
    ("isnull", "coalesce(a, b), or IS NULL"),
    ("julianday", "subtract the dates"),
    ("last_day", "(date_trunc('month', value) + interval '1 month - 1 day')::date"),
    ("len", "length(text)"),
    ("listagg", "string_agg(value, ',')"),
    ("median", "percentile_cont(0.5) WITHIN GROUP (ORDER BY value)"),
    ("month", "extract(month from value)"),
    ("months_between", "extract(... from age(later, earlier))"),
    ("nvl", "coalesce(a, b)"),
    ("quarter", "extract(quarter from value)"),
    ("str_to_date", "to_date(text, 'YYYY-MM-DD')"),
    ("strftime", "to_char(value, 'YYYY-MM')"),
    ("sysdate", "now()"),
    ("timestampdiff", "extract(epoch from later - earlier)"),
    ("to_days", "subtract the dates"),
    ("ucase", "upper(text)"),
    ("lcase", "lower(text)"),
    ("unix_timestamp", "extract(epoch from value)"),
    ("week", "extract(week from value)"),
    ("year", "extract(year from value)"),
];

/// What to write instead of an operator of another dialect.
const OTHER_OPERATORS: &[(&str, &str)] = &[
    ("!", "NOT"),
    ("!<", ">="),
    ("!==", "<>"),
    ("!>", "<="),
    ("**", "^"),
    ("//", "div(a, b)"),
    ("<=>", "IS NOT DISTINCT FROM"),
    ("==", "="),
    ("===", "="),
    ("=~", "~"),
    ("^=", "<>"),
];

/// Functions that read a whole row into JSON: they write nested rows out themselves and never use a cast to text.
const ROWS_TO_JSON: &[&str] =
    &["json_agg json_agg_strict json_build_array json_build_object json_object_agg jsonb_agg \
     jsonb_agg_strict jsonb_build_array jsonb_build_object jsonb_object_agg row_to_json to_json to_jsonb"];

/// Functions whose result is one of their first argument's values, or a list of them.
const PASS_FIRST: &[&str] =
    &["any_value first_value lag last_value lead max min mode nth_value json_populate_record \
     json_populate_recordset jsonb_populate_record jsonb_populate_recordset"];

/// Functions that hand their first argument on as it is, alone or in an array, and do nothing else with it.
const HANDS_ON: &[&str] = &["any_value array_agg first_value lag last_value lead nth_value"];

/// Functions whose arguments become one type, that of the arrays, rows or columns among them, also where a literal is one.
const TURNS_TEXT_INTO: &[&str] =
    &["array_append array_cat array_fill array_position array_positions array_prepend array_remove \
     array_replace json_populate_record json_populate_recordset jsonb_populate_record \
     jsonb_populate_recordset lag lead width_bucket"];

/// Functions that look at an argument only to see whether it is NULL.
const COUNTS: &[&str] = &["count num_nonnulls num_nulls"];

/// Functions whose first argument names a text search configuration.
const TEXT_SEARCH: &[&str] =
    &["json_to_tsvector jsonb_to_tsvector phraseto_tsquery plainto_tsquery to_tsquery to_tsvector \
     ts_headline websearch_to_tsquery"];

/// SQL's own words for types, beside their names in `pg_catalog`.
const TYPE_WORDS: &[&str] = &[
    "bigint",
    "bit varying",
    "boolean",
    "character",
    "character varying",
    "decimal",
    "double precision",
    "integer",
    "real",
    "smallint",
    "time with time zone",
    "time without time zone",
    "timestamp with time zone",
    "timestamp without time zone",
];

/// Functions whose text argument is read as an XML document.
const XML_READERS: &[&str] = &["xmlexists xpath xpath_exists"];

/// The words of a list: each entry holds those of one subject, so that a reader sees them together.
fn words(list: &[&'static str]) -> impl Iterator<Item = &'static str> {
    list.iter().flat_map(|subject| subject.split_ascii_whitespace())
}

macro_rules! membership {
    ($($(#[$doc:meta])* $function:ident, $list:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $function(name: &str) -> bool {
            static SET: OnceLock<HashSet<&'static str>> = OnceLock::new();
            SET.get_or_init(|| words($list).collect()).contains(name)
        }
    )*};
}

membership! {
    /// Whether `pg_catalog` has an allowed function or aggregate of this name.
    is_function, FUNCTIONS;
    /// Whether `pg_catalog` has an allowed operator of this name.
    is_operator, OPERATORS;
    /// Whether a value may be cast to this type of `pg_catalog`.
    is_type, TYPES;
    /// Whether this is a type of `pg_catalog` to which nothing may be cast.
    is_internal_type, INTERNAL_TYPES;
    /// Whether every PostgreSQL has this text search configuration.
    is_text_search_configuration, TEXT_SEARCH_CONFIGURATIONS;
    /// Whether the function writes whole rows as JSON.
    writes_rows_as_json, ROWS_TO_JSON;
    /// Whether the result is a value of the first argument.
    passes_first_argument, PASS_FIRST;
    /// Whether the function hands its first argument on untouched.
    hands_on, HANDS_ON;
    /// Whether a literal among the arguments becomes a value of another argument's type.
    turns_text_into, TURNS_TEXT_INTO;
    /// Whether the function only counts values.
    only_counts, COUNTS;
    /// Whether the first argument may name a text search configuration.
    takes_configuration, TEXT_SEARCH;
    /// Whether text arguments are read as XML.
    reads_xml, XML_READERS;
}

/// The version of PostgreSQL that brought a function, when it may be newer than the server.
pub(crate) fn since(name: &str) -> Option<u32> {
    SINCE
        .iter()
        .find(|(_, names)| names.split_ascii_whitespace().any(|newer| newer == name))
        .map(|(since, _)| *since)
}

/// Whether a text names a type that input can be tried for without running code or looking things up.
pub(crate) fn is_type_in_words(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    let bare = text.split_once('(').map_or(text.as_str(), |(bare, _)| bare).trim_end_matches("[]").trim();
    TYPE_WORDS.contains(&bare) || is_type(bare.trim_start_matches("pg_catalog."))
}

/// Whether a name belongs to functions that reach outside the query.
pub(crate) fn is_forbidden(name: &str) -> bool {
    words(FORBIDDEN_NAMES).any(|forbidden| forbidden == name)
        || FORBIDDEN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// What to write instead of a function of another dialect.
pub(crate) fn dialect_hint(name: &str) -> Option<String> {
    instead(OTHER_DIALECTS, name)
}

/// The same for an operator.
pub(crate) fn operator_hint(name: &str) -> Option<String> {
    instead(OTHER_OPERATORS, name)
}

fn instead(list: &[(&str, &str)], name: &str) -> Option<String> {
    let (_, write) = list.iter().find(|(other, _)| *other == name)?;
    Some(format!("In PostgreSQL write {write}."))
}

/// The allowed name nearest to this one.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    crate::scope::nearest(name, words(FUNCTIONS))
}

/// Columns of the row that a function of `pg_catalog` returns, when it returns one.
pub(crate) fn record_columns(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "json_each" | "json_each_text" | "jsonb_each" | "jsonb_each_text" => &["key", "value"],
        "json_array_elements"
        | "json_array_elements_text"
        | "jsonb_array_elements"
        | "jsonb_array_elements_text" => &["value"],
        "pg_input_error_info" => &["message", "detail", "hint", "sql_error_code"],
        _ => return None,
    })
}

/// Whether a set-returning function of `pg_catalog` needs a column definition list to have columns.
pub(crate) fn needs_column_definitions(name: &str) -> bool {
    matches!(name, "json_to_record" | "json_to_recordset" | "jsonb_to_record" | "jsonb_to_recordset")
}

/// Whether a call with so many arguments asks what time it is.
pub(crate) fn reads_clock(name: &str, arguments: usize) -> bool {
    let clocks = ["now", "transaction_timestamp", "statement_timestamp", "clock_timestamp", "timeofday"];
    clocks.contains(&name) || name == "age" && arguments == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_both_allowed_and_forbidden_but_the_named_exceptions() {
        let both: Vec<_> = words(FUNCTIONS).filter(|name| is_forbidden(name)).collect();
        let exceptions = [
            "pg_collation_for",
            "pg_column_size",
            "pg_input_is_valid",
            "pg_size_bytes",
            "pg_size_pretty",
            "pg_typeof",
        ];
        assert_eq!(both, exceptions);
    }

    #[test]
    fn what_came_with_a_version_is_on_the_list() {
        for (_, names) in SINCE {
            assert!(names.split_ascii_whitespace().all(is_function), "{names}");
        }
    }

    #[test]
    fn a_type_is_allowed_or_internal_never_both() {
        assert!(words(TYPES).all(|name| !is_internal_type(name)));
    }

    #[test]
    fn functions_that_run_text_as_sql_are_not_allowed() {
        for name in ["query_to_xml", "ts_stat", "table_to_xml", "dblink", "set_config", "pg_sleep"] {
            assert!(!is_function(name) && is_forbidden(name), "{name}");
        }
    }
}
