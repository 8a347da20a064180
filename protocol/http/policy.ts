import { z } from 'zod';
import { POLICY_ACTIONS } from '../events/policy-actions.ts';
import { endpoint } from './endpoint.ts';

const Action = z.enum(POLICY_ACTIONS);

const Policy = z.object({
  policy_id: z.string(),
  name: z.string(),
  tool_pattern: z.string(),
  action: Action,
  priority: z.int(),
  org_id: z.string(),
  enabled: z.boolean(),
  created_by: z.string(),
  created: z.string(),
  updated: z.string(),
});

const fields = {
  name: z.string().nullish(),
  tool_pattern: z.string().nullish(),
  action: z.string().nullish(),
  priority: z.int().nullish(),
  enabled: z.boolean().nullish(),
};

const Verdict = z.enum(['run', 'ask', 'deny']);
const ById = z.object({ policy_id: z.string() });
const INVALID = 'name is required, tool_pattern is required, or action must be one of: allow, deny, ask';
const MISSING = 'Policy not found';

/** Tool policies (HTTP.md, "Tool policies"). */
export const policyEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/admin/policies',
    summary: 'The tool policies, in the order in which they decide.',
    scope: 'approve',
    request: () => z.object({}),
    reply: () => z.object({ policies: z.array(Policy) }),
  }),
  create: endpoint({
    verb: 'post',
    path: '/v1/api/admin/policies',
    summary: 'Add a tool policy. It takes effect with the next call of every run.',
    scope: 'approve',
    request: () => z.object(fields),
    reply: () => Policy,
    errors: { 400: INVALID, 409: 'Maximum of 200 policies reached' },
  }),
  simulate: endpoint({
    verb: 'post',
    path: '/v1/api/admin/policies/simulate',
    summary: 'What tool policies would have done with the latest stored calls. Changes nothing.',
    scope: 'approve',
    request: () =>
      z.object({
        /** All policies as they would be, the oldest first. Default: those of today. */
        policies: z
          .array(
            z.object({
              tool_pattern: z.string(),
              action: Action,
              priority: z.int().default(0),
              enabled: z.boolean().default(true),
            }),
          )
          .nullish(),
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
            approval_label: z.string(),
            /** What it works on, such as the beginning of a command. */
            subject: z.string().nullable(),
            created: z.string(),
            was: Verdict,
            would: Verdict,
            policy: z.int().nullable(),
          }),
        ),
      }),
  }),
  update: endpoint({
    verb: 'put',
    path: '/v1/api/admin/policies/{policy_id}',
    summary: 'Change a tool policy. It takes effect with the next call of every run.',
    scope: 'approve',
    request: () => ById.extend(fields),
    reply: () => Policy,
    errors: { 400: INVALID, 404: MISSING },
  }),
  remove: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/policies/{policy_id}',
    summary: 'Delete a tool policy.',
    scope: 'approve',
    request: () => ById,
    reply: () => z.object({ status: z.literal('ok') }),
    errors: { 404: MISSING },
  }),
};
