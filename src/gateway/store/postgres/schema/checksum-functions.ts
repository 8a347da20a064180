import { createHash } from 'node:crypto';

/** The remainders of CRC-32 for each value of a byte. */
function tableOf(): number[] {
  return Array.from({ length: 256 }, (_, byte) => {
    let sum = byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
    return sum >>> 0;
  });
}

/**
 * The checksums of `row-checksum.ts` in the database, for rows whose key the statement itself chooses. PostgreSQL 15 has no
 * CRC-32, so this is a loop over the bytes: about a megabyte per second, for single rows.
 */
export const CHECKSUM_FUNCTIONS = `
create or replace function crc32_of(body bytea, seed bigint) returns bigint
language plpgsql immutable parallel safe strict as $$
declare
  remainders constant bigint[] := '{${tableOf().join(',')}}';
  sum bigint := seed # 4294967295;
begin
  for at in 0 .. length(body) - 1 loop
    sum := (sum >> 8) # remainders[(((sum # get_byte(body, at)) & 255) + 1)::integer];
  end loop;
  return sum # 4294967295;
end $$;

-- One step of FNV-1a over a word of 32 bits, without a sign.
create or replace function fnv_add(sum bigint, word bigint) returns bigint
language sql immutable parallel safe strict as $$
  select ((sum # (word & 4294967295)) * 16777619) & 4294967295
$$;

create or replace function fnv_number(sum bigint, value bigint) returns bigint
language sql immutable parallel safe strict as $$
  select fnv_add(fnv_add(sum, value & 4294967295), (value / 4294967296) & 4294967295)
$$;

-- Over the units of UTF-16, as JavaScript counts them.
create or replace function fnv_text(sum bigint, body text) returns bigint
language plpgsql immutable parallel safe strict as $$
declare
  total bigint := sum;
  point integer;
begin
  for at in 1 .. char_length(body) loop
    point := ascii(substr(body, at, 1));
    if point < 65536 then
      total := fnv_add(total, point);
    else
      total := fnv_add(fnv_add(total, 55296 + ((point - 65536) >> 10)), 56320 + ((point - 65536) & 1023));
    end if;
  end loop;
  return total;
end $$;

create or replace function as_signed(sum bigint) returns bigint
language sql immutable parallel safe strict as $$
  select case when sum >= 2147483648 then sum - 4294967296 else sum end
$$;

create or replace function event_checksum(ws_id text, "offset" bigint, body text, created_ms bigint) returns bigint
language sql immutable parallel safe strict as $$
  select as_signed(crc32_of(convert_to(body, 'UTF8'), fnv_number(fnv_number(fnv_text(2166136261, ws_id), "offset"), created_ms)))
$$;

create or replace function message_checksum(ws_id text, seq bigint, run_id text, body text, created_ms bigint) returns bigint
language sql immutable parallel safe as $$
  select as_signed(crc32_of(convert_to(body, 'UTF8'), case when run_id is null then key else fnv_text(fnv_number(key, 1), run_id) end))
  from (select fnv_number(fnv_number(fnv_text(2166136261, ws_id), seq), created_ms) as key) as keys
$$;
`;

/** Recognizes the text of functions that the database already has. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
