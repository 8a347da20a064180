import { z } from 'zod';
import type { Prefix } from '../../agent/prefix/prefix.ts';
import type { PrefixTable } from '../store/schema/prefix-schema.ts';
import type { Statement, Store } from '../store/store.ts';

/** Replaces the prefix of a workstream by one for its present context. */
export const storePrefix = (wsId: string, { version, family, system, tools, told }: Prefix): Statement => ({
  sql: `INSERT INTO prefixes (ws_id, version, after_seq, family, system, tools_json, told_json)
        SELECT ws_id, ?, context_after_seq, ?, ?, ?, ? FROM workstreams WHERE ws_id = ?
        ON CONFLICT (ws_id) DO UPDATE SET version = excluded.version, after_seq = excluded.after_seq,
          family = excluded.family, system = excluded.system, tools_json = excluded.tools_json,
          told_json = excluded.told_json`,
  parameters: [version, family, system, JSON.stringify(tools), JSON.stringify(told), wsId],
  expect: 1,
});

const Tools = z.array(
  z.strictObject({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) }),
);
const Digests = z.record(z.string(), z.string());
const Told = z.object({
  date: z.string(),
  zone: z.string(),
  git: z.string().nullable().optional(),
  model: z.string(),
  notSandboxed: z.string().nullable(),
  instructions: Digests,
  tools: Digests,
});

/** Undefined when there is none, or it is damaged: the next run then makes another. */
export async function readPrefix(
  { db }: Pick<Store, 'db'>,
  wsId: string,
): Promise<{ afterSeq: number; prefix: Prefix } | undefined> {
  const row = await db.selectFrom('prefixes').selectAll().where('ws_id', '=', wsId).executeTakeFirst();
  const prefix = row && toPrefix(row);
  return prefix && { afterSeq: row.after_seq, prefix };
}

function toPrefix({ version, family, system, tools_json, told_json }: PrefixTable): Prefix | undefined {
  try {
    // Parsed without a schema's copy, so that the tools keep their bytes.
    const tools: Prefix['tools'] = JSON.parse(tools_json);
    const told = Told.safeParse(JSON.parse(told_json));
    if (!told.success || !Tools.safeParse(tools).success) return undefined;
    return { version, family, system, tools, told: told.data };
  } catch {
    return undefined; // not JSON
  }
}
