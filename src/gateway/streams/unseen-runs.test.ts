import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { systemClock } from '../../clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { EventLog } from '../events/event-log.ts';
import { memoryLog } from '../testing/memory-log.ts';
import { UnseenRuns } from './unseen-runs.ts';

const END: StreamEvent = { type: 'ws_state', ws_id: 'w', state: 'idle', run: { run_id: 'r', status: 'ok' } };
const THINKING: StreamEvent = { type: 'ws_state', ws_id: 'w', state: 'thinking' };
const PLACE = { after: 0, upTo: 1 };

function setUp() {
  const clock = fakeClock();
  const { store, append } = memoryLog();
  const runs = new UnseenRuns({ clock, events: new EventLog({ store, clock: systemClock, log: recordingLog() }) });
  const append1 = (...events: StreamEvent[]) => append('w', ...events);
  return { clock, runs, append: append1, isFound: () => runs.findEnded('w') !== undefined };
}

test('a run started by `send` is found after its end', () => {
  const { runs, append, isFound } = setUp();
  runs.begun('w', PLACE);
  append(THINKING);
  assert.equal(isFound(), false, 'it is going on');
  append(END);
  assert.deepEqual(runs.findEnded('w')?.place, PLACE);
  runs.begun('w', undefined);
  append(END);
  assert.equal(isFound(), false, 'nobody sent it');
});

test('only the state with the outcome ends a run, not other events with its id', () => {
  const { runs, append, isFound } = setUp();
  runs.begun('w', PLACE);
  append({ type: 'info', message: '"run":' }, { ...THINKING, ws_id: '"run":' });
  assert.equal(isFound(), false);
  append({ ...END, run: { run_id: 'r', status: 'error', error: 'no "run":' } });
  assert.equal(isFound(), true);
});

test('a run is part of the history after three seconds', async () => {
  const { runs, append, isFound, clock } = setUp();
  runs.begun('w', PLACE);
  append(END);
  await clock.advance(2_999);
  assert.equal(isFound(), true);
  await clock.advance(1);
  assert.equal(isFound(), false);
  runs.restore('w', { place: PLACE, endOffset: 1 });
  assert.equal(isFound(), false, 'what is known is not restored');
  runs.begun('v', PLACE);
  assert.equal(runs.newest('w'), undefined, 'and old ones are let go');
});

test('a run whose end a stream has sent is not found', () => {
  const { runs, append, isFound } = setUp();
  runs.begun('w', PLACE);
  append(THINKING, END);
  runs.written('w', 1);
  assert.equal(isFound(), true, 'only what came before it was written');
  runs.written('w', 2);
  assert.equal(isFound(), false);
});

test('a wait ends when a newer run begins, when the time is up, and when its stream has gone', async () => {
  const { runs, append, clock } = setUp();
  const live = new AbortController();
  runs.begun('w', PLACE);
  append(END);
  const ended = runs.findEnded('w') ?? assert.fail('not found');
  const [inTime, left] = [live.signal, AbortSignal.abort()].map((signal) => runs.staysNewest(ended, signal));
  assert.equal(await left, false);
  await clock.advance(300);
  assert.equal(await inTime, true);
  const superseded = runs.staysNewest(ended, live.signal);
  runs.begun('w', undefined);
  assert.equal(await superseded, false);
});
