import assert from 'node:assert/strict';
import { test } from 'node:test';
import { content, roomySink } from '../testing/memory-log.ts';
import { toLogEntry } from './log-entry.ts';
import type { LogEntry } from './log-reader.ts';
import { type PulledLogs, PullReader } from './pull-reader.ts';

const entry = (offset: number): LogEntry =>
  toLogEntry({ wsId: 'w', epoch: 'e1' }, { offset, json: JSON.stringify(content(`${offset}`)) });

/** A log of `last` entries, with those after `heldAfter` in memory; the test releases pages. */
function setUp({ last = 3, heldAfter = 0, room = Number.POSITIVE_INFINITY, after = 0 } = {}) {
  const target = roomySink(room);
  const log = { last, asked: [] as string[] };
  const pages: PromiseWithResolvers<readonly LogEntry[]>[] = [];
  const failures: unknown[] = [];
  const retries: (() => void)[] = [];
  let closed = 0;
  const range = (offset: number) => Array.from({ length: log.last - offset }, (_, n) => entry(offset + n + 1));
  const logs: PulledLogs = {
    tail(_wsId, offset) {
      log.asked.push(`tail ${offset}`);
      return offset < heldAfter ? undefined : range(offset);
    },
    page(_wsId, offset) {
      log.asked.push(`page ${offset}`);
      const page = Promise.withResolvers<readonly LogEntry[]>();
      pages.push(page);
      return page.promise;
    },
    onFailed({ error, again }) {
      failures.push(error);
      retries.push(again);
    },
  };
  const reader = new PullReader({ wsId: 'w', after, sink: target.sink, logs, onClosed: () => void closed++ });
  const give = async (...offsets: number[]) => {
    pages.shift()?.resolve(offsets.map(entry));
    await new Promise(setImmediate);
  };
  return {
    ...target,
    log,
    reader,
    pages,
    failures,
    retries,
    give,
    closed: () => closed,
    offsets: () => target.written.map(({ offset }) => offset),
  };
}

test('a reader at the tail gets its entries without reading from the store', () => {
  const { reader, offsets, log } = setUp({ after: 1 });
  reader.resume();
  assert.deepEqual([offsets(), reader.offset, log.asked], [[2, 3], 3, ['tail 1', 'tail 3']]);
});

test('a reader whose sink is full costs nothing until it is woken', () => {
  const { reader, state, log, offsets } = setUp({ room: 0 });
  for (let n = 0; n < 10; n += 1) reader.resume();
  assert.deepEqual([log.asked, reader.offset], [[], 0]);
  state.room = 1;
  log.last = 5;
  reader.resume();
  assert.deepEqual([offsets(), log.asked], [[1, 2, 3, 4, 5], ['tail 0']]);
});

test('a reader behind the tail reads one page at a time, and then continues from the tail', async () => {
  const { reader, offsets, log, give } = setUp({ last: 6, heldAfter: 4 });
  reader.resume();
  reader.resume();
  assert.deepEqual(log.asked, ['tail 0', 'page 0'], 'a wake-up in between asks for nothing');
  await give(1, 2);
  await give(3, 4);
  assert.deepEqual(offsets(), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(log.asked.slice(2), ['tail 2', 'page 2', 'tail 4', 'tail 6']);
});

test('a page that arrives at a full sink is discarded and read again', async () => {
  const { reader, offsets, state, give, log } = setUp({ last: 4, heldAfter: 2 });
  reader.resume();
  state.room = 0;
  await give(1, 2);
  assert.deepEqual([offsets(), reader.offset], [[], 0]);
  state.room = 1;
  reader.resume();
  await give(1, 2);
  assert.deepEqual([offsets(), log.asked.at(-1)], [[1, 2], 'page 0']);
});

test('frames with a key wait for a reader that is behind: the latest of each, after the log, in their order', async () => {
  const { reader, offsets, state, give, transients } = setUp({ last: 4, heldAfter: 2, room: 0 });
  const takeTold = () => transients.splice(0);
  reader.transient('a waits', 'a');
  reader.transient('b waits', 'b');
  reader.transient('c waits', 'c');
  reader.transient('a waits no more', 'a');
  state.room = 9;
  reader.resume();
  reader.transient('b waits no more', 'b'); // its sink is ready, but it still reads the log
  await give(1, 2);
  assert.deepEqual(
    [offsets(), takeTold()],
    [
      [1, 2, 3, 4],
      ['c waits', 'a waits no more', 'b waits no more'],
    ],
  );
  reader.transient('d waits', 'd');
  reader.resume();
  assert.deepEqual(takeTold(), ['d waits']);
});

test('of frames that wait for a reader, the oldest are lost, and a closed one gets none', () => {
  const many = setUp({ room: 0 });
  for (let n = 1; n <= 205; n += 1) many.reader.transient(`${n}`, `${n}`);
  many.state.room = 9;
  many.reader.resume();
  assert.deepEqual([many.transients.length, many.transients[0]], [200, '6']);
  const closed = setUp({ room: 0 });
  closed.reader.transient('late', 'a');
  closed.reader.close();
  closed.state.room = 9;
  closed.reader.resume();
  assert.deepEqual(closed.transients, []);
});

test('a closed reader writes nothing more, not even a pending page', async () => {
  const { reader, offsets, give, closed } = setUp({ heldAfter: 2 });
  reader.resume();
  reader.close();
  reader.close();
  await give(1, 2);
  reader.resume();
  assert.deepEqual([offsets(), closed()], [[], 1]);
});

test('a page that cannot be read is reported, and read again later or at the next wake-up', async () => {
  const { reader, offsets, pages, failures, retries, give } = setUp({ heldAfter: 2 });
  reader.resume();
  for (const [wake = assert.fail] of [[() => retries.at(-1)?.()], [() => reader.resume()]]) {
    pages.shift()?.reject(new Error('no disk'));
    await new Promise(setImmediate);
    assert.deepEqual([failures.at(-1), offsets()], [new Error('no disk'), []]);
    wake();
  }
  await give(1, 2);
  assert.deepEqual(offsets(), [1, 2, 3]);
});

test('a sink that resumes its reader during a write gets everything in order', () => {
  const { reader, sink, offsets, log } = setUp({ last: 2 });
  const { write } = sink;
  sink.write = (entries) => {
    if (log.last === 2) {
      log.last = 4;
      reader.resume();
    }
    write(entries);
  };
  reader.resume();
  assert.deepEqual(offsets(), [1, 2, 3, 4]);
});

test('a reader at the end takes new entries directly; one that is behind, full or closed does not', () => {
  const atEnd = setUp({ after: 3 });
  atEnd.reader.offer([entry(4), entry(5)]);
  assert.deepEqual([atEnd.offsets(), atEnd.reader.offset, atEnd.log.asked], [[4, 5], 5, []]);
  const behind = setUp({ after: 1, last: 4 });
  behind.reader.offer([entry(4)]);
  assert.deepEqual([behind.offsets(), behind.reader.offset], [[2, 3, 4], 4]);
  const full = setUp({ after: 3, room: 0 });
  full.reader.offer([entry(4)]);
  const closed = setUp({ after: 3 });
  closed.reader.close();
  closed.reader.offer([entry(4)]);
  assert.deepEqual([full.offsets(), full.reader.offset, closed.offsets()], [[], 3, []]);
});

test('entries appended while a page is read come after the page', async () => {
  const { reader, offsets, log, give } = setUp({ last: 3, heldAfter: 2 });
  reader.resume();
  log.last = 4;
  reader.offer([entry(4)]);
  await give(1, 2, 3);
  assert.deepEqual(offsets(), [1, 2, 3, 4]);
});
