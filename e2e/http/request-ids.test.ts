import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon({
  entry: new URL('../support/fixtures/limited-daemon.ts', import.meta.url),
  config: { logLevel: 'debug' },
});
after(() => daemon[Symbol.asyncDispose]());

/** The lines of the log so far. */
const logged = (): Record<string, unknown>[] =>
  daemon
    .output()
    .stderr.split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

const create = (requestId: string) =>
  daemon.fetch('/v1/api/workstreams/new', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Request-Id': requestId },
    body: '{}',
  });

test('An error with a status from 500 on must have its `request_id` in the body and in the log', async () => {
  daemon.signal('SIGUSR2'); // from now on, the disk is full
  let number = 1;
  let answer = await create('full-1');
  while (answer.status === 200) answer = await create(`full-${++number}`);
  const id = `full-${number}`;
  const { error, ...rest } = (await answer.json()) as Record<string, unknown>;
  assert.deepEqual([answer.status, rest, answer.headers.get('x-request-id')], [503, { request_id: id }, id]);
  assert.equal(typeof error, 'string');
  const lines = logged().filter(({ requestId }) => requestId === id);
  assert.deepEqual(
    lines.map(({ msg, method, code, statusCode }) => [msg, method, code ?? statusCode]),
    [
      ['a call was refused', 'workstream.create', 'UNAVAILABLE'],
      ['a request was answered', 'POST', 503],
    ],
  );
  const unknown = await daemon.post('/v1/api/send', { ws_id: 'nobody', message: 'hello' });
  assert.deepEqual(unknown.body, { error: 'Unknown workstream' });
});

test('Every answered request must have a line with its `requestId` in the log, over HTTP and WebSocket', async () => {
  const client = await daemon.client();
  await client.call('workstream.list', {});
  await assert.rejects(client.call('sessions.resolve', { key: 'nobody-knows-it' }));
  const refused = logged().find(({ method }) => method === 'sessions.resolve');
  assert.equal(refused?.msg, 'a call was refused');
  assert.ok(logged().some(({ msg, connId }) => msg === 'connected' && connId === refused?.connId));
  assert.match(String(refused?.frameId), /^.{1,64}$/);
  assert.equal(refused?.requestId, `${refused?.connId}/${refused?.frameId}`);
  await using stream = await daemon.sse('/v1/api/events/global', { headers: { 'X-Request-Id': 'stream-1' } });
  await stream.until('ws_state');
  await daemon.fetch('/v1/api/models', { headers: { 'X-Request-Id': 'plain-1' } });
  await daemon.get('/health');
  const answered = logged().filter(({ msg }) => msg === 'a request was answered');
  const outcomes = answered.flatMap(({ method, endpoint, statusCode, outcome, requestId }) =>
    typeof requestId === 'string' ? [`${method} ${endpoint ?? ''} ${statusCode ?? outcome}`] : [],
  );
  assert.equal(outcomes.length, answered.length);
  for (const line of [
    'workstream.list  ok',
    'sessions.resolve  NOT_FOUND',
    'GET /v1/api/events/global 200',
    'GET /v1/api/models 200',
  ])
    assert.ok(outcomes.includes(line), line);
  const ids = answered.map(({ requestId }) => requestId);
  assert.deepEqual([ids.includes('stream-1'), ids.includes('plain-1')], [true, true]);
});
