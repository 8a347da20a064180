import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { sqliteTest } from '../../testing/store-engine.ts';
import { recordingLog, tempStore } from '../../testing/temp-store.ts';
import { ANYONE, DAEMON, OF_EVERYONE, type Viewer } from '../sharing/perception.ts';
import type { SqliteStore } from '../store/sqlite-store.ts';
import { insertWorkstream, toWorkstreamRow } from '../workstreams/workstream-rows.ts';
import { createMemories, type Memories, type NewMemory } from './memories.ts';
import { findMemories, insertMemory } from './memory-rows.ts';

const EVERYONE = { viewer: DAEMON, administers: true };
const BY_DAEMON = { viewer: DAEMON, also: () => [], origin: { by: 'person' as const, isTrusted: true } };
const PROJECT = { type: 'project', isDefault: true } as const;
const FEEDBACK = { type: 'feedback', isDefault: false } as const;

async function setUp(options: { mostMemories?: number; mostPageBytes?: number } = {}) {
  const clock = fakeClock(1_000);
  const store = await tempStore({ clock });
  const memories = createMemories({ store, clock, ids: randomIds, log: recordingLog(), ...options });
  return { clock, store, memories, [Symbol.asyncDispose]: () => store.close() };
}

const newMemory = (name: string, fields: Partial<NewMemory> = {}): NewMemory => ({
  ...{ name, content: `about ${name}`, description: '', type: PROJECT, scope: 'global', scopeId: '' },
  ...fields,
});
const save = (memories: Memories, name: string, fields?: Partial<NewMemory>) =>
  memories.save(newMemory(name, fields), BY_DAEMON);
const U1: Viewer = { userId: 'u1', permissions: ANYONE.permissions };
const GLOBAL = { scope: 'global', scopeId: '' } as const;

const namesOf = ({ rows }: { rows: { name: string }[] }) => rows.map(({ name }) => name);
const search = async (memories: Memories, query: string, limit = 20) =>
  namesOf(await memories.search(query, EVERYONE, { limit, counts: false }));

/** The numbers of the memories and of their rows in the index of words. */
async function numbersIn({ db }: SqliteStore) {
  const numbers = async (query: ReturnType<typeof sql<{ n: number }>>) =>
    (await query.execute(db)).rows.map(({ n }) => n);
  return {
    memories: await numbers(sql<{ n: number }>`select seq as n from memories order by seq`),
    words: await numbers(sql<{ n: number }>`select rowid as n from memory_words order by rowid`),
  };
}

test('saving again replaces the memory, and keeps its id, its creation and its uses', async () => {
  await using world = await setUp();
  const { memories, clock } = world;
  const first = await save(memories, 'tabs', { description: 'indent', type: FEEDBACK });
  await memories.read('tabs', GLOBAL, DAEMON);
  await clock.advance(500);
  const second = await save(memories, 'tabs', { content: 'spaces' });
  const stored = await memories.get(first.row.memory_id, DAEMON);
  assert.deepEqual(
    [first.created, second.created, stored],
    [
      true,
      false,
      {
        ...{ seq: 2, memory_id: first.row.memory_id, name: 'tabs', scope: 'global', scope_id: '', content: 'spaces' },
        ...{ description: 'indent', type: 'feedback', created_ms: 1_000, updated_ms: 1_500 },
        ...{ last_accessed_ms: 1_000, access_count: 1, origin_json: '{"by":"person","isTrusted":true}' },
      },
    ],
  );
});

test('a new description and a type other than the default replace the stored ones', async () => {
  await using world = await setUp();
  await save(world.memories, 'tabs', { description: 'indent' });
  const { row } = await save(world.memories, 'tabs', { description: 'indentation', type: FEEDBACK });
  assert.deepEqual([row.description, row.type], ['indentation', 'feedback']);
});

test('the index of words has one row for each memory, after saves at the same time and deletions, too', async () => {
  await using world = await setUp();
  const { memories, store } = world;
  await Promise.all(['a', 'b', 'a', 'c', 'b', 'a'].map((name) => save(memories, name)));
  assert.deepEqual(await numbersIn(store), { memories: [4, 5, 6], words: [4, 5, 6] });
  for (const name of ['a', 'b', 'c']) await memories.remove(name, GLOBAL, BY_DAEMON);
  const left = await sql<{ n: number }>`select count(*) as n from memory_words`.execute(store.db);
  assert.deepEqual([await numbersIn(store), left.rows], [{ memories: [], words: [] }, [{ n: 0 }]]);
});

sqliteTest('a deleted memory leaves none of its words in the index', async () => {
  await using world = await setUp();
  const { memories, store } = world;
  await save(memories, 'other', { content: 'kept' });
  const { row } = await save(memories, 'pin', { content: 'xylophone' });
  const blocks = async () =>
    (await sql<{ block: Uint8Array }>`select block from memory_words_data`.execute(store.db)).rows
      .map(({ block }) => Buffer.from(block).toString('latin1'))
      .join();
  assert.match(await blocks(), /xylophone/);
  await memories.removeById(row.memory_id, BY_DAEMON);
  assert.doesNotMatch(await blocks(), /xylophone/);
});

test('a replaced text is no longer found', async () => {
  await using world = await setUp();
  await save(world.memories, 'indent', { content: 'tabs' });
  await save(world.memories, 'indent', { content: 'spaces' });
  assert.deepEqual([await search(world.memories, 'tabs'), await search(world.memories, 'spaces')], [[], ['indent']]);
});

test('a search finds memories with all words, in any of their texts, the last saved first', async () => {
  await using world = await setUp();
  const { memories } = world;
  await save(memories, 'dark_mode', { content: 'Ada prefers it' });
  await save(memories, 'editor', { description: 'dark', content: 'the mode of Ada' });
  await save(memories, 'light', { content: 'Ada likes light mode' });
  await save(memories, 'dark_mode', { content: 'Ada prefers it at night' });
  assert.deepEqual(
    [await search(memories, 'ada DARK mode'), await search(memories, 'mode', 2), await search(memories, 'pref nig')],
    [['dark_mode', 'editor'], ['dark_mode', 'light'], ['dark_mode']],
  );
});

test('a query is only text, however it looks', async () => {
  await using world = await setUp();
  const { memories } = world;
  await save(memories, 'odd', { content: 'a "quoted" NEAR c++ 🚀 naïve 深色模式 สวัสดี x-y' });
  await save(memories, 'plain', { content: 'quoted' });
  const queries = {
    '"quoted"': ['plain', 'odd'],
    '"': [],
    'quoted"': ['plain', 'odd'],
    'quoted*': ['plain', 'odd'],
    '*': [],
    NEAR: ['odd'],
    'NEAR(quoted plain)': [],
    'quoted NOT plain': [],
    'quoted OR zebra': [],
    'name:plain': [],
    '-quoted': ['plain', 'odd'],
    'x-y': ['odd'],
    '^quoted': ['plain', 'odd'],
    '{name content}: quoted': [],
    'c++': ['odd'],
    '🚀': ['odd'],
    '👩‍🚀': [],
    naive: ['odd'],
    色模: ['odd'],
    色深: [],
    สวัสดี: ['odd'],
    สวดี: [],
    '½': [],
    '5 ½ ①': [],
    'quoted\u0000"': ['plain', 'odd'],
    "'; drop table memories; --": [],
  };
  const found = await Promise.all(Object.keys(queries).map(async (query) => [query, await search(memories, query)]));
  assert.deepEqual(Object.fromEntries(found), queries);
});

test('a query of 10 000 characters is a search as any other, up to its number of words', async () => {
  await using world = await setUp();
  const { memories } = world;
  await save(memories, 'long', { content: 'w'.repeat(10_000) });
  assert.deepEqual(
    await Promise.all([
      search(memories, 'w'.repeat(10_000)),
      search(memories, 'v'.repeat(10_000)),
      search(memories, '"'.repeat(10_000)),
      search(memories, 'w '.repeat(5_000)),
    ]),
    [['long'], [], [], []],
  );
  const many = Array.from({ length: 2_000 }, (_, n) => `w${n}`).join(' ');
  await assert.rejects(search(memories, many), {
    code: 'INVALID_REQUEST',
    message: 'query has more than 32 different words',
  });
});

test('a page ends before its texts become too large, but has at least one memory', async () => {
  await using world = await setUp({ mostPageBytes: 250 });
  const { memories } = world;
  for (const name of ['a', 'b', 'c']) await save(memories, name, { content: 'é'.repeat(60) });
  const two = await memories.list(EVERYONE, 100);
  await save(memories, 'd', { content: 'x'.repeat(500) });
  const one = await memories.search('x'.repeat(500), EVERYONE, { limit: 5, counts: false });
  assert.deepEqual([namesOf(two), two.truncated, namesOf(one), one.truncated], [['c', 'b'], true, ['d'], false]);
});

test('there is room for a limited number of memories; replacing one still works', async () => {
  await using world = await setUp({ mostMemories: 2 });
  const { memories } = world;
  await Promise.all(['a', 'b'].map((name) => save(memories, name)));
  await assert.rejects(save(memories, 'c'), {
    code: 'CONFLICT',
    message: 'Memory limit (2) reached; delete memories first',
  });
  assert.equal((await save(memories, 'a')).created, false);
  await memories.remove('b', GLOBAL, BY_DAEMON);
  assert.equal((await save(memories, 'c')).created, true);
});

test('reading and finding a memory are counted, and lists and administrators are not', async () => {
  await using world = await setUp();
  const { memories, clock } = world;
  const { row } = await save(memories, 'tabs');
  await clock.advance(10);
  await memories.read('tabs', GLOBAL, DAEMON);
  await memories.search('tabs', EVERYONE, { limit: 5, counts: true });
  await memories.search('tabs', EVERYONE, { limit: 5, counts: false });
  await memories.list(EVERYONE, 5);
  await save(memories, 'later'); // the uses are stored with a group before this one
  const { access_count, last_accessed_ms } = await memories.get(row.memory_id, DAEMON);
  assert.deepEqual([access_count, last_accessed_ms], [2, 1_010]);
});

test('a use that cannot be counted does not fail the read', async () => {
  const clock = fakeClock(1_000);
  const log = recordingLog();
  await using store = await tempStore({ clock });
  await createMemories({ store, clock, ids: randomIds, log }).save(newMemory('tabs'), BY_DAEMON);
  const commit = () => Promise.reject(new Error('the disk is full'));
  const memories = createMemories({ store: { db: store.db, words: store.words, commit }, clock, ids: randomIds, log });
  assert.equal((await memories.read('tabs', GLOBAL, DAEMON)).content, 'about tabs');
  await new Promise(setImmediate);
  assert.deepEqual(log.lines, [['warn', 'the use of memories could not be counted']]);
});

test('a list leaves out what belongs to another user', async () => {
  await using world = await setUp();
  const { memories } = world;
  await save(memories, 'shared');
  for (const scopeId of ['u1', 'u2']) await save(memories, `of_${scopeId}`, { scope: 'user', scopeId });
  const listed = async (userId?: string) =>
    namesOf(await memories.list({ viewer: userId === undefined ? ANYONE : { ...ANYONE, userId } }, 10));
  assert.deepEqual(
    [await listed('u1'), await listed(), namesOf(await memories.list(EVERYONE, 10))],
    [['of_u1', 'shared'], ['shared'], ['of_u2', 'of_u1', 'shared']],
  );
});

sqliteTest('of 10 000 memories, lists and searches read only what they answer, in the order of an index', async () => {
  await using world = await setUp();
  const { memories, store } = world;
  const workstreams = Array.from({ length: 10 }, (_, n) => ({
    wsId: `w${n}`,
    owned: OF_EVERYONE,
    workdir: '',
    nowMs: 0,
  }));
  await store.commit({ statements: workstreams.map((made) => insertWorkstream(toWorkstreamRow(made))) });
  for (let first = 0; first < 10_000; first += 500)
    await store.commit({ statements: Array.from({ length: 500 }, (_, n) => rowOf(first + n)).flatMap(insertMemory) });
  const options = { words: store.words, limit: 3, from: 0, before: 20_000 };
  const inWorkstream = { scope: 'workstream', scopeId: 'w7', viewer: U1 } as const;
  const plans = await Promise.all(
    [
      findMemories({ viewer: U1 }, { ...options, match: undefined }),
      findMemories(inWorkstream, { ...options, match: undefined }),
      findMemories(inWorkstream, { ...options, match: '"even" *' }),
    ].map(async (query) => planOf(store, query)),
  );
  assert.deepEqual(plans, [
    `SEARCH m USING INTEGER PRIMARY KEY (rowid>? AND rowid<?) > for each > ${PERCEIVED}`,
    `SEARCH m USING INDEX memories_by_scope (scope=? AND scope_id=? AND rowid>? AND rowid<?) > SCALAR SUBQUERY 1 > ${PERCEIVED}`,
    `SCAN w VIRTUAL TABLE INDEX 0:M3>< > SCALAR SUBQUERY 1 > ${PERCEIVED} > SEARCH m USING INTEGER PRIMARY KEY (rowid=?)`,
  ]);
  assert.deepEqual(
    [
      namesOf(await memories.list(inWorkstream, 3)),
      namesOf(await memories.search('even number', inWorkstream, { limit: 2, counts: true })),
      await search(memories, 'number 4242'),
      (await memories.list(EVERYONE, 200)).rows.length,
    ],
    [['n9997', 'n9987', 'n9977'], [], ['n4242'], 200],
  );
});

const PERCEIVED = 'SEARCH workstreams USING INDEX sqlite_autoindex_workstreams_1 (ws_id=?)';

/** Every tenth belongs to the same workstream, so one with an even number never belongs to w7. */
const rowOf = (n: number) => ({
  ...{
    memory_id: `mem_${n}`,
    name: `n${n}`,
    scope: 'workstream' as const,
    scope_id: `w${n % 10}`,
    type: 'project' as const,
  },
  ...{ description: n % 2 === 0 ? 'even' : 'odd', content: `the number ${n}`, created_ms: n, updated_ms: n },
  ...{ last_accessed_ms: null, access_count: 0, origin_json: null },
});

/** How the memories are found: the part of the plan that could become slow. No step may sort them. */
async function planOf(store: SqliteStore, query: ReturnType<typeof findMemories>): Promise<string> {
  const { rows } = await sql<{ detail: string }>`explain query plan ${query}`.execute(store.db);
  const found = rows.map(({ detail }) => detail.replace(/^CORRELATED .*/, 'for each'));
  return found.join(' > ').replace(/INDEX \d+:M/, 'INDEX 0:M');
}
