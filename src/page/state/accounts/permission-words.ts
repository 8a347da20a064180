import { BUILTIN_ROLES, type Permission } from '../../../../protocol/permissions.ts';

interface PermissionGroup {
  title: string;
  /** Explains the group. */
  hint?: string;
  permissions: readonly (readonly [Permission, string])[];
}

/** All permissions in words, as forms show them. */
export const PERMISSION_GROUPS: readonly PermissionGroup[] = [
  {
    title: 'Conversations',
    permissions: [
      ['read', 'See conversations, jobs, nodes and usage'],
      ['write', 'Send messages and change conversations'],
      ['approve', 'Decide about tool calls, change jobs, nodes and settings, and create API tokens'],
      ['workstreams.create', 'Start workstreams'],
      ['workstreams.close', 'Close workstreams'],
    ],
  },
  {
    title: 'Administration',
    hint: 'Each of these includes “Decide about tool calls …”.',
    permissions: [
      ['admin.users', 'Add, change and delete users'],
      ['admin.roles', 'Define roles'],
      ['admin.audit', 'See and verify the audit trail'],
      ['admin.orgs', 'Change the organization'],
    ],
  },
  {
    title: 'For other clients',
    hint: 'Headgate has no function of its own for these. Those that begin with “admin.” include “Decide about tool calls …”.',
    permissions: [
      ['admin.policies', 'Policies'],
      ['admin.skills', 'Skills'],
      ['admin.templates', 'Templates'],
      ['admin.ws_templates', 'Templates of workstreams'],
      ['admin.usage', 'Usage of others'],
      ['admin.schedules', 'Schedules'],
      ['admin.watches', 'Watches'],
      ['admin.judge', 'Judge'],
      ['admin.memories', 'Memories'],
      ['admin.settings', 'Settings'],
      ['admin.mcp', 'MCP servers'],
      ['admin.coordinator', 'Coordinator'],
      ['coordinator.trust.send', 'Messages of the coordinator without asking'],
      ['tools.approve', 'Approval of tools'],
      ['workstreams.all', 'Workstreams of others'],
    ],
  },
];

/** The permissions of a person in words: the built-in role that has exactly these, and what they allow. */
export function toRightsWords(permissions: readonly string[]): { role: string | undefined; allowed: string[] } {
  const held = new Set(permissions);
  const role = Object.values(BUILTIN_ROLES).find(
    (builtin) => builtin.permissions.length === held.size && builtin.permissions.every((one) => held.has(one)),
  );
  const named = PERMISSION_GROUPS.slice(0, 2).flatMap((group) => group.permissions);
  return { role: role?.displayName, allowed: named.filter(([id]) => held.has(id)).map(([, words]) => words) };
}
