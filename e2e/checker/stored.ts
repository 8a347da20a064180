import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Disk } from './evidence.ts';
import { childrenIn, diskIn, readChildren, readDisk } from './read-disk.ts';

/** Reads what a daemon has stored, whether it runs or not. */
export interface DiskReader {
  /** Of these workstreams; default: of all. */
  read(wsIds?: readonly string[]): Promise<Disk>;
  /** Of the workstreams with these ids: those that work for them. */
  children(wsIds: readonly string[]): Promise<string[]>;
}

/** Of the database in a home, or of a PostgreSQL database. */
export const diskReader = (home: string, postgres?: string): DiskReader =>
  postgres === undefined
    ? {
        read: (wsIds) => Promise.resolve(readDisk(home, wsIds)),
        children: (wsIds) => Promise.resolve(readChildren(home, wsIds)),
      }
    : {
        async read(wsIds) {
          const { db, ids } = await copyOf(postgres, wsIds);
          using copy = db;
          return diskIn(copy, ids);
        },
        async children(wsIds) {
          using db = (await copyOf(postgres, [])).db;
          return childrenIn(db, wsIds);
        },
      };

const OWN = 'ws_id = any($1)';

/** The tables that are read, and their rows of some workstreams. */
const TABLES: Record<string, string | undefined> = {
  ...{ meta: undefined, workstreams: undefined, usage: undefined, budget_grants: undefined },
  ...{ memories: undefined, quarantined_memories: undefined },
  ...{ events: OWN, messages: OWN, runs: OWN, approvals: OWN, cuts: OWN, watches: OWN, sub_agents: OWN },
  journal:
    'run_id in (select run_id from runs where ws_id = any($1) union select agent_id from sub_agents where ws_id = any($1))',
  sub_agent_messages: 'agent_id in (select agent_id from sub_agents where ws_id = any($1))',
};

/**
 * One reader for both databases: the rows of PostgreSQL are copied into one of SQLite in memory. The daemons go on meanwhile, so
 * children of the workstreams are found in the same transaction: a new one would seem to be missing.
 */
async function copyOf(
  url: string,
  wsIds?: readonly string[],
): Promise<{ db: DatabaseSync; ids: string[] | undefined }> {
  const db = new DatabaseSync(':memory:');
  const client = new pg.Client({
    connectionString: url,
    types: { getTypeParser: (oid: number) => PARSERS[oid] ?? asText },
  });
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    await client.query('set local search_path to headgate');
    const ids = (await client.query<{ ws_id: string }>(WITH_CHILDREN, [wsIds ?? null])).rows.map(({ ws_id }) => ws_id);
    for (const [table, condition] of Object.entries(TABLES)) {
      const where = condition === undefined ? '' : ` where ${condition}`;
      const { rows, fields } = await client.query({
        text: `select * from ${table}${where}`,
        values: condition === undefined ? [] : [ids],
        rowMode: 'array',
      });
      fill(db, { table, columns: fields.map(({ name }) => `"${name}"`), rows });
    }
    return { db, ids: wsIds && ids };
  } finally {
    await client.end();
  }
}

const WITH_CHILDREN = `with recursive tree as (
    select ws_id from workstreams where $1::text[] is null or ws_id = any($1)
    union select workstreams.ws_id from workstreams join tree on parent_ws_id = tree.ws_id
  ) select ws_id from tree`;

function fill(
  db: DatabaseSync,
  { table, columns, rows }: { table: string; columns: string[]; rows: (string | number | null)[][] },
): void {
  db.exec(`create table ${table} (${columns.join(', ')})`);
  const insert = db.prepare(`insert into ${table} values (${columns.map(() => '?').join(', ')})`);
  for (const row of rows) insert.run(...row);
}

const asText = (text: string) => text;
const PARSERS: Record<number, (text: string) => string | number> = {
  20: Number, // int8
  23: Number, // int4
  701: Number, // float8
};
