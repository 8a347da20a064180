/** The methods about tool servers. All need `admin.mcp`. */
export const MCP_METHODS = [
  ...['list', 'refresh', 'accept', 'get', 'create', 'update', 'delete', 'import', 'reload'].map(
    (call) => `mcp.${call}`,
  ),
  ...['mcp.registry.search', 'mcp.registry.install', 'mcp.consent.revoke'],
];

const MCP = '/v1/api/admin/mcp-servers';
/** Their routes. */
export const MCP_ROUTES = [
  ...[`GET ${MCP}`, `POST ${MCP}`, `POST ${MCP}/import`, `POST ${MCP}/reload`],
  ...['GET', 'PUT', 'DELETE'].map((verb) => `${verb} ${MCP}/{server_id}`),
  `POST ${MCP}/{name}/bulk-revoke`,
  ...['GET /v1/api/admin/mcp-registry/search', 'POST /v1/api/admin/mcp-registry/install'],
  ...['POST /v1/api/_internal/mcp-reload', 'POST /_internal/mcp-reload', 'GET /v1/api/_internal/mcp-status'],
];

/** What service tokens may not do, with its routes. */
export const MCP_CLOSED_TO_SERVICES: Readonly<Record<string, readonly string[]>> = {
  'mcp.create': [`POST ${MCP}`],
  'mcp.update': [`PUT ${MCP}/{server_id}`],
  'mcp.delete': [`DELETE ${MCP}/{server_id}`],
  'mcp.import': [`POST ${MCP}/import`],
  'mcp.registry.install': ['POST /v1/api/admin/mcp-registry/install'],
};
