import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '@preact/signals';
import { isSameSearch, isSearch, SavedFilters } from './saved-filters.ts';

function browser(entries: Record<string, string> = {}) {
  const stored = new Map(Object.entries(entries));
  const memory = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  };
  const openTab = (userId: string | undefined = '') => new SavedFilters({ memory, userId: signal(userId) });
  return { stored, memory, openTab };
}

const names = ({ current }: SavedFilters) =>
  current.value.kind === 'list' ? current.value.filters.map(({ name }) => name) : current.value.kind;

const WORK = { filter: { workdir: '/work', used: 'week' }, words: ' heron ' } as const;

test('filters are saved under names, renamed and removed, and two tabs change the same list', () => {
  const { openTab } = browser();
  const [one, two] = [openTab(), openTab()];
  assert.equal(one.save(' Work ', WORK), undefined);
  assert.equal(two.save('All of Ada', { filter: { userId: 'u1' }, words: '' }), undefined);
  one.follow();
  assert.deepEqual(one.current.value, {
    kind: 'list',
    filters: [
      { name: 'Work', filter: { workdir: '/work', used: 'week' }, words: 'heron' },
      { name: 'All of Ada', filter: { userId: 'u1' }, words: '' },
    ],
  });
  assert.equal(one.rename('Work', 'work'), undefined, 'its own name is not taken');
  assert.equal(two.rename('Work', 'Other'), 'This filter was removed or renamed in another tab.');
  assert.equal(two.rename('work', 'all of ada'), 'There is a filter “all of ada” already.');
  assert.equal(two.remove('work'), undefined);
  assert.equal(one.remove('work'), undefined);
  assert.deepEqual([names(one), names(two)], [['All of Ada'], ['All of Ada']]);
});

test('a name has a length and is there once, and the number of filters is limited', () => {
  const { openTab } = browser();
  const filters = openTab();
  assert.equal(filters.save('  ', WORK), 'Give it a name.');
  assert.equal(filters.save('x'.repeat(61), WORK), 'A name has at most 60 characters.');
  assert.equal(
    filters.save('long', { filter: {}, words: 'x'.repeat(501) }),
    'A filter keeps at most 500 characters of a search.',
  );
  for (let count = 0; count < 30; count += 1) assert.equal(filters.save(`f${count}`, WORK), undefined);
  assert.equal(filters.save('F1', WORK), 'There is a filter “F1” already.');
  assert.equal(filters.save('one more', WORK), 'There are 30 saved filters already. Remove one first.');
});

test('each person of a browser has their own, and before it is known who that is, there are none', () => {
  const { openTab } = browser();
  assert.equal(openTab('u1').save('mine', WORK), undefined);
  assert.deepEqual(
    [
      names(openTab('u1')),
      names(openTab('u2')),
      names(openTab()),
      names(new SavedFilters({ memory: browser().memory, userId: signal(undefined) })),
    ],
    [['mine'], [], [], []],
  );
});

test('what cannot be read is not overwritten until the person begins a new list, and is kept then, too', () => {
  const key = 'headgate.saved-filters';
  for (const damaged of ['{', '{"a":1}', 'null']) {
    const { stored, openTab } = browser({ [key]: damaged });
    const filters = openTab();
    assert.equal(names(filters), 'unreadable');
    assert.equal(filters.save('new', WORK), 'The saved filters of this browser cannot be read.');
    assert.equal(stored.get(key), damaged);
    assert.equal(filters.startAnew(), undefined);
    assert.deepEqual([names(filters), stored.get(`${key}.unreadable`)], [[], damaged]);
  }
});

test('entries and fields of a later version stay as they are', () => {
  const key = 'headgate.saved-filters';
  const named = { name: 'a', modelAlias: 'm', colour: 'red', used: 'toString' };
  const later = [named, { kind: 'other' }, 7];
  const { stored, openTab } = browser({ [key]: JSON.stringify(later) });
  const filters = openTab();
  assert.deepEqual(filters.current.value, {
    kind: 'list',
    filters: [{ name: 'a', filter: { modelAlias: 'm' }, words: '' }],
  });
  filters.rename('a', 'b');
  filters.save('c', { filter: {}, words: 'w' });
  assert.deepEqual(JSON.parse(stored.get(key) ?? ''), [
    { ...named, name: 'b' },
    later[1],
    7,
    { name: 'c', words: 'w' },
  ]);
});

test('a browser that stores nothing says so', () => {
  const refused = () => {
    throw new Error('denied');
  };
  const filters = new SavedFilters({ memory: { getItem: () => null, setItem: refused }, userId: signal('') });
  assert.equal(filters.save('a', WORK), 'The browser did not store it: its storage is full or switched off.');
  assert.deepEqual(names(filters), []);
});

test('searches are compared by what they show', () => {
  const same = { filter: { used: 'week', workdir: '/work', modelAlias: undefined }, words: 'heron' } as const;
  assert.deepEqual([isSameSearch(WORK, same), isSameSearch(WORK, { ...same, words: '' })], [true, false]);
  assert.deepEqual(
    [isSearch({ filter: { userId: undefined }, words: ' ' }), isSearch({ filter: { userId: '' }, words: '' })],
    [false, true],
  );
});
