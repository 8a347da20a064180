import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Result } from '../../../../protocol/index.ts';
import type { Approval } from '../../../../protocol/methods/approval.ts';
import { refusalOf } from '../accounts/refusal.ts';
import type { Decided } from '../approvals/rule-choices.ts';
import { type PageClient, Reading } from '../reading/reading.ts';

/** A question with the time when it was asked, and what the judge's model has said about it. */
export type AskedApproval = Result<'approval.list'>['approvals'][number];

interface Port {
  client: Pick<PageClient, 'call' | 'on' | 'isOpen'>;
  now(): number;
  /** Whether the person decides about calls; otherwise nothing is read. */
  mayDecide(): boolean;
}

/** The questions of all workstreams that wait for a decision, oldest first. */
export class Inbox {
  readonly #client: Port['client'];
  readonly #mayDecide: Port['mayDecide'];
  readonly #waiting = signal<readonly AskedApproval[] | undefined>(undefined);
  /** Those that ended while the list was read, which may still name them. */
  readonly #ended = new Set<string>();
  /** Those that were asked while it was read, which it may not name yet. */
  readonly #asked = new Map<string, AskedApproval>();
  readonly reading: Reading;
  readonly count = computed(() => this.#waiting.value?.length ?? 0);

  constructor({ client, now, mayDecide }: Port) {
    this.#client = client;
    this.#mayDecide = mayDecide;
    this.reading = new Reading(client);
    client.on('approval.requested', (asked) => {
      if (this.#waiting.peek() !== undefined) this.#ask(asked, now());
      else void this.read();
    });
    client.on('approval.resolved', ({ approvalId }) => this.#end(approvalId));
  }

  /** Undefined until the first answer. */
  get waiting(): ReadonlySignal<readonly AskedApproval[] | undefined> {
    return this.#waiting;
  }

  async read(): Promise<void> {
    if (!this.#mayDecide()) return;
    this.#ended.clear();
    this.#asked.clear();
    await this.reading.read(
      () => this.#client.call('approval.list', {}),
      ({ approvals }) => {
        const all = new Map([...this.#asked, ...approvals.map((one) => [one.approvalId, one] as const)]);
        this.#set([...all.values()].filter(({ approvalId }) => !this.#ended.has(approvalId)));
      },
    );
  }

  /** Returns an error message, or undefined on success. */
  async decide(approvalId: string, decided: Decided): Promise<string | undefined> {
    try {
      await this.#client.call('approval.resolve', { approvalId, ...decided });
      this.#end(approvalId);
      return undefined;
    } catch (error) {
      return refusalOf(error);
    }
  }

  #ask(asked: Approval, nowMs: number): void {
    const known = this.#waiting.peek()?.find((one) => one.approvalId === asked.approvalId);
    const { askedAtMs = nowMs, modelVerdicts } = known ?? {};
    const added = { ...asked, askedAtMs, modelVerdicts };
    this.#asked.set(asked.approvalId, added);
    this.#set([...this.#others(asked.approvalId), added]);
  }

  #end(approvalId: string): void {
    this.#ended.add(approvalId);
    this.#asked.delete(approvalId);
    this.#set(this.#others(approvalId));
  }

  #others(approvalId: string): readonly AskedApproval[] {
    return (this.#waiting.peek() ?? []).filter((one) => one.approvalId !== approvalId);
  }

  #set(waiting: readonly AskedApproval[]): void {
    this.#waiting.value = waiting.toSorted((a, b) => a.askedAtMs - b.askedAtMs);
  }
}
