import { type ReadonlySignal, signal } from '@preact/signals';
import type { CronOccurrence, CronRun } from '../../../../protocol/cron.ts';
import { type Reader, Reading } from '../reading/reading.ts';

const FEW = 10;
const MANY = 200;

interface Runs {
  /** The latest first. */
  entries: readonly CronOccurrence[];
  hasMore: boolean;
}

/** The history of a job. */
export class CronRuns {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #jobId: string;
  readonly #runs = signal<Runs | undefined>(undefined);
  #limit = FEW;

  constructor(client: Reader, jobId: string) {
    this.#client = client;
    this.reading = new Reading(client);
    this.#jobId = jobId;
  }

  /** Undefined until the first answer. */
  get runs(): ReadonlySignal<Runs | undefined> {
    return this.#runs;
  }

  more(): Promise<void> {
    this.#limit = MANY;
    return this.read();
  }

  read(): Promise<void> {
    const limit = this.#limit;
    return this.reading.read(
      () => this.#client.call('cron.runs', { id: this.#jobId, limit, extended: true }),
      ({ entries }) => {
        const hasMore = limit === FEW && entries.length === FEW;
        this.#runs.value = { entries: entries.filter(isOccurrence).reverse(), hasMore };
      },
    );
  }
}

const isOccurrence = (entry: CronRun | CronOccurrence): entry is CronOccurrence => 'trigger' in entry;
