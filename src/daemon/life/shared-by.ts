import type { DaemonStore } from '../../gateway/store/daemon-store.ts';
import type { DaemonOptions, SharedDaemon } from '../daemon-options.ts';

/** How the daemon hands over; nothing if no other daemon can use its store. */
export function sharedBy(
  { shared }: DaemonStore,
  { onOver, log }: Pick<DaemonOptions, 'onOver' | 'log'>,
): { shared?: SharedDaemon } {
  if (!shared) return {};
  return {
    shared: {
      epoch: shared.epoch,
      async drain() {
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
