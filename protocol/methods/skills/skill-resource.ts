import { z } from 'zod';
import { contract } from '../../contract.ts';
import { SkillId } from './skill.ts';

/** Of all resources of a skill together. */
export const MAX_RESOURCE_BYTES = 256 * 1024;

/** A file that a skill brings. */
export const SkillResource = z
  .strictObject({
    resourceId: z.string(),
    skillId: z.string(),
    /** Below `scripts/`, `references/` or `assets/`. */
    path: z.string(),
    content: z.string(),
    contentType: z.string(),
    /** In bytes. */
    size: z.int().min(0),
    createdAtMs: z.int().min(0),
  })
  .meta({ id: 'SkillResource' });
export type SkillResource = z.infer<typeof SkillResource>;

/** Long enough that the handler can say what is wrong with a path. */
const Path = z.string().max(4_096);
const ByPath = z.strictObject({ skillId: SkillId, path: Path });

/** The files that skills bring. */
export const skillResourceContracts = {
  'skill.resource.list': contract({
    summary: 'The resources of a skill in the order of their paths.',
    scope: 'approve',
    permission: 'admin.skills',
    params: () => z.strictObject({ skillId: SkillId }).meta({ id: 'SkillResourceListParams' }),
    result: () => z.strictObject({ resources: z.array(SkillResource) }).meta({ id: 'SkillResourceListResult' }),
  }),
  'skill.resource.create': contract({
    summary: 'Add a resource to a skill that was not installed.',
    scope: 'approve',
    permission: 'admin.skills',
    audit: { action: 'skill.resource_create', id: 'skillId' },
    params: () =>
      z
        .strictObject({
          skillId: SkillId,
          path: Path.optional(),
          content: z
            .string()
            .max(MAX_RESOURCE_BYTES + 1)
            .optional(),
          contentType: z.string().max(128).optional(),
        })
        .meta({ id: 'SkillResourceCreateParams' }),
    result: () => SkillResource,
  }),
  'skill.resource.get': contract({
    summary: 'One resource of a skill.',
    scope: 'approve',
    permission: 'admin.skills',
    params: () => ByPath.meta({ id: 'SkillResourceGetParams' }),
    result: () => SkillResource,
  }),
  'skill.resource.delete': contract({
    summary: 'Delete a resource of a skill that was not installed.',
    scope: 'approve',
    permission: 'admin.skills',
    audit: { action: 'skill.resource_delete', id: 'skillId' },
    params: () => ByPath.meta({ id: 'SkillResourceDeleteParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'SkillResourceDeleteResult' }),
  }),
};
