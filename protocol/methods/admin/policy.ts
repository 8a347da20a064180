import { z } from 'zod';
import { always, contract } from '../../contract.ts';
import { POLICY_ACTIONS } from '../../events/policy-actions.ts';
import { NonEmpty } from '../../frames.ts';

/** How many tool policies there may be. */
export const MOST_POLICIES = 200;
/** How many stored calls a simulation looks at, at most. */
const MOST_SIMULATED = 1_000;

const MOST_PRIORITY = 1_000_000;
const AtMs = z.int().min(0);
const PolicyId = NonEmpty.max(64);
const Action = z.enum(POLICY_ACTIONS);

/** A rule about calls of tools. The first one that matches a call decides. */
const ToolPolicy = z
  .strictObject({
    policyId: z.string(),
    name: NonEmpty,
    /** Matches names of tools and approval labels: `*` stands for any characters, `?` for one. */
    toolPattern: NonEmpty,
    action: Action,
    /** The highest one comes first; of equal ones, `deny`, then `ask`, then `allow`. */
    priority: z.int(),
    enabled: z.boolean(),
    /** The user or principal that created it. */
    createdBy: z.string(),
    createdAtMs: AtMs,
    updatedAtMs: AtMs,
  })
  .meta({ id: 'ToolPolicy' });
export type ToolPolicy = z.infer<typeof ToolPolicy>;

const name = z.string().max(256);
const toolPattern = z.string().max(256);
const priority = z.int().min(-MOST_PRIORITY).max(MOST_PRIORITY);

const fields = {
  name: name.optional(),
  toolPattern: toolPattern.optional(),
  /** One of POLICY_ACTIONS. */
  action: z.string().max(16).optional(),
  priority: priority.optional(),
  enabled: z.boolean().optional(),
};

/** A policy in a simulation. */
const SimulatedPolicy = z
  .strictObject({ toolPattern, action: Action, priority, enabled: z.boolean() })
  .meta({ id: 'SimulatedPolicy' });
export type SimulatedPolicy = z.infer<typeof SimulatedPolicy>;

const Verdict = z.enum(['run', 'ask', 'deny']);
/** What would happen to a call, or did. */
export type PolicyVerdict = z.infer<typeof Verdict>;

/** A stored call, and what other tool policies would have done with it. */
const SimulatedCall = z
  .strictObject({
    wsId: z.string(),
    callId: z.string(),
    tool: z.string(),
    /** What its question was called, or would have been. */
    label: z.string(),
    /** What it works on, such as the beginning of a command, or a path. Absent if that is not known. */
    subject: z.string().optional(),
    atMs: AtMs,
    /** `run`: without a question; `ask`: a person decided. */
    was: Verdict,
    would: Verdict,
    /** The index of the policy that would have decided, in the given list; absent: none matches. */
    policy: z.int().min(0).optional(),
  })
  .meta({ id: 'SimulatedCall' });
export type SimulatedCall = z.infer<typeof SimulatedCall>;

/** Rules about calls of tools. */
export const policyContracts = {
  'policy.list': contract({
    summary: 'The tool policies, in the order in which they decide.',
    scope: 'approve',
    permission: 'admin.policies',
    params: () => z.strictObject({}).meta({ id: 'PolicyListParams' }),
    result: () => z.strictObject({ policies: z.array(ToolPolicy) }).meta({ id: 'PolicyListResult' }),
  }),
  'policy.create': contract({
    summary: 'Add a tool policy. It takes effect with the next call of every run.',
    scope: 'approve',
    permission: 'admin.policies',
    audit: { action: 'policy.create', id: 'policyId' },
    stepUp: always,
    params: () => z.strictObject(fields).meta({ id: 'PolicyCreateParams' }),
    result: () => ToolPolicy,
    serial: () => 'policies',
  }),
  'policy.update': contract({
    summary: 'Change a tool policy. It takes effect with the next call of every run.',
    scope: 'approve',
    permission: 'admin.policies',
    audit: { action: 'policy.update', id: 'policyId' },
    stepUp: always,
    params: () => z.strictObject({ policyId: PolicyId, ...fields }).meta({ id: 'PolicyUpdateParams' }),
    result: () => ToolPolicy,
    serial: () => 'policies',
  }),
  'policy.delete': contract({
    summary: 'Delete a tool policy.',
    scope: 'approve',
    permission: 'admin.policies',
    audit: { action: 'policy.delete', id: 'policyId' },
    stepUp: always,
    params: () => z.strictObject({ policyId: PolicyId }).meta({ id: 'PolicyDeleteParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'PolicyDeleteResult' }),
    serial: () => 'policies',
  }),
  'policy.simulate': contract({
    summary:
      'What tool policies would have done with the latest stored calls, against what was decided. Changes nothing.',
    scope: 'approve',
    permission: 'admin.policies',
    weight: 3,
    params: () =>
      z
        .strictObject({
          /** All policies as they would be, the oldest first. Default: those of today, as `policy.list` lists them. */
          policies: z.array(SimulatedPolicy).max(MOST_POLICIES).optional(),
          /** How many calls; default: 200. */
          limit: z.int().min(1).max(MOST_SIMULATED).optional(),
        })
        .meta({ id: 'PolicySimulateParams' }),
    result: () =>
      z
        .strictObject({
          /** How many calls were looked at. */
          total: z.int().min(0),
          /** How many of them would have been decided otherwise. */
          changed: z.int().min(0),
          /** Newest first. */
          calls: z.array(SimulatedCall),
        })
        .meta({ id: 'PolicySimulateResult' }),
    serial: () => 'policy.simulate',
  }),
};
