import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { recordingLog, tempDir, tempStore } from '../../testing/temp-store.ts';
import { copyConversation } from '../cuts/copy-conversation.ts';
import { insertMessage } from '../runs/run-rows.ts';
import { OF_EVERYONE } from '../sharing/perception.ts';
import { insertWorkstream, toWorkstreamRow } from '../workstreams/workstream-rows.ts';
import type { SqliteStore } from './sqlite-store.ts';

const wsId = 'a';
const info = (message: string): StreamEvent => ({ type: 'info', message });
/** The third event of the log, the only one of its type. */
const third: StreamEvent = { type: 'error', message: '3' };

/** A log and a conversation of five entries each, closed, changed by `sql` outside the store, and opened again. */
async function storeAfter(t: TestContext, ...sql: string[]): Promise<SqliteStore> {
  const dir = tempDir();
  const path = join(dir.path, 'headgate.db');
  const whole = await tempStore({ path });
  await whole.commit({
    statements: [insertWorkstream(toWorkstreamRow({ owned: OF_EVERYONE, wsId, workdir: '/', nowMs: 1 }))],
  });
  for (const n of ['1', '2', '3', '4', '5']) {
    const statements = insertMessage({ wsId, runId: `r${n}`, nowMs: 1 }, { role: 'user', content: n });
    await whole.commit({ statements, events: { wsId, events: [n === '3' ? third : info(n)] } });
  }
  await whole.close();
  using database = new DatabaseSync(path);
  for (const statement of sql) database.exec(statement);
  const store = await tempStore({ path, log: recordingLog() });
  t.after(async () => {
    await store.close();
    dir[Symbol.dispose]();
  });
  return store;
}

/** Offsets and texts of a whole log, page by page; damage is `!`. */
async function logOf(store: SqliteStore, limit = 2): Promise<string[]> {
  const read: string[] = [];
  for (let after = 0; ; ) {
    const page = await store.readEvents(wsId, after, limit);
    if (page.length === 0) return read;
    for (const { offset, json, isDamaged } of page)
      read.push(`${offset} ${isDamaged ? '!' : JSON.parse(json).message}`);
    after = page.at(-1)?.offset ?? 0;
  }
}

const conversationOf = async (store: SqliteStore): Promise<string[]> => {
  const rows = await store.readMessages(wsId, { after: 0, upTo: 5, limit: 10 });
  return rows.map(({ seq, json }) => `${seq} ${json === undefined ? '!' : JSON.parse(json).content}`);
};

/** Every column, including values beyond the range of numbers and values that look right. */
const ALTERED = [
  'body_json = replace(body_json, \'"3"\', \'"8"\')',
  'body_json = cast(body_json as blob)',
  'created_ms = 2',
  'created_ms = 9223372036854775807',
  'checksum = checksum + 1',
  'checksum = null',
  "ws_id = 'b'",
];

test('an altered or missing event is replaced by an error event, and the rest of the log stays readable', async (t) => {
  for (const change of ALTERED) {
    const store = await storeAfter(t, `update events set ${change} where "offset" = 3`);
    assert.deepEqual([store.health().status, await logOf(store)], ['ok', ['1 1', '2 2', '3 !', '4 4', '5 5']], change);
    const reason = 'a part of the database is damaged: events 3 to 3 of workstream a are missing or altered';
    assert.deepEqual(store.health(), { status: 'degraded', reason, damaged: true });
  }
  const holes: [sql: string, log: string[]][] = [
    ['delete from events where "offset" in (2, 3)', ['1 1', '3 !', '4 4', '5 5']],
    ['delete from events where "offset" = 1', ['1 !', '2 2', '3 3', '4 4', '5 5']],
    ['delete from events where "offset" >= 4', ['1 1', '2 2', '3 3', '5 !']],
    ['delete from events', ['5 !']],
    ['update events set body_json = 0 where "offset" <= 4', ['2 !', '4 !', '5 5']],
    ['update events set body_json = 0 where "offset" >= 4', ['1 1', '2 2', '3 3', '5 !']],
    // A row can have many events, so an offset that is a little too high is taken seriously; no log is that long.
    ['update events set "offset" = 30 where "offset" = 3', ['1 1', '2 2', '3 !', '4 4', '5 5', '30 !']],
    ['update events set "offset" = 1e15 where "offset" = 3', ['1 1', '2 2', '3 !', '4 4', '5 5', '2053 !']],
  ];
  for (const [sql, log] of holes) assert.deepEqual(await logOf(await storeAfter(t, sql)), log, sql);
});

test('an altered or missing message is replaced by a placeholder', async (t) => {
  const damaged = ['1 1', '2 2', '3 !', '4 4', '5 5'];
  for (const change of [...ALTERED, "run_id = 'r4'", 'run_id = null', 'seq = 30']) {
    const store = await storeAfter(t, `update messages set ${change} where seq = 3`);
    assert.deepEqual(await conversationOf(store), damaged, change);
    const reason = 'a part of the database is damaged: 1 messages of workstream a are missing or altered';
    assert.deepEqual(store.health(), { status: 'degraded', reason, damaged: true });
  }
  assert.deepEqual(await conversationOf(await storeAfter(t, 'delete from messages where seq = 3')), damaged);
  assert.deepEqual(await conversationOf(await storeAfter(t, 'delete from messages where seq >= 4')), [
    ...['1 1', '2 2', '3 3', '4 !', '5 !'],
  ]);
});

test('intact rows read as they were written, whatever their content', async (t) => {
  const store = await storeAfter(t);
  const texts = ['ü\ud800"\n\u0000', '😀'.repeat(5_000), ''];
  for (const text of texts) {
    const statements = insertMessage({ wsId, runId: null, nowMs: 1 }, { role: 'user', content: text });
    await store.commit({ statements, events: { wsId, events: [info(text)] } });
  }
  const events = await store.readEvents(wsId, 5, 10);
  const messages = await store.readMessages(wsId, { after: 5, upTo: 8, limit: 10 });
  assert.deepEqual(
    [events.map(({ json }) => JSON.parse(json).message), messages.map(({ json }) => JSON.parse(json ?? '').content)],
    [texts, texts],
  );
  assert.equal(store.health().status, 'ok');
});

test('a log with a damaged end continues after it, and no offset is used twice', async (t) => {
  for (const sql of [
    'delete from events where "offset" >= 4',
    'update events set created_ms = 0 where "offset" >= 4',
  ]) {
    const store = await storeAfter(t, sql);
    assert.equal(await store.commit({ events: { wsId, events: [info('6')] } }), 6, sql);
    assert.deepEqual(await logOf(store), ['1 1', '2 2', '3 3', '5 !', '6 6'], sql);
  }
});

test('the start of the last turn is only searched after damage', async (t) => {
  const found = async (...sql: string[]) => (await storeAfter(t, ...sql)).findNewestEvent(wsId, third.type);
  assert.deepEqual(
    [
      await found(),
      await found('update events set created_ms = 0 where "offset" = 4'),
      await found('update events set created_ms = 0 where "offset" = 2'),
      await found('delete from events where "offset" = 3'),
      await found('delete from events'),
    ],
    [3, 4, 3, 3, 5],
  );
});

test('an earlier event of a type is found before an offset', async (t) => {
  const store = await storeAfter(t);
  assert.equal(await store.findNewestEvent(wsId, 'info', 6), 5);
  assert.equal(await store.findNewestEvent(wsId, 'info', 4), 2);
  assert.equal(await store.findNewestEvent(wsId, third.type, 3), 0);
});

test('a damaged message is not copied, because its copy would look intact', async (t) => {
  const store = await storeAfter(t, 'update messages set created_ms = 2 where seq = 3');
  await store.commit({
    statements: [insertWorkstream(toWorkstreamRow({ owned: OF_EVERYONE, wsId: 'b', workdir: '/', nowMs: 1 }))],
  });
  const copy = (after: number) =>
    store.commit({
      statements: copyConversation({ wsId, after, upTo: 5, parts: [{ kind: 'stored', after, upTo: 5 }] }, 'b'),
    });
  await assert.rejects(copy(0), { name: 'UnitRefused' });
  await copy(3);
  const rows = await store.readMessages('b', { after: 0, upTo: 2, limit: 10 });
  assert.deepEqual(
    rows.map(({ seq, json }) => [seq, JSON.parse(json ?? '').content]),
    [
      [1, '4'],
      [2, '5'],
    ],
  );
});

test('rows removed with their workstream are not damage', async (t) => {
  for (const sql of ['update workstreams set loaded = 3, message_count = 0', 'delete from workstreams']) {
    const store = await storeAfter(
      t,
      sql,
      'delete from events where "offset" <= 3',
      'delete from messages where seq <= 3',
    );
    assert.deepEqual([await logOf(store), await conversationOf(store)], [['4 4', '5 5'], []], sql);
    assert.equal(store.health().status, 'ok');
  }
});

test('long conversations are read whole and in order, around messages that are lost', async (t) => {
  const store = await storeAfter(t);
  const messages = Array.from({ length: 995 }, (_, n) =>
    insertMessage({ wsId, runId: null, nowMs: 1 }, { role: 'user', content: String(n + 6) }),
  );
  await store.commit({ statements: messages.flat() });
  const numbers = Array.from({ length: 1_000 }, (_, n) => n + 1);
  const read = async (after: number, limit: number) =>
    (await store.readMessages(wsId, { after, upTo: 1_000, limit })).map(({ seq, json }) =>
      json === undefined ? -seq : Number(JSON.parse(json).content),
    );
  assert.deepEqual([await read(0, 2_000), await read(3, 600)], [numbers, numbers.slice(-600)]);
  await store.commit({ statements: [{ sql: 'delete from messages where seq between 240 and 510', parameters: [] }] });
  const withHole = numbers.map((n) => (n >= 240 && n <= 510 ? -n : n));
  assert.deepEqual([await read(0, 2_000), await read(255, 2_000)], [withHole, withHole.slice(255)]);
});

test('a message count that cannot be is damage, and is found at once', async (t) => {
  const store = await storeAfter(t, `update workstreams set message_count = ${Number.MAX_SAFE_INTEGER}`);
  const upTo = Number.MAX_SAFE_INTEGER;
  await assert.rejects(store.readMessages(wsId, { after: 0, upTo, limit: upTo }), { code: 'INTERNAL' });
});
