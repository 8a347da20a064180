import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { httpEdge } from '../../testing/http-edge.ts';

const SEND = '/v1/api/workstreams/w/send';

test('a message that could not wait is answered with the reason as its status; other refusals stay refusals', async () => {
  const refusals = [
    new GatewayError('BUSY', 'full', { details: { reason: 'queue_full' } }),
    new GatewayError('CONFLICT', 'used', { details: { reason: 'attachments_busy' } }),
    new GatewayError('CONFLICT', 'another message'),
  ];
  await using edge = await httpEdge({
    answer: () => {
      throw refusals.shift();
    },
  });
  const none = { attached_ids: [], dropped_attachment_ids: [] };
  assert.deepEqual(await edge.post(SEND, { message: 'x' }), [200, { status: 'queue_full', ...none }]);
  assert.deepEqual(await edge.post(SEND, { message: 'x' }), [200, { status: 'attachments_busy', ...none }]);
  assert.deepEqual(await edge.post(SEND, { message: 'x' }), [409, { error: 'another message' }]);
});

test('three marks at the beginning, and exactly three, are for the run in progress', async () => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok', runId: 'run', queued: true }) });
  const sent: unknown[] = [];
  for (const message of ['!!! now', ' !!!\nnow\nor never', '!! now', '!!!! now', '!!!', '!!! ', 'now !!!']) {
    const [, body] = await edge.post(SEND, { message });
    const { params } = edge.asked.at(-1) as { params: { message: string; steer?: boolean } };
    sent.push([params.message.trim(), params.steer, (body as { priority: string }).priority]);
  }
  assert.deepEqual(sent, [
    ['now', true, 'important'],
    ['now\nor never', true, 'important'],
    ...['!! now', '!!!! now', '!!!', '!!!', 'now !!!'].map((text) => [text, undefined, 'notice']),
  ]);
});
