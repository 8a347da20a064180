import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { KeptKey } from '../reading/kept-key.ts';
import type { Workstreams } from '../workstreams.ts';
import type { Tested } from './guide-words.ts';

const MEMORY_KEY = 'headgate.first-steps';

/** A harmless task that asks once. The demo model knows this sentence. */
export const FIRST_TASK = 'Create a file hello.txt with a greeting.';

interface Port {
  client: Pick<GatewayClient, 'call'>;
  workstreams: Pick<Workstreams, 'tabs' | 'create' | 'front'>;
  lasting: Pick<Storage, 'getItem' | 'setItem'>;
  newKey(): string;
}

/** The first steps in a new home: a model, a folder, and a first task that asks before it acts. */
export class Guide {
  readonly #port: Port;
  readonly #starting: KeptKey;
  readonly #opened = signal<'offered' | 'asked for' | undefined>(undefined);
  readonly #isOpen: ReadonlySignal<boolean>;
  readonly #task = signal<string | undefined>(undefined);
  readonly #tested = signal<ReadonlyMap<string, Tested>>(new Map());
  #isOffered = false;
  #isTaskDone = false;

  constructor(port: Port) {
    this.#port = port;
    this.#starting = new KeptKey(port.newKey);
    const { tabs } = port.workstreams;
    this.#isOpen = computed(
      () => this.#opened.value === 'asked for' || (this.#opened.value === 'offered' && tabs.value.length <= 1),
    );
  }

  /** Whether the steps are shown in an empty conversation. What was only offered ends with the first workstream of their own. */
  get isOpen(): ReadonlySignal<boolean> {
    return this.#isOpen;
  }

  /** The workstream of the first task, while the guide explains it. */
  get task(): ReadonlySignal<string | undefined> {
    return this.#task;
  }

  /** By the aliases of the models. */
  get tested(): ReadonlySignal<ReadonlyMap<string, Tested>> {
    return this.#tested;
  }

  /** Opens once, by itself, if nobody has worked here yet and it was not left in this browser before. */
  async offer(): Promise<void> {
    if (this.#isOffered || this.#wasLeft()) return;
    this.#isOffered = true;
    const { client, workstreams } = this.#port;
    if (workstreams.tabs.peek().length > 1) return;
    const { workstreams: saved } = await client.call('workstream.saved', { limit: 1 });
    if (saved.length === 0 && workstreams.tabs.peek().length <= 1) this.#opened.value = 'offered';
  }

  open(): void {
    this.#opened.value = 'asked for';
  }

  /** Follows the first task: the guide explains it, and nothing that a person does after it. */
  follow(isDone: boolean): void {
    if (isDone) this.#isTaskDone = true;
    else if (this.#isTaskDone) this.leave();
  }

  /** It does not open by itself again. */
  leave(): void {
    this.#opened.value = undefined;
    this.#task.value = undefined;
    try {
      this.#port.lasting.setItem(MEMORY_KEY, 'left');
    } catch {
      // The browser's storage is full or switched off: it is offered again after a reload.
    }
  }

  /** Asks the provider of a model whether it can be used. Never throws. */
  async test(alias: string): Promise<void> {
    this.#note(alias, 'waiting');
    try {
      this.#note(alias, await this.#port.client.call('models.test', { model: alias }));
    } catch (error) {
      this.#note(alias, { ok: false, elapsedMs: 0, problem: { kind: 'interrupted', text: wordsOf(error) } });
    }
  }

  /** Creates a workstream for the task and sends it. Throws what the daemon refuses. */
  async startTask({ model, workdir }: { model: string; workdir: string }): Promise<void> {
    const { client, workstreams } = this.#port;
    const chosen = { ...(model !== '' && { model }), ...(workdir !== '' && { workdir }) };
    const wsId = await this.#starting.ask({ name: 'First steps', ...chosen }, async (params) => {
      await workstreams.create(params);
      const created = workstreams.front.peek()?.wsId;
      if (created === undefined) throw new Error('The new workstream is not there.');
      const { idempotencyKey } = params;
      await client.call('workstream.send', { wsId: created, message: FIRST_TASK, idempotencyKey });
      return created;
    });
    this.leave();
    this.#isTaskDone = false;
    this.#task.value = wsId;
  }

  #note(alias: string, found: Tested): void {
    this.#tested.value = new Map(this.#tested.peek()).set(alias, found);
  }

  #wasLeft(): boolean {
    try {
      return this.#port.lasting.getItem(MEMORY_KEY) !== null;
    } catch {
      return true; // without storage it would come back at every visit
    }
  }
}
