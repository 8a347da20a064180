import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { build, statementOf } from './statements.ts';
import { type Statement, type Store, type StoredEvent, UnitRefused } from './store.ts';

type Open = () => Promise<Store & AsyncDisposable>;

/** The requirements for every store; `name` is the prefix of each title. */
export function storeContract(name: string, open: Open): void {
  offsetsContract(name, open);
  isolationContract(name, open);
  refusalContract(name, open);
  mergingContract(name, open);
  listenersContract(name, open);
}

function offsetsContract(name: string, open: Open): void {
  test(`${name}: offsets count from 1 without gaps in each log, and a commit resolves with its last one`, async () => {
    await using store = await open();
    const offsets = await Promise.all([
      store.commit({ events: { wsId: 'a', events: [info('1'), info('2')] } }),
      store.commit({ events: { wsId: 'b', events: [info('1')] } }),
      store.commit({ statements: [setMeta('k', 'v')] }),
      store.commit({ events: { wsId: 'a', events: [info('3')] } }),
      store.commit({ events: { wsId: 'b', events: [] } }),
    ]);
    const later = await store.commit({ events: { wsId: 'a', events: [info('4')] } });
    await store.openLogs(['a', 'none']);
    assert.deepEqual(
      { offsets, later, a: store.bounds('a'), b: store.bounds('b'), none: store.bounds('none') },
      {
        offsets: [2, 1, 0, 3, 0],
        later: 4,
        a: { first: 1, last: 4 },
        b: { first: 1, last: 1 },
        none: { first: 1, last: 0 },
      },
    );
  });

  test(`${name}: a log that begins anew starts at the first offset, and misses nothing`, async () => {
    await using store = await open();
    await store.commit({ events: { wsId: 'a', events: [info('1'), info('2')] } });
    await store.commit({ statements: [{ sql: 'delete from events where ws_id = ?', parameters: ['a'] }] });
    store.beginLog('a');
    assert.deepEqual(store.bounds('a'), { first: 1, last: 0 });
    assert.equal(await store.commit({ events: { wsId: 'a', events: [info('3')] } }), 1);
    const events = await store.readEvents('a', 0, 10);
    assert.deepEqual([events.map(({ json }) => JSON.parse(json).message), store.health().status], [['3'], 'ok']);
  });

  test(`${name}: events are read after an offset, oldest first, up to the limit`, async () => {
    await using store = await open();
    await store.commit({ events: { wsId: 'a', events: ['1', '2', '3', 'ü\ud800"'].map(info) } });
    assert.deepEqual(await store.readEvents('a', 1, 2), [stored(2, info('2')), stored(3, info('3'))]);
    assert.deepEqual(await store.readEvents('a', 3, 10), [stored(4, info('ü\ud800"'))]);
    assert.deepEqual(await store.readEvents('a', 4, 10), []);
  });

  test(`${name}: long events are read in smaller pages, and none is lost`, async () => {
    await using store = await open();
    const long = Array.from({ length: 5 }, (_, n) => info(String(n).repeat(200_000)));
    for (const event of long) await store.commit({ events: { wsId: 'a', events: [event] } });
    const pages: number[][] = [];
    for (let after = 0; after < 5; after = pages.at(-1)?.at(-1) ?? 5) {
      pages.push((await store.readEvents('a', after, 10)).map(({ offset }) => offset));
    }
    assert.deepEqual(pages, [
      [1, 2, 3],
      [4, 5],
    ]);
  });
}

function refusalContract(name: string, open: Open): void {
  test(`${name}: a refused unit reports which of its statements was refused, and why`, async () => {
    await using store = await open();
    const gone = build.deleteFrom('meta').where('key', '=', 'gone');
    const insert = statementOf(build.insertInto('meta').values({ key: 'k', value: 'v' }), 1, 'insert');
    const refusalOf = (...statements: Statement[]) =>
      store.commit({ statements }).then(
        () => undefined,
        (error: unknown) => (error instanceof UnitRefused ? [error.why, error.tag] : error),
      );
    assert.deepEqual(
      [
        await refusalOf(insert),
        await refusalOf(insert, statementOf(gone, 1, 'gone')),
        await refusalOf(statementOf(gone, 1, 'gone'), insert),
        await refusalOf(statementOf(gone, 1)),
      ],
      [undefined, ['key', 'insert'], ['rows', 'gone'], ['rows', undefined]],
    );
  });
}

function isolationContract(name: string, open: Open): void {
  test(`${name}: a refused unit writes nothing and does not affect other units`, async () => {
    await using store = await open();
    const outcomes = await Promise.allSettled([
      store.commit({ statements: [setMeta('before', '1')], events: { wsId: 'a', events: [info('1')] } }),
      store.commit({
        statements: [setMeta('refused', '1'), statementOf(build.deleteFrom('meta').where('key', '=', 'nobody'), 1)],
        events: { wsId: 'a', events: [info('never')] },
      }),
      store.commit({ statements: [setMeta('after', '1')], events: { wsId: 'a', events: [info('2')] } }),
    ]);
    assert.deepEqual(outcomes.map(toResult), [1, 'UnitRefused', 2]);
    assert.deepEqual(await store.readEvents('a', 0, 10), [stored(1, info('1')), stored(2, info('2'))]);
    assert.deepEqual(await metaKeys(store, ['before', 'refused', 'after']), ['after', 'before']);
  });

  test(`${name}: a statement that changes as many rows as expected is not refused`, async () => {
    await using store = await open();
    await store.commit({ statements: [setMeta('k', '1')] });
    const fence = build.updateTable('meta').set({ value: '2' }).where('key', '=', 'k').where('value', '=', '1');
    const outcomes = await Promise.allSettled([
      store.commit({ statements: [statementOf(fence, 1)] }),
      store.commit({ statements: [statementOf(fence, 1)] }),
    ]);
    assert.deepEqual(outcomes.map(toResult), [0, 'UnitRefused']);
  });

  test(`${name}: a unit whose key is in use is refused`, async () => {
    await using store = await open();
    const insert = statementOf(build.insertInto('meta').values({ key: 'k', value: 'v' }));
    const outcomes = await Promise.allSettled([
      store.commit({ statements: [insert] }),
      store.commit({ statements: [setMeta('other', '1'), insert] }),
    ]);
    assert.deepEqual(outcomes.map(toResult), [0, 'UnitRefused']);
    assert.deepEqual(await metaKeys(store, ['k', 'other']), ['k']);
  });

  test(`${name}: a failed unit rejects alone, with its own error`, async () => {
    await using store = await open();
    const circular: { type: 'info'; message: string; self?: object } = info('x');
    circular.self = circular;
    const outcomes = await Promise.allSettled([
      store.commit({ events: { wsId: 'a', events: [info('1')] } }),
      store.commit({ statements: [{ sql: 'update nowhere set x = 1', parameters: [] }] }),
      store.commit({ statements: [setMeta('k', '1')], events: { wsId: 'a', events: [circular] } }),
      store.commit({ events: { wsId: 'a', events: [info('never'), circular] } }),
      store.commit({ statements: [{ ...setMeta('k', '1'), parameters: ['k', undefined] }] }),
      store.commit({ events: { wsId: 'a', events: [info('2')] } }),
    ]);
    assert.deepEqual(outcomes.map(toResult), [1, 'Error', 'TypeError', 'TypeError', 'TypeError', 2]);
    assert.deepEqual(await metaKeys(store, ['k']), []);
    assert.deepEqual(store.health(), { status: 'ok' });
  });
}

function mergingContract(name: string, open: Open): void {
  test(`${name}: adjacent deltas of one text and turn become one event`, async () => {
    await using store = await open();
    const offsets = await Promise.all(
      [
        content('a'),
        content('b'),
        reasoning('c'),
        reasoning('d'),
        chunk('1', 'e'),
        chunk('1', 'f'),
        chunk('2', 'g'),
        info('h'),
        content('i'),
      ].map((event) => store.commit({ events: { wsId: 'a', events: [event] } })),
    );
    assert.deepEqual(offsets, [1, 1, 2, 2, 3, 3, 4, 5, 6]);
    assert.deepEqual(
      await store.readEvents('a', 0, 10),
      [content('ab'), reasoning('cd'), chunk('1', 'ef'), chunk('2', 'g'), info('h'), content('i')].map((event, index) =>
        stored(index + 1, event),
      ),
    );
  });

  test(`${name}: deltas of different turns, or of a unit with statements, are not merged`, async () => {
    await using store = await open();
    const offsets = [await store.commit({ events: { wsId: 'a', events: [content('a')] } })];
    offsets.push(
      ...(await Promise.all([
        store.commit({ events: { wsId: 'a', events: [content('b')] } }),
        store.commit({ statements: [setMeta('k', '1')], events: { wsId: 'a', events: [content('c')] } }),
        store.commit({ events: { wsId: 'a', events: [content('d')] } }),
        store.commit({ events: { wsId: 'b', events: [content('other log')] } }),
        store.commit({ events: { wsId: 'a', events: [content('e')] } }),
      ])),
    );
    assert.deepEqual(offsets, [1, 2, 3, 4, 1, 4]);
    assert.deepEqual(
      await store.readEvents('a', 0, 10),
      ['a', 'b', 'c', 'de'].map((text, index) => stored(index + 1, content(text))),
    );
  });

  test(`${name}: a merged delta has a maximum size`, async () => {
    await using store = await open();
    const piece = 'x'.repeat(20_000);
    const commit = () => store.commit({ events: { wsId: 'a', events: [content(piece)] } });
    assert.deepEqual(await Promise.all([commit(), commit(), commit()]), [1, 2, 3]);
  });
}

function listenersContract(name: string, open: Open): void {
  test(`${name}: listeners are called once per group, after it can be read and before its units resolve`, async () => {
    await using store = await open();
    const heard: unknown[] = [];
    store.onCommitted((appended) => {
      heard.push([...appended], store.bounds('a'));
    });
    const committed = [
      store.commit({ events: { wsId: 'a', events: [info('1')] } }),
      store.commit({ events: { wsId: 'b', events: [info('2'), info('3')] } }),
    ];
    for (const each of committed) void each.then((offset) => heard.push(`resolved ${offset}`));
    await Promise.all(committed);
    assert.deepEqual(heard, [
      [
        ['a', [stored(1, info('1'))]],
        ['b', [stored(1, info('2')), stored(2, info('3'))]],
      ],
      { first: 1, last: 1 },
      'resolved 1',
      'resolved 2',
    ]);
  });

  test(`${name}: a listener that throws affects neither the others nor the units`, async () => {
    await using store = await open();
    const heard: number[] = [];
    store.onCommitted(() => {
      throw new Error('broken listener');
    });
    store.onCommitted((appended) => {
      heard.push(appended.size);
    });
    assert.equal(await store.commit({ events: { wsId: 'a', events: [info('1')] } }), 1);
    assert.deepEqual(heard, [1]);
  });
}

const info = (message: string): { type: 'info'; message: string } => ({ type: 'info', message });
const content = (text: string): StreamEvent => ({ type: 'content', text });
const reasoning = (text: string): StreamEvent => ({ type: 'reasoning', text });
const chunk = (call_id: string, text: string): StreamEvent => ({ type: 'tool_output_chunk', call_id, chunk: text });
const stored = (offset: number, event: StreamEvent): StoredEvent => ({ offset, json: JSON.stringify(event) });

const setMeta = (key: string, value: string): Statement =>
  statementOf(
    build
      .insertInto('meta')
      .values({ key, value })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value })),
  );

async function metaKeys(store: Store, keys: string[]): Promise<string[]> {
  const rows = await store.db.selectFrom('meta').select('key').where('key', 'in', keys).orderBy('key').execute();
  return rows.map((row) => row.key);
}

function toResult(outcome: PromiseSettledResult<number>): number | string {
  if (outcome.status === 'fulfilled') return outcome.value;
  if (outcome.reason instanceof UnitRefused) return 'UnitRefused';
  return outcome.reason instanceof TypeError ? 'TypeError' : 'Error';
}
