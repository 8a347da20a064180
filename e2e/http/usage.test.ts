import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import { askApi, told } from '../support/clients/ask-api.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, useTokens } from '../support/model/scripted-steps.ts';

const { daemon, model } = await openStage();
const PASSWORD = 'correct horse';
const operator = await daemon.client();
const ask = (query = '', token = daemon.token) => askApi(daemon, ['GET', `admin/usage${query}`], { token });

async function newPerson(username: string, roles: string[]) {
  const { userId } = await operator.call('user.create', { username, displayName: username, password: PASSWORD, roles });
  const { jwt } = await operator.call('auth.login', { username, password: PASSWORD });
  return { userId, jwt };
}

/** One run of a caller. */
async function spend(token: string, message: string): Promise<void> {
  const { call, socket } = await openClient(`${daemon.url.replace('http', 'ws')}/v1/ws`, {});
  await call('connect', { ...CONNECT, auth: { token } });
  const { wsId } = (await call('workstream.create', {})) as { wsId: string };
  const { runId } = (await call('workstream.send', { wsId, message })) as { runId: string };
  await call('agent.wait', { runId, sessionKey: wsId, timeoutMs: 60_000 });
  socket.close();
}

model.when(
  'look',
  [
    useTokens({ prompt: 100, completion: 10, cached: 40 }),
    callTools({ name: 'read_file', arguments: { path: 'none' } }),
  ],
  [useTokens({ prompt: 200, completion: 20 }), say('There is none.')],
);
model.when('talk', [useTokens({ prompt: 1_000, completion: 200 }), say('Done.')]);

const ada = await newPerson('ada', ['builtin-operator']);
const { token: adasToken } = await operator.call('user.token.create', {
  userId: ada.userId,
  name: 'ci',
  scopes: ['write'],
});
await spend(ada.jwt, 'look');
await spend(adasToken, 'talk');
await spend(daemon.token, 'talk');

const NONE = { cache_creation_tokens: 0, cache_read_tokens: 0, tool_calls_count: 0, cost_usd: 0 };
const TALK = { ...NONE, prompt_tokens: 1_000, completion_tokens: 200, turns: 1 };
const ADA = {
  ...NONE,
  prompt_tokens: 1_300,
  completion_tokens: 230,
  turns: 3,
  tool_calls_count: 1,
  cache_read_tokens: 40,
};
const ALL = { ...ADA, prompt_tokens: 2_300, completion_tokens: 430, turns: 4 };

test('The usage must be added up by day, hour, model and user, with its tool calls', async () => {
  const byUser = await ask('?group_by=user');
  assert.deepEqual([byUser.status, byUser.body.summary], [200, [ALL]]);
  assert.deepEqual(
    byUser.body.breakdown.toSorted((a: { key: string }, b: { key: string }) => a.key.localeCompare(b.key)),
    [
      { key: 'operator', username: null, ...TALK },
      { key: ada.userId, username: 'ada', ...ADA },
    ],
  );
  const keysBy = async (grouping: string) =>
    (await ask(grouping)).body.breakdown.map(({ key }: { key: string }) => key);
  const [model] = await keysBy('?group_by=model');
  assert.match(model, /^openai-compatible\//);
  for (const day of await keysBy('')) assert.match(day, /^\d{4}-\d\d-\d\d$/);
  for (const hour of await keysBy('?group_by=hour')) assert.match(hour, /^\d{4}-\d\d-\d\dT\d\d$/);
});

test('The usage must be narrowed by time, user and model', async () => {
  const summaryOf = async (query: string) => (await ask(query)).body.summary;
  assert.deepEqual(await summaryOf(`?user_id=${ada.userId}`), [ADA]);
  assert.deepEqual(await summaryOf('?user_id=operator'), [TALK]);
  const [nothing] = await summaryOf('?user_id=nobody');
  assert.equal(nothing.turns, 0);
  const now = new Date();
  const hourAgo = new Date(now.getTime() - 2 * 3_600_000).toISOString();
  assert.deepEqual(await summaryOf(`?since=${hourAgo}&until=${now.toISOString()}`), [ALL]);
  const [before] = await summaryOf(`?until=${hourAgo}`);
  assert.equal(before.turns, 0);
  const [later] = await summaryOf(`?since=${new Date(now.getTime() + 2 * 3_600_000).toISOString()}`);
  assert.equal(later.turns, 0);
  const [other] = await summaryOf('?model=openai/other');
  assert.equal(other.turns, 0);
});

test('A wrong `group_by` or time must answer 400 with its rule', async () => {
  assert.deepEqual(told(await ask('?group_by=week')), [400, 'group_by must be one of: day, hour, model, user']);
  const { status, body } = await ask('?since=yesterday');
  assert.deepEqual([status, /since: must be an ISO 8601 time/.test(body.error)], [400, true]);
});

test('The usage must answer 403 without the permission `admin.usage`', async () => {
  const role = await operator.call('role.create', { name: 'clerk', permissions: ['read', 'admin.users'] });
  const clerk = await newPerson('clerk', [role.roleId]);
  assert.deepEqual(told(await ask('', clerk.jwt)), [403, "Forbidden: missing 'admin.usage' permission"]);
  assert.equal((await ask('', ada.jwt)).status, 403);
});

test('Answers of the history must say what they took', async () => {
  const { wsId } = await operator.call('workstream.create', {});
  const runId = 'what it took';
  await operator.call('chat.send', { sessionKey: wsId, message: 'talk', idempotencyKey: runId });
  await operator.call('agent.wait', { runId, sessionKey: wsId, timeoutMs: 60_000 });
  const { body } = await askApi(daemon, ['GET', `workstreams/${wsId}/history`], { token: daemon.token });
  const { spent } = body.messages.at(-1);
  assert.match(spent.model, /^openai-compatible\//);
  assert.deepEqual([spent.input_tokens, spent.output_tokens, spent.cost_usd], [1_000, 200, undefined]);
  assert.ok(Number.isInteger(spent.duration_ms));
});

test('The health of the last day must be listed, and a step must be from 1 to 60 minutes', async () => {
  const read = (query: string) => askApi(daemon, ['GET', `health/history${query}`], { token: ada.jwt });
  const { status, body } = await read('?step_minutes=10');
  assert.deepEqual([status, body.step_minutes], [200, 10]);
  const { at, lag_ms, busy, ...states } = body.samples.at(-1);
  assert.deepEqual([states.circuit_state, states.store], ['closed', 'ok']);
  assert.ok(Date.parse(at) % 600_000 === 0 && lag_ms >= 0 && busy >= 0 && busy <= 1);
  for (const step of ['0', '61', 'x']) {
    const refused = await read(`?step_minutes=${step}`);
    assert.deepEqual([refused.status, /step_minutes/.test(refused.body.error)], [400, true]);
  }
});
