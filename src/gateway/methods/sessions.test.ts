import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from '../testing/whole-gateway.ts';

const DEFAULTS = { model: 'puppet', contextTokens: null };
const NEW_KEY = ' (allowed in a new key: lower-case letters, digits and . _ : -, at most 64, a letter or digit first)';
const PATH = '/home/ada/.headgate/headgate.db';

test('sessions.list returns the newest first, with their settings and tokens', async () => {
  await using gateway = await wholeGateway();
  await gateway.clock.advance(60_000);
  await gateway.call('sessions.patch', { key: 'work', thinkingLevel: 'high', verboseLevel: 'on' });
  await gateway.clock.advance(60_000);
  await gateway.call('agent', { message: 'hello', idempotencyKey: 'k1' });
  const main = await gateway.main();
  const { sessions, ...rest } = await gateway.call('sessions.list', {});
  assert.deepEqual(rest, { ts: 1_120_000, path: PATH, count: 2, defaults: DEFAULTS });
  const work = sessions[1]?.sessionId;
  assert.deepEqual(sessions, [
    {
      key: 'main',
      kind: 'direct',
      updatedAt: 1_120_000,
      sessionId: main,
      model: 'puppet',
      inputTokens: 70,
      outputTokens: 30,
      totalTokens: 100,
      contextTokens: 100_000,
    },
    {
      key: 'work',
      kind: 'direct',
      updatedAt: 1_060_000,
      sessionId: work,
      thinkingLevel: 'high',
      verboseLevel: 'on',
      model: 'puppet',
    },
  ]);
});

test('sessions.list accepts a limit and a maximum age of the last activity', async () => {
  await using gateway = await wholeGateway();
  await gateway.clock.advance(59_999);
  await gateway.call('sessions.patch', { key: 'work' });
  await gateway.clock.advance(1);
  const keys = async (params: object) => {
    const { count, sessions } = await gateway.call('sessions.list', params);
    assert.equal(count, sessions.length);
    return count;
  };
  assert.deepEqual([await keys({ limit: 1 }), await keys({ activeMinutes: 1 })], [1, 2]);
  await gateway.clock.advance(1);
  assert.equal(await keys({ activeMinutes: 1, includeGlobal: true, includeUnknown: true }), 1);
  for (const params of [{ limit: 0 }, { activeMinutes: 0 }, { limit: 1.5 }, { key: 'main' }]) {
    assert.equal((await gateway.refusal('sessions.list', params)).code, 'INVALID_REQUEST');
  }
});

test('a session shows that its last run was aborted, until the next run', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn(new Promise(() => undefined));
  await gateway.call('chat.send', { sessionKey: 'main', message: 'a', idempotencyKey: 'k1' });
  await gateway.call('chat.abort', { sessionKey: 'main' });
  const aborted = async () => (await gateway.call('sessions.list', {})).sessions[0]?.abortedLastRun;
  assert.equal(await aborted(), true);
  await gateway.call('agent', { message: 'b', idempotencyKey: 'k2' });
  assert.equal(await aborted(), undefined);
});

const THINKING: Record<string, string> = {
  off: 'off',
  MIN: 'minimal',
  minimal: 'minimal',
  think: 'minimal',
  low: 'low',
  thinkhard: 'low',
  'think-hard': 'low',
  med: 'medium',
  ' medium ': 'medium',
  thinkharder: 'medium',
  harder: 'medium',
  high: 'high',
  ultra: 'high',
  UltraThink: 'high',
  thinkhardest: 'high',
  highest: 'high',
  max: 'high',
};
const VERBOSE: Record<string, string> = {
  on: 'on',
  FULL: 'on',
  true: 'on',
  yes: 'on',
  '1': 'on',
  off: 'off',
  false: 'off',
  no: 'off',
  '0': 'off',
};

test('sessions.patch accepts all names of the levels, ignoring case', async () => {
  await using gateway = await wholeGateway();
  const key = 'main';
  for (const [word, level] of Object.entries(THINKING)) {
    const { entry } = await gateway.call('sessions.patch', { key, thinkingLevel: word });
    assert.deepEqual([word, entry.thinkingLevel], [word, level]);
  }
  for (const [word, level] of Object.entries(VERBOSE)) {
    const { entry } = await gateway.call('sessions.patch', { key, verboseLevel: word });
    assert.deepEqual([word, entry.verboseLevel], [word, level]);
  }
});

test('null clears a setting, an absent one is unchanged, and both survive a restart', async () => {
  await using gateway = await wholeGateway();
  await gateway.call('sessions.patch', { key: 'main', thinkingLevel: 'high', verboseLevel: 'off' });
  await gateway.call('sessions.patch', { key: 'main', thinkingLevel: null });
  await gateway.restart();
  const patched = await gateway.call('sessions.patch', { key: ' main ' });
  const sessionId = await gateway.main();
  assert.deepEqual(patched, {
    ok: true,
    path: PATH,
    key: 'main',
    entry: { sessionId, updatedAt: 1_000_000, verboseLevel: 'off' },
  });
});

test('a patch counts as activity, even if the clock is set back', async () => {
  await using gateway = await wholeGateway();
  await gateway.clock.advance(5_000);
  const updatedAt = async () =>
    (await gateway.call('sessions.patch', { key: 'main', verboseLevel: 'on' })).entry.updatedAt;
  assert.equal(await updatedAt(), 1_005_000);
  gateway.clock.jump(-60_000);
  assert.equal(await updatedAt(), 1_005_000);
});

test('sessions.patch of an unknown key creates the session, once', async () => {
  await using gateway = await wholeGateway();
  const patch = () => gateway.call('sessions.patch', { key: 'new.one' });
  const [first, second] = await Promise.all([patch(), patch()]);
  assert.equal(first.entry.sessionId, second.entry.sessionId);
  const { workstreams } = await gateway.call('workstream.list', {});
  assert.deepEqual(
    workstreams.slice(1).map(({ name, sessionKey, wsId }) => [name, sessionKey, wsId]),
    [['new.one', first.key, first.entry.sessionId]],
  );
});

test('a patch that is refused changes nothing', async () => {
  await using gateway = await wholeGateway();
  const refusals: [object, string, string][] = [
    [{ key: '  ' }, 'INVALID_REQUEST', 'key required'],
    [
      { key: 'new', thinkingLevel: 'hard' },
      'INVALID_REQUEST',
      'invalid thinkingLevel (use off|minimal|low|medium|high)',
    ],
    [{ key: 'new', verboseLevel: 'very' }, 'INVALID_REQUEST', 'invalid verboseLevel (use "on"|"off")'],
    [{ key: 'new', verboseLevel: 'toString' }, 'INVALID_REQUEST', 'invalid verboseLevel (use "on"|"off")'],
    [{ key: 'New' }, 'NOT_FOUND', `Unknown session: New${NEW_KEY}`],
    [{ key: 'cron:job' }, 'NOT_FOUND', 'Unknown session: cron:job'],
  ];
  for (const [params, code, message] of refusals) {
    assert.deepEqual(await gateway.refusal('sessions.patch', params), { code, message });
  }
  assert.equal((await gateway.call('sessions.list', {})).count, 1);
});

test('the thinking level of a session is the effort of its runs', async () => {
  await using gateway = await wholeGateway();
  for (const [index, thinkingLevel] of ['off', 'minimal', 'low', 'medium', 'high', null].entries()) {
    await gateway.call('sessions.patch', { key: 'main', thinkingLevel });
    await gateway.call('agent', { message: 'go', idempotencyKey: `k${index}` });
  }
  assert.deepEqual(
    gateway.puppet.requests.map(({ effort }) => effort),
    ['low', 'low', 'low', 'medium', 'high', 'medium'],
  );
});
