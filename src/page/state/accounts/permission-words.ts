import {
  BUILTIN_ROLES,
  type BuiltinRoleId,
  PERMISSIONS,
  type Permission,
} from '../../../../protocol/methods/accounts/permissions.ts';

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
      ['approve', 'Decide about tool calls, change jobs and nodes, and delete conversations'],
      ['workstreams.create', 'Start workstreams'],
      ['workstreams.close', 'Close workstreams'],
    ],
  },
  {
    title: 'Administration',
    permissions: [
      ['admin.users', 'Add, change and delete users'],
      ['admin.roles', 'Define roles'],
      ['admin.audit', 'See and verify the audit trail'],
      ['admin.orgs', 'Change the organization'],
    ],
  },
  {
    title: 'Further rights',
    hint: 'For single parts of Headgate, and for other clients.',
    permissions: [
      ['admin.policies', 'Administer policies'],
      ['admin.skills', 'Administer skills'],
      ['admin.templates', 'Administer templates'],
      ['admin.ws_templates', 'Administer templates of workstreams'],
      ['admin.usage', 'See the usage of others'],
      ['admin.schedules', 'Change jobs'],
      ['admin.nodes', 'Pair, rename and remove nodes, and run commands on them'],
      ['admin.watches', 'Administer watches'],
      ['admin.judge', 'Administer the judge'],
      ['admin.memories', 'Administer memories'],
      ['admin.settings', 'Administer settings'],
      ['admin.mcp', 'Administer MCP servers'],
      ['admin.coordinator', 'Administer the coordinator'],
      ['coordinator.trust.send', 'Let the coordinator send without asking'],
      ['tools.approve', 'Decide about tool calls, as holder of another right to administer'],
      ['workstreams.all', 'See the workstreams of others'],
    ],
  },
];

/** What the built-in roles are for. */
export const ROLE_WORDS: Record<BuiltinRoleId, string> = {
  'builtin-admin': 'everything, also users, roles, settings and the audit trail',
  'builtin-operator': 'sends messages, and starts and closes workstreams, but does not decide about tool calls',
  'builtin-viewer': 'sees conversations, jobs, nodes and usage',
};

/** The permissions of a person in words: the built-in role that has exactly these, and what they allow. */
export function toRightsWords(permissions: readonly string[]): { role: string | undefined; allowed: string[] } {
  const held = new Set(permissions);
  const role = Object.values(BUILTIN_ROLES).find(
    (builtin) => builtin.permissions.length === held.size && builtin.permissions.every((one) => held.has(one)),
  );
  if (held.size === PERMISSIONS.length) return { role: role?.displayName, allowed: ['Everything'] };
  // The name of a role stands for the further rights. Without one, they are what makes the difference.
  const groups = role === undefined ? PERMISSION_GROUPS : PERMISSION_GROUPS.slice(0, 2);
  const named = groups.flatMap((group) => group.permissions);
  return { role: role?.displayName, allowed: named.filter(([id]) => held.has(id)).map(([, words]) => words) };
}
