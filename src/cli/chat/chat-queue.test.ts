import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { QueuedMessage } from '../../../protocol/queue/queue-methods.ts';
import { createPaint } from '../terminal/paint.ts';
import { followQueue, runQueueCommand, toQueueLines } from './chat-queue.ts';

const waits = (message: string, more: Partial<QueuedMessage> = {}): QueuedMessage => ({
  runId: message,
  message,
  source: 'person',
  ...more,
});

/** A queue as a chat follows it. `run` types a line. */
function open(...messages: QueuedMessage[]) {
  const calls: [method: string, params: unknown][] = [];
  const printed: string[] = [];
  let isRemoved = true;
  let tell: (changed: { wsId: string; messages: QueuedMessage[] }) => void = () => undefined;
  const client: Pick<GatewayClient, 'call' | 'on'> = {
    async call(method, ...[params]) {
      calls.push([method, params]);
      return { messages, removed: isRemoved, status: 'ok' } as never; // the test follows the method's contract
    },
    on(_event, listener) {
      tell = listener as typeof tell; // this queue follows only one event
      return () => undefined;
    },
  };
  const queue = followQueue({ client, wsId: 'w', newKey: () => 'k1', onChange: () => undefined });
  tell({ wsId: 'w', messages });
  const run = (line: string) =>
    runQueueCommand(line, {
      queue,
      send: async (message, how) => void calls.push(['send', { message, ...how }]),
      print: (lines) => void printed.push(...lines),
    });
  const sentMeanwhile = () => {
    isRemoved = false;
  };
  return { queue, calls, printed, run, tell, sentMeanwhile };
}

test('the commands change the message with the number', async () => {
  const { calls, printed, run } = open(waits('a'), waits('b'), waits('c'));
  await run('/queue edit 2 bee and\nbeetle');
  await run('/queue move 3 up');
  await run('/queue move 1 down');
  await run('/queue move 1 up');
  await run('/queue remove 1');
  await run('/steer 2');
  await run('/steer 4');
  await run('/steer be brief');
  assert.deepEqual(calls, [
    ['queue.edit', { wsId: 'w', runId: 'b', message: 'bee and\nbeetle' }],
    ['queue.move', { wsId: 'w', runId: 'c', to: 1 }],
    ['queue.move', { wsId: 'w', runId: 'a', to: 1 }],
    ['queue.move', { wsId: 'w', runId: 'a', to: 0 }],
    ['queue.remove', { wsId: 'w', runId: 'a', idempotencyKey: 'k1' }],
    ['queue.steer', { wsId: 'w', runId: 'b' }],
    ['send', { message: '4', steer: true }],
    ['send', { message: 'be brief', steer: true }],
  ]);
  assert.deepEqual(printed, ['(taken back) a']);
});

test('a line that names no waiting message, or makes no sense, says what would', async () => {
  const { calls, run, sentMeanwhile } = open(waits('a'));
  const usage = { message: /^Usage: \/queue, \/queue edit N MESSAGE/ };
  for (const line of [
    '/queue edit 1',
    '/queue move 1',
    '/queue move 1 sideways',
    '/queue remove',
    '/queue remove 1 2',
    '/queue what',
  ])
    await assert.rejects(run(line) ?? Promise.resolve(), usage, line);
  await assert.rejects(run('/queue remove 2') ?? Promise.resolve(), { message: /^No message 2 waits\./ });
  assert.deepEqual([calls, run('/queues'), run('/steer'), run('queue')], [[], undefined, undefined, undefined]);
  sentMeanwhile();
  await assert.rejects(run('/queue remove 1') ?? Promise.resolve(), { message: /no longer waits/ });
});

test('all are listed, the first five are always shown, and other workstreams do not matter', async () => {
  const { printed, run, queue, tell } = open(
    waits('now', { steer: true }),
    waits('a\nb\u001b[31m'),
    ...'cdefg'.split('').map((text) => waits(text)),
  );
  tell({ wsId: 'other', messages: [] });
  await run('/queue');
  assert.equal(printed.length, 7);
  assert.deepEqual(toQueueLines(queue.waiting, createPaint(false)), [
    '↳ 1 now (before the next step)',
    '◷ 2 a b',
    '◷ 3 c',
    '◷ 4 d',
    '◷ 5 e',
    '  … and 2 more: /queue',
  ]);
  tell({ wsId: 'w', messages: [] });
  await run('/queue');
  assert.deepEqual([printed.at(-1), toQueueLines(queue.waiting, createPaint(false))], ['(no message waits)', []]);
});

test('a message that is taken back is printed with the names of its files', async () => {
  const file = { attachment_id: 'f', filename: 'a.png', mime_type: 'image/png', size_bytes: 3, kind: 'image' } as const;
  const { printed, run } = open(waits('look', { attachments: [file] }));
  await run('/queue remove 1');
  assert.deepEqual(printed, ['(taken back) look + a.png']);
});
