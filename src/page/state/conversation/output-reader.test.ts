import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import type { ParamsInput } from '../../../../protocol/index.ts';
import { createFakeClient } from '../fake-client.ts';
import { createOutputReader, PAGE_BYTES } from './output-reader.ts';

/** A reader of this text, for a daemon that refuses the first `refusals` calls as too many. */
function readerOf(whole: string, { refusals = 0 } = {}) {
  const fake = createFakeClient();
  const waited: number[] = [];
  let left = refusals;
  fake.answer('output.read', ({ offset = 0, limit = PAGE_BYTES }: ParamsInput<'output.read'>) => {
    left -= 1;
    if (left >= 0) throw new RequestError('RATE_LIMITED', 'too many requests', { retryAfterMs: 40 });
    return { text: whole.slice(offset, offset + limit), offset, totalBytes: whole.length };
  });
  const timers = {
    after(ms: number, callback: () => void) {
      waited.push(ms);
      queueMicrotask(callback);
      return () => undefined;
    },
  };
  return {
    reader: createOutputReader({ client: fake.client, wsId: 'w', of: { callId: 'c' }, timers }),
    waited,
    calls: fake.calls,
  };
}

const long = `start\n${'x'.repeat(3 * PAGE_BYTES)}\u001b[1mThe \u001b[0mNeedle\n`;

test('a page contains the bytes at its position', async () => {
  const { reader, calls } = readerOf(long);
  assert.equal((await reader.read(1)).text, long.slice(PAGE_BYTES, 2 * PAGE_BYTES));
  assert.deepEqual(calls, [['output.read', { wsId: 'w', callId: 'c', offset: PAGE_BYTES, limit: PAGE_BYTES }]]);
});

test('search finds the next page with the words, ignoring case and colours', async () => {
  const { reader } = readerOf(long);
  assert.deepEqual(
    [await reader.findPage('the needle', 0), await reader.findPage('start', 1), await reader.findPage('nowhere', 0)],
    [3, undefined, undefined],
  );
});

test('the full output is read in parts, and waits when the daemon asks to', async () => {
  const { reader, waited } = readerOf(long, { refusals: 2 });
  assert.equal((await reader.readAll()).join(''), long);
  assert.deepEqual(waited, [40, 40]);
});

test('reading expired output is an error', async () => {
  const fake = createFakeClient();
  fake.answer('output.read', () => {
    throw new RequestError('NOT_FOUND', 'This output has expired');
  });
  const reader = createOutputReader({
    client: fake.client,
    wsId: 'w',
    of: { callId: 'c' },
    timers: { after: () => assert.fail('no reason to wait') },
  });
  await assert.rejects(reader.read(0), /has expired/);
});
