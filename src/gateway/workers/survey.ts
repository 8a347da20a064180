import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { SharedStore } from '../store/daemon-store.ts';
import type { KnownMachine } from '../store/postgres/lease/machines.ts';
import type { Store } from '../store/store.ts';
import { isMoving } from './elsewhere.ts';

/** What the database says about the machines. */
export interface Survey {
  readonly machines: readonly KnownMachine[];
  /** How many open workstreams wait for each machine whose lease has ended. */
  readonly waiting: ReadonlyMap<string, number>;
}

interface SurveyDeps {
  store: Pick<Store, 'db'>;
  shared: Pick<SharedStore, 'machines' | 'liveWorkers'>;
  clock: Pick<Clock, 'sleep'>;
  log: Pick<Log, 'debug'>;
}

const LOOK_MS = 1_000;

/** Looks again and again, so that nobody who asks waits for the database. */
export function createSurvey({ store, shared, clock, log }: SurveyDeps) {
  let latest: Survey = { machines: [], waiting: new Map() };
  const look = async (): Promise<Survey> => {
    const [machines, alive, placed] = await Promise.all([shared.machines(), shared.liveWorkers(), countPlaced(store)]);
    const waiting = placed.filter(([machine]) => !alive.has(machine) && !isMoving(machine));
    return { machines, waiting: new Map(waiting) };
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

/** The open workstreams that machines other than the active one have. */
async function countPlaced({ db }: Pick<Store, 'db'>): Promise<[machine: string, count: number][]> {
  const rows = await db
    .selectFrom('workstreams')
    .select((select) => ['machine', select.fn.countAll<number>().as('n')])
    .where('machine', 'is not', null)
    .where('loaded', 'in', [1, 2])
    .groupBy('machine')
    .execute();
  return rows.flatMap(({ machine, n }) => (machine === null ? [] : [[machine, Number(n)]]));
}
