import { z } from 'zod';
import { contract } from '../../contract.ts';
import { Skill, SkillTier } from './skill.ts';

/** A skill that a source offers. */
const DiscoveredSkill = z
  .strictObject({
    /** What `skill.install` takes as `sourceSkillId`. */
    id: z.string(),
    name: z.string(),
    description: z.string(),
    author: z.string(),
    source: z.string(),
    sourceUrl: z.string(),
    installCount: z.int().min(0),
    tags: z.array(z.string()),
    isInstalled: z.boolean(),
    /** Of the installed one. */
    tier: SkillTier.optional(),
    skillId: z.string().optional(),
  })
  .meta({ id: 'DiscoveredSkill' });

const Skipped = z.strictObject({
  name: z.string(),
  /** `already installed`: from the same source; `name exists`: another skill has its name; `conflict`: twice in one source. */
  reason: z.enum(['already installed', 'name exists', 'conflict', 'invalid']),
  /** Why it is invalid. */
  problem: z.string().optional(),
});

/** Skills of others. */
export const skillSourceContracts = {
  'skill.discover': contract({
    summary: 'Search the directory of skills, with what is installed of its answers.',
    scope: 'approve',
    permission: 'admin.skills',
    params: () =>
      z
        .strictObject({ query: z.string().max(1_024), limit: z.int().min(1).max(100).optional() })
        .meta({ id: 'SkillDiscoverParams' }),
    result: () => z.strictObject({ skills: z.array(DiscoveredSkill) }).meta({ id: 'SkillDiscoverResult' }),
  }),
  'skill.install': contract({
    summary:
      'Fetch, scan and store the skills of a source. They run nothing, and models do not load them until an administrator says so.',
    scope: 'approve',
    permission: 'admin.skills',
    audit: { action: 'skill.install' },
    serial: () => 'skill.install', // each fetches many files
    params: () =>
      z
        .strictObject({
          /** `skills.sh` or `github`. */
          source: z.string().max(64).optional(),
          /** For `skills.sh`: an id of `skill.discover`. */
          sourceSkillId: z.string().max(512).optional(),
          /** For `github`: the address of a repository, of a folder in it, or of a SKILL.md. */
          url: z.string().max(2_048).optional(),
          /** SHA-256 in hex: what is fetched must be exactly this. */
          digest: z.string().max(64).optional(),
        })
        .meta({ id: 'SkillInstallParams' }),
    result: () =>
      z
        .strictObject({ installed: z.array(Skill), skipped: z.array(Skipped), total: z.int().min(0) })
        .meta({ id: 'SkillInstallResult' }),
  }),
};
