import { isRecord } from '../../../../protocol/is-record.ts';
import type { Store } from '../../store/store.ts';
import type { Workstream } from '../../workstreams/workstream.ts';
import { type InboxRow, rewriteUpdate } from './inbox-rows.ts';

type StopStore = Pick<Store, 'db' | 'commit'>;

/** In the body of the stored update: the runs that it stops. */
const STOPS = 'headgate_stops';

/**
 * Stops what is in progress or waits. The end of a run is no single statement, so the update first names the runs that it
 * stops: if the daemon dies in between, the next one stops these and not what people have said since. Whether there was
 * anything.
 */
export async function stopOnce(row: InboxRow, workstream: Workstream, store: StopStore): Promise<boolean> {
  const body: unknown = JSON.parse(row.body_json ?? '{}');
  const named = namedIn(body);
  if (named) {
    for (const runId of named) await workstream.cancelRun(runId);
    return named.length > 0;
  }
  const stopping = JSON.stringify({ ...(isRecord(body) && body), [STOPS]: await readOpenRuns(workstream, store) });
  await store.commit({ statements: [rewriteUpdate(row, stopping)] });
  row.body_json = stopping; // this process may repeat it, too
  const { wasRunning, queuedMessages } = await workstream.cancel({ force: false });
  return wasRunning || queuedMessages.count > 0;
}

const readOpenRuns = async ({ data }: Workstream, { db }: StopStore): Promise<string[]> => {
  const open = db.selectFrom('runs').select('run_id').where('ws_id', '=', data.wsId);
  return (await open.where('status', 'in', ['queued', 'running']).execute()).map(({ run_id: id }) => id);
};

/** Undefined: it has not begun to stop anything. */
function namedIn(body: unknown): string[] | undefined {
  const stops = isRecord(body) ? body[STOPS] : undefined;
  return Array.isArray(stops) ? stops.filter((id) => typeof id === 'string') : undefined;
}
