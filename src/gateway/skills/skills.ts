import { GatewayError } from '../../../protocol/errors.ts';
import { Skill, type SkillVersion } from '../../../protocol/methods/skills/skill.ts';
import { scanSkill } from '../../agent/skills/scan/scan-skill.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';
import { type SkillFields, toColumns, toResource, toSkill } from './skill-rows.ts';

export interface SkillsDeps {
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'id'>;
}

/** A file that a skill brings, before it is stored. */
export interface NewResource {
  path: string;
  content: string;
  contentType: string;
}

/** A skill with its files, before it is stored. */
export interface NewSkill {
  fields: SkillFields;
  resources: readonly NewResource[];
}

/** Who makes a change. Statements given as `also` are stored together with it. */
interface Change {
  by: string;
  also: readonly Statement[];
}

type ScannedFields = Pick<SkillFields, 'description' | 'content' | 'wantedTools' | 'allowedTools'>;

/** Skills in the database. */
export class Skills {
  readonly #deps: SkillsDeps;
  /** Enabled skills that need no name: read at each run, and seldom changed. */
  #unnamed: Promise<readonly Skill[]> | undefined;

  constructor(deps: SkillsDeps) {
    this.#deps = deps;
  }

  /** In the order of their names. */
  async list(): Promise<Skill[]> {
    return (await this.#all().execute()).map(toSkill);
  }

  /** Throws NOT_FOUND. */
  async get(skillId: string): Promise<Skill> {
    const row = await this.#all().where('skill_id', '=', skillId).executeTakeFirst();
    if (row === undefined) throw skillMissing();
    return toSkill(row);
  }

  async find(name: string): Promise<Skill | undefined> {
    const row = await this.#all().where('name', '=', name).executeTakeFirst();
    return row && toSkill(row);
  }

  /** Enabled ones with the activations `default` and `search`; those with the highest priority first. */
  unnamed(): Promise<readonly Skill[]> {
    this.#unnamed ??= this.#readUnnamed();
    return this.#unnamed;
  }

  async resources(skillId: string) {
    const rows = await this.#deps.store.db
      .selectFrom('skill_resources')
      .selectAll()
      .where('skill_id', '=', skillId)
      .orderBy('path')
      .execute();
    return rows.map(toResource);
  }

  /** Stores all of them or none. Throws CONFLICT when a name is taken. */
  async add(
    news: readonly NewSkill[],
    { by, also }: { by: string; also(ids: string[]): readonly Statement[] },
  ): Promise<Skill[]> {
    const made = news.map((one) => ({ ...one, skillId: this.#deps.ids.id('skl') }));
    const statements = made.flatMap((one) => this.#insert(one, by));
    await this.#commit([...statements, ...also(made.map(({ skillId }) => skillId))]);
    return Promise.all(made.map(({ skillId }) => this.get(skillId)));
  }

  /** Keeps the state before as a version. Throws CONFLICT when the name is taken, or the skill changed meanwhile. */
  async update(before: Skill, change: Partial<SkillFields>, { by, also }: Change): Promise<Skill> {
    const { skillId, revision } = before;
    const after: SkillFields = { ...fieldsOf(before), ...change };
    const nowMs = this.#deps.clock.now();
    const columns = { ...toColumns(after), revision: revision + 1, updated_ms: nowMs };
    const scan_json = JSON.stringify(await this.scan(skillId, after));
    const update = build
      .updateTable('skills')
      .set({ ...columns, scan_json })
      .where('skill_id', '=', skillId);
    const keep = build.insertInto('skill_versions').values({
      skill_id: skillId,
      revision,
      snapshot_json: JSON.stringify(before),
      changed_by: by,
      created_ms: nowMs,
    });
    await this.#commit([statementOf(update.where('revision', '=', revision), 1), statementOf(keep, 1), ...also]);
    return this.get(skillId);
  }

  /** With its versions and resources. Throws NOT_FOUND. */
  async remove(skillId: string, also: readonly Statement[]): Promise<void> {
    const own = build.deleteFrom('skills').where('skill_id', '=', skillId);
    const versions = build.deleteFrom('skill_versions').where('skill_id', '=', skillId);
    const resources = build.deleteFrom('skill_resources').where('skill_id', '=', skillId);
    const statements = [statementOf(own, 1), statementOf(versions), statementOf(resources), ...also];
    await this.#commit(statements, { refused: skillMissing });
  }

  /** Newest first. Throws NOT_FOUND. */
  async versions(skillId: string): Promise<SkillVersion[]> {
    await this.get(skillId);
    const rows = await this.#deps.store.db
      .selectFrom('skill_versions')
      .selectAll()
      .where('skill_id', '=', skillId)
      .orderBy('revision', 'desc')
      .execute();
    return rows.map((row) => ({
      id: `${row.skill_id}:${row.revision}`,
      skillId: row.skill_id,
      version: row.revision,
      snapshot: Skill.parse(JSON.parse(row.snapshot_json)),
      changedBy: row.changed_by,
      createdAtMs: row.created_ms,
    }));
  }

  /** Stores another scan, and what is given as `also`, which may change the resources. */
  async rescan(
    skill: Skill,
    { files, also }: { files?: readonly Pick<NewResource, 'path' | 'content'>[]; also: readonly Statement[] },
  ): Promise<Skill> {
    const { skillId, revision } = skill;
    const scan_json = JSON.stringify(await this.scan(skillId, skill, files));
    const update = build.updateTable('skills').set({ scan_json }).where('skill_id', '=', skillId);
    const statements = [statementOf(update.where('revision', '=', revision), 1), ...also];
    await this.#commit(statements, { taken: changedMeanwhile });
    return this.get(skillId);
  }

  /** `files`: instead of those that are stored. */
  async scan(
    skillId: string,
    { description, content: text, wantedTools, allowedTools }: ScannedFields,
    files?: readonly Pick<NewResource, 'path' | 'content'>[],
  ) {
    const scanned = files ?? (await this.resources(skillId));
    return scanSkill({ description, text, allowedTools: [...wantedTools, ...allowedTools], files: scanned });
  }

  #insert({ skillId, fields, resources }: NewSkill & { skillId: string }, by: string): Statement[] {
    const nowMs = this.#deps.clock.now();
    const { description, content: text, wantedTools, allowedTools } = fields;
    const scan = scanSkill({ description, text, allowedTools: [...wantedTools, ...allowedTools], files: resources });
    const row = {
      skill_id: skillId,
      ...toColumns(fields),
      scan_json: JSON.stringify(scan),
      revision: 1,
      created_by: by,
      created_ms: nowMs,
      updated_ms: nowMs,
    };
    const files = resources.map(({ path, content, contentType }) => ({
      skill_id: skillId,
      path,
      resource_id: this.#deps.ids.id('res'),
      content,
      content_type: contentType,
      size: Buffer.byteLength(content),
      created_ms: nowMs,
    }));
    return [
      statementOf(build.insertInto('skills').values(row), 1),
      ...files.map((file) => statementOf(build.insertInto('skill_resources').values(file), 1)),
    ];
  }

  async #readUnnamed(): Promise<readonly Skill[]> {
    try {
      const rows = await this.#all().where('enabled', '=', 1).where('activation', '!=', 'named').execute();
      return rows.map(toSkill).sort((a, b) => b.priority - a.priority);
    } catch (error) {
      this.#unnamed = undefined;
      throw error;
    }
  }

  #all() {
    return this.#deps.store.db
      .selectFrom('skills')
      .selectAll()
      .select((from) =>
        from
          .selectFrom('skill_resources')
          .select(({ fn }) => fn.countAll<number>().as('n'))
          .whereRef('skill_resources.skill_id', '=', 'skills.skill_id')
          .as('resources'),
      )
      .$narrowType<{ resources: number }>()
      .orderBy('name');
  }

  async #commit(statements: Statement[], { refused = changedMeanwhile, taken = nameTaken } = {}): Promise<void> {
    try {
      await this.#deps.store.commit({ statements, durable: true });
    } catch (error) {
      if (!(error instanceof UnitRefused)) throw error;
      throw error.why === 'key' ? taken(error) : refused(error);
    } finally {
      this.#unnamed = undefined;
    }
  }
}

const fieldsOf = ({ version, revision, ...skill }: Skill): SkillFields => ({
  ...skill,
  version: version === String(revision) ? '' : version,
});

const skillMissing = (cause?: unknown) => new GatewayError('NOT_FOUND', 'Skill not found', { cause });

const nameTaken = (cause: unknown) =>
  new GatewayError('CONFLICT', 'Skill name already exists', {
    cause,
    details: { issues: [{ path: 'name', message: 'is taken by another skill' }] },
  });

const changedMeanwhile = (cause: unknown) =>
  new GatewayError('CONFLICT', 'The skill was changed meanwhile; try again', { cause, retryable: true });
