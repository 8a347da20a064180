import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { Deltas } from './deltas.ts';

test('pieces that follow a lost one wait with it, so that the next step stores them in order', async () => {
  const stored: StreamEvent[] = [];
  let isAway = true;
  const deltas = new Deltas(async (event) => {
    if (isAway) throw new Error('the database is away');
    stored.push(event);
  });
  const piece = (text: string): StreamEvent => ({ type: 'content', text });
  deltas.tell(piece('one '));
  await new Promise(setImmediate);
  assert.throws(() => deltas.throwFailure(), /the database is away/);
  isAway = false;
  deltas.tell(piece('two '));
  assert.deepEqual([stored, deltas.untold], [[], [piece('one '), piece('two ')]]);
  deltas.forget(2);
  deltas.tell(piece('three '));
  assert.deepEqual(stored, [piece('three ')]);
});
