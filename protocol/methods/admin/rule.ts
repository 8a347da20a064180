import { z } from 'zod';
import { contract } from '../../contract.ts';
import { POLICY_ACTIONS } from '../../events/policy-actions.ts';
import { RuleMatch } from '../../events/rules.ts';
import { NonEmpty, optionalText } from '../../frames.ts';
import { DECIDING } from '../accounts/permissions.ts';

/** How many rules there may be. */
export const MOST_RULES = 2_000;
const MOST_PRIORITY = 1_000_000;
const AtMs = z.int().min(0);
const LastsMs = z
  .int()
  .min(1_000)
  .max(366 * 24 * 3_600_000);
const RuleId = NonEmpty.max(64);
const Action = z.enum(POLICY_ACTIONS);
const priority = z.int().min(-MOST_PRIORITY).max(MOST_PRIORITY);

/** A permission rule: calls that match it run, ask or are denied, in its place. */
const Rule = z
  .strictObject({
    ruleId: z.string(),
    action: Action,
    match: RuleMatch,
    /** It holds only in this workstream. */
    wsId: z.string().optional(),
    /** It holds only while this folder, or one below it, is the working directory. */
    folder: z.string().optional(),
    /** It holds only in workstreams of this user; empty: in those of the operator. */
    userId: z.string().optional(),
    /** Of the rules that allow or ask, the highest one decides. A rule that denies stands above all others. */
    priority: z.int(),
    /** Absent: it has no end. */
    expiresAtMs: AtMs.optional(),
    /** The user or principal that gave it. */
    createdBy: z.string(),
    createdAtMs: AtMs,
    updatedAtMs: AtMs,
    /** The approval with which it was given, and its workstream; absent if it was not given with one. */
    given: z.strictObject({ approvalId: z.string(), wsId: z.string() }).optional(),
    /** When it last decided about a call, and how often; may lack the last minute. */
    usedAtMs: AtMs.optional(),
    uses: z.int().min(0),
  })
  .meta({ id: 'Rule' });
export type Rule = z.infer<typeof Rule>;

const PLACE = {
  wsId: optionalText(128),
  folder: optionalText(4_096),
  userId: z.string().max(128).optional(),
};

/** A rule in a simulation. */
const SimulatedRule = z
  .strictObject({
    action: Action,
    match: RuleMatch,
    ...PLACE,
    priority: priority.optional(),
  })
  .meta({ id: 'SimulatedRule' });
export type SimulatedRule = z.infer<typeof SimulatedRule>;

const Verdict = z.enum(['run', 'ask', 'deny']);

/** A stored call, and what other rules would have done with it. */
const RuledCall = z
  .strictObject({
    wsId: z.string(),
    callId: z.string(),
    tool: z.string(),
    /** What it works on, such as the beginning of a command, or a path. Absent if that is not known. */
    subject: z.string().optional(),
    atMs: AtMs,
    was: Verdict,
    would: Verdict,
    /** The id of the rule that would have decided; `new:0` is the first of the given ones. Absent: none matches. */
    ruleId: z.string().optional(),
  })
  .meta({ id: 'RuledCall' });
export type RuledCall = z.infer<typeof RuledCall>;

interface Placed {
  action?: string | undefined;
}

/** Rules about what the agent's calls do. Anyone who decides about calls may give them for a workstream or for themselves. */
export const ruleContracts = {
  'rule.list': contract({
    summary: 'The permission rules that the caller may see, in the order in which they decide.',
    scope: 'approve',
    permission: [...DECIDING, 'admin.policies'],
    params: () =>
      z
        .strictObject({
          /** Only those that hold in this workstream. */
          wsId: optionalText(128),
        })
        .meta({ id: 'RuleListParams' }),
    result: () => z.strictObject({ rules: z.array(Rule) }).meta({ id: 'RuleListResult' }),
  }),
  'rule.create': contract({
    summary:
      'Add a permission rule. Rules for a folder, for other users or everywhere need the permission admin.policies.',
    scope: 'approve',
    permission: [...DECIDING, 'admin.policies'],
    audit: { action: 'rule.create', id: 'ruleId' },
    stepUp: ({ action }: Placed) => action === 'allow',
    params: () =>
      z
        .strictObject({
          action: Action,
          match: RuleMatch,
          ...PLACE,
          priority: priority.optional(),
          expiresInMs: LastsMs.optional(),
        })
        .meta({ id: 'RuleCreateParams' }),
    result: () => Rule,
    serial: () => 'rules',
  }),
  'rule.update': contract({
    summary: 'Change the action, the priority or the end of a permission rule.',
    scope: 'approve',
    permission: [...DECIDING, 'admin.policies'],
    audit: { action: 'rule.update', id: 'ruleId' },
    stepUp: () => true,
    params: () =>
      z
        .strictObject({
          ruleId: RuleId,
          action: Action.optional(),
          priority: priority.optional(),
          /** From now on; null: without end. */
          expiresInMs: LastsMs.nullable().optional(),
        })
        .meta({ id: 'RuleUpdateParams' }),
    result: () => Rule,
    serial: () => 'rules',
  }),
  'rule.delete': contract({
    summary: 'Delete a permission rule.',
    scope: 'approve',
    permission: [...DECIDING, 'admin.policies'],
    audit: { action: 'rule.delete', id: 'ruleId' },
    stepUp: () => true,
    params: () => z.strictObject({ ruleId: RuleId }).meta({ id: 'RuleDeleteParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'RuleDeleteResult' }),
    serial: () => 'rules',
  }),
  'rule.simulate': contract({
    summary:
      'What the rules would have done with the latest stored calls, with some added or left out. Changes nothing.',
    scope: 'approve',
    permission: [...DECIDING, 'admin.policies'],
    weight: 3,
    params: () =>
      z
        .strictObject({
          add: z.array(SimulatedRule).max(50).optional(),
          without: z.array(RuleId).max(200).optional(),
          /** How many calls; default: 200. */
          limit: z.int().min(1).max(1_000).optional(),
        })
        .meta({ id: 'RuleSimulateParams' }),
    result: () =>
      z
        .strictObject({ total: z.int().min(0), changed: z.int().min(0), calls: z.array(RuledCall) })
        .meta({ id: 'RuleSimulateResult' }),
    serial: () => 'rule.simulate',
  }),
};
