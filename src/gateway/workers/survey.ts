import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { DAEMON, type Viewer } from '../sharing/perception.ts';
import type { SharedStore } from '../store/daemon-store.ts';
import type { KnownMachine } from '../store/postgres/lease/machines.ts';

/** What the database says about the machines. */
export interface Survey {
  readonly machines: readonly KnownMachine[];
  /** How many open workstreams wait for a machine that has gone. */
  readonly waiting: number;
}

interface SurveyDeps {
  shared: Pick<SharedStore, 'machines'>;
  /** Those of machines that have gone, which the active one cannot have. */
  waiting: { list(viewer: Viewer): Promise<readonly unknown[]> };
  clock: Pick<Clock, 'sleep'>;
  log: Pick<Log, 'debug'>;
}

const LOOK_MS = 1_000;

/** Looks again and again, so that nobody who asks waits for the database. */
export function createSurvey({ shared, waiting, clock, log }: SurveyDeps) {
  let latest: Survey = { machines: [], waiting: 0 };
  const look = async (): Promise<Survey> => {
    const [machines, rows] = await Promise.all([shared.machines(), waiting.list(DAEMON)]);
    return { machines, waiting: rows.length };
  };
  return {
    /** As of the last look that the database answered. */
    latest: () => latest,
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await look().then(
          (found) => {
            latest = found;
          },
          (err: unknown) => log.debug({ err }, 'the machines could not be looked at'),
        );
        await clock.sleep(LOOK_MS, signal).catch(() => undefined); // aborted: the loop ends
      }
    },
  };
}
