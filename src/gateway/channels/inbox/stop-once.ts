import { isRecord } from '../../../../protocol/is-record.ts';
import type { Clock } from '../../../clock.ts';
import type { Store } from '../../store/store.ts';
import type { Workstream } from '../../workstreams/workstream.ts';
import { endStopped, type InboxRow, readWaiting, rewriteUpdate } from './inbox-rows.ts';

type StopStore = Pick<Store, 'db' | 'commit'>;

/** In the body of the stored update: the runs that it stops. */
const STOPS = 'headgate_stops';
/** The same for earlier updates of the chat that had not become runs. */
const DROPS = 'headgate_drops';

/**
 * Stops what is in progress or waits, also messages of the chat that are still being received. The end of a run is no single
 * statement, so the update first names the runs that it stops: if the daemon dies in between, the next one stops these and
 * not what people have said since. Whether there was anything.
 */
export async function stopOnce(
  row: InboxRow,
  workstream: Workstream,
  { store, clock }: { store: StopStore; clock: Pick<Clock, 'now'> },
): Promise<boolean> {
  const body: unknown = JSON.parse(row.body_json ?? '{}');
  const named = namedIn(body, STOPS);
  if (named) {
    for (const runId of named) await workstream.cancelRun(runId);
    return named.length > 0 || (namedIn(body, DROPS) ?? []).length > 0;
  }
  const ids = await readEarlier(row, store);
  const stops = { [STOPS]: await readOpenRuns(workstream, store), [DROPS]: ids };
  const stopping = JSON.stringify({ ...(isRecord(body) && body), ...stops });
  const ended = ids.length > 0 ? [endStopped(row, { ids, nowMs: clock.now() })] : [];
  await store.commit({ statements: [rewriteUpdate(row, stopping), ...ended] });
  row.body_json = stopping; // this process may repeat it, too
  const { wasRunning, queuedMessages } = await workstream.cancel({ force: false });
  return wasRunning || queuedMessages.count > 0 || ids.length > 0;
}

/** Earlier updates of the chat that have not ended, except those that stop something themselves. */
const readEarlier = async (row: InboxRow, store: StopStore): Promise<string[]> => {
  const earlier = (await readWaiting(store, row)).filter(
    ({ chat, position }) => chat === row.chat && position < row.position,
  );
  return earlier
    .filter(({ body_json: json }) => !namedIn(JSON.parse(json ?? '{}'), STOPS))
    .map(({ update_id: id }) => id);
};

const readOpenRuns = async ({ data }: Workstream, { db }: StopStore): Promise<string[]> => {
  const open = db.selectFrom('runs').select('run_id').where('ws_id', '=', data.wsId);
  return (await open.where('status', 'in', ['queued', 'running']).execute()).map(({ run_id: id }) => id);
};

/** Undefined: it has not begun to stop anything. */
function namedIn(body: unknown, key: typeof STOPS | typeof DROPS): string[] | undefined {
  const named = isRecord(body) ? body[key] : undefined;
  return Array.isArray(named) ? named.filter((id) => typeof id === 'string') : undefined;
}
