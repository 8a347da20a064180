import { type ReadonlySignal, signal } from '@preact/signals';
import type { SkillSummary } from '../../../../protocol/methods/skills/skill.ts';
import { type Reader, Reading } from '../reading/reading.ts';

/** The skills that workstreams can have. Nothing is read until they are shown. */
export class SkillBoard {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly #skills = signal<readonly SkillSummary[] | undefined>(undefined);
  readonly query = signal('');

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** Undefined until the first answer. */
  get skills(): ReadonlySignal<readonly SkillSummary[] | undefined> {
    return this.#skills;
  }

  /** Those that match the search. */
  get found(): readonly SkillSummary[] | undefined {
    const words = this.query.value.toLowerCase().split(/\s+/).filter(Boolean);
    return this.#skills.value?.filter(({ name, category, description, tags }) =>
      words.every((word) => `${name} ${category} ${description} ${tags.join(' ')}`.toLowerCase().includes(word)),
    );
  }

  read(): Promise<void> {
    return this.reading.read(
      () => this.#client.call('skill.list', {}),
      ({ skills }) => {
        this.#skills.value = skills;
      },
    );
  }
}
