import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../../testing/temp-store.ts';
import type { SqliteStore } from '../sqlite-store.ts';
import { build, statementOf } from '../statements.ts';
import type { Statement, Unit } from '../store.ts';
import { unavailable } from '../store-fault.ts';
import { type Compaction, createCompaction } from './compaction.ts';
import { isPacked } from './packed-body.ts';

/** Pieces so long that a row holds only one. */
const ANSWER: readonly StreamEvent[] = ['an ', 'answer ', 'in ', 'pieces'].map((text) => ({
  type: 'content',
  text: text.padEnd(120, '.'),
}));
const end = (wsId: string): StreamEvent => ({
  type: 'ws_state',
  ws_id: wsId,
  state: 'idle',
  run: { run_id: 'r', status: 'ok' },
});

test('an answer is packed after its run has ended, and not before', async (t) => {
  const { store, compaction, clock, start } = await scene();
  start(t, compaction);
  await store.commit(unitOf('a', ANSWER, unfinishedRun('a')));
  await settle(clock, 20);
  const during = await rowsOf(store, 'a');
  await append(store, 'a', [end('a')]);
  await settle(clock);
  assert.deepEqual([during, await rowsOf(store, 'a')], [['1', '2', '3', '4'], ['5 block']]);
});

test('the running answer of a log is left alone when an earlier one is packed', async (t) => {
  const { store, compaction, clock, start } = await scene();
  start(t, compaction);
  await append(store, 'a', [...ANSWER, end('a')]);
  await store.commit(unitOf('a', ANSWER, unfinishedRun('a')));
  await settle(clock, 10);
  assert.deepEqual(await rowsOf(store, 'a'), ['5 block', '6', '7', '8', '9']);
});

test('logs of an earlier daemon are packed some time after the start, those with an unfinished run only after it', async (t) => {
  const { store, compaction, clock, start } = await scene();
  for (const wsId of ['a', 'b', 'c']) await append(store, wsId, [...ANSWER, end(wsId)]);
  await store.commit({ statements: [unfinishedRun('b')] });
  start(t, compaction);
  await clock.advance(2_900);
  const early = await rowsOf(store, 'a');
  await settle(clock, 20);
  const packed = ['5 block'];
  const plain = ['1', '2', '3', '4', '5'];
  assert.deepEqual(
    [early, await rowsOf(store, 'a'), await rowsOf(store, 'b'), await rowsOf(store, 'c')],
    [plain, packed, plain, packed],
  );
  await append(store, 'b', [end('b')]);
  await settle(clock);
  assert.deepEqual(await rowsOf(store, 'b'), ['6 block']);
});

test('what is packed once is read again only while its block can grow', async (t) => {
  const { store, compaction, clock, start } = await scene();
  const reads: number[] = [];
  const { readEventRows } = store;
  store.readEventRows = (wsId, after, limit) => {
    reads.push(after);
    return readEventRows(wsId, after, limit);
  };
  start(t, compaction);
  for (const _ of [1, 2]) {
    await append(store, 'a', [...ANSWER, end('a')]);
    await settle(clock);
  }
  assert.deepEqual([reads, await rowsOf(store, 'a')], [[0, 0, 0, 5, 0], ['10 block']]);
});

test('a disk that refuses a step leaves the log as it was, and the next run of the log is packed with it', async (t) => {
  const { store, compaction, clock, log, start } = await scene();
  const { commit } = store;
  store.commit = () => Promise.reject(unavailable('the disk is full'));
  start(t, compaction);
  await commit(unitOf('a', [...ANSWER, end('a')]));
  await settle(clock, 1);
  const refused = await rowsOf(store, 'a');
  store.commit = commit;
  await append(store, 'a', [...ANSWER, end('a')]);
  await settle(clock, 100);
  assert.deepEqual(
    { refused, later: await rowsOf(store, 'a'), log: log.lines },
    {
      refused: ['1', '2', '3', '4', '5'],
      later: ['10 block'],
      log: [['warn', 'a log could not be compacted']],
    },
  );
});

test('a log that was removed meanwhile is not recreated', async (t) => {
  const { store, compaction, clock, log, start } = await scene();
  start(t, compaction);
  await append(store, 'a', [...ANSWER, end('a')]);
  await store.commit({ statements: [statementOf(build.deleteFrom('events').where('ws_id', '=', 'a'))] });
  await settle(clock);
  const heads = await store.db.selectFrom('log_heads').selectAll().where('ws_id', '=', 'a').execute();
  assert.deepEqual([heads, log.lines], [[], []]);
});

async function scene() {
  const [clock, log] = [fakeClock(1_000), recordingLog()];
  const store = await tempStore({ clock });
  const compaction = createCompaction({
    store: {
      db: store.db,
      bounds: store.bounds,
      onCommitted: store.onCommitted,
      commit: (unit: Unit) => store.commit(unit),
      readEventRows: (...page: Parameters<SqliteStore['readEventRows']>) => store.readEventRows(...page),
      readMessages: store.readMessages,
    },
    clock,
    log,
  });
  const start = (t: TestContext, { run }: Compaction) => {
    const stop = new AbortController();
    const running = run(stop.signal);
    t.after(async () => {
      stop.abort();
      await running;
      await store.close();
    });
  };
  return { store, clock, log, compaction, start };
}

/** Lets time pass, with turns of the event loop in which commits resolve. */
async function settle(clock: ReturnType<typeof fakeClock>, seconds = 3): Promise<void> {
  for (let passed = 0; passed < seconds * 1_000; passed += 200) {
    await clock.advance(200);
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  }
}

const NOTHING: Statement = { sql: "delete from meta where key = 'nothing'", parameters: [] };

/** Deltas of a unit with statements are not merged. */
const unitOf = (wsId: string, events: readonly StreamEvent[], statement = NOTHING): Unit => ({
  statements: [statement],
  events: { wsId, events },
});

const append = (store: SqliteStore, wsId: string, events: readonly StreamEvent[]): Promise<number> =>
  store.commit(unitOf(wsId, events));

const unfinishedRun = (wsId: string) =>
  statementOf(
    build.insertInto('runs').values({
      run_id: `run of ${wsId}`,
      ws_id: wsId,
      principal: 'ada',
      run_key: null,
      source: 'person',
      status: 'running',
      request_json: '{}',
      epoch: 1,
      error: null,
      summary: null,
      accepted_ms: 1,
      started_ms: 1,
      ended_ms: null,
    }),
  );

function formOf(body: string | Uint8Array): string {
  if (typeof body !== 'string') return ' block';
  return isPacked(body) ? ' packed' : '';
}

async function rowsOf(store: SqliteStore, wsId: string): Promise<string[]> {
  const rows = await store.db.selectFrom('events').selectAll().where('ws_id', '=', wsId).orderBy('offset').execute();
  return rows.map(({ offset, body_json }) => `${offset}${formOf(body_json)}`);
}
