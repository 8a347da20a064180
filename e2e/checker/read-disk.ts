import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bodyOfBlock } from '../../src/gateway/store/compaction/block.ts';
import { unpack } from '../../src/gateway/store/compaction/packed-body.ts';
import type { ApprovalTable, CutTable, RunTable } from '../../src/gateway/store/schema/schema.ts';
import type { BudgetGrantTable, UsageTable } from '../../src/gateway/store/schema/usage-schema.ts';
import type { WatchTable } from '../../src/gateway/store/schema/watches/watch-schema.ts';
import type { AgentOnDisk, Disk, MemoryOnDisk, RunOnDisk, WorkstreamOnDisk } from './evidence.ts';

/** Reads the database of a home, with or without a running daemon; `wsIds` selects workstreams. */
export function readDisk(home: string, wsIds?: readonly string[]): Disk {
  using db = openFile(home);
  db.exec('begin'); // one transaction: a daemon may be writing
  return diskIn(db, wsIds);
}

/** Of the workstreams with these ids: those that work for them. */
export function readChildren(home: string, wsIds: readonly string[]): string[] {
  using db = openFile(home);
  return childrenIn(db, wsIds);
}

const openFile = (home: string) => new DatabaseSync(path.join(home, 'headgate.db'), { readOnly: true });

/** What `readDisk` returns, from an open database. */
export function diskIn(db: DatabaseSync, wsIds?: readonly string[]): Disk {
  const rows = db.prepare('select ws_id from workstreams order by created_ms, ws_id').all();
  const ids = rows.map(({ ws_id }) => String(ws_id)).filter((wsId) => wsIds?.includes(wsId) ?? true);
  const epoch = db.prepare("select value from meta where key = 'epoch'").get()?.value;
  // The casts match the contents of the columns.
  const usage = db.prepare('select * from usage').all() as unknown as UsageTable[];
  const grants = db.prepare('select * from budget_grants').all() as unknown as BudgetGrantTable[];
  return {
    epoch: String(epoch),
    workstreams: ids.map((wsId) => readWorkstream(db, wsId)),
    usage: usage.map((row) => ({ ...row })),
    grants: grants.map((row) => ({ ...row })),
    memories: [...readMemories(db, 'memories'), ...readMemories(db, 'quarantined_memories')],
  };
}

/** What `readChildren` returns, from an open database. */
export function childrenIn(db: DatabaseSync, wsIds: readonly string[]): string[] {
  const rows = db.prepare('select ws_id, parent_ws_id from workstreams where parent_ws_id is not null').all();
  return rows.filter((row) => wsIds.includes(String(row.parent_ws_id))).map((row) => String(row.ws_id));
}

const WORKSTREAM =
  'select generated_name, parent_ws_id, spawn_key, message_count, run_epoch from workstreams where ws_id = ?';

function readWorkstream(db: DatabaseSync, wsId: string): WorkstreamOnDisk {
  const all = (sql: string) => db.prepare(sql).all(wsId);
  const row = db.prepare(WORKSTREAM).get(wsId);
  const events = all('select "offset", body_json from events where ws_id = ? order by "offset"');
  const messages = all('select seq, run_id, body_json from messages where ws_id = ? order by seq');
  const journal = Map.groupBy(all(JOURNAL), ({ run_id }) => run_id);
  // The casts match the contents of the columns.
  const runs = all('select * from runs where ws_id = ? order by accepted_ms, run_id') as unknown as RunTable[];
  const approvals = all('select * from approvals where ws_id = ? order by asked_ms') as unknown as ApprovalTable[];
  const cuts = all('select * from cuts where ws_id = ? order by n') as unknown as CutTable[];
  const watches = all('select * from watches where ws_id = ? order by created_ms') as unknown as WatchTable[];
  const bodies = messages.map(({ body_json }) => String(body_json));
  const texts = Map.groupBy(messages, ({ run_id }) => run_id);
  return {
    wsId,
    name: String(row?.generated_name),
    ...(row?.spawn_key != null && { madeBy: String(row.parent_ws_id) }),
    messageCount: Number(row?.message_count),
    runEpoch: Number(row?.run_epoch),
    events: events.flatMap(({ offset, body_json }) => {
      const packed = unpack(bodyOf(body_json, bodies));
      const first = Number(offset) - packed.length + 1;
      return packed.map((json, index) => ({ offset: first + index, event: JSON.parse(json) }));
    }),
    eventRows: events.length,
    messages: messages.map(({ seq, run_id, body_json }) => ({
      seq: Number(seq),
      runId: run_id === null ? null : String(run_id),
      message: JSON.parse(String(body_json)),
    })),
    runs: runs.map((run) => ({ run: withText(run, texts), journal: (journal.get(run.run_id) ?? []).map(toEntry) })),
    approvals: approvals.map((approval) => ({ ...approval })),
    cuts: cuts.map((cut) => ({ ...cut })),
    agents: readAgents(db, wsId),
    watches: watches.map((watch) => ({ ...watch })),
  };
}

function readAgents(db: DatabaseSync, wsId: string): AgentOnDisk[] {
  const all = (sql: string) => db.prepare(sql).all(wsId);
  const own = '(select agent_id from sub_agents where ws_id = ?)';
  const journal = Map.groupBy(all(`select * from journal where run_id in ${own} order by seq`), ({ run_id }) => run_id);
  const messages = Map.groupBy(
    all(`select * from sub_agent_messages where agent_id in ${own} order by seq`),
    ({ agent_id }) => agent_id,
  );
  return all('select * from sub_agents where ws_id = ? order by started_ms, agent_id').map((row) => {
    const { agent_id: id, end_json: end } = row;
    const text = (name: string) => String(row[name]);
    return {
      row: {
        ...{ agent_id: text('agent_id'), run_id: text('run_id'), parent_id: text('parent_id') },
        ...{ call_id: text('call_id'), is_running: Number(row.is_running) },
      },
      state: JSON.parse(text('state_json')),
      ...(end !== null && { end: JSON.parse(String(end)) }),
      summaries: JSON.parse(text('cuts_json')).length,
      journal: (journal.get(id ?? null) ?? []).map(toEntry),
      messages: (messages.get(id ?? null) ?? []).map(({ seq, body_json }) => ({
        seq: Number(seq),
        message: JSON.parse(String(body_json)),
      })),
    };
  });
}

const readMemories = (db: DatabaseSync, table: 'memories' | 'quarantined_memories'): MemoryOnDisk[] =>
  db
    .prepare(`select name, content from ${table} order by name`)
    .all()
    .map(({ name, content }) => ({ name: String(name), content: String(content), waits: table !== 'memories' }));

/** The body of a row of a log. */
const bodyOf = (stored: unknown, messages: readonly string[]): string =>
  (stored instanceof Uint8Array ? bodyOfBlock(stored, ({ after, upTo }) => messages.slice(after, upTo)) : undefined) ??
  String(stored);

const JOURNAL = `select * from journal where run_id in (select run_id from runs where ws_id = ?) order by seq`;

/** An ended run that had begun has its text only in its message. */
function withText(run: RunTable, messages: ReadonlyMap<unknown, readonly Record<string, unknown>[]>): RunTable {
  const request: { message?: string } = JSON.parse(run.request_json);
  const [first] = messages.get(run.run_id) ?? [];
  if (request.message !== '' || !first) return { ...run };
  const { content: message } = JSON.parse(String(first.body_json));
  return { ...run, request_json: JSON.stringify({ ...request, message }) };
}

const toEntry = (row: Record<string, unknown>): RunOnDisk['journal'][number] => ({
  kind: row.kind,
  ...JSON.parse(String(row.body_json)),
  atMs: Number(row.at_ms),
});
