import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty } from '../../frames.ts';

/** What `skill` of a new workstream can name. */
export const SkillSummary = z
  .strictObject({
    name: NonEmpty,
    category: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    isDefault: z.boolean(),
    activation: z.enum(['named', 'default']),
    origin: z.string(),
    author: z.string(),
    version: z.string(),
  })
  .meta({ id: 'SkillSummary' });
export type SkillSummary = z.infer<typeof SkillSummary>;

/** Skills, which later releases of the specification have in place of templates. */
export const skillContracts = {
  'skill.list': contract({
    summary: 'The prompt templates and the enabled workstream templates, as clients of later releases list them.',
    scope: 'read',
    params: () => z.strictObject({}).meta({ id: 'SkillListParams' }),
    result: () => z.strictObject({ skills: z.array(SkillSummary) }).meta({ id: 'SkillListResult' }),
  }),
};
