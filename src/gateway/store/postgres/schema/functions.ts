/**
 * SQLite's functions that queries of the gateway use, so that there is one text of each query. They are in the schema of the
 * tables, which is the only one that connections search.
 */
export const FUNCTIONS = `
create or replace function json_valid(body text) returns boolean
language plpgsql immutable as $$
begin
  if body is null then return null; end if;
  perform body::json;
  return true;
exception when others then
  return false;
end $$;

-- The steps of a path such as $.a.b[0]. Names in quotation marks are not used.
create or replace function json_path_steps(path text) returns text[]
language sql immutable parallel safe strict as $$
  select coalesce(array_remove(regexp_split_to_array(substr(replace(replace(path, '[', '.'), ']', ''), 3), '\\.'), ''), '{}')
$$;

-- PostgreSQL reads no documents with \\u0000 or half surrogate pairs, which SQLite and JSON.stringify allow. So every \\\\ and
-- every \\u becomes one character, which text may not contain: if it does, it is written as an escape first.
create or replace function json_masked(body text) returns json
language sql immutable parallel safe strict as $$
  select replace(replace(replace(replace(body, U&'\\FDD0', '\\ufdd0'), U&'\\FDD1', '\\ufdd1'), '\\\\', U&'\\FDD1'), '\\u', U&'\\FDD0')::json
$$;

create or replace function json_unmasked(body json) returns text
language sql immutable parallel safe strict as $$
  select replace(replace(body::text, U&'\\FDD0', '\\u'), U&'\\FDD1', '\\\\')
$$;

-- The text of a string. What a text of PostgreSQL cannot contain is replaced.
create or replace function json_text(masked json) returns text
language plpgsql immutable parallel safe strict as $$
declare
  literal text := masked::text;
  high constant text := U&'\\FDD0[dD][89abAB][0-9a-fA-F]{2}';
  low constant text := U&'\\FDD0[dD][c-fC-F][0-9a-fA-F]{2}';
begin
  if literal !~ U&'[\\FDD0\\FDD1]' then return masked #>> '{}'; end if;
  literal := replace(literal, U&'\\FDD00000', U&'\\FFFD');
  literal := regexp_replace(literal, '(?<!' || high || ')' || low, U&'\\FFFD', 'g');
  literal := regexp_replace(literal, high || '(?!' || low || ')', U&'\\FFFD', 'g');
  return json_unmasked(literal::json)::json #>> '{}';
end $$;

-- As text: true and false are 1 and 0, and null is null.
create or replace function json_extract(body text, path text) returns text
language sql immutable parallel safe strict as $$
  select case json_typeof(found)
    when 'string' then json_text(found)
    when 'boolean' then case found::text when 'true' then '1' else '0' end
    when 'null' then null
    else json_unmasked(found) end
  from (select json_masked(body) #> json_path_steps(path) as found) as inside
$$;

create or replace function json_type(body text, path text) returns text
language sql immutable parallel safe strict as $$
  select case json_typeof(found)
    when 'string' then 'text'
    when 'boolean' then found::text
    when 'number' then case when found::text ~ '[.eE]' then 'real' else 'integer' end
    else json_typeof(found) end
  from (select json_masked(body) #> json_path_steps(path) as found) as inside
$$;

create or replace function json_type(body text) returns text
language sql immutable parallel safe strict as $$ select json_type(body, '$') $$;

-- What json() of SQLite makes of a text: the same JSON, for json_set.
create or replace function json(body text) returns json
language sql immutable parallel safe strict as $$ select body::json $$;

-- Replaces or adds one member and keeps the order and the bytes of all others.
create or replace function json_set_member(body json, steps text[], member json) returns json
language plpgsql immutable parallel safe as $$
declare
  step text := steps[1];
  inner_value json := body -> step;
  replacement json := member;
  joined text;
begin
  if json_typeof(body) <> 'object' then return body; end if;
  if cardinality(steps) > 1 then
    if inner_value is null then return body; end if;
    replacement := json_set_member(inner_value, steps[2:], member);
  end if;
  select string_agg(to_json(key)::text || ':' || case when key = step then replacement::text else value::text end, ',' order by place)
    into joined from json_each(body) with ordinality as members(key, value, place);
  if inner_value is null then
    joined := coalesce(joined || ',', '') || to_json(step)::text || ':' || replacement::text;
  end if;
  return ('{' || coalesce(joined, '') || '}')::json;
end $$;

create or replace function json_set(body text, path text, member json) returns text
language sql immutable parallel safe as $$
  select json_unmasked(json_set_member(json_masked(body), json_path_steps(path), json_masked(coalesce(member, 'null')::text)))
$$;

create or replace function json_set(body text, path text, member text) returns text
language sql immutable parallel safe as $$ select json_set(body, path, coalesce(to_json(member), 'null')) $$;

create or replace function json_set(body text, path text, member bigint) returns text
language sql immutable parallel safe as $$ select json_set(body, path, coalesce(to_json(member), 'null')) $$;

-- The elements of a list, as texts.
create or replace function json_each(list text) returns table (value text)
language sql immutable parallel safe strict as $$ select json_text(element) from json_array_elements(json_masked(list)) as elements (element) $$;

create or replace function instr(body text, part text) returns bigint
language sql immutable parallel safe strict as $$ select strpos(body, part)::bigint $$;

-- Of two values, as SQLite has them; null if one of them is null.
create or replace function max(a numeric, b numeric) returns numeric
language sql immutable parallel safe strict as $$ select greatest(a, b) $$;

create or replace function min(a numeric, b numeric) returns numeric
language sql immutable parallel safe strict as $$ select least(a, b) $$;

create or replace function audit_digest(before text, seq bigint, body text) returns text
language sql immutable parallel safe strict as $$
  select encode(sha256(convert_to(before || E'\\n' || seq || E'\\n' || body, 'UTF8')), 'hex')
$$;
`;
