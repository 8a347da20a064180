import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { EventLog } from '../events/event-log.ts';
import { typeOf } from '../events/log-entry.ts';
import { DAEMON } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { changesHistory, type RunPlace, type UnseenRuns } from './unseen-runs.ts';

/** How long a client whose stream ended with the previous process keeps reconnecting. */
const RECENT_MS = 30_000;
/** A run with more messages than this counts as seen. */
const MAX_MESSAGES = 1_000;
const EVENTS_AT_ONCE = 512;

interface RestoreDeps {
  unseenRuns: UnseenRuns;
  events: Pick<EventLog, 'bounds'>;
  store: Pick<Store, 'db' | 'readEvents' | 'findNewestEvent' | 'readMessages'>;
  clock: Pick<Clock, 'now'>;
  log: Log;
}

/**
 * After a restart it is unknown whether the end of a recent run was delivered. It counts as unseen: a repeated event
 * does no harm, but a missing end would leave a client waiting.
 */
export async function restoreUnseen(workstreams: Pick<Workstreams, 'list'>, deps: RestoreDeps): Promise<void> {
  const { unseenRuns, events, clock, log } = deps;
  const sinceMs = clock.now() - RECENT_MS;
  for (const { data } of workstreams.list(DAEMON)) {
    const { wsId, updatedMs, messageCount } = data;
    if (updatedMs < sinceMs) continue;
    try {
      const place = await findPlace({ wsId, messageCount }, sinceMs, deps);
      if (place) unseenRuns.restore(wsId, { place, endOffset: events.bounds(wsId).last });
    } catch (error) {
      log.warn({ err: error, wsId }, 'the newest run of a workstream could not be read');
    }
  }
}

/**
 * Where the newest run began, if `send` started it, it ended after `sinceMs`, and histories still fit that place: no
 * message was taken back, removed or cleared since.
 */
async function findPlace(
  { wsId, messageCount }: { wsId: string; messageCount: number },
  sinceMs: number,
  { store }: RestoreDeps,
): Promise<RunPlace | undefined> {
  const run = await store.db
    .selectFrom('runs')
    .select(['run_id', 'source', 'ended_ms'])
    .where('ws_id', '=', wsId)
    .where('started_ms', 'is not', null)
    .orderBy('accepted_ms', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (run?.source !== 'person' || run.ended_ms === null || run.ended_ms < sinceMs) return undefined;
  const rows = await store.readMessages(wsId, { after: 0, upTo: messageCount, limit: MAX_MESSAGES });
  const asked = rows.find(({ runId }) => runId === run.run_id);
  if (asked?.json === undefined || JSON.parse(asked.json).role !== 'user') return undefined;
  const after = await findTurn(store, { wsId, runId: run.run_id, seq: asked.seq });
  if (after === undefined || (await isHistoryChanged(store, { wsId, after }))) return undefined;
  return { after, upTo: asked.seq };
}

/** The offset of the first message of a run, if the run is the newest: feedback and messages that steered it come after. */
async function findTurn(
  store: RestoreDeps['store'],
  { wsId, runId, seq }: { wsId: string; runId: string; seq: number },
): Promise<number | undefined> {
  for (let before: number | undefined; ; ) {
    const offset = await store.findNewestEvent(wsId, 'user_turn', before);
    const [turn] = offset === 0 ? [] : await store.readEvents(wsId, offset - 1, 1);
    const event = turn && JSON.parse(turn.json);
    if (event?.run_id !== runId) return undefined;
    if ((event.seq ?? seq) === seq) return offset;
    before = offset;
  }
}

/** Whether histories show other messages than at this place of the log. */
async function isHistoryChanged(
  store: RestoreDeps['store'],
  { wsId, after }: { wsId: string; after: number },
): Promise<boolean> {
  for (let offset = after; ; ) {
    const page = await store.readEvents(wsId, offset, EVENTS_AT_ONCE);
    if (page.some(({ json }) => changesHistory({ type: typeOf(json) }))) return true;
    const last = page.at(-1);
    if (!last) return false;
    offset = last.offset;
  }
}
