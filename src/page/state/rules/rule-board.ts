import { type ReadonlySignal, signal } from '@preact/signals';
import type { Rule } from '../../../../protocol/methods/admin/rule.ts';
import { attempt } from '../accounts/refusal.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { isSameRule, type RuleDraft } from './rule-draft.ts';
import { type Simulation, simulate } from './simulation.ts';

/** The permission rules that the person may see. Nothing is read until they are shown. */
export class RuleBoard {
  readonly #client: Reader;
  readonly #now: () => number;
  readonly reading: Reading;
  readonly #rules = signal<readonly Rule[] | undefined>(undefined);

  constructor({ client, now }: { client: Reader; now(): number }) {
    this.#client = client;
    this.#now = now;
    this.reading = new Reading(client);
  }

  /** In the order in which they decide. Undefined until the first answer. */
  get rules(): ReadonlySignal<readonly Rule[] | undefined> {
    return this.#rules;
  }

  read(): Promise<void> {
    return this.reading.read(
      () => this.#client.call('rule.list', {}),
      ({ rules }) => {
        this.#rules.value = rules;
      },
    );
  }

  /** Returns an error message, or undefined on success. */
  async remove(ruleId: string): Promise<string | undefined> {
    const problem = await attempt(() => this.#client.call('rule.delete', { ruleId }));
    await this.read(); // after a refusal too: the list may be out of date
    return problem;
  }

  /**
   * Adds a rule, or changes one. A rule about other calls, or in another place, is a new one, which replaces the one before.
   * Returns an error message, or undefined on success.
   */
  async save(draft: RuleDraft, before: Rule | undefined): Promise<string | undefined> {
    const { action, priority, expiresInMs, ...about } = draft;
    const problem = await attempt(async () => {
      if (before !== undefined && isSameRule(before, draft)) {
        await this.#client.call('rule.update', { ruleId: before.ruleId, action, priority, expiresInMs });
        return;
      }
      const lasts = expiresInMs === undefined ? leftOf(before, this.#now()) : (expiresInMs ?? undefined);
      await this.#client.call('rule.create', { action, priority, ...about, expiresInMs: lasts });
      if (before !== undefined) await this.#client.call('rule.delete', { ruleId: before.ruleId });
    });
    await this.read();
    return problem;
  }

  /** What saving a draft would have done to the latest calls. */
  tryOut({ expiresInMs: _, ...rule }: RuleDraft, before: Rule | undefined): Promise<Simulation> {
    const without = before === undefined ? [] : [before.ruleId];
    return simulate(() => this.#client.call('rule.simulate', { add: [rule], without }));
  }

  /** What deleting a rule would have done to the latest calls. */
  tryWithout(ruleId: string): Promise<Simulation> {
    return simulate(() => this.#client.call('rule.simulate', { without: [ruleId] }));
  }
}

/** How long a rule still holds; undefined: without end. If the clock of this machine is slow, no longer than after its last change. */
function leftOf(rule: Rule | undefined, nowMs: number): number | undefined {
  if (rule?.expiresAtMs === undefined) return undefined;
  return Math.max(LEAST_MS, Math.ceil(rule.expiresAtMs - Math.max(nowMs, rule.updatedAtMs)));
}

/** The daemon takes no shorter ends. */
const LEAST_MS = 1_000;
