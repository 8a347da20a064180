const ROOT = '/v1/api/mcp/oauth';

/** Methods about tool servers that need the permission for them. */
export const MCP_METHODS = ['mcp.list', 'mcp.refresh', 'mcp.accept', 'mcp.consent.revoke'];

/** The rights to accounts at tool servers. */
export const CONSENT_METHODS = {
  public: ['mcp.consent.finish'],
  read: ['mcp.consent.list', 'mcp.consent.pending', 'mcp.consent.dismiss'],
  write: ['mcp.consent.begin', 'mcp.consent.remove'],
};

/** The same over HTTP. */
export const CONSENT_ROUTES = {
  public: [`GET ${ROOT}/callback`],
  read: [
    ...[`GET ${ROOT}/connections`, `GET ${ROOT}/pending`],
    ...[`DELETE ${ROOT}/pending`, `DELETE ${ROOT}/pending/{server_name}`],
  ],
  write: [`GET ${ROOT}/start`, `DELETE ${ROOT}/connections/{server}`],
  approve: ['POST /v1/api/admin/mcp-servers/{name}/bulk-revoke'],
};
