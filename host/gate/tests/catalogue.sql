-- The catalogue of the database it is run in, as JSON of airlock_types::Catalogue. `airlock.path` is the search path and
-- `airlock.listed` the listed relations, both separated by commas; an empty list means every relation of the path.
WITH listed AS (
  SELECT c.oid, c.relname, n.nspname, c.relkind, c.relrowsecurity, c.reltuples
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND CASE WHEN current_setting('airlock.listed') = ''
    THEN n.nspname = ANY (string_to_array(current_setting('airlock.path'), ','))
    ELSE n.nspname || '.' || c.relname = ANY (string_to_array(current_setting('airlock.listed'), ',')) END
), element AS (
  SELECT t.oid, coalesce(nullif(t.typelem, 0), t.oid) AS of, t.typelem <> 0 AND t.typcategory = 'A' AS is_array FROM pg_type t
), outside_type AS (
  SELECT t.* FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
  LEFT JOIN pg_class c ON c.oid = t.typrelid
  WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
    AND t.typcategory <> 'A' AND (t.typtype <> 'c' OR c.relkind = 'c')
)
SELECT json_build_object(
  'server_version', current_setting('server_version_num')::int,
  'database', current_database(),
  'search_path', array_to_json(string_to_array(current_setting('airlock.path'), ',')),
  'relations', (SELECT json_object_agg(relname, relations) FROM (
    SELECT l.relname, json_agg(json_build_object(
      'table', json_build_object('schema', l.nspname, 'name', l.relname),
      'kind', CASE l.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized-view' WHEN 'p' THEN 'partitioned-table' ELSE 'foreign-table' END,
      'comment', NULL, 'row_estimate', NULL,
      'columns', (SELECT coalesce(json_agg(json_build_object(
          'name', a.attname, 'sql_type', format_type(a.atttypid, a.atttypmod),
          'type_name', json_build_object('schema', tn.nspname, 'name', t.typname),
          'is_array', e.is_array, 'family', 'other', 'nullable', NOT a.attnotnull, 'generated', a.attgenerated <> '',
          'comment', NULL, 'enum_labels', json_build_array()) ORDER BY a.attnum), '[]')
        FROM pg_attribute a JOIN element e ON e.oid = a.atttypid JOIN pg_type t ON t.oid = CASE WHEN e.is_array THEN e.of ELSE e.oid END
        JOIN pg_namespace tn ON tn.oid = t.typnamespace
        WHERE a.attrelid = l.oid AND a.attnum > 0 AND NOT a.attisdropped),
      'primary_key', json_build_array(), 'unique_keys', json_build_array(), 'foreign_keys', json_build_array(),
      'row_security', l.relrowsecurity)) AS relations
    FROM listed l GROUP BY l.relname) r),
  'functions', (SELECT coalesce(json_agg(json_build_object(
      'schema', n.nspname, 'name', p.proname,
      'arguments', (SELECT coalesce(json_agg(format_type(u.t, NULL) ORDER BY u.n), '[]') FROM unnest(p.proargtypes) WITH ORDINALITY AS u(t, n)),
      'kind', p.prokind, 'extension', x.extname, 'body', NULL,
      'returns', json_build_object('type_name', json_build_object('schema', rn.nspname, 'name', r.typname), 'is_array', re.is_array,
        'columns', (SELECT coalesce(json_agg(json_build_object('name', coalesce(p.proargnames[u.n], ''),
            'type_name', json_build_object('schema', un.nspname, 'name', ut.typname), 'is_array', ue.is_array) ORDER BY u.n), '[]')
          FROM ROWS FROM (unnest(p.proallargtypes), unnest(p.proargmodes)) WITH ORDINALITY AS u(t, m, n)
          JOIN element ue ON ue.oid = u.t JOIN pg_type ut ON ut.oid = CASE WHEN ue.is_array THEN ue.of ELSE ue.oid END
          JOIN pg_namespace un ON un.oid = ut.typnamespace WHERE u.m IN ('o', 'b', 't'))))), '[]')
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    JOIN element re ON re.oid = p.prorettype JOIN pg_type r ON r.oid = CASE WHEN re.is_array THEN re.of ELSE re.oid END
    JOIN pg_namespace rn ON rn.oid = r.typnamespace
    LEFT JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    LEFT JOIN pg_extension x ON x.oid = d.refobjid
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema')),
  'operators', (SELECT coalesce(json_agg(json_build_object(
      'schema', n.nspname, 'name', o.oprname,
      'left', CASE WHEN o.oprleft <> 0 THEN format_type(o.oprleft, NULL) END,
      'right', CASE WHEN o.oprright <> 0 THEN format_type(o.oprright, NULL) END, 'extension', x.extname)), '[]')
    FROM pg_operator o JOIN pg_namespace n ON n.oid = o.oprnamespace
    LEFT JOIN pg_depend d ON d.classid = 'pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e'
    LEFT JOIN pg_extension x ON x.oid = d.refobjid
    WHERE n.nspname <> 'pg_catalog'),
  'casts', (SELECT coalesce(json_agg(json_build_object(
      'source', json_build_object('schema', sn.nspname, 'name', s.typname),
      'target', json_build_object('schema', tn.nspname, 'name', t.typname),
      'context', c.castcontext, 'function_schema', fn.nspname, 'extension', x.extname)), '[]')
    FROM pg_cast c JOIN pg_type s ON s.oid = c.castsource JOIN pg_namespace sn ON sn.oid = s.typnamespace
    JOIN pg_type t ON t.oid = c.casttarget JOIN pg_namespace tn ON tn.oid = t.typnamespace
    LEFT JOIN pg_proc f ON f.oid = c.castfunc LEFT JOIN pg_namespace fn ON fn.oid = f.pronamespace
    LEFT JOIN pg_depend d ON d.classid = 'pg_cast'::regclass AND d.objid = c.oid AND d.deptype = 'e'
    LEFT JOIN pg_extension x ON x.oid = d.refobjid
    WHERE 'pg_catalog' <> ANY (ARRAY[sn.nspname, tn.nspname, coalesce(fn.nspname, 'pg_catalog')])),
  'types', (SELECT coalesce(json_agg(json_build_object(
      'name', json_build_object('schema', n.nspname, 'name', t.typname),
      'kind', CASE t.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN 'domain' WHEN 'c' THEN 'composite' WHEN 'r' THEN 'range' WHEN 'm' THEN 'range' ELSE 'base' END,
      'base', CASE WHEN t.typtype = 'd' THEN json_build_object('schema', bn.nspname, 'name', b.typname) END,
      'has_checks', EXISTS (SELECT FROM pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c'),
      'checks', (SELECT coalesce(json_agg(pg_get_expr(k.conbin, 0)), '[]') FROM pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c'),
      'attributes', (SELECT coalesce(json_agg(json_build_object('schema', an.nspname, 'name', at.typname) ORDER BY a.attnum), '[]')
        FROM pg_attribute a JOIN pg_type at ON at.oid = a.atttypid JOIN pg_namespace an ON an.oid = at.typnamespace
        WHERE t.typrelid <> 0 AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped),
      'attribute_names', (SELECT coalesce(json_agg(a.attname ORDER BY a.attnum), '[]')
        FROM pg_attribute a WHERE t.typrelid <> 0 AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped),
      'extension', x.extname)), '[]')
    FROM outside_type t JOIN pg_namespace n ON n.oid = t.typnamespace
    LEFT JOIN pg_type b ON b.oid = t.typbasetype LEFT JOIN pg_namespace bn ON bn.oid = b.typnamespace
    LEFT JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e'
    LEFT JOIN pg_extension x ON x.oid = d.refobjid),
  'extensions', (SELECT json_agg(extname) FROM pg_extension),
  'shadowing', json_build_array())
