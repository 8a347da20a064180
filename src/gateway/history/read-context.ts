import type { Message } from '../../agent/message.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import { isUnavailable } from '../../is-unavailable.ts';
import type { Cut } from '../cuts/cut.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { WorkstreamDeps } from '../workstreams/workstream-deps.ts';

/**
 * The context of a workstream; undefined when it is damaged, because a retry would not help. Rejects while the disk
 * cannot be read. `pending`: a cut that will be stored with the next run.
 */
export async function readContext(
  data: WorkstreamData,
  { loadContext, log }: Pick<WorkstreamDeps, 'loadContext' | 'log'>,
  pending?: Cut,
): Promise<Message[] | undefined> {
  try {
    return await loadContext(data, pending);
  } catch (err) {
    if (isUnavailable(err)) throw err;
    log.error({ err, wsId: data.wsId }, 'a conversation can no longer be read; its runs end with an error');
    return undefined;
  }
}

/** Why a run without a readable context ends. */
export const unreadable = (): StopReason =>
  new StopReason('failure', 'The part of the database that holds this conversation is damaged');
