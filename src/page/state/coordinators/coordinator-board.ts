import { type ReadonlySignal, signal } from '@preact/signals';
import type { Result } from '../../../../protocol/index.ts';
import { refusalOf } from '../accounts/refusal.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import type { Tab } from '../tab.ts';
import { withListed } from './children.ts';

type Coordinator = Result<'coordinator.list'>['coordinators'][number];
type Task = Result<'coordinator.tasks'>['tasks'][number];

/** The most children that the daemon lists. */
const MOST = 500;

/** What holds for a coordinator, its tasks, and what can be done with everything below it. */
export class CoordinatorBoard {
  readonly #client: Reader;
  readonly #tab: Pick<Tab, 'wsId' | 'conversation' | 'catchUp'>;
  readonly reading: Reading;
  readonly #coordinator = signal<Coordinator | undefined>(undefined);
  readonly #tasks = signal<readonly Task[]>([]);
  /** What the last action has done. */
  readonly done = signal<string | undefined>(undefined);
  readonly problem = signal<string | undefined>(undefined);

  constructor(client: Reader, tab: Pick<Tab, 'wsId' | 'conversation' | 'catchUp'>) {
    this.#client = client;
    this.#tab = tab;
    this.reading = new Reading(client);
  }

  /** Undefined until the first answer. */
  get coordinator(): ReadonlySignal<Coordinator | undefined> {
    return this.#coordinator;
  }

  /** The list that the coordinator keeps. */
  get tasks(): ReadonlySignal<readonly Task[]> {
    return this.#tasks;
  }

  read(): Promise<void> {
    const { wsId } = this.#tab;
    return this.reading.read(
      () =>
        Promise.all([
          this.#client.call('coordinator.list', { wsId }),
          this.#client.call('coordinator.tasks', { wsId }),
          this.#client.call('coordinator.children', { wsId, limit: MOST }),
        ]),
      ([{ coordinators }, { tasks }, { items }]) => {
        this.#coordinator.value = coordinators[0];
        this.#tasks.value = tasks;
        this.#tab.catchUp();
        const shown = this.#tab.conversation.peek();
        if (shown) this.#tab.conversation.value = { ...shown, children: withListed(shown.children, items) };
      },
    );
  }

  /** Lets its messages to workstreams below it go without asking, or not. This and the next methods return whether it was done; `done` or `problem` has the words. */
  trust(send: boolean): Promise<boolean> {
    return this.#attempt(async (wsId) => {
      await this.#client.call('coordinator.trust', { wsId, send });
      return send ? 'Its messages no longer ask.' : 'Its messages ask again.';
    });
  }

  /** Takes tools away from it and everything below it, for good. */
  restrict(tools: readonly string[]): Promise<boolean> {
    return this.#attempt(async (wsId) => {
      const { revokedTools } = await this.#client.call('coordinator.restrict', { wsId, revoke: [...tools] });
      return `Nothing here can use ${revokedTools.join(', ')} any more.`;
    });
  }

  /** Cancels what it and its children do now. */
  stop(): Promise<boolean> {
    return this.#attempt(async (wsId) => {
      const { cancelled, failed } = await this.#client.call('coordinator.stop', { wsId });
      return withFailed(`Stopped it and ${toWorkstreams(cancelled.length)}.`, failed);
    });
  }

  /** Closes its children; their conversations stay saved. */
  close(): Promise<boolean> {
    return this.#attempt(async (wsId) => {
      const { closed, failed } = await this.#client.call('coordinator.close', { wsId });
      return withFailed(`Closed ${toWorkstreams(closed.length)}.`, failed);
    });
  }

  async #attempt(act: (wsId: string) => Promise<string>): Promise<boolean> {
    [this.done.value, this.problem.value] = [undefined, undefined];
    const told = await act(this.#tab.wsId).then(
      (words) => ({ done: words }),
      (error) => ({ problem: refusalOf(error) }),
    );
    await this.read(); // before it is told: whoever reads the words may press the next key, and the form moves the focus now
    if ('problem' in told) this.problem.value = told.problem;
    else this.done.value = told.done;
    return 'done' in told;
  }
}

const toWorkstreams = (count: number): string => `${count} workstream${count === 1 ? '' : 's'}`;

const withFailed = (words: string, failed: readonly string[]): string =>
  failed.length === 0
    ? words
    : `${words} ${failed.length} could not be: ${failed.map((id) => id.slice(0, 8)).join(', ')}.`;
