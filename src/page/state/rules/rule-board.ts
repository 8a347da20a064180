import { type ReadonlySignal, signal } from '@preact/signals';
import type { Rule } from '../../../../protocol/methods/admin/rule.ts';
import { attempt, refusalOf } from '../accounts/refusal.ts';
import { type Reader, Reading } from '../reading/reading.ts';

/** The permission rules that the person may see. Nothing is read until they are shown. */
export class RuleBoard {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #rules = signal<readonly Rule[] | undefined>(undefined);

  constructor(client: Reader) {
    this.#client = client;
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

  /** What deleting a rule would have done to the latest calls, in words; or why that is unknown. */
  async tryWithout(ruleId: string): Promise<string> {
    try {
      const { total, changed } = await this.#client.call('rule.simulate', { without: [ruleId] });
      if (total === 0) return 'No calls of tools are stored yet.';
      return `Without it, ${changed === 0 ? 'none' : changed} of the latest ${total} calls would have been decided otherwise.`;
    } catch (error) {
      return refusalOf(error);
    }
  }
}
