import { type ReadonlySignal, signal } from '@preact/signals';
import type { Result } from '../../../../protocol/index.ts';
import type { Skill, SkillSummary, SkillVersion } from '../../../../protocol/methods/skills/skill.ts';
import type { SkillResource } from '../../../../protocol/methods/skills/skill-resource.ts';
import { attempt } from '../accounts/refusal.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { attemptForm, type FormRefusal } from './refused-fields.ts';
import { readSkill, SKILL_FIELDS, type SkillTexts, textsOf } from './skill-draft.ts';

/** A skill that workstreams can have; with how it is stored for those who may change it. */
export interface SkillEntry {
  summary: SkillSummary;
  /** Undefined for templates, which work as skills do, and for those who may not change skills. */
  stored: Skill | undefined;
}

/** What an installation has done. */
export type Installed = Result<'skill.install'>;

/** The skills that workstreams can have. Nothing is read until they are shown. */
export class SkillBoard {
  readonly #client: Reader;
  #mayChange = false;
  readonly reading: Reading;
  readonly #entries = signal<readonly SkillEntry[] | undefined>(undefined);
  readonly query = signal('');

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** In the order of their names. Undefined until the first answer. */
  get entries(): ReadonlySignal<readonly SkillEntry[] | undefined> {
    return this.#entries;
  }

  /** Those that match the search. */
  get found(): readonly SkillEntry[] | undefined {
    const words = this.query.value.toLowerCase().split(/\s+/).filter(Boolean);
    return this.#entries.value?.filter(({ summary: { name, category, description, tags } }) =>
      words.every((word) => `${name} ${category} ${description} ${tags.join(' ')}`.toLowerCase().includes(word)),
    );
  }

  /** Called when the list is shown; with how skills are stored, for those who may change them. */
  show({ mayChange }: { mayChange: boolean }): Promise<void> {
    this.#mayChange = mayChange;
    return this.read();
  }

  read(): Promise<void> {
    const stored = () => (this.#mayChange ? this.#client.call('skill.details', {}) : { skills: [] });
    return this.reading.read(
      () => Promise.all([this.#client.call('skill.list', {}), stored()]),
      ([{ skills }, { skills: all }]) => {
        this.#entries.value = toEntries(skills, all);
      },
    );
  }

  /** Adds a skill, or changes `before`. Returns why it was refused, or undefined on success. */
  async save(texts: SkillTexts, before: Skill | undefined): Promise<FormRefusal | undefined> {
    const refused = await attemptForm(async () => {
      const change = readSkill(texts, before);
      if (before === undefined) await this.#client.call('skill.create', change);
      else if (Object.keys(change).length > 0)
        await this.#client.call('skill.update', { skillId: before.skillId, ...change });
    }, SKILL_FIELDS);
    await this.read(); // after a refusal too: the list may be out of date
    return refused;
  }

  /** This and the next methods return an error message, or undefined on success. */
  setEnabled({ skillId }: Skill, enabled: boolean): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('skill.update', { skillId, enabled }));
  }

  remove({ skillId }: Skill): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('skill.delete', { skillId }));
  }

  rescan({ skillId }: Skill): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('skill.rescan', { skillId }));
  }

  /** Makes the skill as it was before an edit; that is an edit, too. */
  restore(now: Skill, { snapshot }: SkillVersion): Promise<string | undefined> {
    const change = { ...readSkill(textsOf(snapshot), now), enabled: snapshot.enabled };
    return this.#attempt(() => this.#client.call('skill.update', { skillId: now.skillId, ...change }));
  }

  /** The states before edits, newest first. */
  async versions({ skillId }: Skill): Promise<readonly SkillVersion[]> {
    return (await this.#client.call('skill.versions', { skillId })).versions;
  }

  async files({ skillId }: Skill): Promise<readonly SkillResource[]> {
    return (await this.#client.call('skill.resource.list', { skillId })).resources;
  }

  async addFile({ skillId }: Skill, file: { path: string; content: string }): Promise<FormRefusal | undefined> {
    const add = () => this.#client.call('skill.resource.create', { skillId, ...file });
    const refused = await attemptForm(add, ['path', 'content']);
    await this.read();
    return refused;
  }

  removeFile({ skillId }: Skill, path: string): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('skill.resource.delete', { skillId, path }));
  }

  /** Fetches, scans and stores skills of others. Throws with what is wrong. */
  async install(from: { sourceSkillId: string } | { url: string; digest?: string }): Promise<Installed> {
    const source = 'url' in from ? 'github' : 'skills.sh';
    try {
      return await this.#client.call('skill.install', { source, ...from });
    } finally {
      await this.read();
    }
  }

  async #attempt(act: () => Promise<unknown>): Promise<string | undefined> {
    const problem = await attempt(act);
    await this.read();
    return problem;
  }
}

/** Disabled skills are stored only, and templates are listed only. */
function toEntries(listed: readonly SkillSummary[], stored: readonly Skill[]): SkillEntry[] {
  const names = new Set(stored.map(({ name }) => name));
  const others = listed.filter(({ name }) => !names.has(name)).map((summary) => ({ summary, stored: undefined }));
  const own = stored.map((skill) => ({
    summary: { ...skill, isDefault: skill.activation === 'default' },
    stored: skill,
  }));
  return [...others, ...own].sort((a, b) => (a.summary.name < b.summary.name ? -1 : 1));
}
