import { GatewayError } from '../../../protocol/errors.ts';
import type { Holder } from '../runs/place.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';

/** Runs `work` while no run can start; others learn that `holder` is in progress. Throws BUSY if something else is. */
export async function whenIdle<T>(
  workstream: Workstream,
  holder: Holder,
  work: (data: WorkstreamData) => Promise<T>,
): Promise<T> {
  const { heldBy } = workstream;
  let done: { result: T } | undefined;
  await workstream.whileIdle(holder, async () => {
    done = { result: await work(workstream.data) };
  });
  if (!done) throw busy(heldBy);
  return done.result;
}

/** The error while something is in progress. */
export const busy = (heldBy: Holder = 'answer'): GatewayError =>
  new GatewayError('BUSY', IN_PROGRESS[heldBy], { retryAfterMs: 2_000, details: { heldBy } });

const IN_PROGRESS: Record<Holder, string> = {
  answer: 'An answer is in progress. Wait for its end, or cancel it.',
  summary: 'The conversation is being summarized. Wait for its end, or cancel it.',
  rewind: 'Messages are being taken back. Try again in a moment.',
  remove: 'A message is being removed. Try again in a moment.',
  fork: 'The conversation is being copied. Try again in a moment.',
  command: 'A command is changing the conversation. Try again in a moment.',
  folders: 'The folders of this workstream are being changed. Try again in a moment.',
  files: 'Files are being taken back or brought back. Try again in a moment.',
  note: 'A note is being stored. Try again in a moment.',
};
