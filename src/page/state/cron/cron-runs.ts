import { type ReadonlySignal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { CronOccurrence, CronRun } from '../../../../protocol/cron.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';

const FEW = 10;
const MANY = 200;

interface Runs {
  /** The latest first. */
  entries: readonly CronOccurrence[];
  hasMore: boolean;
}

/** The history of a job. */
export class CronRuns {
  readonly #client: Pick<GatewayClient, 'call'>;
  readonly #jobId: string;
  readonly #runs = signal<Runs | undefined>(undefined);
  readonly #problem = signal<string | undefined>(undefined);
  #limit = FEW;
  /** Number of the latest request; answers to earlier requests are ignored. */
  #asked = 0;

  constructor(client: Pick<GatewayClient, 'call'>, jobId: string) {
    this.#client = client;
    this.#jobId = jobId;
  }

  /** Undefined until the first answer. */
  get runs(): ReadonlySignal<Runs | undefined> {
    return this.#runs;
  }

  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  more(): Promise<void> {
    this.#limit = MANY;
    return this.read();
  }

  async read(): Promise<void> {
    const asked = ++this.#asked;
    const limit = this.#limit;
    try {
      const { entries } = await this.#client.call('cron.runs', { id: this.#jobId, limit, extended: true });
      if (asked !== this.#asked) return;
      const hasMore = limit === FEW && entries.length === FEW;
      this.#runs.value = { entries: entries.filter(isOccurrence).reverse(), hasMore };
      this.#problem.value = undefined;
    } catch (error) {
      if (asked === this.#asked) this.#problem.value = wordsOf(error);
    }
  }
}

const isOccurrence = (entry: CronRun | CronOccurrence): entry is CronOccurrence => 'trigger' in entry;
