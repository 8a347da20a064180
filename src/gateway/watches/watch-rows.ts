import { LADDER } from '../../../protocol/contract.ts';
import type { Watch, WatchEnd } from '../../../protocol/events/watch.ts';
import { WATCH_ENDS } from '../../../protocol/events/watch.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import type { ReadTaint } from '../../agent/run/approval/taint.ts';
import type { CallGrants, ProcessIdentity } from '../../agent/tools/tool.ts';
import type { Rights } from '../rights.ts';
import type { RunRequest } from '../runs/run-record.ts';
import type { WatchTable } from '../store/schema/watches/watch-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { isText, storedReader } from '../store/stored-value.ts';
import { inHosted } from '../workers/elsewhere.ts';

/** A message for the conversation, with what the output brings into it that nobody trusts. */
export interface WatchResult {
  text: string;
  taint?: ReadTaint;
}

/** A watch as it is stored. */
export interface StoredWatch {
  row: WatchTable;
  rights: Rights;
  allowed: CallGrants['allowed'];
  /** Undefined: no poll runs, or its process is unknown. */
  process: ProcessIdentity | undefined;
  result: WatchResult | undefined;
  /** The chat of whose run it was created; undefined: another run, or it is damaged. */
  chat: RunRequest['deliver'];
}

/** Names the statement that is refused when the watch is no longer as the writer has read it. */
export const STILL = 'watch';

type Change = Partial<Omit<WatchTable, 'watch_id' | 'ws_id'>>;

const update = (watchId: string, change: Change) =>
  build.updateTable('watches').set(change).where('watch_id', '=', watchId);

/** Claims the next poll, which counts from then on, whatever becomes of it. Refused if another has, or the watch has ended. */
export const claimPoll = (
  { watch_id, poll_count }: WatchTable,
  change: Pick<WatchTable, 'last_poll_ms' | 'next_poll_ms' | 'missed_polls' | 'updated_ms'>,
): Statement =>
  statementOf(
    update(watch_id, { ...change, poll_count: poll_count + 1, is_polling: 1, process_json: null })
      .where('active', '=', 1)
      .where('is_polling', '=', 0)
      .where('poll_count', '=', poll_count),
    1,
    STILL,
  );

/** The process of a claimed poll, before the command begins. Refused if the watch was cancelled meanwhile. */
export const setProcess = ({ watch_id, poll_count }: WatchTable, process: ProcessIdentity): Statement =>
  statementOf(
    update(watch_id, { process_json: JSON.stringify(process) })
      .where('active', '=', 1)
      .where('is_polling', '=', 1)
      .where('poll_count', '=', poll_count),
    1,
    STILL,
  );

/** The end of a claimed poll. `whileActive`: refused if the watch was cancelled meanwhile. */
export function endPoll({ watch_id, poll_count }: WatchTable, change: Change, whileActive: boolean): Statement {
  const ended = update(watch_id, { ...change, is_polling: 0, process_json: null })
    .where('is_polling', '=', 1)
    .where('poll_count', '=', poll_count);
  return statementOf(whileActive ? ended.where('active', '=', 1) : ended, 1, STILL);
}

/** Ends an active watch between polls, or while one runs. Refused if it has ended. */
export const endWatch = (watchId: string, change: Change): Statement =>
  statementOf(update(watchId, { ...change, active: 0, next_poll_ms: null }).where('active', '=', 1), 1, STILL);

/** The result is in the conversation. Refused if it was before. */
export const takeResult = (watchId: string): Statement =>
  statementOf(update(watchId, { result_json: null }).where('result_json', 'is not', null), 1, STILL);

/** Nobody will read the result. */
export const dropResults = (wsId: string): Statement =>
  statementOf(build.updateTable('watches').set({ result_json: null }).where('ws_id', '=', wsId));

/** Ends the watches that a principal created, and drops their results. */
export const endWatchesOf = (principalId: string, nowMs: number): Statement[] => {
  const own = build.updateTable('watches').where('created_by', '=', principalId);
  const ended = own.set(toEnded({ end: 'rights' }, nowMs)).where('active', '=', 1);
  return [statementOf(ended), statementOf(own.set({ result_json: null }).where('result_json', 'is not', null))];
};

/** The watches that are active follow the daemon that serves their workstreams. */
export const followNode = (store: Pick<Store, 'machine'>, nodeId: string): Statement =>
  statementOf(build.updateTable('watches').set({ node_id: nodeId }).where('active', '=', 1).where(inHosted(store)));

/** So many watches of a workstream stay listed when they have ended. */
const KEPT = 50;

/** Stores a watch, unless there are too many, and removes the oldest ones of its workstream. */
export function insertWatch(row: WatchTable): Statement[] {
  const latest = build
    .selectFrom('watches')
    .select('watch_id')
    .where('ws_id', '=', row.ws_id)
    .orderBy('created_ms', 'desc')
    .limit(KEPT);
  const old = build
    .deleteFrom('watches')
    .where('ws_id', '=', row.ws_id)
    .where('active', '=', 0)
    .where('is_polling', '=', 0)
    .where('result_json', 'is', null)
    .where('watch_id', 'not in', latest);
  return [statementOf(build.insertInto('watches').values(row), 1), statementOf(old)];
}

type Readable = Pick<Store, 'db' | 'machine' | 'reportDamage'>;

/** Everything that still has to do something: active ones, those with a running poll, and those whose result waits. */
export async function readOpen(store: Readable): Promise<StoredWatch[]> {
  const rows = await store.db
    .selectFrom('watches')
    .selectAll()
    .where((where) =>
      where.or([where('active', '=', 1), where('is_polling', '=', 1), where('result_json', 'is not', null)]),
    )
    .where(inHosted(store))
    .orderBy('created_ms')
    .execute();
  return rows.map((row) => toStored(store, row));
}

/** The oldest result of a workstream that waits; a damaged one is passed over. */
export async function readNextResult(store: Readable, wsId: string): Promise<StoredWatch | undefined> {
  const own = store.db.selectFrom('watches').selectAll().where('ws_id', '=', wsId);
  const rows = await own.where('result_json', 'is not', null).orderBy('created_ms').execute();
  for (const row of rows) {
    const watch = toStored(store, row);
    if (watch.result) return watch;
  }
  return undefined;
}

export async function readWatch(store: Readable, watchId: string): Promise<StoredWatch | undefined> {
  const row = await store.db.selectFrom('watches').selectAll().where('watch_id', '=', watchId).executeTakeFirst();
  return row && toStored(store, row);
}

/** The watches of a workstream, oldest first. */
export async function readWatches(store: Readable, wsId: string, onlyActive: boolean): Promise<WatchTable[]> {
  const all = store.db.selectFrom('watches').selectAll().where('ws_id', '=', wsId);
  return (onlyActive ? all.where('active', '=', 1) : all).orderBy('created_ms').orderBy('watch_id').execute();
}

const isProcess = (value: unknown): value is ProcessIdentity =>
  isRecord(value) && typeof value.pid === 'number' && typeof value.startTicks === 'number';
const isAllowed = (value: unknown): value is NonNullable<CallGrants['allowed']> =>
  isRecord(value) && isText(value.by) && isText(value.reason);
const isChat = (value: unknown): value is NonNullable<RunRequest['deliver']> =>
  isRecord(value) && isText(value.provider) && isText(value.to);
const isResult = (value: unknown): value is WatchResult => isRecord(value) && isText(value.text);

/** Damage never gives rights. */
function toStored(store: Readable, row: WatchTable): StoredWatch {
  const read = storedReader(store);
  const { watch_id: id, process_json: process, allowed_json: allowed, result_json: result, chat_json: chat } = row;
  return {
    row,
    rights: LADDER.find((one) => one === row.rights) ?? 'public',
    allowed: allowed === null ? undefined : read(allowed, `what was allowed to watch ${id}`, isAllowed),
    process: process === null ? undefined : read(process, `the process of watch ${id}`, isProcess),
    result: result === null ? undefined : read(result, `the result of watch ${id}`, isResult),
    chat: chat === null ? undefined : read(chat, `the chat of watch ${id}`, isChat),
  };
}

/** As clients see it. */
export function toWatch(row: WatchTable): Watch {
  const end = WATCH_ENDS.find((one) => one === row.end_kind);
  return {
    watch_id: row.watch_id,
    ws_id: row.ws_id,
    node_id: row.node_id,
    name: row.name,
    command: row.command,
    interval_secs: row.interval_secs,
    stop_on: row.stop_on ?? '',
    max_polls: row.max_polls,
    poll_count: row.poll_count,
    missed_polls: row.missed_polls,
    last_output: row.last_output ?? '',
    last_exit_code: row.last_exit_code,
    last_poll: toIso(row.last_poll_ms),
    next_poll: toIso(row.next_poll_ms),
    active: row.active,
    ...(end && { end }),
    ...(row.end_reason !== null && { end_reason: row.end_reason }),
    created: toIso(row.created_ms),
    created_by: row.created_by,
    updated: toIso(row.updated_ms),
  };
}

const toIso = (ms: number | null): string => (ms === null ? '' : new Date(ms).toISOString());

/** How a watch ends. */
export interface WatchEnding {
  end: WatchEnd;
  reason?: string;
}

/** The columns of an end. */
export const toEnded = ({ end, reason }: WatchEnding, nowMs: number): Change => ({
  active: 0,
  next_poll_ms: null,
  end_kind: end,
  end_reason: reason ?? null,
  updated_ms: nowMs,
});
