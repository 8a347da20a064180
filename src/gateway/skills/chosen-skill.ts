import { z } from 'zod';
import { SkillTier } from '../../../protocol/methods/skills/skill.ts';
import type { AgentSkill } from '../../agent/skills/skill-source.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';

/** The skill that people chose for a workstream. Its text is the one of that time. */
export interface ChosenSkill {
  /** Of a stored skill. */
  skillId: string | undefined;
  revision: number | undefined;
  skill: AgentSkill;
}

const Stored: z.ZodType<AgentSkill> = z.object({
  name: z.string(),
  description: z.string(),
  origin: z.enum(['manual', 'source', 'home', 'project']),
  text: z.string(),
  digest: z.string(),
  folder: z.string().exactOptional(),
  files: z.array(z.string()),
  shownFiles: z.array(z.object({ path: z.string(), content: z.string() })),
  isUntrusted: z.boolean(),
  tier: SkillTier.exactOptional(),
});

/** Undefined also if what is stored is damaged: the conversation goes on without it. */
export async function readChosen({ db }: Pick<Store, 'db'>, wsId: string): Promise<ChosenSkill | undefined> {
  const row = await db.selectFrom('chosen_skills').selectAll().where('ws_id', '=', wsId).executeTakeFirst();
  if (!row) return undefined;
  const skill = Stored.safeParse(parsed(row.skill_json)).data;
  return skill && { skillId: row.skill_id ?? undefined, revision: row.revision ?? undefined, skill };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // damaged
  }
}

/** Replaces the chosen skill; undefined: none is chosen any more. */
export function storeChosen(wsId: string, chosen: ChosenSkill | undefined): Statement[] {
  const remove = statementOf(build.deleteFrom('chosen_skills').where('ws_id', '=', wsId));
  if (!chosen) return [remove];
  const { skill, skillId = null, revision = null } = chosen;
  const row = { ws_id: wsId, name: skill.name, skill_id: skillId, revision, skill_json: JSON.stringify(skill) };
  return [remove, statementOf(build.insertInto('chosen_skills').values(row), 1)];
}

/** Gives a copy of a conversation the skill of the original. */
export const copyChosen = (from: string, to: string): Statement => ({
  sql: `insert into chosen_skills (ws_id, name, skill_id, revision, skill_json)
        select ?, name, skill_id, revision, skill_json from chosen_skills where ws_id = ?`,
  parameters: [to, from],
});
