import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyOf } from '../../testing/answer-body.ts';
import { httpEdge } from '../../testing/http-edge.ts';

const MEMORY = {
  ...{ memoryId: 'mem_1', name: 'tabs', description: '', type: 'project', scope: 'global', scopeId: '' },
  ...{ content: 'not spaces', createdAtMs: 0, updatedAtMs: 1_000 },
};
const SHOWN = {
  ...{ memory_id: 'mem_1', name: 'tabs', description: '', type: 'project', scope: 'global', scope_id: '' },
  ...{ content: 'not spaces', created: '1970-01-01T00:00:00.000Z', updated: '1970-01-01T00:00:01.000Z' },
};
const AS_ADMIN = { authorization: 'Bearer approve' };

test('saving answers 201 for a new memory and 200 for a replaced one', async () => {
  let created = true;
  await using edge = await httpEdge({ answer: () => ({ memory: MEMORY, created }) });
  const save = () =>
    edge.send({
      method: 'POST',
      path: '/v1/api/memories',
      headers: { ...AS_ADMIN, 'content-type': 'application/json' },
      body: '{"name":"tabs","content":"not spaces","type":3,"scope":null,"scope_id":""}',
    });
  const first = await save();
  created = false;
  const second = await save();
  assert.deepEqual(
    [first.status, second.status, JSON.parse(second.text), edge.asked.map(({ params }) => params)[0]],
    [
      201,
      200,
      SHOWN,
      { name: 'tabs', content: 'not spaces', description: '', type: '3', scope: undefined, scopeId: undefined },
    ],
  );
});

test('a limit is moved into its range, and one that is no integer is refused with the words of the specification', async () => {
  await using edge = await httpEdge({ answer: () => ({ memories: [MEMORY], total: 1 }) });
  const list = (limit: string) => edge.send({ path: `/v1/api/memories?limit=${limit}`, headers: AS_ADMIN });
  const answers = await Promise.all(['', '0', '-3', '7', '1000'].map(list));
  assert.deepEqual(
    [answers.map(({ status }) => status), edge.asked.map(({ params }) => (params as { limit?: number }).limit)],
    [
      [200, 200, 200, 200, 200],
      [undefined, 1, 1, 7, 200],
    ],
  );
  for (const limit of ['x', '1.5', '1e3', '%20'])
    assert.deepEqual(bodyOf(await list(limit)), { error: 'limit must be an integer' }, limit);
  assert.deepEqual(JSON.parse(answers[0]?.text ?? ''), { memories: [SHOWN], total: 1 });
});

test('administrators search with `q`, which is required', async () => {
  const memory = { ...MEMORY, lastAccessedAtMs: null, accessCount: 0 };
  await using edge = await httpEdge({ answer: () => ({ memories: [memory], total: 1, truncated: true }) });
  const search = (query: string) => edge.sendJson({ path: `/v1/api/admin/memories/search${query}`, headers: AS_ADMIN });
  assert.deepEqual(await Promise.all(['', '?q=%20', '?q=tabs&limit=99'].map(search)), [
    [400, { error: 'q is required' }],
    [400, { error: 'q is required' }],
    [200, { memories: [{ ...SHOWN, last_accessed: null, access_count: 0 }], total: 1, truncated: true }],
  ]);
  assert.deepEqual(
    edge.asked.map(({ method, params }) => [method, params]),
    [['memory.admin.search', { query: 'tabs', type: undefined, scope: undefined, scopeId: undefined, limit: 50 }]],
  );
});
