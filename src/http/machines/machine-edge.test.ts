import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpEdge } from '../../testing/http-edge.ts';
import { GREETING, GREETING_PATH } from './machine-edge.ts';

const MACHINES = { greet: async () => undefined, clientOf: () => undefined };

test('who is no daemon of the same database is refused, and the refusal names the request', async () => {
  await using edge = await httpEdge({ machines: MACHINES });
  const refused = [
    await edge.send({ method: 'POST', path: GREETING_PATH }),
    await edge.send({ method: 'POST', path: GREETING_PATH, headers: { [GREETING]: 'me' } }),
    await edge.send({ path: GREETING_PATH }),
  ];
  assert.deepEqual(
    refused.map(({ status, headers }) => [status, headers.allow]),
    [
      [403, undefined],
      [403, undefined],
      [405, 'POST'],
    ],
  );
  for (const { headers, text } of refused) assert.equal(JSON.parse(text).request_id, headers['x-request-id']);
});
