import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HealthSummary } from '../../../protocol/methods/health.ts';
import { warn } from '../../../protocol/notice.ts';
import { toBanners } from './banners.ts';

const healthy: HealthSummary = {
  ok: true,
  ts: 0,
  durationMs: 0,
  status: 'ok',
  version: '1',
  nodeId: 'n',
  uptimeSeconds: 1,
  model: 'qwen3',
  modelAlias: 'qwen3',
  workstreams: { total: 1, idle: 1, thinking: 0, running: 0, attention: 0, error: 0 },
  maxWorkstreams: 50,
  backend: { status: 'up', circuitState: 'closed' },
  store: { status: 'ok' },
  sandbox: { active: true },
  mcp: { servers: 0, resources: 0, prompts: 0 },
  web: { linked: false },
  telegram: { configured: false },
  channels: [],
  heartbeatSeconds: 0,
  sessions: { path: '/h/headgate.db', count: 1, recent: [] },
  notices: [],
};
const calm = {
  failedLogout: undefined,
  connection: { kind: 'connecting' as const },
  lost: false,
  isOutdated: false,
  consent: undefined,
  health: healthy,
  autoApprove: undefined,
  nowMs: Date.UTC(2026, 0, 5, 9),
  timeZone: 'UTC',
};
const shown = (situation: Partial<Parameters<typeof toBanners>[0]>) =>
  toBanners({ ...calm, ...situation }).map(({ id, level, action }) => ({ id, level, action }));

test('a healthy connected page shows no banner, and neither does the first connection attempt', () => {
  assert.deepEqual(shown({}), []);
});

test('the banner of a lost connection stays during reconnection attempts', () => {
  const expected = [{ id: 'connection', level: 'warning', action: 'retry' }];
  const waiting = { kind: 'waiting' as const, retryInMs: 1000, error: new Error('x') };
  assert.deepEqual(shown({ connection: waiting, lost: true }), expected);
  assert.deepEqual(shown({ lost: true }), expected);
  const full: HealthSummary = { ...healthy, store: { status: 'degraded' } };
  assert.deepEqual(shown({ lost: true, health: full }), expected, 'what was known before may have changed');
});

test('all problems are shown, the most urgent first', () => {
  const health: HealthSummary = {
    ...healthy,
    store: { status: 'degraded', reason: 'disk full' },
    sandbox: { active: false, reason: 'bubblewrap is not installed' },
    notices: [
      { code: 'demo_model', level: 'info', text: 'A model of the house answers.' },
      warn('model_key_refused', 'OPENAI_API_KEY was refused by openai.'),
    ],
    backend: { status: 'down', circuitState: 'open' },
  };
  assert.deepEqual(shown({ health, autoApprove: { isOn: true, untilMs: undefined }, isOutdated: true }), [
    { id: 'store', level: 'error', action: undefined },
    { id: 'auto-approve', level: 'warning', action: 'ask-again' },
    { id: 'demo_model0', level: 'info', action: undefined },
    { id: 'model_key_refused0', level: 'warning', action: undefined },
    { id: 'sandbox', level: 'warning', action: undefined },
    { id: 'version', level: 'info', action: 'reload' },
  ]);
});

test('an unreachable model is reported if no notice explains it', () => {
  const health: HealthSummary = { ...healthy, backend: { status: 'down', circuitState: 'open' } };
  assert.deepEqual(
    toBanners({ ...calm, health }).map(({ text }) => text),
    ['The model qwen3 cannot be reached at the moment.'],
  );
});

test('a notice that only mentions a demo or a sandbox does not replace their banners', () => {
  const health: HealthSummary = {
    ...healthy,
    sandbox: { active: false },
    backend: { status: 'down', circuitState: 'open' },
    notices: [warn('program_unsafe', 'rg was found only in /srv/demo/sandbox and is not used.')],
  };
  assert.deepEqual(
    toBanners({ ...calm, health }).map(({ id, level }) => [id, level]),
    [
      ['program_unsafe0', 'warning'],
      ['backend', 'warning'],
      ['sandbox', 'warning'],
    ],
  );
});

test('information of a daemon is remembered by the daemon, its model and its words; a warning is not', () => {
  const notices: HealthSummary['notices'] = [
    { code: 'demo_model', level: 'info', text: 'Demo.' },
    warn('program_unsafe', 'W.'),
  ];
  const keptBy = (health: Partial<HealthSummary>) =>
    toBanners({ ...calm, health: { ...healthy, notices, ...health } }).map(({ keptAs }) => keptAs);
  const [information, warning] = keptBy({});
  assert.equal(warning, undefined);
  assert.equal(new Set([information, keptBy({ nodeId: 'o' })[0], keptBy({ model: 'p' })[0]]).size, 3);
});

test('a notice keeps its id when another one ends, and no two share one', () => {
  const idsOf = (...notices: HealthSummary['notices']) =>
    toBanners({ ...calm, health: { ...healthy, notices } }).map(({ id }) => id);
  const [key, rg, git] = [warn('model_key_missing', 'k'), warn('program_unsafe', 'rg'), warn('program_unsafe', 'git')];
  assert.deepEqual(idsOf(key, rg, git), ['model_key_missing0', 'program_unsafe0', 'program_unsafe1']);
  assert.deepEqual(idsOf(rg, git), ['program_unsafe0', 'program_unsafe1']);
});

test('a store that refuses writes and a damaged store have different banners', () => {
  const told = (store: HealthSummary['store']) =>
    toBanners({ ...calm, health: { ...healthy, store } }).map(({ text }) => text);
  assert.deepEqual(
    [
      ...told({ status: 'degraded', reason: 'disk full' }),
      ...told({ status: 'degraded', reason: 'a part is damaged', damaged: true }),
    ],
    [
      'Headgate cannot save data (disk full). It refuses messages until saving works again.',
      'Some stored data cannot be read (a part is damaged). Everything else works; run headgate doctor for details.',
    ],
  );
});

test('the auto-approve banner shows its end', () => {
  const text = (untilMs: number | undefined) => toBanners({ ...calm, autoApprove: { isOn: true, untilMs } })[0]?.text;
  assert.equal(text(undefined), 'This workstream runs every call without asking.');
  assert.equal(
    text(calm.nowMs + 8.5 * 3_600_000 + 17),
    'This workstream runs every call without asking until today 17:30.',
  );
});

test('how a consent ended is a notice that can be hidden', () => {
  const ended = (isProblem: boolean) => shown({ consent: { isProblem, text: 'x' } });
  assert.deepEqual(
    [ended(false), ended(true)],
    [[{ id: 'consent', level: 'info', action: undefined }], [{ id: 'consent', level: 'warning', action: undefined }]],
  );
});
