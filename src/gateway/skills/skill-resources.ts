import { GatewayError } from '../../../protocol/errors.ts';
import { MAX_RESOURCE_BYTES, type SkillResource } from '../../../protocol/methods/skills/skill-resource.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement } from '../store/store.ts';
import type { NewResource, Skills, SkillsDeps } from './skills.ts';

/** Of one skill. */
export const MOST_RESOURCES = 100;

/** Changes the files that skills bring. Each change scans the skill again, in the same step. */
export class SkillResources {
  readonly #skills: Skills;
  readonly #deps: Pick<SkillsDeps, 'clock' | 'ids'>;

  constructor(skills: Skills, deps: Pick<SkillsDeps, 'clock' | 'ids'>) {
    this.#skills = skills;
    this.#deps = deps;
  }

  /** Throws NOT_FOUND for an unknown skill. */
  async list(skillId: string): Promise<SkillResource[]> {
    await this.#skills.get(skillId);
    return this.#skills.resources(skillId);
  }

  /** Throws NOT_FOUND. */
  async get(skillId: string, path: string): Promise<SkillResource> {
    const found = (await this.list(skillId)).find((resource) => resource.path === path);
    if (!found) throw resourceMissing();
    return found;
  }

  /** Throws FORBIDDEN for an installed skill, CONFLICT for a path in use, and INVALID_REQUEST for too much. */
  async add(skillId: string, { path, content, contentType }: NewResource, also: readonly Statement[]) {
    const skill = await this.#own(skillId);
    const before = await this.#skills.resources(skillId);
    const size = Buffer.byteLength(content);
    const total = before.reduce((sum, resource) => sum + resource.size, size);
    if (before.some((resource) => resource.path === path)) throw pathTaken();
    if (before.length >= MOST_RESOURCES) throw tooMany();
    if (total > MAX_RESOURCE_BYTES) throw tooLarge();
    const row = {
      skill_id: skillId,
      path,
      resource_id: this.#deps.ids.id('res'),
      content,
      content_type: contentType,
      size,
      created_ms: this.#deps.clock.now(),
    };
    const insert = statementOf(build.insertInto('skill_resources').values(row), 1);
    // Others may have been added since.
    const within: Statement = {
      sql: `update skills set updated_ms = updated_ms where skill_id = ?
        and (select sum(size) from skill_resources where skill_id = ?) <= ?
        and (select count(*) from skill_resources where skill_id = ?) <= ?`,
      parameters: [skillId, skillId, MAX_RESOURCE_BYTES, skillId, MOST_RESOURCES],
      expect: 1,
    };
    await this.#skills.rescan(skill, { files: [...before, row], also: [insert, within, ...also] });
    return this.get(skillId, path);
  }

  /** Throws FORBIDDEN for an installed skill, and NOT_FOUND. */
  async remove(skillId: string, path: string, also: readonly Statement[]): Promise<void> {
    const skill = await this.#own(skillId);
    const before = await this.#skills.resources(skillId);
    if (!before.some((resource) => resource.path === path)) throw resourceMissing();
    const own = build.deleteFrom('skill_resources').where('skill_id', '=', skillId).where('path', '=', path);
    const files = before.filter((resource) => resource.path !== path);
    await this.#skills.rescan(skill, { files, also: [statementOf(own, 1), ...also] });
  }

  async #own(skillId: string) {
    const skill = await this.#skills.get(skillId);
    if (skill.origin === 'source') throw new GatewayError('FORBIDDEN', 'Installed skills are read-only');
    return skill;
  }
}

const resourceMissing = () => new GatewayError('NOT_FOUND', 'Resource not found');
const pathTaken = () =>
  new GatewayError('CONFLICT', 'Resource path already exists', {
    details: { issues: [{ path: 'path', message: 'is taken by another file' }] },
  });
const tooMany = () => new GatewayError('INVALID_REQUEST', `Maximum ${MOST_RESOURCES} resources per skill`);
const tooLarge = () =>
  new GatewayError(
    'INVALID_REQUEST',
    `Resource exceeds ${MAX_RESOURCE_BYTES / 1024}KB limit of all resources of a skill`,
  );
