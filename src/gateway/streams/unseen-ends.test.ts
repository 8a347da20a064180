import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { EventLog } from '../events/event-log.ts';
import { memoryLog } from '../testing/memory-log.ts';
import { UnseenEnds } from './unseen-ends.ts';

const END: StreamEvent = { type: 'ws_state', ws_id: 'w', state: 'idle', run: { run_id: 'r', status: 'ok' } };
const THINKING: StreamEvent = { type: 'ws_state', ws_id: 'w', state: 'thinking' };

function setUp() {
  const clock = fakeClock();
  const { store, append } = memoryLog();
  const ends = new UnseenEnds({ clock, events: new EventLog({ store, log: recordingLog() }) });
  return { clock, ends, append: (...events: StreamEvent[]) => append('w', ...events), take: () => ends.take('w', 9) };
}

test('the end of a run that `send` began is given once', () => {
  const { ends, append, take } = setUp();
  ends.begun('w', true);
  append(THINKING);
  assert.equal(take(), undefined, 'it is going on');
  append(END);
  assert.deepEqual([take(), take()], [JSON.stringify(END), undefined]);
});

test('an end is news for less than a minute', async () => {
  const { ends, append, take, clock } = setUp();
  for (const [waitMs, isNews] of [
    [59_999, true],
    [60_000, false],
  ] as const) {
    ends.begun('w', true);
    append(END);
    await clock.advance(waitMs);
    assert.equal(take() !== undefined, isNews);
  }
});

test('the end of a run that nobody sent is not given', () => {
  const { ends, append, take } = setUp();
  ends.begun('w', false);
  append(END);
  append(END);
  assert.equal(take(), undefined);
});

test('an end that a stream has written is not given again', () => {
  const { ends, append, take } = setUp();
  ends.begun('w', true);
  append(THINKING, END);
  ends.written('w', 1);
  assert.notEqual(take(), undefined, 'only what came before it was written');
  ends.begun('w', true);
  append(END);
  ends.written('w', 3);
  assert.equal(take(), undefined);
});

test('an end is forgotten when a newer run begins or the workstream is unloaded', () => {
  const { ends, append, take } = setUp();
  ends.begun('w', true);
  append(END);
  ends.begun('w', true);
  assert.equal(take(), undefined);
  append(END);
  ends.forget('w');
  assert.equal(take(), undefined);
});

test('an end that the stream itself will carry is left to it', () => {
  const { ends, append } = setUp();
  ends.begun('w', true);
  append(THINKING, END);
  assert.equal(ends.take('w', 1), undefined);
});
