import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty } from '../../frames.ts';
import { Effort } from '../../stream-events.ts';
import { allowsCalls } from '../templates/wstemplate.ts';

const AtMs = z.int().min(0);
/** Names a stored skill. */
export const SkillId = NonEmpty.max(64);

/** How a skill gets into conversations: a person names it, every conversation has it, or the model loads it. */
export const SKILL_ACTIVATIONS = ['named', 'default', 'search'] as const;
const SkillActivation = z.enum(SKILL_ACTIVATIONS);

/** The workstreams that a skill is for. */
export const SKILL_KINDS = ['any', 'interactive', 'coordinator'] as const;
const SkillKind = z.enum(SKILL_KINDS);
export type SkillKind = z.infer<typeof SkillKind>;

/** How risky a scan finds a skill, the least risky first. */
const SKILL_TIERS = ['safe', 'low', 'medium', 'high', 'critical'] as const;
/** One of the tiers of a scan. */
export const SkillTier = z.enum(SKILL_TIERS);
export type SkillTier = z.infer<typeof SkillTier>;

const Risk = z.number().min(0).max(4);
const Details = z.array(z.string());

/** What a scan found. It knows only known tricks, so it never makes a skill trusted. */
export const SkillScan = z
  .strictObject({
    tier: SkillTier,
    /** The average of the four risks. */
    composite: Risk,
    contentRisk: Risk,
    supplyRisk: Risk,
    vulnRisk: Risk,
    capabilityRisk: Risk,
    flags: z.array(z.string()),
    details: z.strictObject({ content: Details, supplyChain: Details, vulnerability: Details, capability: Details }),
    scannerVersion: z.string(),
  })
  .meta({ id: 'SkillScan' });
export type SkillScan = z.infer<typeof SkillScan>;

/** What `skill` of a new workstream can name. */
export const SkillSummary = z
  .strictObject({
    name: NonEmpty,
    category: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    isDefault: z.boolean(),
    activation: SkillActivation,
    origin: z.string(),
    author: z.string(),
    version: z.string(),
  })
  .meta({ id: 'SkillSummary' });
export type SkillSummary = z.infer<typeof SkillSummary>;

/** Files of an installed skill that were not stored. Absent: none. */
const LeftOut = z.strictObject({
  count: z.int().min(1),
  /** The first 50. `binary`: it is not text. `place`: it is outside of `scripts`, `references` and `assets`. */
  files: z.array(z.strictObject({ path: z.string(), reason: z.enum(['binary', 'place']) })),
});
export type LeftOut = z.infer<typeof LeftOut>;

/** A skill as it is stored. Empty texts and null: as usual. */
export const Skill = z
  .strictObject({
    skillId: z.string(),
    name: NonEmpty,
    category: z.string(),
    /** Markdown. */
    content: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    /** A JSON array, as text. */
    variables: z.string(),
    activation: SkillActivation,
    kind: SkillKind,
    /** The user or principal that created it. */
    createdBy: z.string(),
    /** `source`: it was installed, and its text cannot be changed. */
    origin: z.enum(['manual', 'source']),
    sourceUrl: z.string(),
    /** SHA-256 in hex of everything that was installed; empty for others. */
    digest: z.string(),
    author: z.string(),
    /** As its author counts; otherwise the number of its edits and one. */
    version: z.string(),
    /** 1 at first; each edit adds one. */
    revision: z.int().min(1),
    license: z.string(),
    compatibility: z.string(),
    /** The tools that its author wants approved. Nothing is approved because of them. */
    wantedTools: z.array(z.string()),
    /** An alias. */
    model: z.string(),
    autoApprove: z.boolean(),
    /** Tools whose calls run unasked in workstreams that are created with it. */
    allowedTools: z.array(z.string()),
    temperature: z.number().nullable(),
    reasoningEffort: z.union([Effort, z.literal('')]),
    maxTokens: z.int().nullable(),
    /** 0: none. */
    tokenBudget: z.int().min(0),
    agentMaxTurns: z.int().nullable(),
    /** JSON text. */
    notifyOnComplete: z.string(),
    enabled: z.boolean(),
    /** Of several with the activation `default`, those with the highest come first. */
    priority: z.int(),
    scan: SkillScan,
    resourceCount: z.int().min(0),
    leftOut: LeftOut.optional(),
    createdAtMs: AtMs,
    updatedAtMs: AtMs,
  })
  .meta({ id: 'Skill' });
export type Skill = z.infer<typeof Skill>;

/** The state of a skill before an edit. */
export const SkillVersion = z
  .strictObject({
    id: z.string(),
    skillId: z.string(),
    version: z.int().min(1),
    snapshot: Skill,
    /** The user or principal that made the edit. */
    changedBy: z.string(),
    createdAtMs: AtMs,
  })
  .meta({ id: 'SkillVersion' });
export type SkillVersion = z.infer<typeof SkillVersion>;

/** A skill as the people of a workstream see it. */
export const UsableSkill = z
  .strictObject({
    name: z.string(),
    description: z.string(),
    /** `home`, `project`: it is in a folder. */
    origin: z.enum(['manual', 'source', 'home', 'project']),
    /** It holds in this conversation. */
    isApplied: z.boolean(),
    /** The model can load it. */
    isOffered: z.boolean(),
    tier: SkillTier.optional(),
    /** Of a skill in a folder. */
    folder: z.string().optional(),
  })
  .meta({ id: 'UsableSkill' });
export type UsableSkill = z.infer<typeof UsableSkill>;

/** The handler checks ranges, with the words that clients of the specification expect. */
const number = z.number().nullish();
const fields = {
  name: z.string().max(256).optional(),
  category: z.string().max(64).optional(),
  content: z.string().max(32_768).optional(),
  description: z.string().max(1_024).optional(),
  tags: z.array(z.string().max(64)).max(50).optional(),
  variables: z.string().max(8_192).optional(),
  /** Shorthand for the activation `default`, or for `named`. */
  isDefault: z.boolean().optional(),
  activation: z.string().max(64).optional(),
  kind: z.string().max(64).optional(),
  author: z.string().max(256).optional(),
  version: z.string().max(64).optional(),
  license: z.string().max(256).optional(),
  compatibility: z.string().max(500).optional(),
  model: z.string().max(256).optional(),
  autoApprove: z.boolean().optional(),
  allowedTools: z.array(z.string().max(128)).max(64).optional(),
  temperature: number,
  reasoningEffort: z.union([Effort, z.literal('')]).optional(),
  maxTokens: number,
  tokenBudget: number,
  agentMaxTurns: number,
  notifyOnComplete: z.string().max(8_192).optional(),
  enabled: z.boolean().optional(),
  priority: z.int().min(-1_000).max(1_000).optional(),
};

/** Whether a workstream that is created with such a skill runs calls without asking. */
export const skillAllowsCalls = ({
  autoApprove,
  allowedTools = [],
}: {
  autoApprove?: boolean | undefined;
  allowedTools?: readonly string[] | undefined;
}): boolean => allowsCalls({ autoApprove, autoApproveTools: allowedTools.join(',') });

/** Instructions for particular tasks, which enter a conversation when they are needed. */
export const skillContracts = {
  'skill.list': contract({
    summary: 'The enabled skills, the prompt templates and the enabled workstream templates: what `skill` can name.',
    scope: 'read',
    params: () => z.strictObject({}).meta({ id: 'SkillListParams' }),
    result: () => z.strictObject({ skills: z.array(SkillSummary) }).meta({ id: 'SkillListResult' }),
  }),
  'skill.available': contract({
    summary:
      'The skills of a workstream: stored ones and those in trusted folders; and what keeps others from being used.',
    scope: 'read',
    params: () => z.strictObject({ wsId: NonEmpty }).meta({ id: 'SkillAvailableParams' }),
    result: () =>
      z
        .strictObject({
          skills: z.array(UsableSkill),
          /** In folders that nobody trusts. */
          waiting: z.array(z.strictObject({ name: z.string(), folder: z.string() })),
          /** Folders beside skills that are none. */
          odd: z.array(z.strictObject({ file: z.string(), why: z.string() })),
        })
        .meta({ id: 'SkillAvailableResult' }),
  }),
  'skill.details': contract({
    summary: 'All stored skills in the order of their names.',
    scope: 'approve',
    permission: 'admin.skills',
    params: () => z.strictObject({}).meta({ id: 'SkillDetailsParams' }),
    result: () => z.strictObject({ skills: z.array(Skill), total: z.int().min(0) }).meta({ id: 'SkillDetailsResult' }),
  }),
  'skill.get': contract({
    summary: 'One stored skill.',
    scope: 'approve',
    permission: 'admin.skills',
    params: () => z.strictObject({ skillId: SkillId }).meta({ id: 'SkillGetParams' }),
    result: () => Skill,
  }),
  'skill.create': contract({
    summary: 'Add a skill.',
    scope: 'approve',
    permission: 'admin.skills',
    audit: { action: 'skill.create', id: 'skillId' },
    stepUp: skillAllowsCalls,
    params: () => z.strictObject(fields).meta({ id: 'SkillCreateParams' }),
    result: () => Skill,
  }),
  'skill.update': contract({
    summary:
      'Change a skill; the state before is kept as a version. Of an installed one only its settings. Workstreams that chose it keep its text.',
    scope: 'approve',
    permission: 'admin.skills',
    audit: { action: 'skill.update', id: 'skillId' },
    stepUp: skillAllowsCalls,
    params: () => z.strictObject({ skillId: SkillId, ...fields }).meta({ id: 'SkillUpdateParams' }),
    result: () => Skill,
  }),
  'skill.delete': contract({
    summary: 'Delete a skill with its versions and resources. Workstreams that chose it keep its text.',
    scope: 'approve',
    permission: 'admin.skills',
    audit: { action: 'skill.delete', id: 'skillId' },
    params: () => z.strictObject({ skillId: SkillId }).meta({ id: 'SkillDeleteParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'SkillDeleteResult' }),
  }),
  'skill.versions': contract({
    summary: 'The states of a skill before its edits, newest first.',
    scope: 'approve',
    permission: 'admin.skills',
    params: () => z.strictObject({ skillId: SkillId }).meta({ id: 'SkillVersionsParams' }),
    result: () => z.strictObject({ versions: z.array(SkillVersion) }).meta({ id: 'SkillVersionsResult' }),
  }),
  'skill.rescan': contract({
    summary: 'Scan a skill again, with its resources.',
    scope: 'approve',
    permission: 'admin.skills',
    audit: { action: 'skill.rescan', id: 'skillId' },
    params: () => z.strictObject({ skillId: SkillId }).meta({ id: 'SkillRescanParams' }),
    result: () => Skill,
  }),
};
