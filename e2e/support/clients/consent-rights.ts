const ROOT = '/v1/api/mcp/oauth';

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
};
