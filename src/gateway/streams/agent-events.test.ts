import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { systemClock } from '../../clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { EventLog } from '../events/event-log.ts';
import { OF_EVERYONE } from '../sharing/perception.ts';
import { content, memoryLog } from '../testing/memory-log.ts';
import { AgentEvents } from './agent-events.ts';

const end = (wsId: string): StreamEvent => ({
  type: 'ws_state',
  ws_id: wsId,
  state: 'idle',
  run: { run_id: `run ${wsId}`, status: 'ok' },
});

const session = (wsId: string) => ({ wsId, sessionKey: wsId, ...OF_EVERYONE });

function setUp() {
  const clock = fakeClock(1_000);
  const { store, append } = memoryLog();
  const stop = new AbortController();
  const sent: string[] = [];
  const agentEvents = new AgentEvents({
    events: new EventLog({ store, clock: systemClock, log: recordingLog() }),
    clock,
    stopping: stop.signal,
    send({ wsId }, { event, payload }) {
      const what = event === 'chat' ? `${payload.state} ${payload.message?.content[0]?.text ?? '-'}` : payload.stream;
      sent.push(`${wsId} ${event} ${what}`);
    },
  });
  const begin = (wsId: string) => agentEvents.begin(session(wsId), `run ${wsId}`);
  const deltas = () => sent.filter((line) => line.includes('chat delta'));
  return { clock, append, stop, sent, agentEvents, begin, deltas };
}

test('text is sent at most every 150 ms, and the end of it always', async () => {
  const { clock, append, begin, deltas, sent } = setUp();
  begin('a');
  for (let n = 0; n < 30; n += 1) {
    append('a', content(`${n} `));
    await clock.advance(10);
  }
  assert.equal(deltas().length, 2, '300 ms');
  append('a', content('last'));
  append('a', { type: 'stream_end' }, end('a'));
  const said = Array.from({ length: 30 }, (_, n) => `${n} `).join('');
  assert.deepEqual(sent.slice(-4), [
    'a agent assistant',
    `a chat delta ${said}last`,
    'a agent job',
    `a chat final ${said}last`,
  ]);
});

test('one timer serves all runs, and none runs without pending text', async () => {
  const { clock, append, begin, deltas } = setUp();
  begin('a');
  begin('b');
  append('a', content('1'));
  await clock.advance(149);
  append('b', content('2'));
  assert.deepEqual(deltas(), []);
  await clock.advance(1);
  assert.deepEqual(deltas(), ['a chat delta 1', 'b chat delta 2']);
  await clock.advance(10_000);
  append('a', content('3'));
  await clock.advance(149);
  assert.equal(deltas().length, 2);
  await clock.advance(1);
  assert.deepEqual(deltas().slice(2), ['a chat delta 13']);
});

test('what happens outside a run is not projected', async () => {
  const { clock, append, begin, sent } = setUp();
  append('a', content('before'));
  begin('a');
  append('b', content('elsewhere'));
  append('a', end('a'));
  append('a', content('after'), {
    type: 'settings_changed',
    name: 'n',
    model: 'm',
    model_alias: 'm',
    skip_permissions: false,
  });
  await clock.advance(1_000);
  assert.deepEqual(sent, ['a agent job', 'a agent job', 'a chat final -']);
});

test('a queued run that was cancelled is reported as aborted', () => {
  const { agentEvents, sent } = setUp();
  agentEvents.dropped(session('a'), 'r');
  assert.deepEqual(sent, ['a agent job', 'a chat aborted -']);
});

test('no samples are taken once the daemon stops', async () => {
  const { clock, append, begin, deltas, stop } = setUp();
  begin('a');
  append('a', content('1'));
  stop.abort(new Error('stopping'));
  await clock.advance(1_000);
  assert.deepEqual(deltas(), []);
});

test('a message that steered another run gets the end and the answer of that run', () => {
  const { agentEvents, sent } = setUp();
  agentEvents.followed(session('a'), 'steered', { run_id: 'steered', status: 'ok', summary: 'the answer' });
  agentEvents.followed(session('a'), 'steered', { run_id: 'steered', status: 'cancelled', summary: 'cancelled' });
  assert.deepEqual(sent, [
    'a agent assistant',
    'a chat delta the answer',
    'a agent job',
    'a chat final the answer',
    'a agent job',
    'a chat aborted -',
  ]);
});
