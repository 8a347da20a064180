import { type ReadonlySignal, signal } from '@preact/signals';
import type { SimulatedPolicy, ToolPolicy } from '../../../../protocol/methods/admin/policy.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { type Simulation, simulate } from '../rules/simulation.ts';
import { attempt } from './refusal.ts';

/** What the form for a policy holds. */
export type PolicyDraft = SimulatedPolicy & { name: string };

/** The tool policies of the daemon. Nothing is read until they are shown. */
export class PolicyBoard {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #policies = signal<readonly ToolPolicy[] | undefined>(undefined);

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** In the order in which they decide. Undefined until the first answer. */
  get policies(): ReadonlySignal<readonly ToolPolicy[] | undefined> {
    return this.#policies;
  }

  read(): Promise<void> {
    return this.reading.read(
      () => this.#client.call('policy.list', {}),
      ({ policies }) => {
        this.#policies.value = policies;
      },
    );
  }

  /** Adds a policy, or changes the one with this id. This and the next methods return an error message, or undefined on success. */
  save(draft: PolicyDraft, policyId: string | undefined): Promise<string | undefined> {
    return this.#attempt(() =>
      policyId === undefined
        ? this.#client.call('policy.create', draft)
        : this.#client.call('policy.update', { policyId, ...draft }),
    );
  }

  setEnabled(policyId: string, enabled: boolean): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('policy.update', { policyId, enabled }));
  }

  remove(policyId: string): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('policy.delete', { policyId }));
  }

  /** What saving the draft would have done to the latest calls. */
  tryOut(draft: PolicyDraft, policyId: string | undefined): Promise<Simulation> {
    const before = (this.#policies.value ?? []).toSorted((a, b) => a.createdAtMs - b.createdAtMs);
    const after = before.map((policy) => toSimulated(policy.policyId === policyId ? draft : policy));
    const policies = policyId === undefined ? [...before.map(toSimulated), toSimulated(draft)] : after;
    return simulate(() => this.#client.call('policy.simulate', { policies }));
  }

  async #attempt(act: () => Promise<unknown>): Promise<string | undefined> {
    const problem = await attempt(act);
    await this.read(); // after a refusal too: the list may be out of date
    return problem;
  }
}

const toSimulated = ({ toolPattern, action, priority, enabled }: SimulatedPolicy): SimulatedPolicy => ({
  toolPattern,
  action,
  priority,
  enabled,
});
