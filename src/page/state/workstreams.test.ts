import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '@preact/signals';
import type { WorkstreamRow } from '../../../protocol/methods/conversation/listing.ts';
import { snapshot } from './conversation/conversation-fixture.ts';
import { createFakeClient } from './fake-client.ts';
import { tabName, tabState } from './tab.ts';
import { Workstreams } from './workstreams.ts';

const row = (wsId: string): WorkstreamRow => ({ ...snapshot().workstream, wsId, name: `name of ${wsId}` });

function open(remembered: string | null = null) {
  const fake = createFakeClient();
  const stored = { front: remembered };
  let listed: WorkstreamRow[] = [];
  fake.answer('workstream.list', () => ({ workstreams: listed }));
  const workstreams = new Workstreams({
    client: fake.client,
    schedule: (run) => run(),
    isVisible: () => true,
    pins: { ids: signal<ReadonlySet<string>>(new Set()) },
    drafts: { find: (wsId) => (wsId === 'a' ? 'half a thought' : ''), findFiles: () => [], keep: () => undefined },
    memory: {
      getItem: () => stored.front,
      setItem: (_key, value) => {
        stored.front = value;
      },
    },
  });
  const list = async (...ids: string[]) => {
    listed = ids.map(row);
    await workstreams.refresh();
  };
  const ids = () => workstreams.tabs.value.map(({ wsId }) => wsId);
  return {
    ...fake,
    workstreams,
    list,
    ids,
    stored,
    setListed: (...names: string[]) => {
      listed = names.map(row);
    },
  };
}

test('the list becomes tabs, the first one in front', async () => {
  const { workstreams, list, ids, stored } = open();
  await list('a', 'b');
  assert.deepEqual([ids(), workstreams.front.value?.wsId, stored.front], [['a', 'b'], 'a', 'a']);
});

test('the tab that was in front before a reload is in front again', async () => {
  const { workstreams, list } = open('b');
  await list('a', 'b');
  assert.equal(workstreams.front.value?.wsId, 'b');
});

test('a new list keeps open tabs, closes missing ones, and brings another to the front', async () => {
  const { workstreams, list, ids, closed } = open('b');
  await list('a', 'b');
  const kept = workstreams.tabs.value[0];
  await list('a', 'c');
  assert.equal(workstreams.tabs.value[0], kept);
  assert.deepEqual([ids(), closed, workstreams.front.value?.wsId], [['a', 'c'], ['b'], 'a']);
});

test('the tab in front is loaded again when it was unloaded to make room, and goes when it was closed', async () => {
  const { workstreams, list, ids, answer, setListed } = open('b');
  await list('a', 'b');
  answer('workstream.get', () => setListed('a', 'b'));
  await list('a', 'c');
  assert.deepEqual([ids(), workstreams.front.value?.wsId], [['a', 'b'], 'b']);
  answer('workstream.get', () => {
    throw new Error('Unknown workstream');
  });
  await list('a', 'c');
  assert.deepEqual([ids(), workstreams.front.value?.wsId], [['a', 'c'], 'a']);
});

test('one that stands in the place of one that is gone says so, unless the person closed that, until another is chosen', async () => {
  const { workstreams, list, answer, setListed } = open('b');
  answer('workstream.get', () => {
    throw new Error('Unknown workstream');
  });
  await list('a', 'b', 'c');
  const told = () => [workstreams.isSubstitute.value, workstreams.front.value?.problem.value];
  assert.deepEqual(told(), [false, undefined]);
  await list('a', 'c');
  assert.deepEqual(told(), [true, '“name of b” is not open any more. This is another workstream.']);
  workstreams.select('c');
  assert.deepEqual(told(), [false, undefined]);
  const front = workstreams.front.value;
  assert.ok(front);
  answer('workstream.close', () => setListed('a', 'd'));
  await workstreams.close(front);
  assert.deepEqual([workstreams.front.value?.wsId, workstreams.isSubstitute.value], ['a', false]);
});

test('a message in another tab marks it as unread until it comes to the front', async () => {
  const { workstreams, list, deliver } = open();
  await list('a', 'b');
  deliver('b').onSnapshot(snapshot({ workstream: row('b') }), 'e:0');
  deliver('b').onEvent({ type: 'content', text: 'news' }, 'e:1');
  const [front, other] = workstreams.tabs.value;
  assert.deepEqual([front?.unread.value, other?.unread.value], [false, true]);
  workstreams.select('b');
  assert.equal(other?.unread.value, false);
});

test('name and state follow the log once it is read', async () => {
  const { workstreams, list, deliver } = open();
  await list('a');
  const [tab] = workstreams.tabs.value;
  assert.ok(tab);
  assert.deepEqual([tabName(tab), tabState(tab)], ['name of a', 'idle']);
  deliver('a').onSnapshot(snapshot({ workstream: row('a') }), 'e:0');
  deliver('a').onEvent({ type: 'ws_state', ws_id: 'a', state: 'attention' }, 'e:1');
  assert.deepEqual([tabName(tab), tabState(tab)], ['name of a', 'attention']);
});

test('a generated name gives way to the title, and to “main” for the first workstream', async () => {
  const { workstreams, list } = open();
  await list('12ab34cd');
  const [tab] = workstreams.tabs.value;
  assert.ok(tab);
  const called = (more: Partial<WorkstreamRow>) => {
    tab.row.value = { ...row('12ab34cd'), sessionKey: 'a', name: 'ws-12ab', ...more };
    return tabName(tab);
  };
  assert.deepEqual(
    [
      called({}),
      called({ title: 'Tides' }),
      called({ sessionKey: 'main' }),
      called({ name: 'mine', title: 'Tides' }),
      called({ name: 'ws-beef', title: 'Tides' }),
    ],
    ['ws-12ab', 'Tides', 'main', 'mine', 'ws-beef'],
  );
});

test('a workstream opened or closed elsewhere appears or disappears at once', async () => {
  const { list, setListed, emit, ids, calls } = open();
  await list('a');
  setListed('a', 'b');
  emit('workstream.opened', { wsId: 'b' });
  await new Promise(setImmediate);
  assert.deepEqual(ids(), ['a', 'b']);
  setListed('a');
  emit('workstream.closed', { wsId: 'b' });
  await new Promise(setImmediate);
  assert.deepEqual(ids(), ['a']);
  emit('workstream.closed', { wsId: 'b' });
  emit('workstream.opened', { wsId: 'a' });
  assert.equal(calls.length, 3, 'what is known already is not asked for');
});

test('a workstream that was closed and opened again within one round trip is followed again', async () => {
  const { list, emit, deliver, ids, workstreams, answer } = open();
  await list('a', 'b');
  const [, tab] = workstreams.tabs.value;
  deliver('b').onSnapshot(snapshot({ workstream: row('b') }), 'e:0');
  const first = deliver('b');
  emit('workstream.closed', { wsId: 'b' });
  emit('workstream.opened', { wsId: 'b' });
  await new Promise(setImmediate);
  const second = deliver('b');
  assert.deepEqual([ids(), workstreams.tabs.value[1] === tab, second === first], [['a', 'b'], true, false]);
  second.onEvent({ type: 'ws_state', ws_id: 'b', state: 'running' }, 'e:1');
  assert.equal(tab && tabState(tab), 'running');

  // It ends again before the list is answered that was asked for at its first end.
  const lists = [Promise.withResolvers<object>(), Promise.withResolvers<object>()];
  const [early, late] = lists;
  answer('workstream.list', () => lists.shift()?.promise);
  emit('workstream.closed', { wsId: 'b' });
  emit('workstream.closed', { wsId: 'b' });
  early?.resolve({ workstreams: ['a', 'b'].map(row) });
  await new Promise(setImmediate);
  assert.equal(deliver('b'), second);
  late?.resolve({ workstreams: ['a', 'b'].map(row) });
  await new Promise(setImmediate);
  assert.notEqual(deliver('b'), second);
});

test('a subscription that the daemon ends is repeated if the list still has the workstream, but not one that it refuses', async () => {
  const { list, deliver } = open();
  await list('a');
  const first = deliver('a');
  first.onError?.(new Error('Unknown workstream'));
  await new Promise(setImmediate);
  assert.equal(deliver('a'), first);
  first.onSnapshot(snapshot({ workstream: row('a') }), 'e:0');
  first.onError?.(new Error('Unknown workstream'));
  await new Promise(setImmediate);
  const second = deliver('a');
  assert.notEqual(second, first);
  second.onError?.(new Error('Unknown workstream'));
  await new Promise(setImmediate);
  assert.equal(deliver('a'), second);
});

test('an older list that comes later replaces no newer one, nor an older queue what an event said', async () => {
  const { workstreams, list, answer, emit, ids } = open();
  await list('a');
  const early = Promise.withResolvers<object>();
  const lists = [early.promise, { workstreams: [row('a'), row('b')] }];
  answer('workstream.list', () => lists.shift());
  const first = workstreams.refresh();
  await workstreams.refresh();
  early.resolve({ workstreams: [row('a')] });
  await first;
  assert.deepEqual(ids(), ['a', 'b']);

  const queued = Promise.withResolvers<object>();
  answer('queue.list', () => queued.promise);
  answer('workstream.list', () => ({ workstreams: [{ ...row('a'), state: 'running' }] }));
  await workstreams.refresh();
  emit('queue.changed', { wsId: 'a', messages: [{ runId: 'new', message: 'new', source: 'person' }] });
  queued.resolve({ messages: [] });
  await new Promise(setImmediate);
  assert.deepEqual(
    workstreams.tabs.value.map(({ queue }) => queue.value.map(({ runId }) => runId)),
    [['new']],
  );
});

test('stepping through the list wraps at its ends', async () => {
  const { workstreams, list } = open();
  await list('a', 'b');
  const fronts = ([1, 1, -1] as const).map((by) => {
    workstreams.step(by);
    return workstreams.front.value?.wsId;
  });
  assert.deepEqual(fronts, ['b', 'a', 'b']);
});

test('the first message sets the title, clearing removes it', async () => {
  const { list, deliver, calls } = open();
  await list('a');
  deliver('a').onSnapshot(snapshot({ workstream: row('a') }), 'e:0');
  deliver('a').onEvent({ type: 'user_turn', message: 'hi', run_id: 'r', source: 'person' }, 'e:1');
  deliver('a').onEvent({ type: 'content', text: 'hello' }, 'e:2');
  deliver('a').onEvent({ type: 'clear_ui', after_seq: 2 }, 'e:3');
  assert.equal(calls.length, 2, 'without a title there is none to take');
});

test('a draft from before a reload is in its tab', async () => {
  const { workstreams, list } = open();
  await list('a', 'b');
  assert.deepEqual(
    workstreams.tabs.value.map(({ draft }) => draft.value),
    ['half a thought', ''],
  );
});

test('a created workstream comes to the front', async () => {
  const { workstreams, list, setListed, answer, calls } = open();
  await list('a');
  setListed('a', 'new');
  answer('workstream.create', () => ({ wsId: 'new', name: 'x', resumed: false, messageCount: 0 }));
  await workstreams.create({ name: 'x' });
  assert.deepEqual([workstreams.front.value?.wsId, calls[1]], ['new', ['workstream.create', { name: 'x' }]]);
});

test('the schedule stays until a conversation is chosen; messages meanwhile are unread', async () => {
  const { workstreams, list, deliver } = open();
  await list('a');
  const [tab] = workstreams.tabs.value;
  deliver('a').onSnapshot(snapshot({ workstream: row('a') }), 'e:0');
  workstreams.shown.value = 'schedule';
  deliver('a').onEvent({ type: 'content', text: 'news' }, 'e:1');
  workstreams.markRead();
  await list('a');
  assert.deepEqual([workstreams.shown.value, tab?.unread.value], ['schedule', true]);
  workstreams.select('a');
  assert.deepEqual([workstreams.shown.value, tab?.unread.value], ['conversation', false]);
});

test('the conversation of a session comes to the front, opened if it was closed', async () => {
  const { workstreams, list, setListed, answer, calls } = open();
  await list('a', 'b');
  const [, tab] = workstreams.tabs.value;
  if (tab) tab.row.value = { ...row('b'), sessionKey: 'cron:j1' };
  workstreams.shown.value = 'schedule';
  await workstreams.showSession('cron:j1');
  assert.deepEqual([workstreams.front.value?.wsId, workstreams.shown.value], ['b', 'conversation']);
  answer('chat.history', ({ sessionKey }: { sessionKey: string }) =>
    sessionKey === 'cron:gone' ? { sessionKey, messages: [] } : { sessionKey, sessionId: 'c', messages: [] },
  );
  answer('workstream.create', () => ({ wsId: 'c', name: 'x', resumed: true, messageCount: 1 }));
  setListed('a', 'b', 'c');
  await workstreams.showSession('cron:j2');
  assert.equal(workstreams.front.value?.wsId, 'c');
  assert.deepEqual(calls.find(([method]) => method === 'workstream.create')?.[1], { resumeWs: 'c' });
  await assert.rejects(workstreams.showSession('cron:gone'), /gone/);
});
