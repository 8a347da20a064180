const POLICIES = '/v1/api/admin/policies';
export const POLICY_ROUTES = [
  ...[`GET ${POLICIES}`, `POST ${POLICIES}`, `POST ${POLICIES}/simulate`],
  ...[`PUT ${POLICIES}/{policy_id}`, `DELETE ${POLICIES}/{policy_id}`],
];
export const RULE_ROUTES = [
  ...['GET /v1/api/rules', 'POST /v1/api/rules', 'POST /v1/api/rules/simulate'],
  ...['PUT /v1/api/rules/{rule_id}', 'DELETE /v1/api/rules/{rule_id}'],
];
export const SCHEDULE_ROUTES = [
  ...['GET', 'POST'].map((verb) => `${verb} /v1/api/admin/schedules`),
  ...['GET', 'PUT', 'DELETE'].map((verb) => `${verb} /v1/api/admin/schedules/{task_id}`),
  'GET /v1/api/admin/schedules/{task_id}/runs',
];

const CHANNELS = '/v1/api/admin/channels';
/** What administrators of users may call about chat services. */
export const CHANNEL_ROUTES = [
  ...[`GET ${CHANNELS}/senders`, `GET ${CHANNELS}/deliveries`],
  ...[`POST ${CHANNELS}/{channel}/test`, `POST ${CHANNELS}/{channel}/pair`],
  ...[`DELETE ${CHANNELS}/{channel}/senders/{sender_id}`, `POST ${CHANNELS}/{channel}/senders/{sender_id}/restore`],
];

/** Notifications of one’s own browsers. */
export const PUSH_METHODS = ['list', 'subscribe', 'remove', 'test'].map((call) => `push.${call}`);
