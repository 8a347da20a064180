import { fakeClock } from '../../../testing/fake-clock.ts';
import { sharedPostgres } from '../../../testing/postgres-server.ts';
import { someMachine } from '../../../testing/some-machine.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import type { DaemonStore } from '../daemon-store.ts';
import { openPostgresStore } from '../postgres/postgres-store.ts';
import { messageChecksums } from '../row-checksum.ts';
import { openSqliteStore } from '../sqlite-store.ts';
import { build, statementOf } from '../statements.ts';
import type { CopySide } from './copy-side.ts';
import { type Copied, copyStore } from './copy-store.ts';
import { openPostgresSide } from './postgres-side.ts';
import { openSqliteSource, openSqliteTarget } from './sqlite-side.ts';

export const openFile = (path: string): Promise<DaemonStore> =>
  openSqliteStore({ path, clock: fakeClock(1_000), log: recordingLog(), durability: 'normal', bootId: 'boot-1' });

/** Rows of several kinds: texts beyond ASCII, nulls, numbers with a fraction, words, and logs of events. */
export async function fill(store: DaemonStore, { messages = 50 } = {}): Promise<void> {
  for (const wsId of ['a', 'ä', 'B']) {
    const checksum = messageChecksums(wsId);
    const rows = Array.from({ length: messages }, (_, at) => {
      const json = JSON.stringify({ role: 'user', content: `"${at}" \u0000 \\ {x} 😀 NULL` });
      const message = { seq: at + 1, runId: at % 2 ? null : '', json, createdMs: 7_000_000_000_000 + at };
      return {
        ...{ ws_id: wsId, seq: message.seq, run_id: message.runId, body_json: json },
        ...{ created_ms: message.createdMs, checksum: checksum(message) },
      };
    });
    await store.commit({ statements: [statementOf(build.insertInto('messages').values(rows))] });
    for (let at = 0; at < 5; at += 1)
      await store.commit({
        events: { wsId, events: [{ type: 'info', message: `event ${at} of ${wsId}` }] },
        statements: [
          {
            sql: 'insert into message_words (rowid, text, taint) values (?, ?, ?)',
            parameters: [wsId.charCodeAt(0) * 1000 + at, `Grüße number${at}`, ''],
          },
        ],
      });
  }
  await store.commit({
    statements: [
      {
        sql: `insert into channel_inbox (position, channel, account, update_id, chat, sender_id, body_json, state, received_ms)
          values (?, 'telegram', 'bot', '1', 'c', 's', null, 'done', 5)`,
        parameters: [41],
      },
      {
        sql: `insert into applied_templates (ws_id, temperature, stored_only_json) values ('a', ?, '{}'), ('b', ?, '{}')`,
        parameters: [0.1, 1e21],
      },
      ...['z', 'y', 'x'].map((agentId) => ({
        sql: `insert into sub_agents (agent_id, ws_id, run_id, parent_id, call_id, started_ms, is_running, state_json, task_json, cuts_json)
          values (?, 'a', 'r', '', ?, 1, 0, '{}', '{}', '[]')`,
        parameters: [agentId, agentId],
      })),
      { sql: `insert into meta (key, value) values ('window:model', '12')`, parameters: [] },
    ],
  });
}

/** Dies in its first insert, with a table in the middle: each attempt copies 50 rows at most. */
export const dying = (side: CopySide): CopySide => ({
  ...side,
  async insert(table, rows) {
    await side.insert(table, rows.slice(0, 50));
    throw new Error('killed');
  },
});

/** Time passes at once for who waits for the lock of another process. */
const clock = { ...fakeClock(1_000), sleep: async () => undefined };
const parts = { clock, log: recordingLog() };
const { signal } = new AbortController();

export const createDatabase = async () => (await sharedPostgres()).createDatabase();
export const openServer = (url: string) =>
  openPostgresStore({ url, machine: someMachine(), ...parts, clock: fakeClock(1_000) });
export const openSide = (url: string, isTarget: boolean) => openPostgresSide({ url, isTarget, signal, ...parts });

export type Wrap = (side: CopySide) => CopySide;
export const asIs: Wrap = (side) => side;

export async function copyBetween(sides: { source: CopySide; target: CopySide }, wrap: Wrap): Promise<Copied> {
  try {
    return await copyStore({ source: sides.source, target: wrap(sides.target), signal, onProgress: () => undefined });
  } finally {
    await sides.source.close();
    await sides.target.close();
  }
}

export const toServer = async (file: string, url: string, wrap = asIs): Promise<Copied> => {
  const source = openSqliteSource(file);
  return copyBetween({ source, target: await openSide(url, true) }, wrap);
};

export const toFile = async (url: string, file: string, wrap = asIs): Promise<Copied> => {
  const source = await openSide(url, false);
  return copyBetween({ source, target: openSqliteTarget(file, parts.log) }, wrap);
};
