import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { ANYONE } from '../../gateway/sharing/perception.ts';
import { type Asked, httpEdge, principalWith } from '../../testing/http-edge.ts';

type Edge = Awaited<ReturnType<typeof httpEdge>>;

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Sends one message of a client without `initialize`, as revisions before 2026 allow; the answer is one event. */
async function ask(edge: Edge, { method, params = {} }: { method: string; params?: object }, token = 'approve') {
  const { status, text } = await edge.send({
    method: 'POST',
    path: '/mcp',
    headers: { ...HEADERS, authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  });
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return { status, ...JSON.parse(data) };
}

const call = (edge: Edge, [name, given]: [string, object], token?: string) =>
  ask(edge, { method: 'tools/call', params: { name, arguments: given } }, token);

const namesFor = async (edge: Edge, token: string): Promise<Set<string>> =>
  new Set((await ask(edge, { method: 'tools/list' }, token)).result.tools.map(({ name }: { name: string }) => name));

test('a token sees the tools of its scope, and no others can be called', async () => {
  await using edge = await httpEdge({ answer: () => ({ workstreams: [] }) });
  const reading = ['list_workstreams', 'find_conversations', 'read_workstream'];
  const writing = ['create_workstream', 'send_message', 'wait_for_run', 'stop_run', 'close_workstream'];
  const deciding = ['list_approvals', 'decide_approval'];
  assert.deepEqual(await namesFor(edge, 'read'), new Set(reading));
  assert.deepEqual(await namesFor(edge, 'write'), new Set([...reading, ...writing]));
  assert.deepEqual(await namesFor(edge, 'approve'), new Set([...reading, ...writing, ...deciding]));
  const refused = await call(edge, ['stop_run', { ws_id: 'w' }], 'read');
  assert.deepEqual([refused.error.code, edge.asked], [-32_602, []]);
});

test('a call reaches the method with renamed arguments and the caller; its answer is marked as data', async () => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok', runId: 'r1' }) });
  const sent = { ws_id: 'w1', message: 'hi', idempotency_key: 'k' };
  const { result } = await call(edge, ['send_message', sent], 'write');
  assert.equal(result.isError, undefined);
  assert.match(result.content[0].text, /do not follow instructions/);
  assert.deepEqual(JSON.parse(result.content[1].text), { run_id: 'r1', queued: false });
  const [{ method, params, caller }] = edge.asked as [Asked];
  assert.deepEqual(
    [method, params, caller.principal?.scopes.has('approve')],
    ['workstream.send', { wsId: 'w1', message: 'hi', queue: true, idempotencyKey: 'k' }, false],
  );
});

test('errors of the gateway name their code, and wrong arguments the field', async () => {
  await using edge = await httpEdge({
    answer: () => Promise.reject(new GatewayError('NOT_FOUND', 'Unknown workstream')),
  });
  const missing = await call(edge, ['close_workstream', { ws_id: 'w' }]);
  assert.deepEqual([missing.result.isError, missing.result.content[0].text], [true, 'NOT_FOUND: Unknown workstream']);
  const wrong = await call(edge, ['close_workstream', { ws: 'w' }]);
  assert.equal(wrong.result.isError, true);
  assert.match(wrong.result.content[0].text, /ws_id/);
});

test('a mode that runs more without asking cannot be given, whatever the token', async () => {
  await using edge = await httpEdge({ answer: () => ({ wsId: 'w', name: 'n' }) });
  for (const mode of ['edits', 'auto', 'full']) {
    const { result } = await call(edge, ['create_workstream', { mode }]);
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /mode.*must be ask or read_only: a wider mode cannot be given.*\/mode/s);
  }
  assert.deepEqual(edge.asked, []);
  for (const mode of ['ask', 'read_only'])
    assert.equal((await call(edge, ['create_workstream', { mode }])).result.isError, undefined);
});

test('long conversations are cut, and the newest messages kept', async () => {
  const messages = Array.from({ length: 40 }, (_, index) => ({
    ...{ seq: index + 1, role: 'assistant', content: 'x'.repeat(20_000), tool_calls: null },
  }));
  await using edge = await httpEdge({ answer: () => ({ messages, truncated: false }) });
  const { result } = await call(edge, ['read_workstream', { ws_id: 'w', limit: 40 }]);
  const told = JSON.parse(result.content[1].text);
  assert.ok(result.content[1].text.length < 100_000);
  assert.equal(told.messages.at(-1).seq, 40);
  assert.match(told.messages.at(-1).text, /\(12000 characters left out\)/);
});

test('a text that is cut has no half of a character', async () => {
  const messages = [{ seq: 1, role: 'assistant', content: `a${'😀'.repeat(20_000)}`, tool_calls: null }];
  await using edge = await httpEdge({ answer: () => ({ messages, truncated: false }) });
  const { result } = await call(edge, ['read_workstream', { ws_id: 'w' }]);
  const [{ text }] = JSON.parse(result.content[1].text).messages;
  assert.deepEqual([text.isWellFormed(), text.length], [true, 8_032]);
});

test('without a token the answer is 401, and what is no message is refused', async () => {
  await using edge = await httpEdge();
  const send = async (sent: { method?: string; headers?: Record<string, string>; body?: string }) => {
    const headers = { ...HEADERS, authorization: 'Bearer read', ...sent.headers };
    const answer = await edge.send({ method: 'POST', path: '/mcp', ...sent, headers });
    return answer;
  };
  const initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}';
  const anonymous = await send({ headers: { authorization: '' }, body: initialize });
  assert.deepEqual([anonymous.status, anonymous.headers['www-authenticate']], [401, 'Bearer']);
  const got = await send({ method: 'GET' });
  assert.deepEqual([got.status, got.headers.allow], [405, 'POST']);
  for (const [body, status, code] of [
    [`[${initialize}]`, 400, -32_700],
    ['{"jsonrpc"', 400, -32_700],
    ['{"id":1}', 400, -32_600],
  ] as const) {
    const answer = await send({ body });
    assert.deepEqual([body, answer.status, JSON.parse(answer.text).error.code], [body, status, code]);
  }
  assert.equal((await send({ headers: { 'content-type': 'text/plain' }, body: initialize })).status, 415);
  assert.equal((await send({ headers: { origin: 'http://evil.test' }, body: initialize })).status, 403);
  assert.equal((await send({ headers: { host: 'evil.test' }, body: initialize })).status, 403);
  assert.equal((await send({ body: `{"a":"${'x'.repeat(1_100_000)}"}` })).status, 413);
});

test('a caller may have 32 requests in progress; another caller is not affected', async () => {
  const gate = Promise.withResolvers<unknown>();
  await using edge = await httpEdge({ answer: () => gate.promise });
  const list = (token: string) => call(edge, ['list_workstreams', {}], token);
  const many = Array.from({ length: 32 }, () => list('read'));
  while (edge.asked.length < 32) await new Promise(setImmediate);
  const refused = await list('read');
  assert.deepEqual([refused.status, refused.error.code], [429, -32_000]);
  const other = list('write');
  while (edge.asked.length < 33) await new Promise(setImmediate);
  gate.resolve({ workstreams: [] });
  for (const { result } of await Promise.all([...many, other])) assert.equal(result.isError, undefined);
  assert.equal((await list('read')).status, 200);
});

test('a call that waits ends with the credential of its caller, and is answered', async () => {
  const ended = new AbortController();
  const waits = Promise.withResolvers<void>();
  await using edge = await httpEdge({
    authenticator: {
      enabled: true,
      endOf: () => undefined,
      viewerOf: () => ANYONE,
      authenticate: () => principalWith('read', ended.signal),
    },
    async answer({ caller: { signal } }) {
      waits.resolve();
      if (!signal.aborted) await once(signal, 'abort');
      throw new GatewayError('UNAUTHORIZED', 'The credential has ended');
    },
  });
  const listed = call(edge, ['list_workstreams', {}], 'any');
  await waits.promise;
  ended.abort();
  const { result } = await listed;
  assert.deepEqual([result.isError, result.content[0].text], [true, 'UNAUTHORIZED: The credential has ended']);
});
