import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import { tempStore } from '../../../testing/temp-store.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import { build, statementOf } from '../statements.ts';
import { unpack } from './packed-body.ts';

const content = (text: string): StreamEvent => ({ type: 'content', text });
const info: StreamEvent = { type: 'info', message: 'between' };

test('pieces of an answer share a row while it fits into its page, each with its own offset', async () => {
  await using store = await tempStore();
  const pieces = Array.from({ length: 120 }, (_, n) => content(`${n} `));
  for (const piece of pieces) await add(store, piece);
  const rows = await rowsOf(store);
  assert.ok(rows.length > 2 && rows.length < 8, `${rows.length} rows`);
  assert.ok(
    rows.every(({ body }) => body.length <= 256),
    'no row needs a second page',
  );
  assert.equal(rows.flatMap(({ body }) => unpack(body)).length, 120);
  assert.deepEqual(
    (await store.readEvents('a', 0, 200)).map(({ offset, json }) => [offset, JSON.parse(json)]),
    pieces.map((piece, index) => [index + 1, piece]),
  );
});

test('every other event begins a new row', async () => {
  await using store = await tempStore();
  for (const event of [content('1'), content('2'), info, content('4'), content('5')]) await add(store, event);
  assert.deepEqual(
    (await rowsOf(store)).map(({ offset, body }) => [offset, unpack(body).length]),
    [
      [2, 2],
      [3, 1],
      [5, 2],
    ],
  );
});

test('a row that was changed or removed meanwhile does not grow', async () => {
  for (const change of [
    build.updateTable('events').set({ checksum: 1 }).where('offset', '=', 2),
    build.deleteFrom('events').where('offset', '=', 2),
  ]) {
    await using store = await tempStore();
    for (const text of ['1', '2']) await add(store, content(text));
    await store.commit({ statements: [statementOf(change, 1)] });
    await add(store, content('3'));
    assert.deepEqual((await rowsOf(store)).at(-1), { offset: 3, body: JSON.stringify(content('3')) });
  }
});

const add = (store: SqliteStore, event: StreamEvent): Promise<number> =>
  store.commit({ events: { wsId: 'a', events: [event] } });

async function rowsOf(store: SqliteStore): Promise<{ offset: number; body: string }[]> {
  const rows = await store.db.selectFrom('events').selectAll().orderBy('offset').execute();
  return rows.map(({ offset, body_json }) => ({ offset, body: String(body_json) }));
}
