import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpEdge } from '../testing/http-edge.ts';

const JWT = 'x'.repeat(4_000);
const LOGIN = { status: 'ok', role: 'full', scopes: ['read'], permissions: [], jwt: JWT, userId: 'operator' };

test('an answer with a credential is neither compressed nor cached', async () => {
  await using edge = await httpEdge({ answer: () => LOGIN });
  const headers = { 'accept-encoding': 'br, gzip', 'content-type': 'application/json' };
  const answer = await edge.send({ method: 'POST', path: '/v1/api/auth/login', headers, body: '{"token":"t"}' });
  assert.deepEqual(
    [answer.status, answer.headers['content-encoding'], answer.headers.etag, answer.headers['cache-control']],
    [200, undefined, undefined, 'no-store'],
  );
  assert.ok(answer.text.includes(JWT));
});

test('half of a character is answered as the replacement character', async () => {
  const message = { seq: 1, createdMs: 0, role: 'user', content: 'a\ud83d', tool_calls: null };
  await using edge = await httpEdge({ answer: () => ({ messages: [message], truncated: false }) });
  const answer = await edge.send({ path: '/v1/api/workstreams/w/history', headers: { authorization: 'Bearer read' } });
  assert.deepEqual([answer.status, JSON.parse(answer.text).messages[0].content], [200, 'a\ufffd']);
});

test('a compressed answer is counted once, with its status', async () => {
  const workstreams = Array.from({ length: 20 }, (_, index) => ({
    wsId: `ws-${index}`.padEnd(40, 'x'),
    name: 'a name',
    createdMs: 0,
    updatedMs: 0,
  }));
  await using edge = await httpEdge({ answer: () => ({ workstreams }) });
  const headers = { authorization: 'Bearer read' };
  const plain = await edge.send({ path: '/v1/api/workstreams', headers });
  const coded = await edge.send({ path: '/v1/api/workstreams', headers: { ...headers, 'accept-encoding': 'gzip' } });
  const known = { ...headers, 'if-none-match': String(plain.headers.etag) };
  const same = await edge.send({ path: '/v1/api/workstreams', headers: known });
  assert.deepEqual(
    [plain.status, coded.headers['content-encoding'], same.status, same.headers['cache-control']],
    [200, 'gzip', 304, 'private, no-cache'],
  );
  assert.deepEqual(
    edge.counted,
    [200, 200, 304].map((status) => ['GET', '/v1/api/workstreams', status]),
  );
});
