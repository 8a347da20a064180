import type { Watch } from '../../../protocol/events/watch.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Toolbox } from '../../agent/tools/toolbox.ts';
import { MAX_ACTIVE, type NewWatch, type WatchBook } from '../../agent/watches/watch-book.ts';
import type { Ids } from '../../ids.ts';
import { lastAuthorOf } from '../queue/authors.ts';
import { requestOf } from '../runs/run-rows.ts';
import type { WatchTable } from '../store/schema/watches/watch-schema.ts';
import type { Statement, Store } from '../store/store.ts';
import { UnitRefused } from '../store/store.ts';
import {
  dropResults,
  endWatch,
  insertWatch,
  readWatch,
  readWatches,
  STILL,
  toEnded,
  toWatch,
  type WatchEnding,
} from './watch-rows.ts';

interface RecordsDeps {
  store: Store;
  nodeId: string;
  clock: { now(): number };
  ids: Ids;
}

/** What happens to watches, for those who poll them. */
interface WatchListener {
  /** A watch was created or has ended. */
  onChange(): void;
  /** Ends the poll of a watch, if one runs, and waits for its end. */
  stopPoll(watchId: string): Promise<void>;
  /** These workstreams have come to this machine. */
  onArrived(wsIds: readonly string[]): void;
}

/** A change of a watch. */
interface WatchUnit {
  statements: Statement[];
  /** Clients hear of it. */
  isTold: boolean;
  durable?: boolean;
}

/** The stored watches of a daemon. */
export interface WatchRecords extends WatchBook {
  /** Ends a watch, with its poll. Undefined: it is not active. */
  end(watchId: string, ending: WatchEnding): Promise<Watch | undefined>;
  /** Ends all watches of a workstream, whose results nobody will read. */
  endIn(wsId: string, end: 'reset' | 'closed'): Promise<void>;
  /** Commits a change of a watch with the event that tells of it. False: the watch was changed by another before. */
  change(row: WatchTable, unit: WatchUnit): Promise<boolean>;
  listen(listener: WatchListener): void;
  /** These workstreams have come to this machine, perhaps with watches and results. */
  arrived(wsIds: readonly string[]): void;
}

/** The watches of a daemon, and the tools of their polls. */
export interface Watches {
  records: WatchRecords;
  /** Only `bash`, with the output as it is printed. */
  toolbox: Toolbox;
  /** Why commands run without a sandbox; undefined when they run in one. */
  notSandboxed: string | undefined;
}

export function createWatchRecords({ store, nodeId, clock, ids }: RecordsDeps): WatchRecords {
  let listener: WatchListener = {
    onChange: () => undefined,
    stopPoll: async () => undefined,
    onArrived: () => undefined,
  };
  let creating: Promise<unknown> = Promise.resolve();

  async function insert(watch: NewWatch): Promise<Watch | undefined> {
    const { wsId } = watch;
    if ((await readWatches(store, wsId, true)).length >= MAX_ACTIVE) return undefined;
    const row = newRow(watch, {
      watchId: ids.id('wat'),
      nodeId,
      nowMs: clock.now(),
      creator: await creatorIn(store, wsId),
    });
    await store.commit({ statements: insertWatch(row), events: { wsId, events: [toEvent(row)] } });
    listener.onChange();
    return toWatch(row);
  }

  async function end(watchId: string, ending: WatchEnding): Promise<Watch | undefined> {
    const found = await readWatch(store, watchId);
    if (found?.row.active !== 1) return undefined;
    const columns = toEnded(ending, clock.now());
    const row = { ...found.row, ...columns };
    if (!(await commitChange(store, row, { statements: [endWatch(watchId, columns)], isTold: true }))) return undefined;
    await listener.stopPoll(watchId);
    listener.onChange();
    return toWatch(row);
  }

  return {
    create(watch) {
      // One at a time, because the limit counts what is stored.
      const created = creating.then(() => insert(watch));
      creating = created.catch(() => undefined); // whoever creates it gets the error
      return created;
    },
    async active(wsId) {
      return (await readWatches(store, wsId, true)).map(toWatch);
    },
    async cancel(wsId, name) {
      const active = await readWatches(store, wsId, true);
      const found = active.find(({ watch_id }) => watch_id === name) ?? active.findLast((row) => row.name === name);
      return found && end(found.watch_id, { end: 'cancelled' });
    },
    end,
    async endIn(wsId, kind) {
      const active = await readWatches(store, wsId, true);
      await Promise.all(active.map(({ watch_id }) => end(watch_id, { end: kind })));
      await store.commit({ statements: [dropResults(wsId)] });
    },
    change: (row, unit) => commitChange(store, row, unit),
    listen(next) {
      listener = next;
    },
    arrived: (wsIds) => listener.onArrived(wsIds),
  };
}

/** Commits a change of a watch. False: the watch was changed by another before. */
async function commitChange(
  store: Pick<Store, 'commit'>,
  row: WatchTable,
  { statements, isTold, durable = false }: WatchUnit,
): Promise<boolean> {
  try {
    const events = isTold && { events: { wsId: row.ws_id, events: [toEvent(row)] } };
    await store.commit({ statements, ...events, durable });
    return true;
  } catch (error) {
    if (error instanceof UnitRefused && error.tag === STILL) return false;
    throw error;
  }
}

const MAX_EVENT_OUTPUT = 2_000;

function toEvent(row: WatchTable): StreamEvent {
  const watch = toWatch(row);
  return { type: 'watch', ...watch, last_output: watch.last_output.slice(0, MAX_EVENT_OUTPUT) };
}

type Creator = Pick<WatchTable, 'created_by' | 'rights' | 'sender' | 'chat_json'>;

const newRow = (
  { wsId, name, command, intervalSecs, stopOn, maxPolls, allowed }: NewWatch,
  { watchId, nodeId, nowMs, creator }: { watchId: string; nodeId: string; nowMs: number; creator: Creator },
): WatchTable => ({
  watch_id: watchId,
  ws_id: wsId,
  node_id: nodeId,
  name,
  command,
  interval_secs: intervalSecs,
  stop_on: stopOn ?? null,
  max_polls: maxPolls,
  poll_count: 0,
  missed_polls: 0,
  is_polling: 0,
  process_json: null,
  last_output: null,
  last_exit_code: null,
  last_poll_ms: null,
  next_poll_ms: nowMs,
  active: 1,
  end_kind: null,
  end_reason: null,
  created_ms: nowMs,
  updated_ms: nowMs,
  created_by: creator.created_by,
  rights: creator.rights,
  sender: creator.sender,
  chat_json: creator.chat_json,
  allowed_json: allowed ? JSON.stringify(allowed) : null,
  result_json: null,
});

/** In whose run it is created, with the rights of that run. */
async function creatorIn({ db }: Pick<Store, 'db'>, wsId: string): Promise<Creator> {
  const run = await db
    .selectFrom('runs')
    .selectAll()
    .where('ws_id', '=', wsId)
    .where('status', '=', 'running')
    .executeTakeFirst();
  const request = run && requestOf(run);
  const { rights = 'public', sender = null, deliver, fromChat } = request ?? {};
  const createdBy = run ? lastAuthorOf({ principal: run.principal, request: request ?? {} }) : '';
  // Whoever has edited a message of a chat need not be a person of that chat.
  const chat = deliver && fromChat && createdBy === run?.principal ? JSON.stringify(deliver) : null;
  return { created_by: createdBy, rights, sender, chat_json: chat };
}
