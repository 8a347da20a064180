import type { Gateway } from '../../gateway/gateway.ts';
import type { DaemonStore } from '../../gateway/store/daemon-store.ts';
import type { DaemonOptions, SharedDaemon } from '../daemon-options.ts';

/** So long may a worker that is drained give its workstreams to the active daemon. */
const LEAVE_MS = 60_000;

/** How the daemon hands over; nothing if no other daemon can use its store. */
export function sharedBy(
  { shared, machine }: DaemonStore,
  gateway: Pick<Gateway, 'leave'>,
  { onOver, log }: Pick<DaemonOptions, 'onOver' | 'log'>,
): { shared?: SharedDaemon } {
  if (!shared) return {};
  return {
    shared: {
      epoch: shared.epoch,
      async drain() {
        if (machine !== null) {
          await gateway.leave(LEAVE_MS);
          return onOver('drained');
        }
        const machines = await shared.machines().catch((err: unknown) => {
          log.warn({ err }, 'the standbys cannot be read');
          return [];
        });
        if (machines.some(({ state }) => state === 'standby')) onOver('drained');
        else log.warn({}, 'there is no standby, so this daemon goes on');
      },
    },
  };
}
