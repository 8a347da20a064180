import { GatewayError } from '../../../protocol/errors.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';

/** Runs `work` while no run can start. Throws BUSY while one is in progress. */
export async function whenIdle<T>(workstream: Workstream, work: (data: WorkstreamData) => Promise<T>): Promise<T> {
  let done: { result: T } | undefined;
  await workstream.whileIdle(async () => {
    done = { result: await work(workstream.data) };
  });
  if (!done) throw busy();
  return done.result;
}

/** The error while a run is in progress. */
export const busy = (): GatewayError =>
  new GatewayError('BUSY', 'An answer is in progress. Wait for its end, or cancel it.', { retryAfterMs: 2_000 });
