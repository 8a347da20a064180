import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkstreamState } from '../../../../protocol/stream-events.ts';
import { snapshot } from '../conversation/conversation-fixture.ts';
import { arrangeTabs } from '../coordinators/arranged-tabs.ts';
import { createFakeClient } from '../fake-client.ts';
import { openTab } from '../tab.ts';
import { toAge } from './age.ts';
import { MessageFinder, wordsToMark } from './message-finder.ts';
import { Pins } from './pins.ts';
import { narrowSections, toSections } from './rail-sections.ts';
import { Removals } from './removals.ts';

const fake = createFakeClient();
const nothing = () => undefined;

function tab(wsId: string, state: WorkstreamState = 'idle', parentWsId?: string) {
  const row = { ...snapshot().workstream, wsId, name: wsId, state, ...(parentWsId !== undefined && { parentWsId }) };
  return openTab(row, {
    ...{ client: fake.client, schedule: nothing, drafts: { find: () => '', findFiles: () => [], keep: nothing } },
    asides: { find: () => undefined, keep: () => undefined },
    ...{ isInFront: () => false, onRetitled: nothing, onWatch: nothing, onGone: nothing },
  });
}

const storage = (stored = new Map<string, string>()) => ({
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => void stored.set(key, value),
});

test('the list has sections, and the workstreams of a coordinator stay below it', () => {
  const tabs = [
    tab('idle'),
    tab('asks', 'attention'),
    tab('works', 'running'),
    tab('coordinator'),
    tab('child', 'thinking', 'coordinator'),
    tab('favourite'),
    tab('failed', 'error'),
  ];
  const listed = arrangeTabs(tabs, { folds: new Map(), front: undefined });
  assert.deepEqual(
    toSections(listed, new Set(['favourite'])).map(({ name, rows }) => [name, ...rows.map((row) => row.tab.wsId)]),
    [
      ['pinned', 'favourite'],
      ['attention', 'asks'],
      ['running', 'works', 'coordinator', 'child'],
      ['open', 'idle', 'failed'],
    ],
  );
  const narrowed = (text: string, hidden?: string) =>
    narrowSections(toSections(listed, new Set()), text, ({ wsId }) => wsId !== hidden).map(({ name, rows }) => [
      name,
      ...rows.map((row) => row.tab.wsId),
    ]);
  assert.deepEqual(narrowed(' I  D'), [
    ['running', 'coordinator', 'child'],
    ['open', 'idle', 'failed'],
  ]);
  assert.deepEqual(narrowed('', 'asks'), [
    ['running', 'works', 'coordinator', 'child'],
    ['open', 'idle', 'favourite', 'failed'],
  ]);
});

test('pins survive a reload, and a damaged or forbidden storage has none', () => {
  const memory = storage();
  const pins = new Pins(memory);
  pins.toggle('a');
  pins.toggle('b');
  pins.toggle('a');
  assert.deepEqual([...new Pins(memory).ids.value], ['b']);
  assert.deepEqual([...new Pins(storage(new Map([['headgate.pins', '{']]))).ids.value], []);
  const refused = () => {
    throw new Error('denied');
  };
  const without = new Pins({ getItem: refused, setItem: refused });
  without.toggle('a');
  assert.deepEqual([...without.ids.value], ['a']);
});

test('pins of two tabs are kept together, also if the storage is full', () => {
  let isFull = false;
  const stored = storage();
  const memory = {
    getItem: stored.getItem,
    setItem(key: string, value: string) {
      if (isFull) throw new Error('full');
      stored.setItem(key, value);
    },
  };
  const [one, other] = [new Pins(memory), new Pins(memory)];
  const ids = (pins: Pins) => [...pins.ids.value].join('');
  one.toggle('a');
  other.toggle('b');
  assert.deepEqual([ids(one), ids(other), ids(new Pins(memory))], ['a', 'ab', 'ab']);
  one.follow();
  one.toggle('a');
  assert.deepEqual([ids(one), ids(new Pins(memory))], ['b', 'b']);
  isFull = true;
  one.toggle('c');
  one.toggle('d');
  assert.equal(ids(one), 'bcd');
});

test('an age has one number and one letter', () => {
  const hours = (count: number) => toAge(0, count * 3_600_000);
  assert.deepEqual(
    [toAge(0, 59_000), toAge(9, 0), toAge(0, 60_000), hours(1.9), hours(47), hours(24 * 13), hours(24 * 800)],
    ['', '', '1m', '1h', '1d', '1w', '2y'],
  );
});

test('messages are found, the last search counts, and an incomplete index is asked again', async () => {
  const client = createFakeClient();
  const first = Promise.withResolvers<object>();
  const hit = { wsId: 'a', name: 'a', seq: 3, role: 'user', createdMs: 1, excerpt: 'an old gate' };
  const replies: unknown[] = [
    first.promise,
    { messages: [], isIncomplete: true },
    { messages: [{ ...hit, excerpt: 'an **old** `gate`' }], isIncomplete: false },
  ];
  client.answer('workstream.find', () => replies.shift());
  const finder = new MessageFinder(client.client);
  const slow = finder.find('ol');
  await finder.find(' old ');
  first.resolve({ messages: [], isIncomplete: false });
  await slow;
  assert.deepEqual([finder.found.value, client.calls.length], [{ words: 'old', messages: [hit] }, 3]);
  client.answer('workstream.find', () => ({ messages: [], isIncomplete: false }));
  await finder.find('old', { modelAlias: 'large' });
  assert.deepEqual(client.calls.at(-1), ['workstream.find', { query: 'old', modelAlias: 'large' }]);
  await finder.find('  ');
  assert.equal(finder.found.value, undefined);
});

test('what is marked in the conversation is the words if they stand together, else the longest of them', () => {
  const marked = ['Harbour server', 'server harbour', 'harb'].map((words) =>
    wordsToMark(words, 'The harbour server is called kestrel.'),
  );
  assert.deepEqual(marked, ['Harbour server', 'harbour', 'harb']);
});

/** Removals whose time the test moves by hand. */
function openRemovals() {
  const client = createFakeClient();
  const hidden = new Set<string>();
  const due: (() => void)[] = [];
  const removals = new Removals({
    client: client.client,
    workstreams: {
      hide: (wsId, isHidden) => void (isHidden ? hidden.add(wsId) : hidden.delete(wsId)),
      refresh: async () => undefined,
    },
    timers: {
      after(_ms, run) {
        due.push(run);
        return () => void due.splice(due.indexOf(run), 1);
      },
    },
  });
  const deleted = () => client.calls.map(([, params]) => params);
  return { ...client, removals, hidden, due, deleted };
}

test('a removed conversation is deleted later, unless the person thinks again', async () => {
  const { answer, removals, hidden, due, deleted } = openRemovals();
  answer('sessions.delete', () => ({}));
  removals.remove(tab('a'));
  assert.deepEqual([[...hidden], removals.last.value, due.length], [['a'], { name: 'a' }, 1]);
  removals.undo();
  assert.deepEqual([[...hidden], removals.last.value, due.length], [[], undefined, 0]);
  removals.remove(tab('b'));
  removals.remove(tab('c'));
  assert.deepEqual(deleted(), [{ key: 'b', deleteTranscript: true }]);
  due[0]?.();
  await new Promise(setImmediate);
  assert.deepEqual(deleted().slice(1), [{ key: 'c', deleteTranscript: true }]);
  assert.deepEqual([[...hidden], removals.last.value], [[], undefined]);
});

test('a conversation that cannot be deleted is back in the list, with the reason', async () => {
  const { answer, removals, hidden, due } = openRemovals();
  answer('sessions.delete', () => {
    throw new Error('not allowed');
  });
  removals.remove(tab('a'));
  due[0]?.();
  await new Promise(setImmediate);
  assert.deepEqual([[...hidden], removals.last.value], [[], { name: 'a', problem: 'not allowed' }]);
});
