import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GlobalEvent } from '../../../protocol/events/global.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { systemClock } from '../../clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { EventLog } from '../events/event-log.ts';
import { gaining } from '../sharing/audience.ts';
import { DAEMON, OF_EVERYONE, type Owned, type Viewer } from '../sharing/perception.ts';
import { memoryLog } from '../testing/memory-log.ts';
import { GlobalEvents, type ToldChange } from './global-events.ts';

const ADA: Viewer = { userId: 'ada', permissions: new Set() };
const BOB: Viewer = { userId: 'bob', permissions: new Set() };
const OF_ADA: Owned = { ownerId: 'ada', visibility: 'private' };
const VIEWERS = [DAEMON, ADA, BOB];

const workstream = (wsId: string, owned: Owned = OF_EVERYONE) => ({
  ...owned,
  wsId,
  name: `name of ${wsId}`,
  state: 'idle' as const,
  status: () => undefined,
  createdMs: 1,
});

function listeners(global: GlobalEvents) {
  const heard = VIEWERS.map((): GlobalEvent[] => []);
  for (const [index, viewer] of VIEWERS.entries())
    global.listen({ viewer, onEvent: (event) => void heard[index]?.push(event) });
  return heard;
}

const create = () => {
  const { store, append } = memoryLog();
  const events = new EventLog({ store, clock: systemClock, log: recordingLog() });
  return { global: new GlobalEvents({ events }), append };
};

/** A worker, with listeners if `isHeard`, and an active daemon that it tells of its changes. */
function both({ isHeard = true } = {}) {
  const { global: worker, append } = create();
  const { global: lead } = create();
  const told: ToldChange[] = [];
  worker.onTold((news) => {
    const carried: ToldChange = JSON.parse(JSON.stringify(news));
    told.push(carried);
    lead.retell(carried);
  });
  return { worker, lead, append, told, here: isHeard ? listeners(worker) : [], there: listeners(lead) };
}

const runIn = (wsId: string): StreamEvent[] => [
  { type: 'thinking_start' },
  { type: 'content', text: 'All ' },
  { type: 'content', text: 'done.' },
  { type: 'ws_state', ws_id: wsId, state: 'idle', run: { run_id: 'r', status: 'ok' } },
];

test('the changes of workstreams reach the same listeners at another daemon', () => {
  const { worker, append, here, there } = both();
  const [a, b] = [workstream('a'), workstream('b', OF_ADA)];
  for (const data of [a, b]) worker.loaded(data);
  append('a', ...runIn('a'));
  append('b', ...runIn('b'));
  append('b', { type: 'ws_rename', ws_id: 'b', name: 'a title' });
  worker.announce(b, gaining(OF_ADA, OF_EVERYONE));
  worker.hide('a', gaining(OF_ADA, OF_EVERYONE));
  worker.unloaded(b, 'closed');
  assert.deepEqual(there, here);
  const types = there.map((events) => events.map(({ type, ...event }) => `${type} ${'ws_id' in event && event.ws_id}`));
  assert.deepEqual(types[2], [
    ...['ws_created a', 'ws_state a', 'ws_activity a', 'ws_state a'],
    ...['ws_created b', 'ws_state b', 'ws_closed a'],
  ]);
  assert.ok((types[1]?.length ?? 0) > (types[2]?.length ?? 0), 'Ada perceives more than Bob');
});

test('the answer of a run is told although nobody listens where it ran', () => {
  const { worker, append, there } = both({ isHeard: false });
  worker.loaded(workstream('a'));
  append('a', ...runIn('a'));
  const last = there[0]?.at(-1);
  assert.deepEqual(last?.type === 'ws_state' && [last.state, last.content], ['idle', 'All done.']);
});

test('a workstream of which changes are told is not known as one of this daemon, only by its latest state', () => {
  const { worker, lead, append } = both();
  const data = workstream('a');
  worker.loaded(data);
  append('a', ...runIn('a'));
  assert.deepEqual([lead.find('a'), lead.states(DAEMON)], [undefined, worker.states(DAEMON)]);
  worker.unloaded(data, 'closed');
  assert.deepEqual(lead.states(DAEMON), []);
});

test('the state of a private workstream is for those who perceive it, also where it is told', () => {
  const { worker, lead } = both();
  worker.loaded(workstream('b', OF_ADA));
  assert.deepEqual(
    VIEWERS.map((viewer) => lead.states(viewer).length),
    [1, 1, 0],
  );
});

test('a workstream that becomes private stays known to those who perceive it, and one that is shared is known to all', () => {
  const { worker, lead } = both();
  const statesOf = () => VIEWERS.map((viewer) => lead.states(viewer).length);
  const data = { ...workstream('a') };
  worker.loaded(data);
  Object.assign(data, OF_ADA);
  worker.hide('a', gaining(OF_ADA, OF_EVERYONE));
  assert.deepEqual(statesOf(), [1, 1, 0]);
  Object.assign(data, OF_EVERYONE);
  worker.announce(data, gaining(OF_ADA, OF_EVERYONE));
  assert.deepEqual(statesOf(), [1, 1, 1]);
});

test('a daemon that begins to listen gets the states of all workstreams', () => {
  const { worker, lead } = both();
  worker.loaded(workstream('a'));
  lead.retell({ event: { type: 'ws_closed', ws_id: 'a', name: 'a', reason: 'evicted' }, terms: {} });
  worker.tellStates();
  assert.deepEqual(lead.states(DAEMON), worker.states(DAEMON));
});

test('the health of a daemon is told to its own clients only', () => {
  const { worker, told, here, there } = both();
  const backend = { status: 'up', circuitState: 'closed' } as const;
  worker.noteHealth({ status: 'ok', backend });
  worker.noteHealth({ status: 'degraded', backend });
  assert.deepEqual(
    here.map((events) => events.map(({ type }) => type)),
    VIEWERS.map(() => ['health_changed']),
  );
  assert.deepEqual([told, there], [[], VIEWERS.map(() => [])]);
});
