/**
 * Rights that a role grants, besides or instead of scopes. `read`, `write` and `approve` grant the scope of the same name;
 * every permission that begins with `admin.` also grants `approve`, which all administration needs.
 */
export const PERMISSIONS = [
  'read',
  'write',
  'approve',
  'admin.users',
  'admin.roles',
  'admin.orgs',
  'admin.policies',
  'admin.skills',
  'admin.templates',
  'admin.ws_templates',
  'admin.audit',
  'admin.usage',
  'admin.schedules',
  'admin.watches',
  'admin.judge',
  'admin.memories',
  'admin.settings',
  'admin.mcp',
  'admin.coordinator',
  'admin.nodes',
  'coordinator.trust.send',
  'tools.approve',
  'workstreams.create',
  'workstreams.close',
  'workstreams.all',
] as const;
/** One of PERMISSIONS. */
export type Permission = (typeof PERMISSIONS)[number];

/** One of them is needed to answer questions about tool calls, and to allow calls that would ask. */
export const DECIDING = ['approve', 'tools.approve'] as const satisfies readonly Permission[];

/** Whether a text is the name of a permission. */
export const isPermission = (text: string): text is Permission => PERMISSIONS.some((known) => known === text);

/** A role that every daemon has and nobody can change. */
interface BuiltinRole {
  displayName: string;
  permissions: readonly Permission[];
}

/** The roles that every daemon has, by id, which is also their name. */
export const BUILTIN_ROLES = {
  'builtin-admin': { displayName: 'Administrator', permissions: PERMISSIONS },
  'builtin-operator': {
    displayName: 'Operator',
    permissions: ['read', 'write', 'workstreams.create', 'workstreams.close'],
  },
  'builtin-viewer': { displayName: 'Viewer', permissions: ['read'] },
} as const satisfies Record<string, BuiltinRole>;
/** The id of a built-in role. */
export type BuiltinRoleId = keyof typeof BUILTIN_ROLES;

/** Whether a role is built in. */
export const isBuiltinRole = (roleId: string): roleId is BuiltinRoleId => Object.hasOwn(BUILTIN_ROLES, roleId);
