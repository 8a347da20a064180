import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { dailyWhileSteady } from '../../timing/steady-time.ts';
import { forgetChats } from '../channels/ledger/forget-chats.ts';
import type { DaemonStore } from './daemon-store.ts';
import { removeDeleted } from './deletion.ts';
import { nextLog } from './next-log.ts';
import { build, statementOf } from './statements.ts';

/** Removes rows that nobody can request any more. */
export interface Retention {
  /** Sweeps daily, while the clock does not jump, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Sweeps once; stops between two batches when the signal aborts. */
  sweep(signal: AbortSignal): Promise<void>;
}

type RetainedStore = Pick<DaemonStore, 'db' | 'commit' | 'machine' | 'dropPrefix' | 'readEvents'>;

/** Keeps events for `retentionDays`, and other rows until they expire. */
export function createRetention(deps: {
  store: RetainedStore;
  clock: Clock;
  log: Log;
  live: { readonly retentionDays: number };
  /** Whether a workstream that cannot be found is not complete yet, instead of deleted. */
  isBeingMade(wsId: string): boolean;
}): Retention {
  const { store, clock, log } = deps;
  const sweep = async (signal: AbortSignal): Promise<void> => {
    await sweepExpired(store, clock.now());
    const sentLongAgo = build
      .deleteFrom('outbox')
      .where('ended_ms', '<', clock.now() - deps.live.retentionDays * DAY_MS);
    await store.commit({ statements: [statementOf(sentLongAgo)] });
    await forgetChats(store, { nowMs: clock.now(), days: deps.live.retentionDays, signal });
    await removeDeleted(store, deps.isBeingMade);
    const nowMs = clock.now();
    const beforeMs = nowMs - deps.live.retentionDays * DAY_MS;
    for (let wsId = await nextLog(store, ''); wsId !== undefined; wsId = await nextLog(store, wsId)) {
      await pruneLog(store, { wsId, beforeMs, nowMs, signal }).catch((err: unknown) =>
        log.warn({ err, wsId }, 'the old events of a workstream could not be removed'),
      );
      await nextTurn(); // otherwise the reads would block the event loop
      if (signal.aborted) return;
    }
  };
  return {
    sweep,
    run: (signal) =>
      dailyWhileSteady(clock, signal, () =>
        sweep(signal).catch((err: unknown) => log.warn({ err }, 'the daily removal of old rows failed')),
      ),
  };
}

async function sweepExpired(store: RetainedStore, nowMs: number): Promise<void> {
  const goneCodes = build
    .deleteFrom('login_codes')
    .where((row) => row.or([row('expires_ms', '<', nowMs), row('used_ms', 'is not', null)]));
  await store.commit({
    statements: [
      statementOf(goneCodes),
      statementOf(build.deleteFrom('login_sessions').where('expires_ms', '<', nowMs)),
    ],
  });
}

/**
 * Removes batches from the beginning of the log, so that the rest has no gaps. Keeps the last event, which holds the
 * offset.
 */
async function pruneLog(
  store: RetainedStore,
  { wsId, signal, ...age }: Age & { wsId: string; signal: AbortSignal },
): Promise<void> {
  if (await isElsewhere(store, wsId)) return; // the machine that writes it knows where it begins
  while (!signal.aborted) {
    if (await hasUnfinishedRun(store, wsId)) return; // its events are still read from the beginning
    const through = await oldPrefixEnd(store, wsId, age);
    if (through === undefined) return;
    await store.dropPrefix(wsId, through);
  }
}

async function isElsewhere({ db, machine }: RetainedStore, wsId: string): Promise<boolean> {
  const row = await db.selectFrom('workstreams').select('machine').where('ws_id', '=', wsId).executeTakeFirst();
  return row !== undefined && row.machine !== machine;
}

async function hasUnfinishedRun(store: RetainedStore, wsId: string): Promise<boolean> {
  const row = await store.db
    .selectFrom('runs')
    .select('run_id')
    .where('ws_id', '=', wsId)
    .where('status', 'in', ['queued', 'running'])
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Events of before `beforeMs` are old. */
interface Age {
  beforeMs: number;
  nowMs: number;
}

async function oldPrefixEnd(store: RetainedStore, wsId: string, { beforeMs, nowMs }: Age): Promise<number | undefined> {
  const rows = await store.db
    .selectFrom('events')
    .select(['offset', 'created_ms'])
    .where('ws_id', '=', wsId)
    .orderBy('offset')
    .limit(BATCH + 1)
    .execute();
  // The clock may have been wrong: an event that is called old does not make new ones before it old, and everything before an
  // old event is old if its time is in the future.
  const kept = rows.findIndex(({ created_ms: ms }) => ms >= beforeMs && ms <= nowMs);
  const old = rows.slice(0, kept).filter((row) => row.created_ms < beforeMs); // -1: all except the last one
  for (const { offset } of old.reverse()) {
    const [event] = await store.readEvents(wsId, offset - 1, 1); // checks the row, because an altered time proves nothing
    if (event?.offset === offset && !event.isDamaged) return offset;
  }
  return undefined;
}

const DAY_MS = 86_400_000;
const BATCH = 1_000;
