import { GatewayError } from '../../../protocol/errors.ts';
import { AT_ONCE, type Outcomes } from '../../agent/coordinator/coordination.ts';
import type { Log } from '../../log.ts';
import { DAEMON, type Viewer } from '../sharing/perception.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

interface EndDeps {
  workstreams: Pick<Workstreams, 'find' | 'close'>;
  log: Pick<Log, 'warn'>;
}

/** Stops what runs and waits in workstreams, 16 at a time. `skipped`: those in which nothing did. */
export const cancelAll = (wsIds: readonly string[], { workstreams, log }: EndDeps): Promise<Outcomes> =>
  endAll(wsIds, log, async (wsId) => {
    const workstream = workstreams.find(wsId, DAEMON);
    if (!workstream) return false;
    const { wasRunning, queuedMessages, backgroundCommands = 0 } = await workstream.cancel({ force: false });
    return wasRunning || queuedMessages.count > 0 || backgroundCommands > 0;
  });

/** Closes workstreams, 16 at a time. `skipped`: those that are closed. */
export const closeAll = (
  rows: readonly { ws_id: string; loaded: number }[],
  viewer: Viewer,
  { workstreams, log }: EndDeps,
): Promise<Outcomes> => {
  const closed = new Set(rows.filter(({ loaded }) => loaded === 0).map(({ ws_id }) => ws_id));
  return endAll(
    rows.map(({ ws_id }) => ws_id),
    log,
    async (wsId) => {
      if (closed.has(wsId)) return false;
      try {
        await workstreams.close(wsId, viewer);
        return true;
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'NOT_FOUND') return false; // closed meanwhile
        throw error;
      }
    },
  );
};

/** `end`: false if there was nothing to do. */
async function endAll(
  wsIds: readonly string[],
  log: EndDeps['log'],
  end: (wsId: string) => Promise<boolean>,
): Promise<Outcomes> {
  const ended = new Map<string, keyof Outcomes>();
  const waiting = [...wsIds];
  const worker = async () => {
    for (let wsId = waiting.shift(); wsId !== undefined; wsId = waiting.shift()) {
      try {
        ended.set(wsId, (await end(wsId)) ? 'done' : 'skipped');
      } catch (err) {
        log.warn({ err, wsId }, 'a workstream of a coordinator could not be stopped or closed');
        ended.set(wsId, 'failed');
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const those = (outcome: keyof Outcomes) => wsIds.filter((wsId) => ended.get(wsId) === outcome);
  return { done: those('done'), failed: those('failed'), skipped: those('skipped') };
}
