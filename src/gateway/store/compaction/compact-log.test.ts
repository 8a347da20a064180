import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import { tempDir, tempStore } from '../../../testing/temp-store.ts';
import { OF_EVERYONE } from '../../sharing/perception.ts';
import { insertWorkstream, toWorkstreamRow } from '../../workstreams/workstream-rows.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import type { StoredEvent } from '../store.ts';
import { compactStep } from './compact-log.ts';
import { isPacked } from './packed-body.ts';
import { everyRest, everyRestOf } from './rests-fixture.ts';

const content = (text: string): StreamEvent => ({ type: 'content', text });
const reasoning = (text: string): StreamEvent => ({ type: 'reasoning', text });
const chunk = (call_id: string, text: string): StreamEvent => ({ type: 'tool_output_chunk', call_id, chunk: text });
const info = (message: string): StreamEvent => ({ type: 'info', message });
/** So long that a row holds only one. */
const long = (text: string): string => text.padEnd(120, '.');
const TURN: readonly StreamEvent[] = [
  info('1'),
  reasoning(long('2')),
  reasoning(long('3')),
  content(long('4')),
  content(long('5')),
  content(long('6')),
  info('7'),
  chunk('a', long('8')),
  chunk('b', long('9')),
  info('10'),
];

test('what follows each cursor of 1 000 logs is what was written, before and after compaction, in pages of any size', async () => {
  await using store = await tempStore();
  let logs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyEvent(), { minLength: 1, maxLength: 24 }), fc.nat(24), async (events, running) => {
      logs += 1;
      const wsId = `log ${logs}`;
      await (logs % 2 === 0 ? append : writeOneByOne)(store, wsId, events);
      const written = events.map((event, index) => stored(index + 1, event));
      const rests = everyRestOf(written);
      assert.deepEqual(await everyRest(store, wsId), rests);
      await compact(store, wsId, Math.max(1, events.length - running));
      assert.deepEqual(await everyRest(store, wsId), rests);
      await append(store, wsId, [content('later')]);
      assert.deepEqual(
        await everyRest(store, wsId),
        everyRestOf([...written, stored(events.length + 1, content('later'))]),
      );
    }),
    { numRuns: 1_000 },
  );
  assert.deepEqual(store.health(), { status: 'ok' });
});

test('the deltas of a message become one row, and everything else stays', async () => {
  await using store = await tempStore();
  await append(store, 'a', TURN);
  await compact(store, 'a', 10);
  assert.deepEqual(await rowsOf(store), ['1', '6 packed', '7', '9 packed', '10']);
});

test('an event of a packed row is found from the end of the log', async () => {
  await using store = await tempStore();
  await append(store, 'a', TURN);
  await compact(store, 'a', 10);
  const found = ['content', 'reasoning', 'tool_output_chunk', 'info', 'status'] as const;
  assert.deepEqual(await Promise.all(found.map((type) => store.findNewestEvent('a', type))), [6, 3, 9, 10, 0]);
});

test('an answer of more pieces than a step becomes few rows, and a text that goes on is not torn', async () => {
  await using store = await tempStore();
  const before = Array.from({ length: 300 }, (_, n) => info(`${n}`));
  const answer = Array.from({ length: 1_300 }, (_, n) => content(`piece ${n}`));
  await writeOneByOne(store, 'a', [...before, ...answer, info('end')]);
  const all = await store.readEvents('a', 0, 2_000);
  await compact(store, 'a', 1_601);
  assert.deepEqual((await rowsOf(store)).slice(300), ['812 packed', '1324 packed', '1600 packed', '1601']);
  assert.deepEqual(await store.readEvents('a', 0, 2_000), all);
});

test('a step that was already taken by another is refused, and nothing is packed twice', async () => {
  await using store = await tempStore();
  await append(store, 'a', TURN);
  const all = await store.readEvents('a', 0, 20);
  const step = { wsId: 'a', after: 0, through: 10 };
  const [one, other] = await Promise.allSettled([compactStep(store, step), compactStep(store, step)]);
  assert.deepEqual([one.status, other.status], ['fulfilled', 'rejected']);
  await compact(store, 'a', 10);
  assert.deepEqual(await store.readEvents('a', 0, 20), all);
});

test('the beginning of a log can be removed within a packed row', async () => {
  await using store = await tempStore();
  await append(store, 'a', TURN);
  await compact(store, 'a', 10);
  await store.dropPrefix('a', 4);
  assert.deepEqual(
    [store.bounds('a'), (await store.readEvents('a', 0, 2)).map(({ offset }) => offset)],
    [{ first: 5, last: 10 }, [5, 6]],
  );
});

/** The packed row has offset 6 and holds 2 to 6. */
test('damage to a packed row is shown in place of its events, and the rest of the log stays readable', async (t) => {
  const before = ['1'];
  const after = ['7', '8', '9', '10'];
  for (const change of [
    `update events set body_json = replace(body_json, '.6', '.7') where "offset" = 6`,
    `update events set body_json = replace(body_json, '4D', '4E') where "offset" = 6`,
    'update events set checksum = checksum + 1 where "offset" = 6',
    'delete from events where "offset" = 6',
  ]) {
    const store = await compactedThen(t, change);
    assert.deepEqual(await offsetsOf(store, 0), [...before, '6 !', ...after], change);
    assert.deepEqual(await offsetsOf(store, 4), ['6 !', ...after], change);
    assert.equal(store.health().status, 'degraded');
  }
});

test('a log whose packed end is damaged does not use its offsets again', async (t) => {
  const store = await compactedThen(t, 'delete from events where "offset" >= 6');
  assert.equal(await store.commit({ events: { wsId: 'a', events: [info('11')] } }), 11);
  assert.deepEqual(await offsetsOf(store, 0), ['1', '10 !', '11']);
});

test('a log whose unpacked end is damaged after a kill does not use its offsets again', async (t) => {
  const pieces = Array.from({ length: 5 }, () => content('piece '));
  const end = 'update events set created_ms = 2 where "offset" = 15';
  const store = await storeAfter(
    t,
    async (whole) => void (await append(whole, 'a', pieces)),
    `${end}; delete from log_heads`,
  );
  assert.deepEqual(await rowsOf(store), ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '15 packed']);
  assert.equal(await store.commit({ events: { wsId: 'a', events: [info('16')] } }), 16);
  assert.deepEqual(await offsetsOf(store, 9), ['10', '15 !', '16']);
});

test('damaged deltas are left as they are', async (t) => {
  const store = await storeAfter(t, async () => undefined, 'update events set created_ms = 2 where "offset" = 4');
  await compact(store, 'a', 10);
  assert.deepEqual(await offsetsOf(store, 0), ['1', '2', '3', '4 !', '5', '6', '7', '8', '9', '10']);
  assert.deepEqual(await rowsOf(store), ['1', '3 packed', '4', '6 packed', '7', '9 packed', '10']);
});

function anyEvent(): fc.Arbitrary<StreamEvent> {
  const text = fc.oneof(
    fc.string({ maxLength: 5 }),
    fc.string({ unit: 'binary', maxLength: 3 }),
    fc.constant('\ud83d'),
  );
  return fc.oneof(
    { weight: 6, arbitrary: text.map(content) },
    { weight: 3, arbitrary: text.map(reasoning) },
    { weight: 3, arbitrary: fc.tuple(fc.constantFrom('a', 'b'), text).map(([id, piece]) => chunk(id, piece)) },
    { weight: 2, arbitrary: text.map(info) },
  );
}

/** Deltas of a unit with statements are not merged, but may share a row. */
const append = (store: SqliteStore, wsId: string, events: readonly StreamEvent[]): Promise<number> =>
  store.commit({
    statements: [{ sql: "delete from meta where key = 'nothing'", parameters: [] }],
    events: { wsId, events },
  });

/** One row for each event, as earlier versions stored them. */
const writeOneByOne = (store: SqliteStore, wsId: string, events: readonly StreamEvent[]): Promise<number> =>
  store.commit({
    statements: events.map((event, index) => ({
      sql: 'insert into events values (?1, ?2, ?3, 1, event_checksum(?1, ?2, ?3, 1))',
      parameters: [wsId, index + 1, JSON.stringify(event)],
    })),
  });

async function compact(store: SqliteStore, wsId: string, through: number): Promise<void> {
  for (let after = 0; after < through; ) after = await compactStep(store, { wsId, after, through });
}

const stored = (offset: number, event: StreamEvent): StoredEvent => ({ offset, json: JSON.stringify(event) });

function formOf(body: string | Uint8Array): string {
  if (typeof body !== 'string') return ' block';
  return isPacked(body) ? ' packed' : '';
}

async function rowsOf(store: SqliteStore): Promise<string[]> {
  const rows = await store.db.selectFrom('events').selectAll().where('ws_id', '=', 'a').orderBy('offset').execute();
  return rows.map(({ offset, body_json }) => `${offset}${formOf(body_json)}`);
}

async function offsetsOf(store: SqliteStore, after: number): Promise<string[]> {
  const events = await store.readEvents('a', after, 100);
  return events.map(({ offset, isDamaged }) => `${offset}${isDamaged ? ' !' : ''}`);
}

const compactedThen = (t: TestContext, sql: string) => storeAfter(t, (store) => compact(store, 'a', 10), sql);

/** A log, changed by `work`, then by `sql` outside the store, and opened again. */
async function storeAfter(
  t: TestContext,
  work: (store: SqliteStore) => Promise<void>,
  sql: string,
): Promise<SqliteStore> {
  const dir = tempDir();
  const path = join(dir.path, 'headgate.db');
  const whole = await tempStore({ path });
  await whole.commit({
    statements: [insertWorkstream(toWorkstreamRow({ owned: OF_EVERYONE, wsId: 'a', workdir: '/', nowMs: 1 }))],
  });
  await append(whole, 'a', TURN);
  await work(whole);
  await whole.close();
  using database = new DatabaseSync(path);
  database.exec(sql);
  const store = await tempStore({ path });
  t.after(async () => {
    await store.close();
    dir[Symbol.dispose]();
  });
  return store;
}
