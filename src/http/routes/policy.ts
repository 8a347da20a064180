import type { z } from 'zod';
import { policyEndpoints } from '../../../protocol/http/policy.ts';
import type { Result } from '../../../protocol/index.ts';
import { bind } from '../bind.ts';
import { iso } from '../iso.ts';

const toPolicy = (policy: Result<'policy.create'>) => ({
  policy_id: policy.policyId,
  name: policy.name,
  tool_pattern: policy.toolPattern,
  action: policy.action,
  priority: policy.priority,
  org_id: 'default',
  enabled: policy.enabled,
  created_by: policy.createdBy,
  created: iso(policy.createdAtMs),
  updated: iso(policy.updatedAtMs),
});

/** Null is the same as a field that is missing. */
const toFields = (request: z.output<ReturnType<typeof policyEndpoints.create.request>>) => ({
  name: request.name ?? undefined,
  toolPattern: request.tool_pattern ?? undefined,
  action: request.action ?? undefined,
  priority: request.priority ?? undefined,
  enabled: request.enabled ?? undefined,
});

export const policyRoutes = [
  bind(policyEndpoints.list, 'policy.list', {
    params: () => ({}),
    reply: ({ policies }) => ({ policies: policies.map(toPolicy) }),
  }),
  bind(policyEndpoints.create, 'policy.create', { params: toFields, reply: toPolicy }),
  bind(policyEndpoints.simulate, 'policy.simulate', {
    params: ({ policies, limit }) => ({
      policies: policies?.map(({ tool_pattern, action, priority, enabled }) => ({
        toolPattern: tool_pattern,
        action,
        priority,
        enabled,
      })),
      limit: limit ?? undefined,
    }),
    reply: ({ total, changed, calls }) => ({
      total,
      changed,
      calls: calls.map(({ wsId, callId, tool, label, subject, atMs, was, would, policy }) => ({
        ws_id: wsId,
        call_id: callId,
        func_name: tool,
        approval_label: label,
        subject: subject ?? null,
        created: iso(atMs),
        was,
        would,
        policy: policy ?? null,
      })),
    }),
  }),
  bind(policyEndpoints.update, 'policy.update', {
    params: ({ policy_id, ...fields }) => ({ policyId: policy_id, ...toFields(fields) }),
    reply: toPolicy,
  }),
  bind(policyEndpoints.remove, 'policy.delete', {
    params: ({ policy_id }) => ({ policyId: policy_id }),
    reply: ({ status }) => ({ status }),
  }),
];
