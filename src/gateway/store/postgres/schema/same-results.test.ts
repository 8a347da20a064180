import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import { needs } from '../../../../testing/needs.ts';
import { sharedPostgres } from '../../../../testing/postgres-server.ts';
import { someMachine } from '../../../../testing/some-machine.ts';
import { recordingLog, tempStore } from '../../../../testing/temp-store.ts';
import { once } from '../../../../timing/once.ts';
import { toIndexed, toWordQuery } from '../../../memories/memory-words.ts';
import type { Store } from '../../store.ts';
import { openPostgresStore } from '../postgres-store.ts';

const installed = await needs('postgresql');

const asText = (text: string): RawBuilder<string> => sql`cast(${text} as text)`;

/** The same empty tables in both databases. */
const bothStores = once(async () => {
  const url = await (await sharedPostgres()).createDatabase();
  return [
    await tempStore(),
    await openPostgresStore({ url, machine: someMachine(), clock: fakeClock(1_000), log: recordingLog() }),
  ] as const;
});

after(async () => {
  if ('skip' in installed) return;
  for (const store of await bothStores()) await store.close();
});

/** The result of a query in each database. */
const inBoth = async <T>(query: (store: Store) => Promise<T>): Promise<[T, T]> => {
  const [sqlite, postgres] = await bothStores();
  return [await query(sqlite), await query(postgres)];
};

const resultOf =
  (expression: RawBuilder<unknown>) =>
  async ({ db }: Pick<Store, 'db'>) =>
    (await sql<{ value: unknown }>`select ${expression} as value`.execute(db)).rows[0]?.value;

const DOCUMENTS = [
  '{"role":"user","a":{"b":"x","c":[1]},"n":12,"r":1.5,"t":true,"f":false,"z":null,"e":"","nul":"a\\u0000b"}',
  '{"role": "a \\"quoted\\" ü😀\\ud83d", "a": {"b": null}}',
  '{}',
  '[]',
  '{"role":"\\\\u0041 \\u0000 \\ud83d\\ude00 \\udE00 \\ud83d \ufdd0 \ufdd1u0041 \\ufdd0 \\\\","x\\u0000":"true"}',
];
const PATHS = ['$.role', '$.a', '$.a.b', '$.n', '$.r', '$.t', '$.z', '$.e', '$.none', '$.a.none.deep'];

test('a text is valid JSON in both databases', installed, async () => {
  const others = ['', 'x', '{"a":1', '{"a":01}', 'null', '"x"', `${'['.repeat(500)}${']'.repeat(500)}`];
  for (const text of [...DOCUMENTS, ...others]) {
    const [sqlite, postgres] = await inBoth(resultOf(sql`case when json_valid(${asText(text)}) then 1 else 0 end`));
    assert.equal(postgres, sqlite, `json_valid of ${text}`);
  }
});

/** PostgreSQL stores U+FFFD for what its texts cannot contain, and SQLite returns several of them for half a pair. */
const storable = (value: unknown): string => String(value).replaceAll(/[\0\uFFFD]+/g, '\uFFFD');

test('the members of a document have the same types and texts in both databases', installed, async () => {
  for (const [text, path] of DOCUMENTS.flatMap((document) => PATHS.map((each) => [document, each] as const))) {
    const [kind, alsoKind] = await inBoth(resultOf(sql`json_type(${asText(text)}, ${asText(path)})`));
    assert.equal(alsoKind, kind, `json_type of ${path} in ${text}`);
    if (kind !== 'text' && kind !== null) continue; // statements compare only texts
    const [found, alsoFound] = await inBoth(resultOf(sql`json_extract(${asText(text)}, ${asText(path)})`));
    assert.equal(storable(alsoFound), storable(found), `json_extract of ${path} in ${text}`);
  }
});

test('a member is set in both databases, and all others stay as they are', installed, async () => {
  const values = [asText('né"w'), sql`cast(7 as bigint)`, sql`json(${'{"a":[1,null,"\\u0000\\ud83d"]}'})`];
  const changes = ['$.role', '$.none'].flatMap((path) => values.map((value) => ({ path, value })));
  for (const text of DOCUMENTS.filter((document) => document !== '[]')) {
    for (const { path, value } of changes) {
      const set = sql`json_set(${asText(text)}, ${asText(path)}, ${value})`;
      const [changed, alsoChanged] = await inBoth(resultOf(set));
      assert.deepEqual(JSON.parse(String(alsoChanged)), JSON.parse(String(changed)), `json_set in ${text}`);
    }
  }
});

test('lists, places in texts and the greatest of two numbers are the same in both databases', installed, async () => {
  const list = JSON.stringify(['a"b', 'ü\ud83d\u0000', '\\u0041']);
  for (const place of [0, 1, 2]) {
    const element = sql`(select value from json_each(${asText(list)}) limit 1 offset ${place})`;
    const [sqlite, postgres] = await inBoth(resultOf(element));
    assert.equal(storable(postgres), storable(sqlite));
  }
  const largest = sql`(select max(cast(value as bigint)) from json_each(${asText('[3,9,4]')}))`;
  assert.deepEqual(await inBoth(resultOf(largest)), [9, 9]);
  assert.deepEqual(await inBoth(resultOf(sql`max(cast(3 as bigint), cast(5 as bigint))`)), [5, 5]);
  assert.deepEqual(await inBoth(resultOf(sql`instr(${asText('aüb')}, ${asText('b')})`)), [3, 3]);
});

const TEXTS = [
  'The quick brown fox; see https://example.org/a-b?c=1.5 and mail fox_1@example.org',
  'Crème brûlée, naïve façade, ÅNGSTRÖM, straße, İstanbul, ΟΔΥΣΣΕΎΣ',
  '深色のテーマ ガイド 한국어 ภาษาไทย done✅ e-mail 3.14 v2 x² don’t',
  'foo_bar camelCase 1e5 -5 +7 #tag @name $10 50% a/b c\\d e|f (g) [h] {i} <j> "k" \'l\'',
];
const QUERIES = [
  ...['quick fox', 'QUI', 'example', 'example.org', 'org mail', 'a-b', 'b-a', '1.5', '5', 'fox_1', 'xof'],
  ...['creme', 'brul', 'NAIVE facade', 'angstrom', 'strasse', 'straße', 'istanbul', 'οδυσσευσ'],
  ...[
    '深色',
    '色深',
    'テーマ',
    'ガイド',
    '한국어',
    '한국',
    'ภาษา',
    '✅',
    'mail',
    '3.14',
    'v2',
    'x²',
    'don',
    "don't",
    'don’t',
  ],
  ...[
    'foo',
    'bar',
    'foo_bar',
    'camel',
    'case',
    '1e5',
    '-5',
    '7',
    'tag',
    '#tag',
    '10',
    'a/b',
    'd',
    'g',
    'k',
    '"k"',
    '%',
  ],
];

test('the indexes of words find the same texts in both databases', installed, async () => {
  for (const store of await bothStores()) {
    const rows = TEXTS.map((text, index) => ({
      sql: 'insert into message_words (rowid, text, taint) values (?, ?, ?)',
      parameters: [index + 1, toIndexed(text), ''],
    }));
    await store.commit({ statements: rows });
  }
  const index = { table: 'message_words', as: 'w' } as const;
  const different: unknown[] = [];
  for (const query of QUERIES) {
    const words = toWordQuery(query);
    if (words.kind !== 'words') continue;
    const find = async (store: Store) => {
      const found = sql<{ rowid: number }>`select w.rowid from message_words as w
        where ${store.words.matches(index, words.match)} order by w.rowid`;
      return (await found.execute(store.db)).rows.map(({ rowid }) => rowid);
    };
    const [sqlite, postgres] = await inBoth(find);
    if (sqlite.join() !== postgres.join()) different.push({ query, sqlite, postgres });
  }
  assert.deepEqual(different, []);
});
