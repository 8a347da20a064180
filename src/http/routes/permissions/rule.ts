import type { z } from 'zod';
import { ruleEndpoints } from '../../../../protocol/http/permissions/rule.ts';
import type { Result } from '../../../../protocol/index.ts';
import { bind, given } from '../../bind.ts';
import { iso } from '../../iso.ts';

type Rule = Result<'rule.create'>;
type Created = z.output<ReturnType<typeof ruleEndpoints.create.request>>;

const toMatch = ({ argsStart, node, nodeCommand, ...same }: Rule['match']) => ({
  ...same,
  ...(argsStart && { args_start: argsStart }),
  ...(node !== undefined && { node_id: node }),
  ...(nodeCommand !== undefined && { node_command: nodeCommand }),
});

const toRule = (rule: Rule) => ({
  rule_id: rule.ruleId,
  action: rule.action,
  match: toMatch(rule.match),
  ws_id: rule.wsId ?? null,
  folder: rule.folder ?? null,
  user_id: rule.userId ?? null,
  priority: rule.priority,
  created_by: rule.createdBy,
  created: iso(rule.createdAtMs),
  updated: iso(rule.updatedAtMs),
  expires: rule.expiresAtMs === undefined ? null : iso(rule.expiresAtMs),
  given: rule.given ? { approval_id: rule.given.approvalId, ws_id: rule.given.wsId } : null,
  last_used: rule.usedAtMs === undefined ? null : iso(rule.usedAtMs),
  uses: rule.uses,
});

const fromMatch = ({ args_start, node_id, node_command, ...same }: Created['match']) => ({
  tool: same.tool ?? undefined,
  command: same.command ?? undefined,
  program: same.program ?? undefined,
  args: same.args ?? undefined,
  argsStart: args_start ?? undefined,
  path: same.path ?? undefined,
  access: same.access ?? undefined,
  host: same.host ?? undefined,
  node: node_id ?? undefined,
  nodeCommand: node_command ?? undefined,
});

const fromPlace = ({ ws_id, folder, user_id }: Pick<Created, 'ws_id' | 'folder' | 'user_id'>) => ({
  wsId: given(ws_id),
  folder: given(folder),
  userId: user_id ?? undefined,
});

export const ruleRoutes = [
  bind(ruleEndpoints.list, 'rule.list', {
    params: ({ ws_id }) => ({ wsId: given(ws_id) }),
    reply: ({ rules }) => ({ rules: rules.map(toRule) }),
  }),
  bind(ruleEndpoints.create, 'rule.create', {
    fieldNames: { expiresInMs: 'expires_in_secs' },
    params: ({ action, match, priority, expires_in_secs, ...place }) => ({
      action,
      match: fromMatch(match),
      ...fromPlace(place),
      priority: priority ?? undefined,
      expiresInMs: expires_in_secs == null ? undefined : expires_in_secs * 1_000,
    }),
    reply: toRule,
  }),
  bind(ruleEndpoints.simulate, 'rule.simulate', {
    params: ({ add, without, limit }) => ({
      add: add?.map(({ action, match, priority, ...place }) => ({
        action,
        match: fromMatch(match),
        ...fromPlace(place),
        priority: priority ?? undefined,
      })),
      without: without ?? undefined,
      limit: limit ?? undefined,
    }),
    reply: ({ total, changed, calls }) => ({
      total,
      changed,
      calls: calls.map(({ wsId, callId, tool, subject, atMs, was, would, ruleId }) => ({
        ws_id: wsId,
        call_id: callId,
        func_name: tool,
        subject: subject ?? null,
        created: iso(atMs),
        was,
        would,
        rule_id: ruleId ?? null,
      })),
    }),
  }),
  bind(ruleEndpoints.update, 'rule.update', {
    fieldNames: { expiresInMs: 'expires_in_secs' },
    params: ({ rule_id, action, priority, expires_in_secs }) => ({
      ruleId: rule_id,
      action: action ?? undefined,
      priority: priority ?? undefined,
      expiresInMs: expires_in_secs == null ? undefined : expires_in_secs * 1_000,
    }),
    reply: toRule,
  }),
  bind(ruleEndpoints.remove, 'rule.delete', {
    params: ({ rule_id }) => ({ ruleId: rule_id }),
    reply: ({ status }) => ({ status }),
  }),
];
