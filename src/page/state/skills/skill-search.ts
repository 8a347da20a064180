import { type ReadonlySignal, signal } from '@preact/signals';
import type { Result } from '../../../../protocol/index.ts';
import { type Reader, Reading } from '../reading/reading.ts';

/** A skill that the directory offers. */
export type OfferedSkill = Result<'skill.discover'>['skills'][number];

/** A search in the directory of skills. */
export class SkillSearch {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #found = signal<readonly OfferedSkill[] | undefined>(undefined);
  #query = '';

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** Undefined before the first answer. */
  get found(): ReadonlySignal<readonly OfferedSkill[] | undefined> {
    return this.#found;
  }

  search(query: string): Promise<void> {
    this.#query = query;
    this.#found.value = undefined;
    return this.again();
  }

  /** Reads again what is installed of the results. */
  again(): Promise<void> {
    return this.reading.read(
      () => this.#client.call('skill.discover', { query: this.#query, limit: 50 }),
      ({ skills }) => {
        this.#found.value = skills;
      },
    );
  }
}
