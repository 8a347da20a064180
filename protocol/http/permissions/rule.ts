import { z } from 'zod';
import { POLICY_ACTIONS } from '../../events/policy-actions.ts';
import { endpoint } from '../endpoint.ts';

const Action = z.enum(POLICY_ACTIONS);
const Verdict = z.enum(['run', 'ask', 'deny']);

const Match = z.object({
  tool: z.string().nullish(),
  command: z.string().nullish(),
  program: z.string().nullish(),
  args: z.array(z.string()).nullish(),
  args_start: z.array(z.string()).nullish(),
  path: z.string().nullish(),
  access: z.enum(['read', 'write']).nullish(),
  host: z.string().nullish(),
  node_id: z.string().nullish(),
  node_command: z.string().nullish(),
});

const Rule = z.object({
  rule_id: z.string(),
  action: Action,
  match: Match,
  ws_id: z.string().nullable(),
  folder: z.string().nullable(),
  user_id: z.string().nullable(),
  priority: z.int(),
  created_by: z.string(),
  created: z.string(),
  updated: z.string(),
  expires: z.string().nullable(),
  given: z.object({ approval_id: z.string(), ws_id: z.string() }).nullable(),
  last_used: z.string().nullable(),
  uses: z.int(),
});

const place = { ws_id: z.string().nullish(), folder: z.string().nullish(), user_id: z.string().nullish() };
const ById = z.object({ rule_id: z.string() });
const MISSING = 'Rule not found';

/** Permission rules (HTTP.md, "Permission rules"). */
export const ruleEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/rules',
    summary: 'The permission rules that the caller may see, in the order in which they decide.',
    scope: 'approve',
    request: () => z.object({ ws_id: z.string().nullish() }),
    reply: () => z.object({ rules: z.array(Rule) }),
    errors: { 404: 'Unknown workstream' },
  }),
  create: endpoint({
    verb: 'post',
    path: '/v1/api/rules',
    summary: 'Add a permission rule.',
    scope: 'approve',
    request: () =>
      z.object({
        action: Action,
        match: Match,
        ...place,
        priority: z.int().nullish(),
        /** How long it holds; absent: without end. */
        expires_in_secs: z.int().min(1).nullish(),
      }),
    reply: () => Rule,
    errors: {
      400: 'A rule needs at least one field in match',
      404: 'Unknown workstream',
      409: 'Maximum of 2000 rules reached',
    },
  }),
  simulate: endpoint({
    verb: 'post',
    path: '/v1/api/rules/simulate',
    summary: 'What the rules would have done with the latest stored calls. Changes nothing.',
    scope: 'approve',
    request: () =>
      z.object({
        add: z.array(z.object({ action: Action, match: Match, ...place, priority: z.int().nullish() })).nullish(),
        without: z.array(z.string()).nullish(),
        limit: z.int().nullish(),
      }),
    reply: () =>
      z.object({
        total: z.int(),
        changed: z.int(),
        calls: z.array(
          z.object({
            ws_id: z.string(),
            call_id: z.string(),
            func_name: z.string(),
            /** What it works on, such as the beginning of a command. */
            subject: z.string().nullable(),
            created: z.string(),
            was: Verdict,
            would: Verdict,
            rule_id: z.string().nullable(),
          }),
        ),
      }),
  }),
  update: endpoint({
    verb: 'put',
    path: '/v1/api/rules/{rule_id}',
    summary: 'Change the action, the priority or the end of a permission rule.',
    scope: 'approve',
    request: () =>
      ById.extend({ action: Action.nullish(), priority: z.int().nullish(), expires_in_secs: z.int().min(1).nullish() }),
    reply: () => Rule,
    errors: { 400: 'No fields to update', 404: MISSING },
  }),
  remove: endpoint({
    verb: 'delete',
    path: '/v1/api/rules/{rule_id}',
    summary: 'Delete a permission rule.',
    scope: 'approve',
    request: () => ById,
    reply: () => z.object({ status: z.literal('ok') }),
    errors: { 404: MISSING },
  }),
};
