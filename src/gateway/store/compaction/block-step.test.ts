import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import { tempDir, tempStore } from '../../../testing/temp-store.ts';
import { insertMessage } from '../../runs/run-rows.ts';
import { OF_EVERYONE } from '../../sharing/perception.ts';
import { insertWorkstream, toWorkstreamRow } from '../../workstreams/workstream-rows.ts';
import { markDeleted, removeRows } from '../deletion.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import type { StoredEvent } from '../store.ts';
import { blockStep } from './block-step.ts';
import { compactStep } from './compact-log.ts';
import { everyRest, everyRestOf } from './rests-fixture.ts';

interface Turn {
  question: string;
  /** The answer, as it was streamed. */
  pieces: readonly string[];
  /** Whether the answer is stored as a message. */
  isStored?: boolean;
}

test('what follows each cursor of 100 logs is what was written, while their blocks grow run by run', async () => {
  await using store = await tempStore();
  let logs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyTurn(), { minLength: 1, maxLength: 4 }), fc.nat(2), async (turns, behind) => {
      logs += 1;
      const wsId = await create(store, `log ${logs}`);
      const written: StoredEvent[] = [];
      for (const [index, turn] of turns.entries()) {
        for (const event of await answer(store, wsId, turn))
          written.push({ offset: written.length + 1, json: JSON.stringify(event) });
        if (index % (behind + 1) === behind) await compact(store, wsId);
        assert.deepEqual(await everyRest(store, wsId), everyRestOf(written));
      }
      await compact(store, wsId);
      assert.deepEqual(await everyRest(store, wsId), everyRestOf(written));
    }),
    { numRuns: 100 },
  );
  assert.deepEqual(store.health(), { status: 'ok' });
});

test('a block takes little more than what its messages do not have', async () => {
  await using store = await tempStore();
  const wsId = await create(store);
  for (const name of ['first', 'second', 'third']) await answer(store, wsId, turnOf(name));
  await compact(store, wsId);
  const [{ body_json: block } = { body_json: '' }, ...others] = await rowsOf(store);
  assert.ok(
    others.length === 0 && block.length < 300,
    `${block.length} bytes for ${turnOf('first').pieces.length * 3} pieces`,
  );
});

test('a long conversation becomes several blocks, each of which ends with a run', async () => {
  await using store = await tempStore();
  const wsId = await create(store);
  for (let n = 0; n < 30; n += 1) {
    await answer(store, wsId, turnOf(`turn ${n}`));
    await compact(store, wsId);
  }
  const rows = await rowsOf(store);
  const ends = await Promise.all(rows.map(({ offset }) => store.readEvents(wsId, offset - 1, 1)));
  assert.deepEqual(
    { rows: rows.length > 2 && rows.length < 10, ends: new Set(ends.flat().map(({ json }) => JSON.parse(json).type)) },
    { rows: true, ends: new Set(['ws_state']) },
  );
});

test('damage to a block or to one of its messages is shown in place of its events, and nothing else is lost', async (t) => {
  for (const change of [
    "update messages set body_json = replace(body_json, 'first 7', 'first 8') where seq = 2",
    'delete from messages where seq = 1',
    'update events set body_json = cast(substr(body_json, 1, 40) as blob) where "offset" = (select min("offset") from events)',
    'update events set body_json = zeroblob(9) where "offset" = (select min("offset") from events)',
    'update events set body_json = x\'00\' where "offset" = (select min("offset") from events)',
    'update events set checksum = checksum + 1 where "offset" = (select min("offset") from events)',
  ]) {
    const { store, wsId, end } = await changedThen(t, change);
    const events = await store.readEvents(wsId, 0, 1_000);
    const lost = events.filter(({ isDamaged }) => isDamaged).map(({ offset }) => offset);
    assert.deepEqual([lost, events.at(-1)?.offset], [[end], store.bounds(wsId).last], change);
    assert.equal(store.health().status, 'degraded', change);
  }
});

test('a log whose last block is damaged after a kill does not use its offsets again', async (t) => {
  const { store, wsId, end } = await changedThen(
    t,
    'delete from events where "offset" > (select min("offset") from events); delete from log_heads; update events set checksum = 0',
  );
  assert.equal(await store.commit({ events: { wsId, events: [{ type: 'thinking_start' }] } }), end + 1);
});

test('a workstream with blocks is removed without reports of damage', async () => {
  await using store = await tempStore();
  const wsId = await create(store);
  await answer(store, wsId, turnOf('only'));
  await compact(store, wsId);
  await store.commit({ statements: [markDeleted(wsId)] });
  await removeRows(store, wsId);
  assert.deepEqual([await rowsOf(store), store.health()], [[], { status: 'ok' }]);
});

test('a block that another step has changed meanwhile is left to that step', async () => {
  await using store = await tempStore();
  const wsId = await create(store);
  await answer(store, wsId, turnOf('only'));
  const all = await store.readEvents(wsId, 0, 1_000);
  const step = { wsId, after: 0, through: store.bounds(wsId).last };
  const steps = await Promise.allSettled([blockStep(store, step), blockStep(store, step)]);
  assert.deepEqual(
    steps.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
  assert.deepEqual(await store.readEvents(wsId, 0, 1_000), all);
});

const turnOf = (name: string): Turn => ({
  question: `Tell me about ${name}`,
  pieces: Array.from({ length: 100 }, (_, n) => `${name} ${n * n} `),
});

function anyTurn(): fc.Arbitrary<Turn> {
  const text = fc.oneof(
    fc.string({ maxLength: 9 }),
    fc.string({ unit: 'binary', maxLength: 3 }),
    fc.constant('\ud83d'),
  );
  return fc.record({ question: text, pieces: fc.array(text, { maxLength: 12 }), isStored: fc.boolean() });
}

async function create(store: SqliteStore, wsId = 'a'): Promise<string> {
  await store.commit({
    statements: [insertWorkstream(toWorkstreamRow({ owned: OF_EVERYONE, wsId, workdir: '/', nowMs: 1 }))],
  });
  return wsId;
}

/** A run with its message, and its answer if that is stored. */
async function answer(
  store: SqliteStore,
  wsId: string,
  { question, pieces, isStored = true }: Turn,
): Promise<StreamEvent[]> {
  const { message_count: count } = await store.db
    .selectFrom('workstreams')
    .select('message_count')
    .where('ws_id', '=', wsId)
    .executeTakeFirstOrThrow();
  const runId = `run ${count}`;
  const text = pieces.join('');
  const events: StreamEvent[] = [
    { type: 'user_turn', message: question, run_id: runId, source: 'person', seq: count + 1, created_ms: 1 },
    ...pieces.map((piece) => ({ type: 'content' as const, text: piece })),
    { type: 'ws_state', ws_id: wsId, state: 'idle', run: { run_id: runId, status: 'ok' } },
  ];
  const at = { wsId, runId, nowMs: 1 };
  await store.commit({
    statements: [
      ...insertMessage(at, { role: 'user', content: question }),
      ...(isStored ? insertMessage(at, { role: 'assistant', content: text, toolCalls: [] }) : []),
    ],
    events: { wsId, events },
  });
  return events;
}

async function compact(store: SqliteStore, wsId: string): Promise<void> {
  const { last: through } = store.bounds(wsId);
  const head = await store.db.selectFrom('log_heads').selectAll().where('ws_id', '=', wsId).executeTakeFirst();
  for (let after = head?.compacted ?? 0; after < through; ) after = await compactStep(store, { wsId, after, through });
  for (let after = head?.blocked ?? 0; after < through; ) after = await blockStep(store, { wsId, after, through });
}

const rowsOf = (store: SqliteStore) =>
  store.db.selectFrom('events').select(['offset', 'body_json']).orderBy('offset').execute();

/** A log with a block and a run that is not packed, changed by `sql` outside the store, and opened again. */
async function changedThen(t: TestContext, sql: string) {
  const dir = tempDir();
  const path = join(dir.path, 'headgate.db');
  const whole = await tempStore({ path });
  const wsId = await create(whole);
  await answer(whole, wsId, turnOf('first'));
  await answer(whole, wsId, turnOf('second'));
  await compact(whole, wsId);
  const { last: end } = whole.bounds(wsId);
  await answer(whole, wsId, { question: 'third', pieces: ['third'] });
  await whole.close();
  using database = new DatabaseSync(path);
  database.exec(sql);
  const store = await tempStore({ path });
  t.after(async () => {
    await store.close();
    dir[Symbol.dispose]();
  });
  return { store, wsId, end };
}
