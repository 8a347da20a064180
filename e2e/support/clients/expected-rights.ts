import type { Scope } from '../../../protocol/contract.ts';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import { CHANNEL_ROUTES, POLICY_ROUTES, PUSH_METHODS, RULE_ROUTES, SCHEDULE_ROUTES } from './admin-routes.ts';
import { CONSENT_METHODS, CONSENT_ROUTES } from './consent-rights.ts';
import { COORDINATION, COORDINATION_ROUTES, COORDINATOR_ROUTES, COORDINATOR_VIEWS } from './coordinator-rights.ts';
import { MCP_CLOSED_TO_SERVICES, MCP_METHODS, MCP_ROUTES } from './mcp-rights.ts';
import { SKILL_METHODS, SKILL_ROUTES, TEMPLATE_ROUTES, WS_TEMPLATE_ROUTES } from './skill-rights.ts';

/** Chat services prove themselves by a signature. */
const HOOK_ROUTES = ['GET', 'POST'].map((verb) => `${verb} /v1/api/channels/{channel}/webhook`);

const CHANNEL_METHODS = ['test', 'sender.list', 'pair', 'revoke', 'restore', 'part.list'].map(
  (call) => `channel.${call}`,
);

/**
 * The rights of each role, written a second time: the daemon uses the rows of the protocol, and the test uses this table
 * to try all of them. A right that is extended by mistake is extended only in one place.
 */
export const METHODS_BY_SCOPE: Partial<Record<Scope, readonly string[]>> = {
  public: [
    ...['auth.login', 'auth.logout', 'auth.status', 'auth.setup', ...CONSENT_METHODS.public],
    ...['auth.whoami', 'auth.refresh', 'auth.password', 'auth.confirm', 'oidc.authorize', 'oidc.callback'],
  ],
  read: [
    ...['health', 'health.history', 'status', 'system-presence', 'last-heartbeat', 'voicewake.get', 'models.list'],
    ...['chat.history', 'sessions.list', 'sessions.preview', 'sessions.resolve'],
    ...['config.get', 'config.schema', 'events.subscribe', 'events.unsubscribe', 'output.read', 'usage.get'],
    ...['cron.list', 'cron.status', 'cron.runs', 'cron.preview', 'cron.explain', 'cron.calendar', 'channel.list'],
    ...['workstream.list', 'workstream.saved', 'workstream.dashboard', 'workstream.get', 'workstream.history'],
    ...['workstream.find', 'events.view'],
    ...['budget.list', 'workstream.export', 'checkpoint.list', 'checkpoint.diff', 'background.list'],
    ...['template.list', 'wstemplate.list', 'skill.list', 'skill.available', 'user.names', 'memory.quarantine.list'],
    ...['workstream.commands', 'node.list', 'node.describe', 'queue.list', ...COORDINATOR_VIEWS],
    ...CONSENT_METHODS.read,
    ...['memory.list', 'memory.search', 'memory.get', 'background.output', 'subagent.list', 'subagent.messages'],
    ...['overview', 'status', 'nodes', 'workstreams', 'node', 'snapshot', 'locate', 'live'].map(
      (view) => `cluster.${view}`,
    ),
  ],
  write: [
    ...['system-event', 'wake', 'set-heartbeats', 'voicewake.set', 'send', 'watch.list', 'watch.cancel'],
    ...['agent', 'agent.wait', 'chat.send', 'chat.abort', 'sessions.patch', 'sessions.reset', 'sessions.compact'],
    ...['workstream.create', 'workstream.update', 'workstream.retitle', 'workstream.send', 'workstream.cancel'],
    ...['workstream.rewind', 'workstream.retry', 'workstream.edit', 'workstream.remove', 'workstream.fork'],
    ...['workstream.proceed', 'workstream.command', 'checkpoint.preview', 'checkpoint.undo', 'checkpoint.redo'],
    ...['file.list', 'file.find', 'file.read', 'file.changes', 'file.diff', 'file.discard'],
    ...['workstream.import', 'workstream.open', 'workstream.close', 'workstream.share', 'plan.resolve', 'cluster.move'],
    ...['memory.quarantine.discard', 'subagent.cancel', 'background.kill', 'memory.save', 'memory.delete'],
    ...['models.test', 'queue.edit', 'queue.move', 'queue.steer', 'queue.remove', ...CONSENT_METHODS.write],
  ],
  approve: [
    ...['sessions.delete', 'workstream.delete', 'logs.tail', 'config.set', 'config.patch'],
    ...['workstream.approve', 'approval.list', 'approval.resolve', 'budget.set', ...PUSH_METHODS],
    ...['node.pair.list', 'node.pair.approve', 'node.pair.reject', 'node.pair.verify'],
    ...['node.rename', 'node.invoke', 'node.token.rotate', 'node.token.revoke'],
    ...['cron.add', 'cron.update', 'cron.remove', 'cron.run', 'memory.quarantine.release'],
    ...SKILL_METHODS,
    ...['template.details', 'template.create', 'template.update', 'template.delete'],
    ...['wstemplate.details', 'wstemplate.get', 'wstemplate.create', 'wstemplate.update', 'wstemplate.delete'],
    ...['wstemplate.versions', 'auth.link', 'token.create', 'token.list', 'token.revoke'],
    ...['user.list', 'user.create', 'user.update', 'user.delete', 'user.token.list', 'user.token.create'],
    ...CHANNEL_METHODS,
    ...['user.role.list', 'user.role.choices', 'user.role.assign', 'user.role.unassign'],
    ...['oidc.identity.list', 'oidc.identity.add', 'oidc.identity.remove'],
    ...['role.list', 'role.create', 'role.update', 'role.delete'],
    ...['org.list', 'org.get', 'org.update', 'audit.list', 'audit.verify', 'usage.report'],
    ...['settings.list', 'settings.schema', 'settings.set', 'settings.reset', 'config.reload'],
    ...['list', 'create', 'update', 'delete', 'simulate'].flatMap((call) => [`policy.${call}`, `rule.${call}`]),
    ...['assessment.list', 'verdict.list', 'secrets.status', 'secrets.rotate', 'watch.admin.list', ...MCP_METHODS],
    'daemon.restart',
    ...['memory.admin.list', 'memory.admin.search', 'memory.admin.get', 'memory.admin.delete', ...COORDINATION],
    ...['list', 'create', 'get', 'update', 'delete', 'runs'].map((call) => `schedule.${call}`),
  ],
  service: ['token.refresh'],
  pairing: ['node.pair.request'],
  node: ['node.invoke.result', 'node.event'],
};

const UNDO = ['undo', 'undo/preview', 'redo', 'files/discard', 'agents/{agent_id}/cancel'];

export const ROUTES_BY_SCOPE: Partial<Record<Scope, readonly string[]>> = {
  public: [
    ...['GET /', 'GET /licenses.txt', 'GET /health', 'GET /metrics', 'GET /openapi.json'],
    ...['GET /docs', 'GET /static/:file', 'GET /shared/:file'],
    ...['POST /v1/api/auth/login', 'POST /v1/api/auth/logout', 'GET /v1/api/auth/status', 'POST /v1/api/auth/setup'],
    ...['GET /v1/api/auth/oidc/authorize', 'GET /v1/api/auth/oidc/callback'],
    ...['GET /v1/api/auth/whoami', 'POST /v1/api/auth/refresh', 'POST /v1/api/auth/password'],
    ...['POST /v1/api/auth/confirm', ...HOOK_ROUTES, ...CONSENT_ROUTES.public],
  ],
  read: [
    ...['GET /v1/api/workstreams', 'GET /v1/api/workstreams/saved', 'GET /v1/api/dashboard'],
    ...['GET /v1/api/templates', 'GET /v1/api/ws-templates', 'GET /v1/api/skills', 'GET /v1/api/workstreams/find'],
    'GET /v1/api/workstreams/{ws_id}/skills',
    ...['GET /v1/api/events', 'GET /v1/api/events/global', 'GET /v1/api/workstreams/{ws_id}/attachments'],
    'GET /v1/api/workstreams/{ws_id}/attachments/{attachment_id}/content',
    ...['', '/history', '/events', '/export', '/background', '/background/{command_id}/output'].map(
      (path) => `GET /v1/api/workstreams/{ws_id}${path}`,
    ),
    ...['models', 'route', 'quarantined-memories', 'channels', 'health/history'].map((path) => `GET /v1/api/${path}`),
    ...['GET /v1/api/route/workstreams/{ws_id}/live', ...CONSENT_ROUTES.read],
    ...['overview', 'nodes', 'workstreams', 'node/{node_id}', 'snapshot', 'events'].map(
      (view) => `GET /v1/api/cluster/${view}`,
    ),
    ...['checkpoints', 'diff', 'agents', 'agents/{agent_id}/messages', 'children', 'tasks', 'metrics'].map(
      (path) => `GET /v1/api/workstreams/{ws_id}/${path}`,
    ),
    ...['GET /v1/api/memories', 'POST /v1/api/memories/search', 'GET /v1/api/memories/{name}'],
  ],
  write: [
    ...['POST /v1/api/models/test', 'POST /v1/api/route/workstreams/move'],
    ...['POST /v1/api/workstreams/new', 'POST /v1/api/workstreams/close', 'POST /v1/api/workstreams/import'],
    ...['POST /v1/api/cluster/workstreams/new', 'POST /v1/api/route/workstreams/new'],
    ...['send', 'cancel', 'command', 'plan'].map((path) => `POST /v1/api/${path}`),
    ...['attachments', 'background/{command_id}/kill'].map((path) => `POST /v1/api/workstreams/{ws_id}/${path}`),
    ...['send', 'cancel', 'close', 'rewind', 'retry', 'title', 'refresh-title', 'open', 'share', ...UNDO].map(
      (path) => `POST /v1/api/workstreams/{ws_id}/${path}`,
    ),
    ...['', '/find', '/content', '/changes', '/diff'].map((path) => `GET /v1/api/workstreams/{ws_id}/files${path}`),
    ...['DELETE /v1/api/workstreams/{ws_id}/send', 'POST /v1/api/watches/{watch_id}/cancel'],
    ...CONSENT_ROUTES.write,
    ...['GET /v1/api/watches', 'DELETE /v1/api/workstreams/{ws_id}/attachments/{attachment_id}'],
    ...['POST /v1/api/memories', 'DELETE /v1/api/memories/{name}', 'DELETE /v1/api/quarantined-memories/{memory_id}'],
  ],
  approve: [
    ...['POST /v1/api/approve', 'POST /v1/api/quarantined-memories/{memory_id}/release'],
    ...['POST /v1/api/workstreams/{ws_id}/approve', 'DELETE /v1/api/workstreams/{ws_id}'],
    ...['POST /v1/api/workstreams/{ws_id}/delete', 'POST /v1/api/route/workstreams/delete'],
    ...[...SCHEDULE_ROUTES, ...COORDINATOR_ROUTES, ...CHANNEL_ROUTES],
    ...['GET /v1/api/admin/memories', 'GET /v1/api/admin/memories/search'],
    ...['GET /v1/api/admin/memories/{memory_id}', 'DELETE /v1/api/admin/memories/{memory_id}'],
    ...['GET /v1/api/admin/users', 'POST /v1/api/admin/users'],
    ...['PUT /v1/api/admin/users/{user_id}', 'DELETE /v1/api/admin/users/{user_id}'],
    ...['GET /v1/api/admin/users/{user_id}/tokens', 'POST /v1/api/admin/users/{user_id}/tokens'],
    ...['GET /v1/api/admin/users/{user_id}/roles', 'POST /v1/api/admin/users/{user_id}/roles'],
    'DELETE /v1/api/admin/users/{user_id}/roles/{role_id}',
    ...['GET', 'POST'].map((verb) => `${verb} /v1/api/admin/users/{user_id}/oidc-identities`),
    ...['DELETE /v1/api/admin/oidc-identities', 'DELETE /v1/api/admin/tokens/{token_id}'],
    ...['GET /v1/api/admin/roles', 'POST /v1/api/admin/roles'],
    ...['PUT /v1/api/admin/roles/{role_id}', 'DELETE /v1/api/admin/roles/{role_id}'],
    ...['GET /v1/api/admin/orgs', 'GET /v1/api/admin/orgs/{org_id}', 'PUT /v1/api/admin/orgs/{org_id}'],
    ...['GET /v1/api/admin/audit', 'GET /v1/api/admin/usage', 'GET /v1/api/admin/watches'],
    ...['GET /v1/api/admin/settings', 'GET /v1/api/admin/settings/schema', 'POST /v1/api/_internal/config-reload'],
    ...['PUT /v1/api/admin/settings/{key}', 'DELETE /v1/api/admin/settings/{key}'],
    ...[...MCP_ROUTES, ...POLICY_ROUTES, ...RULE_ROUTES, ...SKILL_ROUTES, ...TEMPLATE_ROUTES, ...WS_TEMPLATE_ROUTES],
    ...['GET /v1/api/admin/output-assessments', 'GET /v1/api/admin/verdicts'],
  ],
  service: ['POST /v1/api/_internal/token-refresh'],
};

const RULES = ['list', 'create', 'update', 'delete', 'simulate'].map((call) => `rule.${call}`);
const RELEASE = 'memory.quarantine.release';
const DECISIONS = ['workstream.approve', 'approval.list', 'approval.resolve', ...PUSH_METHODS, ...RULES, RELEASE];
const JOBS = ['cron.add', 'cron.update', 'cron.remove', 'cron.run'];
const NODES = [
  ...['node.pair.list', 'node.pair.approve', 'node.pair.reject', 'node.pair.verify'],
  ...['node.rename', 'node.invoke', 'node.token.rotate', 'node.token.revoke'],
];
const RELEASE_ROUTE = 'POST /v1/api/quarantined-memories/{memory_id}/release';
const APPROVE = ['', '/workstreams/{ws_id}'].map((at) => `POST /v1/api${at}/approve`);
const DECISION_ROUTES = [...APPROVE, ...RULE_ROUTES, RELEASE_ROUTE];

/** The permissions of which a method or a route needs one, in the order of this table; empty if it needs none. */
export const neededOf = (table: Partial<Record<Permission, readonly string[]>>, name: string): Permission[] =>
  Object.entries(table).flatMap(([permission, names]) => (names.includes(name) ? [permission as Permission] : []));

/** How a caller is refused who holds none of them. */
export const refusalOf = (needed: readonly Permission[]): string =>
  needed.length === 1
    ? `Forbidden: missing '${needed[0]}' permission`
    : `Forbidden: missing one of ${needed.map((each) => `'${each}'`).join(', ')}`;

/** What the scope `approve` alone opens: credentials below the caller's own. */
export const WITHOUT_PERMISSION = ['auth.link', 'token.create', 'token.list', 'token.revoke'];

/**
 * The permissions that methods need besides their scope, written a second time, too. A method below several permissions
 * needs one of them.
 */
export const METHODS_BY_PERMISSION: Partial<Record<Permission, readonly string[]>> = {
  approve: [...DECISIONS, 'sessions.delete', 'workstream.delete', 'budget.set', ...JOBS, ...NODES],
  'tools.approve': DECISIONS,
  'admin.schedules': [
    ...JOBS,
    ...['list', 'create', 'get', 'update', 'delete', 'runs'].map((call) => `schedule.${call}`),
  ],
  'admin.nodes': NODES,
  'workstreams.create': [
    ...['workstream.create', 'workstream.open', 'workstream.import', 'workstream.fork', 'models.test'],
  ],
  'workstreams.close': ['workstream.close'],
  'workstreams.all': ['logs.tail'],
  'admin.users': [
    ...['user.list', 'user.create', 'user.update', 'user.delete', 'user.token.list', 'user.token.create'],
    ...CHANNEL_METHODS,
    ...['user.role.list', 'user.role.choices', 'user.role.assign', 'user.role.unassign'],
    ...['oidc.identity.list', 'oidc.identity.add', 'oidc.identity.remove'],
  ],
  'admin.roles': ['role.list', 'role.create', 'role.update', 'role.delete'],
  'admin.orgs': ['org.list', 'org.get', 'org.update'],
  'admin.audit': ['audit.list', 'audit.verify'],
  'admin.usage': ['usage.report'],
  'admin.policies': [...RULES, ...RULES.map((method) => method.replace('rule', 'policy'))],
  'admin.judge': ['assessment.list', 'verdict.list'],
  'admin.mcp': MCP_METHODS,
  'admin.coordinator': COORDINATION,
  'admin.watches': ['watch.admin.list'],
  'admin.settings': [
    ...['settings.list', 'settings.schema', 'settings.set', 'settings.reset', 'config.reload', 'config.set'],
    ...['config.patch', 'secrets.status', 'secrets.rotate', 'daemon.restart'],
  ],
  'admin.skills': SKILL_METHODS,
  'admin.templates': ['template.details', 'template.create', 'template.update', 'template.delete'],
  'admin.ws_templates': [
    ...['wstemplate.details', 'wstemplate.get', 'wstemplate.create', 'wstemplate.update', 'wstemplate.delete'],
    'wstemplate.versions',
  ],
  'admin.memories': ['list', 'search', 'get', 'delete'].map((call) => `memory.admin.${call}`).concat(RELEASE),
};

/** The permissions that routes need besides their scope. */
export const ROUTES_BY_PERMISSION: Partial<Record<Permission, readonly string[]>> = {
  approve: [
    ...[...DECISION_ROUTES, 'DELETE /v1/api/workstreams/{ws_id}'],
    ...['POST /v1/api/route/workstreams/delete', 'POST /v1/api/workstreams/{ws_id}/delete'],
  ],
  'tools.approve': DECISION_ROUTES,
  'workstreams.create': [
    'POST /v1/api/models/test',
    ...['new', 'import', '{ws_id}/open'].map((path) => `POST /v1/api/workstreams/${path}`),
    ...['POST /v1/api/cluster/workstreams/new', 'POST /v1/api/route/workstreams/new'],
  ],
  'workstreams.close': ['POST /v1/api/workstreams/close', 'POST /v1/api/workstreams/{ws_id}/close'],
  'admin.users': [
    ...['GET /v1/api/admin/users', 'POST /v1/api/admin/users'],
    ...['PUT /v1/api/admin/users/{user_id}', 'DELETE /v1/api/admin/users/{user_id}'],
    ...['GET /v1/api/admin/users/{user_id}/tokens', 'POST /v1/api/admin/users/{user_id}/tokens'],
    ...['GET /v1/api/admin/users/{user_id}/roles', 'POST /v1/api/admin/users/{user_id}/roles'],
    'DELETE /v1/api/admin/users/{user_id}/roles/{role_id}',
    ...['GET', 'POST'].map((verb) => `${verb} /v1/api/admin/users/{user_id}/oidc-identities`),
    ...['DELETE /v1/api/admin/oidc-identities', ...CHANNEL_ROUTES],
  ],
  'admin.roles': [
    ...['GET /v1/api/admin/roles', 'POST /v1/api/admin/roles'],
    ...['PUT /v1/api/admin/roles/{role_id}', 'DELETE /v1/api/admin/roles/{role_id}'],
  ],
  'admin.orgs': ['GET /v1/api/admin/orgs', 'GET /v1/api/admin/orgs/{org_id}', 'PUT /v1/api/admin/orgs/{org_id}'],
  'admin.audit': ['GET /v1/api/admin/audit'],
  'admin.schedules': SCHEDULE_ROUTES,
  'admin.usage': ['GET /v1/api/admin/usage'],
  'admin.policies': [...POLICY_ROUTES, ...RULE_ROUTES],
  'admin.judge': ['GET /v1/api/admin/output-assessments', 'GET /v1/api/admin/verdicts'],
  'admin.mcp': MCP_ROUTES,
  'admin.watches': ['GET /v1/api/admin/watches'],
  'admin.coordinator': COORDINATOR_ROUTES,
  'admin.settings': [
    ...['GET /v1/api/admin/settings', 'GET /v1/api/admin/settings/schema', 'POST /v1/api/_internal/config-reload'],
    ...['PUT /v1/api/admin/settings/{key}', 'DELETE /v1/api/admin/settings/{key}'],
  ],
  'admin.skills': SKILL_ROUTES,
  'admin.templates': TEMPLATE_ROUTES,
  'admin.ws_templates': WS_TEMPLATE_ROUTES,
  'admin.memories': [
    ...[RELEASE_ROUTE, 'GET /v1/api/admin/memories', 'GET /v1/api/admin/memories/search'],
    ...['GET', 'DELETE'].map((verb) => `${verb} /v1/api/admin/memories/{memory_id}`),
  ],
};

/** What creates credentials or gives rights, so that service tokens are refused: the methods with their routes. */
export const CLOSED_TO_SERVICES: Readonly<Record<string, readonly string[]>> = {
  ...{ 'auth.link': [], 'token.create': [], 'channel.pair': ['POST /v1/api/admin/channels/{channel}/pair'] },
  'channel.restore': ['POST /v1/api/admin/channels/{channel}/senders/{sender_id}/restore'],
  'user.create': ['POST /v1/api/admin/users'],
  'user.update': ['PUT /v1/api/admin/users/{user_id}'],
  'user.token.create': ['POST /v1/api/admin/users/{user_id}/tokens'],
  'user.role.assign': ['POST /v1/api/admin/users/{user_id}/roles'],
  'oidc.identity.add': ['POST /v1/api/admin/users/{user_id}/oidc-identities'],
  'role.create': ['POST /v1/api/admin/roles'],
  'role.update': ['PUT /v1/api/admin/roles/{role_id}'],
  ...COORDINATION_ROUTES,
  ...{ 'node.pair.approve': [], 'node.token.rotate': [] },
  ...{ 'secrets.rotate': [], 'daemon.restart': [] },
  ...MCP_CLOSED_TO_SERVICES,
};

/** Public routes that answer only to a login, with the answers to callers without one, and with a token. */
export const ROUTES_OF_LOGINS: Record<string, { none: string; token: string; login: string }> = {
  'GET /v1/api/auth/whoami': { none: 'unauthorized', token: 'allowed', login: 'allowed' },
  'POST /v1/api/auth/refresh': { none: 'unauthorized', token: 'forbidden', login: 'forbidden' },
  'POST /v1/api/auth/password': { none: 'unauthorized', token: 'forbidden', login: 'forbidden' },
  'POST /v1/api/auth/confirm': { none: 'unauthorized', token: 'allowed', login: 'allowed' },
};

/** The WebSocket methods by the required scope. */
export const MAY_CALL = {
  read: ['public', 'read'],
  write: ['public', 'read', 'write'],
  approve: ['public', 'read', 'write', 'approve', 'pairing'],
  service: ['public', 'read', 'write', 'approve', 'service', 'pairing'],
  node: ['node', 'pairing'],
  unpaired: ['pairing'],
} as const satisfies Record<string, readonly Scope[]>;
