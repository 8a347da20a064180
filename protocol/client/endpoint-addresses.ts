import type { Endpoint } from '../http/endpoint.ts';
import type { ENDPOINTS } from '../http/index.ts';

/** The address of an endpoint, with the types of its row but without its schemas, which only the daemon needs. */
export type EndpointAddress<E extends Endpoint = Endpoint> = Pick<E, 'verb' | 'path' | 'answers'> & {
  readonly row?: E;
};

type Addresses = {
  [Group in keyof typeof ENDPOINTS]: {
    [Name in keyof (typeof ENDPOINTS)[Group]]: EndpointAddress<Extract<(typeof ENDPOINTS)[Group][Name], Endpoint>>;
  };
};

/** The endpoints of attachments, alone: a page that uses no others does not carry them. */
export const attachmentEndpoints: Addresses['attachment'] = {
  upload: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/attachments' },
  list: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/attachments' },
  content: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/attachments/{attachment_id}/content' },
  remove: { verb: 'delete', path: '/v1/api/workstreams/{ws_id}/attachments/{attachment_id}' },
};

/** The endpoints of conversations as files, alone, as those of attachments. */
export const conversationEndpoints: Addresses['conversation'] = {
  export: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/export' },
  import: { verb: 'post', path: '/v1/api/workstreams/import' },
};

/** Every endpoint of the HTTP interface. A missing one does not compile; a test compares them with the rows. */
export const endpoints: Addresses = {
  workstream: {
    list: { verb: 'get', path: '/v1/api/workstreams' },
    saved: { verb: 'get', path: '/v1/api/workstreams/saved' },
    dashboard: { verb: 'get', path: '/v1/api/dashboard' },
    create: { verb: 'post', path: '/v1/api/workstreams/new' },
    close: { verb: 'post', path: '/v1/api/workstreams/close' },
    send: { verb: 'post', path: '/v1/api/send' },
    approve: { verb: 'post', path: '/v1/api/approve' },
    cancel: { verb: 'post', path: '/v1/api/cancel' },
    command: { verb: 'post', path: '/v1/api/command' },
  },
  workstreamLine: {
    detail: { verb: 'get', path: '/v1/api/workstreams/{ws_id}' },
    history: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/history' },
    events: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/events' },
    send: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/send' },
    unsend: { verb: 'delete', path: '/v1/api/workstreams/{ws_id}/send' },
    approve: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/approve' },
    cancel: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/cancel' },
    close: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/close' },
    rewind: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/rewind' },
    retry: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/retry' },
    title: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/title' },
    refreshTitle: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/refresh-title' },
    open: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/open' },
    remove: { verb: 'delete', path: '/v1/api/workstreams/{ws_id}' },
    removeByPost: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/delete' },
  },
  checkpoint: {
    list: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/checkpoints' },
    diff: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/diff' },
    preview: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/undo/preview' },
    undo: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/undo' },
    redo: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/redo' },
  },
  attachment: attachmentEndpoints,
  channelHook: {
    verify: { verb: 'get', path: '/v1/api/channels/{channel}/webhook' },
    receive: { verb: 'post', path: '/v1/api/channels/{channel}/webhook' },
  },
  conversation: conversationEndpoints,
  background: {
    list: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/background' },
    output: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/background/{command_id}/output' },
    kill: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/background/{command_id}/kill' },
  },
  subAgent: {
    list: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/agents' },
    messages: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/agents/{agent_id}/messages' },
    cancel: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/agents/{agent_id}/cancel' },
  },
  plan: {
    resolve: { verb: 'post', path: '/v1/api/plan' },
  },
  watch: {
    list: { verb: 'get', path: '/v1/api/watches' },
    cancel: { verb: 'post', path: '/v1/api/watches/{watch_id}/cancel' },
    all: { verb: 'get', path: '/v1/api/admin/watches' },
  },
  coordinator: {
    trust: { verb: 'post', path: '/v1/api/coordinator/{ws_id}/trust' },
    restrict: { verb: 'post', path: '/v1/api/coordinator/{ws_id}/restrict' },
    stop: { verb: 'post', path: '/v1/api/coordinator/{ws_id}/stop_cascade' },
    trustLater: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/trust' },
    restrictLater: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/restrict' },
    stopLater: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/stop_cascade' },
    close: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/close_all_children' },
    children: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/children' },
    tasks: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/tasks' },
    metrics: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/metrics' },
  },
  channel: {
    list: { verb: 'get', path: '/v1/api/channels' },
    test: { verb: 'post', path: '/v1/api/admin/channels/{channel}/test' },
    senders: { verb: 'get', path: '/v1/api/admin/channels/senders' },
    pair: { verb: 'post', path: '/v1/api/admin/channels/{channel}/pair' },
    revoke: { verb: 'delete', path: '/v1/api/admin/channels/{channel}/senders/{sender_id}' },
    restore: { verb: 'post', path: '/v1/api/admin/channels/{channel}/senders/{sender_id}/restore' },
    deliveries: { verb: 'get', path: '/v1/api/admin/channels/deliveries' },
  },
  mcpConsent: {
    start: { verb: 'get', path: '/v1/api/mcp/oauth/start' },
    callback: { verb: 'get', path: '/v1/api/mcp/oauth/callback' },
    connections: { verb: 'get', path: '/v1/api/mcp/oauth/connections' },
    disconnect: { verb: 'delete', path: '/v1/api/mcp/oauth/connections/{server}' },
    pending: { verb: 'get', path: '/v1/api/mcp/oauth/pending' },
    dismiss: { verb: 'delete', path: '/v1/api/mcp/oauth/pending/{server_name}' },
    dismissAll: { verb: 'delete', path: '/v1/api/mcp/oauth/pending' },
    revoke: { verb: 'post', path: '/v1/api/admin/mcp-servers/{name}/bulk-revoke' },
  },
  sharing: {
    share: { verb: 'post', path: '/v1/api/workstreams/{ws_id}/share' },
  },
  events: {
    events: { verb: 'get', path: '/v1/api/events' },
    global: { verb: 'get', path: '/v1/api/events/global' },
  },
  auth: {
    login: { verb: 'post', path: '/v1/api/auth/login' },
    setup: { verb: 'post', path: '/v1/api/auth/setup' },
    whoami: { verb: 'get', path: '/v1/api/auth/whoami' },
    refresh: { verb: 'post', path: '/v1/api/auth/refresh' },
    password: { verb: 'post', path: '/v1/api/auth/password' },
    confirm: { verb: 'post', path: '/v1/api/auth/confirm' },
    logout: { verb: 'post', path: '/v1/api/auth/logout' },
    status: { verb: 'get', path: '/v1/api/auth/status' },
  },
  token: {
    refresh: { verb: 'post', path: '/v1/api/_internal/token-refresh' },
  },
  user: {
    list: { verb: 'get', path: '/v1/api/admin/users' },
    create: { verb: 'post', path: '/v1/api/admin/users' },
    update: { verb: 'put', path: '/v1/api/admin/users/{user_id}' },
    remove: { verb: 'delete', path: '/v1/api/admin/users/{user_id}' },
    tokens: { verb: 'get', path: '/v1/api/admin/users/{user_id}/tokens' },
    createToken: { verb: 'post', path: '/v1/api/admin/users/{user_id}/tokens' },
    revokeToken: { verb: 'delete', path: '/v1/api/admin/tokens/{token_id}' },
    roles: { verb: 'get', path: '/v1/api/admin/users/{user_id}/roles' },
    assignRole: { verb: 'post', path: '/v1/api/admin/users/{user_id}/roles' },
    unassignRole: { verb: 'delete', path: '/v1/api/admin/users/{user_id}/roles/{role_id}' },
  },
  oidc: {
    authorize: { verb: 'get', path: '/v1/api/auth/oidc/authorize' },
    callback: { verb: 'get', path: '/v1/api/auth/oidc/callback' },
    identities: { verb: 'get', path: '/v1/api/admin/users/{user_id}/oidc-identities' },
    addIdentity: { verb: 'post', path: '/v1/api/admin/users/{user_id}/oidc-identities' },
    removeIdentity: { verb: 'delete', path: '/v1/api/admin/oidc-identities' },
  },
  role: {
    list: { verb: 'get', path: '/v1/api/admin/roles' },
    create: { verb: 'post', path: '/v1/api/admin/roles' },
    update: { verb: 'put', path: '/v1/api/admin/roles/{role_id}' },
    remove: { verb: 'delete', path: '/v1/api/admin/roles/{role_id}' },
  },
  org: {
    list: { verb: 'get', path: '/v1/api/admin/orgs' },
    get: { verb: 'get', path: '/v1/api/admin/orgs/{org_id}' },
    update: { verb: 'put', path: '/v1/api/admin/orgs/{org_id}' },
  },
  audit: {
    list: { verb: 'get', path: '/v1/api/admin/audit' },
  },
  policies: {
    list: { verb: 'get', path: '/v1/api/admin/policies' },
    create: { verb: 'post', path: '/v1/api/admin/policies' },
    simulate: { verb: 'post', path: '/v1/api/admin/policies/simulate' },
    update: { verb: 'put', path: '/v1/api/admin/policies/{policy_id}' },
    remove: { verb: 'delete', path: '/v1/api/admin/policies/{policy_id}' },
  },
  assessments: {
    list: { verb: 'get', path: '/v1/api/admin/output-assessments' },
  },
  verdicts: {
    list: { verb: 'get', path: '/v1/api/admin/verdicts' },
  },
  rules: {
    list: { verb: 'get', path: '/v1/api/rules' },
    create: { verb: 'post', path: '/v1/api/rules' },
    simulate: { verb: 'post', path: '/v1/api/rules/simulate' },
    update: { verb: 'put', path: '/v1/api/rules/{rule_id}' },
    remove: { verb: 'delete', path: '/v1/api/rules/{rule_id}' },
  },
  mcpAdmin: {
    list: { verb: 'get', path: '/v1/api/admin/mcp-servers' },
    create: { verb: 'post', path: '/v1/api/admin/mcp-servers' },
    get: { verb: 'get', path: '/v1/api/admin/mcp-servers/{server_id}' },
    update: { verb: 'put', path: '/v1/api/admin/mcp-servers/{server_id}' },
    remove: { verb: 'delete', path: '/v1/api/admin/mcp-servers/{server_id}' },
    import: { verb: 'post', path: '/v1/api/admin/mcp-servers/import' },
    reload: { verb: 'post', path: '/v1/api/admin/mcp-servers/reload' },
    signal: { verb: 'post', path: '/v1/api/_internal/mcp-reload' },
    signalShort: { verb: 'post', path: '/_internal/mcp-reload' },
    status: { verb: 'get', path: '/v1/api/_internal/mcp-status' },
  },
  mcpRegistry: {
    search: { verb: 'get', path: '/v1/api/admin/mcp-registry/search' },
    install: { verb: 'post', path: '/v1/api/admin/mcp-registry/install' },
  },
  settings: {
    list: { verb: 'get', path: '/v1/api/admin/settings' },
    schema: { verb: 'get', path: '/v1/api/admin/settings/schema' },
    set: { verb: 'put', path: '/v1/api/admin/settings/{key}' },
    reset: { verb: 'delete', path: '/v1/api/admin/settings/{key}' },
    reload: { verb: 'post', path: '/v1/api/_internal/config-reload' },
  },
  schedule: {
    list: { verb: 'get', path: '/v1/api/admin/schedules' },
    create: { verb: 'post', path: '/v1/api/admin/schedules' },
    get: { verb: 'get', path: '/v1/api/admin/schedules/{task_id}' },
    update: { verb: 'put', path: '/v1/api/admin/schedules/{task_id}' },
    remove: { verb: 'delete', path: '/v1/api/admin/schedules/{task_id}' },
    runs: { verb: 'get', path: '/v1/api/admin/schedules/{task_id}/runs' },
  },
  usage: {
    report: { verb: 'get', path: '/v1/api/admin/usage' },
  },
  memory: {
    list: { verb: 'get', path: '/v1/api/memories' },
    save: { verb: 'post', path: '/v1/api/memories' },
    search: { verb: 'post', path: '/v1/api/memories/search' },
    get: { verb: 'get', path: '/v1/api/memories/{name}' },
    remove: { verb: 'delete', path: '/v1/api/memories/{name}' },
    quarantined: { verb: 'get', path: '/v1/api/quarantined-memories' },
    release: { verb: 'post', path: '/v1/api/quarantined-memories/{memory_id}/release' },
    discard: { verb: 'delete', path: '/v1/api/quarantined-memories/{memory_id}' },
    adminList: { verb: 'get', path: '/v1/api/admin/memories' },
    adminSearch: { verb: 'get', path: '/v1/api/admin/memories/search' },
    adminGet: { verb: 'get', path: '/v1/api/admin/memories/{memory_id}' },
    adminRemove: { verb: 'delete', path: '/v1/api/admin/memories/{memory_id}' },
  },
  template: {
    list: { verb: 'get', path: '/v1/api/templates' },
    details: { verb: 'get', path: '/v1/api/admin/templates' },
    create: { verb: 'post', path: '/v1/api/admin/templates' },
    update: { verb: 'put', path: '/v1/api/admin/templates/{template_id}' },
    remove: { verb: 'delete', path: '/v1/api/admin/templates/{template_id}' },
  },
  wstemplate: {
    list: { verb: 'get', path: '/v1/api/ws-templates' },
    details: { verb: 'get', path: '/v1/api/admin/ws-templates' },
    create: { verb: 'post', path: '/v1/api/admin/ws-templates' },
    get: { verb: 'get', path: '/v1/api/admin/ws-templates/{ws_template_id}' },
    update: { verb: 'put', path: '/v1/api/admin/ws-templates/{ws_template_id}' },
    remove: { verb: 'delete', path: '/v1/api/admin/ws-templates/{ws_template_id}' },
    versions: { verb: 'get', path: '/v1/api/admin/ws-templates/{ws_template_id}/versions' },
  },
  skill: {
    list: { verb: 'get', path: '/v1/api/skills' },
    available: { verb: 'get', path: '/v1/api/workstreams/{ws_id}/skills' },
    details: { verb: 'get', path: '/v1/api/admin/skills' },
    create: { verb: 'post', path: '/v1/api/admin/skills' },
    get: { verb: 'get', path: '/v1/api/admin/skills/{skill_id}' },
    update: { verb: 'put', path: '/v1/api/admin/skills/{skill_id}' },
    remove: { verb: 'delete', path: '/v1/api/admin/skills/{skill_id}' },
    versions: { verb: 'get', path: '/v1/api/admin/skills/{skill_id}/versions' },
    rescan: { verb: 'post', path: '/v1/api/admin/skills/{skill_id}/rescan' },
  },
  skillResource: {
    list: { verb: 'get', path: '/v1/api/admin/skills/{skill_id}/resources' },
    create: { verb: 'post', path: '/v1/api/admin/skills/{skill_id}/resources' },
    get: { verb: 'get', path: '/v1/api/admin/skills/{skill_id}/resources/{+path}' },
    remove: { verb: 'delete', path: '/v1/api/admin/skills/{skill_id}/resources/{+path}' },
  },
  skillSource: {
    discover: { verb: 'get', path: '/v1/api/admin/skills/discover' },
    install: { verb: 'post', path: '/v1/api/admin/skills/install' },
  },
  models: {
    list: { verb: 'get', path: '/v1/api/models' },
  },
  cluster: {
    overview: { verb: 'get', path: '/v1/api/cluster/overview' },
    nodes: { verb: 'get', path: '/v1/api/cluster/nodes' },
    workstreams: { verb: 'get', path: '/v1/api/cluster/workstreams' },
    node: { verb: 'get', path: '/v1/api/cluster/node/{node_id}' },
    snapshot: { verb: 'get', path: '/v1/api/cluster/snapshot' },
    events: { verb: 'get', path: '/v1/api/cluster/events' },
    locate: { verb: 'get', path: '/v1/api/route' },
    live: { verb: 'get', path: '/v1/api/route/workstreams/{ws_id}/live' },
    create: { verb: 'post', path: '/v1/api/cluster/workstreams/new' },
    createRouted: { verb: 'post', path: '/v1/api/route/workstreams/new' },
    remove: { verb: 'post', path: '/v1/api/route/workstreams/delete' },
  },
  health: {
    health: { verb: 'get', path: '/health' },
    history: { verb: 'get', path: '/v1/api/health/history' },
  },
};
