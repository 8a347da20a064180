import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { openChatModel } from './chat-model.ts';

const FINISH = 'data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\n';
const DONE = 'data: [DONE]\n\n';

/** Reads an answer whose body gives pieces and then stays open, or breaks off. */
async function open(pieces: readonly string[], then: 'stays open' | 'breaks off' | 'never ends' = 'stays open') {
  const left = pieces.map((piece) => Buffer.from(piece));
  const broken = Promise.withResolvers<undefined>();
  broken.promise.catch(() => undefined); // not awaited if the body has ended
  let cancelled = 0;
  const body = {
    async read() {
      const piece = left.shift();
      if (piece) return [piece];
      if (then === 'never ends') return setImmediate([Buffer.from(': ping\n\n')]);
      if (then === 'breaks off') throw new Error('reset');
      return broken.promise;
    },
    cancel() {
      cancelled += 1;
      broken.reject(new Error('cancelled'));
    },
  };
  const clock = fakeClock();
  const post = async () => ({ status: 200, statusText: 'OK', headers: {}, body });
  const model = await openChatModel({ modelId: 'm', baseUrl: 'http://lab/v1', fetch, post, clock });
  const { stream } = await model.doStream({ prompt: [] });
  const reader = stream.getReader();
  const types: string[] = [];
  const reading = (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) types.push(part.value.type);
  })();
  return { clock, types, reading, cancelled: () => cancelled };
}

for (const then of ['stays open', 'never ends'] as const)
  test(`an answer is complete a second after [DONE] if its body ${then}`, { timeout: 10_000 }, async () => {
    const it = await open([FINISH, DONE], then);
    const isOver = it.reading.then(() => true);
    while (!(await Promise.race([isOver, it.clock.advance(1_000)])));
    assert.deepEqual([it.types, it.cancelled()], [['text-delta', 'finish'], 1]);
  });

test('a connection that breaks after [DONE] does not break the answer', async () => {
  const it = await open([FINISH, DONE], 'breaks off');
  await it.reading;
  assert.deepEqual(it.types, ['text-delta', 'finish']);
});

test('a usage that follows [DONE] counts', async () => {
  const usage = 'data: {"choices":[],"usage":{"prompt_tokens":7}}\n\n';
  const it = await open([FINISH, DONE, usage], 'breaks off');
  await it.reading;
  assert.deepEqual(it.types, ['text-delta', 'finish']);
});

test('an answer is not complete without [DONE] while its body stays open', async () => {
  const it = await open([FINISH]);
  await it.clock.advance(10_000);
  assert.deepEqual([it.types, it.cancelled()], [['text-delta'], 0]);
});
