import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpEdge } from '../../../testing/http-edge.ts';

const FAMILIES = ['coordinator', 'workstreams'];
const headers = { authorization: 'Bearer approve', 'content-type': 'application/json' };

const ANSWERS: Record<string, object> = {
  'coordinator.trust': { status: 'ok', trustSend: true, trustUntilMs: 5 },
  'coordinator.restrict': { status: 'ok', revokedTools: ['bash'] },
  'coordinator.stop': { status: 'ok', cancelled: ['a'], failed: [], skipped: ['b'] },
};

test('Both path families must answer the same for `trust`, `restrict` and `stop_cascade`', async () => {
  await using edge = await httpEdge({ answer: ({ method }) => ANSWERS[method] });
  for (const family of FAMILIES) {
    const post = (path: string, body: object) =>
      edge.sendJson({ method: 'POST', path: `/v1/api/${family}/w1/${path}`, headers, body: JSON.stringify(body) });
    assert.deepEqual(
      [
        await post('trust', { send: true }),
        await post('restrict', { revoke: ['bash'] }),
        await post('stop_cascade', {}),
      ],
      [
        [200, { status: 'ok', trust_send: true, trust_until_ms: 5 }],
        [200, { status: 'ok', revoked_tools: ['bash'] }],
        [200, { status: 'ok', cancelled: ['a'], failed: [], skipped: ['b'] }],
      ],
    );
  }
  const once = [
    ['coordinator.trust', { wsId: 'w1', send: true }],
    ['coordinator.restrict', { wsId: 'w1', revoke: ['bash'] }],
    ['coordinator.stop', { wsId: 'w1' }],
  ];
  assert.deepEqual(
    edge.asked.map(({ method, params }) => [method, params]),
    [...once, ...once],
  );
});

test('A body without `send` or `revoke`, or with other values, must answer 400 and change nothing', async () => {
  await using edge = await httpEdge({ answer: () => assert.fail('nothing is asked') });
  const refusal = async (path: string, body: string) => {
    const [status, json] = await edge.sendJson({ method: 'POST', path: `/v1/api/${path}`, headers, body });
    return [status, Reflect.get(Object(json), 'error')];
  };
  const noSend = "body must carry {'send': bool}";
  const noRevoke = "body must carry {'revoke': [<tool_name>, ...]}";
  const cases: [string, string, string][] = [
    ...['', '{}', '[]', 'no json', '{"send":"yes"}', '{"send":1}', '{"send":null}'].map(
      (body): [string, string, string] => ['trust', body, noSend],
    ),
    ...['', '{}', '"bash"', '{"revoke":"bash"}', '{"revoke":[1]}', '{"revoke":[""]}', '{"revoke":null}'].map(
      (body): [string, string, string] => ['restrict', body, noRevoke],
    ),
    ['restrict', JSON.stringify({ revoke: Array(257).fill('t') }), 'revoke list exceeds 256 entries'],
    ['restrict', JSON.stringify({ revoke: ['x'.repeat(129)] }), 'tool names must be <= 128 chars'],
  ];
  for (const family of FAMILIES)
    for (const [path, body, error] of cases)
      assert.deepEqual(await refusal(`${family}/w1/${path}`, body), [400, error], `${path} ${body.slice(0, 40)}`);
  const reason = JSON.stringify({ reason: 'ä'.repeat(257) });
  assert.deepEqual(await refusal('workstreams/w1/close_all_children', reason), [
    400,
    'reason must have at most 512 bytes',
  ]);
});
