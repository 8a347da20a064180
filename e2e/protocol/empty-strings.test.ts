import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const EMPTY_AGENT = { to: '', sessionId: '', sessionKey: '', thinking: '', channel: '' };
const JOB = { schedule: { kind: 'cron', expr: '0 9 * * *' }, sessionTarget: 'isolated', wakeMode: 'next-heartbeat' };

test('An empty optional string of params must count as absent', async () => {
  model.when('hello', say('hi'));
  const client = await openClient(daemon.wsUrl, {});
  const connect = { ...CONNECT, locale: '', userAgent: '', auth: { token: daemon.token } };
  await client.call('connect', connect);
  const ask = { message: 'hello', idempotencyKey: 'empty' };
  assert.equal((await client.request('agent', { ...ask, ...EMPTY_AGENT })).ok, true);
  assert.equal((await client.request('agent', ask)).ok, true, 'the call equals one without these fields');
  assert.equal((await client.request('agent.wait', { runId: 'empty', sessionKey: '' })).ok, true);
  const sent = await client.call('send', { to: 'main', message: 'x', idempotencyKey: 's', mediaUrl: '', provider: '' });
  assert.equal((sent as { provider: string }).provider, 'workstream');
  const chat = { sessionKey: 'main', message: 'hello', thinking: '', idempotencyKey: 'c' };
  assert.equal((await client.request('chat.send', chat)).ok, true);
  const work = { kind: 'agentTurn', message: 'x' };
  const made = await client.call('cron.add', {
    ...JOB,
    ...{ name: '', isolation: { postToMainPrefix: '' }, idempotencyKey: '' },
    schedule: { ...JOB.schedule, tz: '' },
    payload: { ...work, thinking: '', channel: '', to: '' },
  });
  const { payload, isolation, name } = made as { payload: object; isolation: object; name: string };
  assert.deepEqual([payload, isolation, name], [work, {}, 'x']);
  for (const [method, params] of [
    ['logs.tail', { cursor: '' }],
    ['approval.list', { wsId: '' }],
    ['sessions.resolve', { key: 'main', sessionId: '', label: '' }],
    ['workstream.create', { name: '', model: '', resumeWs: '', workdir: '', idempotencyKey: '' }],
    ['workstream.saved', { search: '', beforeWsId: '' }],
    ['config.set', { raw: '{}', baseHash: '' }],
    ['cron.preview', { schedule: '0 9 * * *', tz: '' }],
    ['cron.calendar', { fromMs: 0, untilMs: 1, tz: '' }],
  ] as const) {
    const { ok, error } = await client.request(method, params);
    assert.equal(ok, true, `${method}: ${error?.message}`);
  }
  client.socket.close();
});

test('chat.abort with an empty runId cancels everything in the session', async () => {
  model.when('hold on', stall(), say('done'));
  const client = await openSocket(daemon);
  await client.call('chat.send', { sessionKey: 'held', message: 'hold on', idempotencyKey: 'h1' });
  assert.deepEqual(await client.call('chat.abort', { sessionKey: 'held', runId: '' }), { ok: true, aborted: true });
  client.socket.close();
});

test('with an empty token the cookie decides; an empty token alone is not a credential', async () => {
  const { body } = await daemon.post('/v1/api/auth/login', { token: daemon.token });
  assert.equal(body.status, 'ok');
  const login = await daemon.post('/v1/api/auth/login', { token: daemon.token });
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  const headers = { cookie, origin: daemon.url.replace(/\/$/, '') };
  const page = await openClient(daemon.wsUrl, headers);
  assert.equal((await page.request('connect', { ...CONNECT, auth: { token: '' } })).ok, true);
  const stranger = await openClient(daemon.wsUrl, {});
  const { error } = await stranger.request('connect', { ...CONNECT, auth: { token: '' } });
  assert.equal(error?.code, 'UNAUTHORIZED');
  page.socket.close();
});
