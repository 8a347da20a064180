import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpEdge } from '../../../testing/http-edge.ts';

test('clients that know no paging get all users, up to a thousand', async () => {
  await using edge = await httpEdge({ answer: () => ({ users: [], total: 0 }) });
  const list = (query: string) =>
    edge.send({ path: `/v1/api/admin/users${query}`, headers: { authorization: 'Bearer approve' } });
  for (const query of ['', '?limit=5&offset=5']) assert.equal((await list(query)).status, 200);
  assert.deepEqual(
    edge.asked.map(({ params }) => params),
    [
      { query: undefined, limit: 1_000, offset: undefined },
      { query: undefined, limit: 5, offset: 5 },
    ],
  );
});
