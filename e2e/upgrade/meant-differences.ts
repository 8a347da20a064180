import type { Declared } from './differences.ts';

const isLater = (value: unknown): boolean => typeof value === 'number' && value > Date.UTC(2026, 10, 2);
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isNumberOrUnknown = (value: unknown): boolean => value === undefined || isNumber(value);
const isText = (value: unknown): boolean => typeof value === 'string';

/** These differ at every start. */
const OF_EACH_START: readonly Declared[] = [
  { at: 'sessions.list > ts', was: isLater, is: isLater, why: 'the time of the answer' },
  { at: 'sessions.preview * > ts', was: isLater, is: isLater, why: 'the time of the answer' },
  { at: 'status > sessions > recent > * > age', was: isNumberOrUnknown, is: isNumber, why: 'the time of the answer' },
  { at: 'node.* > ts', was: isLater, is: isLater, why: 'the time of the answer' },
  { at: '** > expiresAtMs', was: isLater, is: isLater, why: 'a restart extends the deadline' },
  { at: 'config.get > hash', was: isText, is: isText, why: 'config.json contains other addresses' },
];

const OUTCOMES = ['done', 'failed', 'denied', 'expired', 'blocked', 'cancelled', 'unknown'];
const isOutcome = (value: unknown): boolean => OUTCOMES.includes(String(value));
const isDecider = (value: unknown): boolean => typeof value === 'object' && value !== null && 'kind' in value;

/** Schema version 17 added outcomes to results, and version 18 who made a decision. */
const SINCE_17: readonly Declared[] = [
  { at: 'config.get > config > answers > retrySecs', is: 300, why: 'a new setting' },
  { at: 'models.list > models > * > contextWindow', is: 1_000_000, why: 'models have their window' },
  { at: 'workstream.get * > snapshot > effort', is: isText, why: 'snapshots have the effort' },
  { at: 'workstream.get * > snapshot > messages > * > outcome', is: isOutcome, why: 'results have outcomes' },
  { at: 'stream of * > * > messages > * > outcome', is: isOutcome, why: 'results have outcomes' },
  { at: 'log of * > * > * > outcome', is: isOutcome, why: 'results have outcomes' },
  { at: 'log of * > * > * > by', is: isDecider, why: 'decisions name who made them' },
  {
    at: 'workstream.get * > snapshot > notes > * > by',
    was: isText,
    is: isDecider,
    why: 'decisions name who made them as data',
  },
];

const SINCE_12: readonly Declared[] = [
  {
    at: 'workstream.list > workstreams > * > skipPermissions',
    was: true,
    is: false,
    why: 'auto-approve without an end is turned off',
  },
  {
    at: '** > snapshot > workstream > skipPermissions',
    was: true,
    is: false,
    why: 'auto-approve without an end is turned off',
  },
  { at: 'config.get > config > server > allowedOrigins', is: [], why: 'a new setting' },
  { at: 'config.get > config > egress', is: { privateHosts: [] }, why: 'a new setting' },
  { at: 'config.get > config > approvals', is: { alwaysSecs: 28_800 }, why: 'a new setting' },
];

/** Settings since schema version 16. */
const SINCE_16: readonly Declared[] = [
  { at: 'config.get > config > agents', is: { trusted: [], parallel: 4, maxTimeoutSecs: 7_200 }, why: 'a new setting' },
];

const STATUS = 'GET /v1/api/auth/status';

const NO_PROVIDER = {
  ...{ scopes: ['openid', 'profile', 'email'], providerName: 'SSO', roleMap: {}, defaultRole: 'builtin-viewer' },
  ...{ createUsers: true, passwordEnabled: true },
};

/** Schema version 26 added users. */
const SINCE_26: readonly Declared[] = [
  { at: '** > tokenPrefix', is: '', why: 'earlier tokens have no known beginning' },
  { at: 'config.get > config > auth', is: { setup: 'auto' }, why: 'a new setting' },
  { at: 'config.get > config > store', is: { balance: true, retrySecs: 30 }, why: 'a new setting' },
  { at: 'config.get > config > otel', is: { sampleRatio: 1 }, why: 'a new setting' },
  { at: `${STATUS} > setup_required`, was: false, is: true, why: 'the first user can be created' },
  { at: `${STATUS} > setup_code_required`, is: false, why: 'the first user can be created' },
  { at: `${STATUS} > password_enabled`, is: true, why: 'users log in with passwords' },
  { at: `${STATUS} > oidc_enabled`, is: false, why: 'users log in with passwords' },
  { at: `${STATUS} > oidc_provider_name`, is: '', why: 'users log in with passwords' },
];

const isNumberOrNone = (value: unknown): boolean => isNumber(value) || value === null;
const isWeb = (value: unknown): boolean => typeof value === 'object' && value !== null;
const STATUS_HAS_MORE = 'status says more about sessions';
const isState = (value: unknown): boolean => ['idle', 'error', 'attention'].includes(String(value));
const LISTS = ['GET /v1/api/workstreams > workstreams > *', 'GET /v1/api/workstreams/saved > workstreams > *'];
const LISTED = 'lists have more fields';

/** Schema version 30 came with more fields of lists. */
const SINCE_30: readonly Declared[] = [
  { at: 'config.get > config > session', is: { retentionDays: 0, titles: 'model' }, why: 'a new setting' },
  { at: 'workstream.saved * > nodeId', is: isText, why: LISTED },
  { at: 'workstream.saved * > workstreams > * > state', is: isState, why: LISTED },
  { at: 'workstream.saved * > workstreams > * > modelAlias', is: isText, why: LISTED },
  { at: 'workstream.saved * > workstreams > * > contextTokens', is: isNumber, why: LISTED },
  { at: 'workstream.saved * > workstreams > * > contextRatio', is: isNumber, why: LISTED },
  ...LISTS.flatMap((row): Declared[] => [
    { at: `${row} > kind`, is: 'interactive', why: LISTED },
    { at: `${row} > parent_ws_id`, is: null, why: LISTED },
    { at: `${row} > project_id`, is: null, why: LISTED },
    { at: `${row} > model_alias`, is: isText, why: LISTED },
  ]),
  { at: `${LISTS[0]} > title`, is: (value: unknown) => value === null || isText(value), why: LISTED },
  { at: `${LISTS[0]} > message_count`, is: isNumber, why: LISTED },
  { at: `${LISTS[0]} > created`, is: isText, why: LISTED },
  { at: `${LISTS[0]} > updated`, is: isText, why: LISTED },
  { at: `${LISTS[1]} > name`, is: isText, why: LISTED },
  { at: `${LISTS[1]} > state`, is: isState, why: LISTED },
  { at: `${LISTS[1]} > loaded`, is: (value: unknown) => typeof value === 'boolean', why: LISTED },
  { at: `${LISTS[1]} > node_id`, is: isText, why: LISTED },
  { at: `${LISTS[1]} > child_count`, is: 0, why: LISTED },
  { at: `${LISTS[1]} > context_tokens`, is: isNumber, why: LISTED },
  { at: `${LISTS[1]} > context_ratio`, is: isNumber, why: LISTED },
];

const RATE_LIMIT = 'config.get > config > ratelimit';

/** Schema version 32 added the people of a provider. */
const SINCE_32: readonly Declared[] = [
  { at: `${STATUS} > oidc_login_url`, is: null, why: 'people log in through a provider' },
  { at: 'config.get > config > oidc', is: NO_PROVIDER, why: 'new settings' },
  { at: `${RATE_LIMIT} > enabled`, was: false, is: 'auto', why: 'other machines are limited by default' },
  { at: `${RATE_LIMIT} > requestsPerSecond`, was: 10, is: 50, why: 'a limit that people do not notice' },
  { at: `${RATE_LIMIT} > burst`, was: 20, is: 100, why: 'a limit that people do not notice' },
];

/** Schema version 33 added owners of workstreams. */
const SINCE_33: readonly Declared[] = [
  { at: '** > userId', is: '', why: 'workstreams belong to the operator' },
  { at: '** > user_id', is: '', why: 'workstreams belong to the operator' },
  { at: '** > visibility', is: 'shared', why: 'everyone sees earlier workstreams' },
  { at: 'config.get > config > workstreams', is: { visibility: 'shared' }, why: 'a new setting' },
];

/** Schema version 36 added verdicts. */
const SINCE_36: readonly Declared[] = [
  ...['tier', 'homePaths', 'network', 'limits', 'diagnostics', 'search'].map((name) => ({
    at: `config.get > config > tools > ${name}`,
    is: (value: unknown) => value !== undefined,
    why: 'new settings',
  })),
  { at: 'config.get > config > judge', is: (value: unknown) => typeof value === 'object', why: 'new settings' },
];

/** Schema version 39 added modes. */
const SINCE_39: readonly Declared[] = [
  { at: 'config.get > config > hooks', is: (value: unknown) => Array.isArray(value), why: 'a new setting' },
  { at: '** > mode', is: isText, why: 'workstreams have a mode' },
  { at: 'approval.list > approvals > * > askedAtMs', is: isNumber, why: 'lists say when it was asked' },
];

/**
 * Schema versions 40 to 47: commands in the background, snapshots of what runs change, watches, sub-agents, memories,
 * coordinators, skills. Accounts at tool servers show nowhere. Schema version 51: notifications.
 */
const SINCE_40: readonly Declared[] = [
  ...['ntfy', 'push'].map((name) => ({
    at: `config.get > config > channels > ${name}`,
    is: (value: unknown) => typeof value === 'object',
    why: 'new settings',
  })),
  { at: 'status > channels', is: [], why: 'status has the chat services' },
  { at: 'status > web', is: isWeb, why: STATUS_HAS_MORE },
  { at: 'status > sessions > recent > * > remainingTokens', is: isNumberOrNone, why: STATUS_HAS_MORE },
  { at: 'status > sessions > recent > * > percentUsed', is: isNumberOrNone, why: STATUS_HAS_MORE },
  { at: 'status > sessions > recent > * > flags', is: Array.isArray, why: STATUS_HAS_MORE },
  { at: 'config.get > config > mcp', is: (value: unknown) => typeof value === 'object', why: 'a new setting' },
  { at: 'config.get > config > skills', is: (value: unknown) => typeof value === 'object', why: 'a new setting' },
  { at: 'config.get > config > memory', is: (value: unknown) => typeof value === 'object', why: 'a new setting' },
  { at: 'config.get > config > checkpoints', is: (value: unknown) => typeof value === 'object', why: 'a new setting' },
  {
    at: 'config.get > config > tools > background',
    is: (value: unknown) => typeof value === 'object',
    why: 'a new setting',
  },
  { at: 'workstream.saved * > workstreams > * > workdir', is: isText, why: 'saved rows say where they work' },
];

/** The event streams have the fields of later releases. */
const LATER_STREAMS: readonly Declared[] = [
  { at: 'stream of * > * > ws_id', is: isText, why: 'every event names its workstream' },
];

/** The intended differences between today's answers and those of the older build, for each home. */
export const MEANT: Readonly<Record<string, readonly Declared[]>> = {
  'schema-11': [
    ...OF_EACH_START,
    ...LATER_STREAMS,
    ...SINCE_40,
    ...SINCE_39,
    ...SINCE_36,
    ...SINCE_33,
    ...SINCE_32,
    ...SINCE_30,
    ...SINCE_26,
    ...SINCE_17,
    ...SINCE_16,
    ...SINCE_12,
  ],
  'schema-16': [
    ...OF_EACH_START,
    ...LATER_STREAMS,
    ...SINCE_40,
    ...SINCE_39,
    ...SINCE_36,
    ...SINCE_33,
    ...SINCE_32,
    ...SINCE_30,
    ...SINCE_26,
    ...SINCE_17,
    ...SINCE_16,
  ],
};

/** The intended differences between the first and the second start of today's build. */
export const OF_SECOND_START = OF_EACH_START.filter(({ at }) => at !== 'config.get > hash');
