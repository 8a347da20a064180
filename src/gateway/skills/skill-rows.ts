import { z } from 'zod';
import { Skill, SkillScan } from '../../../protocol/methods/skills/skill.ts';
import type { SkillResource } from '../../../protocol/methods/skills/skill-resource.ts';
import type { SkillResourceTable, SkillTable } from '../store/schema/skills/skill-schema.ts';

/** What is stored as JSON: the fields without a column. */
const Fields = Skill.omit({
  skillId: true,
  name: true,
  content: true,
  scan: true,
  origin: true,
  enabled: true,
  activation: true,
  revision: true,
  createdBy: true,
  resourceCount: true,
  createdAtMs: true,
  updatedAtMs: true,
});

/** The fields of a skill that are set when it is stored. */
export type SkillFields = z.infer<typeof Fields> &
  Pick<Skill, 'name' | 'content' | 'origin' | 'enabled' | 'activation'>;

/** What a skill begins with. */
export const NEW_SKILL: Omit<SkillFields, 'name' | 'description' | 'content'> = {
  category: 'general',
  tags: [],
  variables: '[]',
  activation: 'named',
  kind: 'any',
  origin: 'manual',
  sourceUrl: '',
  digest: '',
  author: '',
  version: '',
  license: '',
  compatibility: '',
  wantedTools: [],
  model: '',
  autoApprove: false,
  allowedTools: [],
  temperature: null,
  reasoningEffort: '',
  maxTokens: null,
  tokenBudget: 0,
  agentMaxTurns: null,
  notifyOnComplete: '{}',
  enabled: true,
  priority: 0,
};

/** The columns that an edit changes, without the scan. */
export const toColumns = ({ name, content, origin, enabled, activation, ...fields }: SkillFields) => ({
  name,
  content,
  origin,
  enabled: enabled ? 1 : 0,
  activation,
  fields_json: JSON.stringify(z.object(Fields.shape).parse(fields)), // without the fields of other columns
});

/** `resources`: how many it has. */
export function toSkill(row: SkillTable & { resources: number }): Skill {
  const fields = Fields.parse(JSON.parse(row.fields_json));
  return {
    ...fields,
    skillId: row.skill_id,
    name: row.name,
    content: row.content,
    origin: row.origin,
    enabled: row.enabled === 1,
    activation: row.activation,
    version: fields.version === '' ? String(row.revision) : fields.version,
    revision: row.revision,
    createdBy: row.created_by,
    scan: SkillScan.parse(JSON.parse(row.scan_json)),
    resourceCount: Number(row.resources),
    createdAtMs: row.created_ms,
    updatedAtMs: row.updated_ms,
  };
}

export const toResource = (row: SkillResourceTable): SkillResource => ({
  resourceId: row.resource_id,
  skillId: row.skill_id,
  path: row.path,
  content: row.content,
  contentType: row.content_type,
  size: row.size,
  createdAtMs: row.created_ms,
});
