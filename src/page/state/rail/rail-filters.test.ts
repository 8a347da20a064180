import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkstreamRow } from '../../../../protocol/methods/conversation/listing.ts';
import { snapshot } from '../conversation/conversation-fixture.ts';
import { createFakeClient } from '../fake-client.ts';
import { openTab } from '../tab.ts';
import { type Filter, fits, RailFilters, toChoices, toDay, toNarrowing } from './rail-filters.ts';

const NOW = new Date(2026, 10, 28, 13, 30).getTime();
const nothing = () => undefined;

/** An open workstream, with its log if it has a folder. */
function tab(wsId: string, changed: Partial<WorkstreamRow>, workdir?: string) {
  const fake = createFakeClient();
  const row = { ...snapshot().workstream, wsId, updatedMs: NOW, ...changed };
  const tab = openTab(row, {
    ...{ client: fake.client, schedule: nothing, drafts: { find: () => '', findFiles: () => [], keep: nothing } },
    asides: { find: () => undefined, keep: () => undefined },
    ...{ isInFront: () => false, onRetitled: nothing, onWatch: nothing, onGone: nothing },
  });
  if (workdir !== undefined) fake.deliver(wsId).onSnapshot(snapshot({ workstream: row, workdir }), '');
  return tab;
}

const tabs = [
  tab('notes', { userId: 'u1', updatedMs: toDay(NOW) }, '/srv/notes'),
  tab('large', { modelAlias: 'large', updatedMs: toDay(NOW) - 1 }, '/work'),
  tab('week', { updatedMs: toDay(NOW, 6) }),
  tab('month', { updatedMs: toDay(NOW, 6) - 1 }),
  tab('edge', { updatedMs: toDay(NOW, 29) }),
  tab('old', { updatedMs: toDay(NOW, 29) - 1 }),
];

const shown = (filter: Filter) =>
  tabs
    .filter((each) => fits(each, toNarrowing(filter, NOW)))
    .map(({ wsId }) => wsId)
    .join(' ');

test('filters narrow the open workstreams by folder, model, owner and last use, all at once', () => {
  assert.equal(shown({}), 'notes large week month edge old');
  assert.equal(shown({ workdir: '/srv/notes' }), 'notes');
  assert.equal(shown({ modelAlias: 'large' }), 'large');
  assert.equal(shown({ userId: '' }), 'large week month edge old');
  assert.equal(shown({ used: 'today' }), 'notes');
  assert.equal(shown({ used: 'week' }), 'notes large week');
  assert.equal(shown({ used: 'month' }), 'notes large week month edge');
  assert.equal(shown({ used: 'older' }), 'old');
  assert.equal(shown({ workdir: '/work', used: 'today' }), '');
});

test('days begin at midnight of the browser, whatever the length of the days between', () => {
  const before = new Date(toDay(NOW, 200));
  assert.deepEqual([before.getHours(), before.getMinutes(), before.toDateString()], [0, 0, 'Tue May 12 2026']);
});

test('there is to choose what the open and the saved workstreams have, and what is chosen', () => {
  const saved = [
    { workdir: '/srv/notes', modelAlias: 'small', userId: 'u2' },
    { modelAlias: 'demo', userId: '' }, // of an earlier version
  ];
  assert.deepEqual(toChoices(tabs, saved, { workdir: '/gone' }), {
    folders: ['/gone', '/srv/notes', '/work'],
    models: ['demo', 'large', 'small'],
    owners: ['', 'u1', 'u2'],
  });
});

test('filters survive a reload; a damaged or forbidden storage has none', () => {
  const stored = new Map<string, string>();
  const memory = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  };
  const filters = new RailFilters(memory);
  filters.choose({ workdir: '/work', used: 'week' });
  filters.choose({ userId: '', used: undefined });
  assert.deepEqual(new RailFilters(memory).chosen.value, { workdir: '/work', userId: '' });
  filters.clear();
  assert.deepEqual(new RailFilters(memory).chosen.value, {});
  for (const damaged of ['{', '[]', 'null', '{"used":"toString","workdir":1}']) {
    stored.set('headgate.filters', damaged);
    assert.deepEqual(new RailFilters(memory).chosen.value, {}, damaged);
  }
  const refused = () => {
    throw new Error('denied');
  };
  const without = new RailFilters({ getItem: refused, setItem: refused });
  without.choose({ modelAlias: 'large' });
  assert.deepEqual(without.chosen.value, { modelAlias: 'large' });
});
