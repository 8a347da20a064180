/** What administrators of skills may call. */
export const SKILL_METHODS = [
  ...['details', 'get', 'create', 'update', 'delete', 'versions', 'rescan', 'discover', 'install'],
  ...['resource.list', 'resource.create', 'resource.get', 'resource.delete'],
].map((call) => `skill.${call}`);

const PATH = '/v1/api/admin/skills';
export const SKILL_ROUTES = [
  ...[`GET ${PATH}`, `POST ${PATH}`, `GET ${PATH}/discover`, `POST ${PATH}/install`],
  ...['GET', 'PUT', 'DELETE'].map((verb) => `${verb} ${PATH}/{skill_id}`),
  ...[`GET ${PATH}/{skill_id}/versions`, `POST ${PATH}/{skill_id}/rescan`],
  ...['GET', 'POST'].map((verb) => `${verb} ${PATH}/{skill_id}/resources`),
  ...['GET', 'DELETE'].map((verb) => `${verb} ${PATH}/{skill_id}/resources/{+path}`),
];

/** What administrators of templates may call. */
export const TEMPLATE_ROUTES = [
  ...['GET /v1/api/admin/templates', 'POST /v1/api/admin/templates'],
  ...['PUT /v1/api/admin/templates/{template_id}', 'DELETE /v1/api/admin/templates/{template_id}'],
];
export const WS_TEMPLATE_ROUTES = [
  ...['GET /v1/api/admin/ws-templates', 'POST /v1/api/admin/ws-templates'],
  ...['GET', 'PUT', 'DELETE'].map((verb) => `${verb} /v1/api/admin/ws-templates/{ws_template_id}`),
  'GET /v1/api/admin/ws-templates/{ws_template_id}/versions',
];
