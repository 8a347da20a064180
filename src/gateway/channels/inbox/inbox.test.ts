import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../../testing/temp-store.ts';
import { Inbox, type InboxDeps } from './inbox.ts';
import { dropUpdate, endUpdate, type InboxRow, readWaiting, storeUpdates } from './inbox-rows.ts';

const OF = { channel: 'telegram', account: '1' };

/** Bodies with the same letter are parts of one message, of which the last part is in upper case. */
const parts = {
  followMs: (row: InboxRow) => (bodyOf(row) === bodyOf(row).toLowerCase() ? 500 : 0),
  continues: (all: readonly InboxRow[], next: InboxRow) =>
    all.every((part) => bodyOf(part)[0]?.toLowerCase() === bodyOf(next)[0]?.toLowerCase()),
};

const bodyOf = ({ body_json: json }: InboxRow): string => JSON.parse(json ?? '""');

async function setUp() {
  const store = await tempStore();
  const clock = fakeClock(1_000_000);
  const handled: string[][] = [];
  let wake = Promise.withResolvers<void>();
  let reads = 0;
  let failsAt: number | undefined;
  /** Counts what is read, and fails one of the reads. */
  const read = {
    commit: store.commit,
    get db() {
      reads += 1;
      if (reads === failsAt) throw new Error('the database does not answer');
      return store.db;
    },
  };
  const open = (handle?: InboxDeps['handle']) =>
    new Inbox({
      store: read,
      handle:
        handle ??
        (async (row) => {
          await store.commit({ statements: [endUpdate(row, { state: 'answered', nowMs: clock.now() })] });
          handled.push([row, ...(row.joined ?? [])].map(bodyOf));
          wake.resolve();
          wake = Promise.withResolvers();
        }),
      isUrgent: (row) => bodyOf(row) === 'stop',
      parts,
      onEnded: () => undefined,
      onFailed: async () => undefined,
      clock,
      log: recordingLog(),
    });
  let id = 0;
  return {
    ...{ store, clock, handled, open },
    reads: () => reads,
    failsAt(nth: number) {
      failsAt = nth;
    },
    /** Stores updates of a chat. */
    async arrive(bodies: readonly string[], chat = 'c') {
      const arrived = bodies.map((body) => ({ updateId: String(++id), chat, senderId: 's', body }));
      await store.commit({ statements: storeUpdates(OF, arrived, clock.now()) });
    },
    async until(count: number) {
      while (handled.length < count) await wake.promise;
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

test('parts that come one after another are handled as one update, others of the chat after it', async () => {
  await using stage = await setUp();
  const inbox = stage.open();
  await stage.arrive(['a1', 'b!', 'a2']);
  await inbox.look(OF);
  await stage.arrive(['A3']);
  await inbox.look(OF);
  await stage.until(1);
  assert.deepEqual(stage.handled, [['a1', 'a2', 'A3']]);
  await waitFor(
    () => stage.clock.advance(500),
    () => stage.handled.length === 2,
  );
  assert.deepEqual(stage.handled[1], ['b!']);
  assert.deepEqual(await readWaiting(stage.store, OF), []);
  assert.equal(inbox.backlog, 0);
});

test('a part without a successor is handled once the time for further parts is over', async () => {
  await using stage = await setUp();
  const inbox = stage.open();
  await stage.arrive(['a1']);
  await inbox.look(OF);
  await stage.clock.advance(499);
  assert.deepEqual(stage.handled, []);
  await waitFor(
    () => stage.clock.advance(1),
    () => stage.handled.length === 1,
  );
  assert.deepEqual(stage.handled, [['a1']]);
});

test('after a kill between two parts they are still one update, and an urgent one waits for neither', async () => {
  await using stage = await setUp();
  await stage.arrive(['a1']);
  const killed = stage.open(() => new Promise(() => undefined));
  await killed.look(OF);
  killed.close();
  stage.clock.jump(60_000);
  const inbox = stage.open();
  await inbox.look(OF);
  await stage.arrive(['stop', 'A2']);
  await inbox.look(OF);
  await stage.until(2);
  assert.deepEqual(stage.handled, [['stop'], ['a1', 'A2']]);
});

test('the end of an update is refused as a whole if one of its parts has ended', async () => {
  await using stage = await setUp();
  await stage.arrive(['a1', 'A2']);
  const [first, second] = await readWaiting(stage.store, OF);
  assert.ok(first && second);
  await stage.store.commit({ statements: [dropUpdate(second)] });
  const whole = { ...first, joined: [second] };
  const end = endUpdate(whole, { state: 'answered', nowMs: 1 });
  await assert.rejects(stage.store.commit({ statements: [end] }), { name: 'UnitRefused' });
  assert.equal((await readWaiting(stage.store, OF)).length, 1);
});

test('a message whose parts cannot be read is handled when the database answers again, although nobody looks', async () => {
  await using stage = await setUp();
  const inbox = stage.open();
  await stage.arrive(['a1', 'A2']);
  stage.failsAt(2);
  await inbox.look(OF);
  await waitFor(
    () => stage.clock.advance(1_000),
    () => stage.handled.length === 1 && inbox.backlog === 0,
  );
  assert.deepEqual(stage.handled, [['a1', 'A2']]);
});

test('what waits is not read again for each message that has no parts', async () => {
  await using stage = await setUp();
  const inbox = stage.open();
  await stage.arrive(Array.from({ length: 100 }, (_, index) => `${String.fromCharCode(0x4e00 + index)} WHOLE`));
  await inbox.look(OF);
  await stage.until(100);
  await waitFor(
    () => stage.clock.advance(1),
    () => inbox.backlog === 0,
  );
  assert.ok(stage.reads() <= 101, `${stage.reads()} reads: one in all, and one for the end of each`);
});

/** Moves the clock until it is so; the store answers in between. */
async function waitFor(move: () => Promise<void>, isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !isSo(); turn += 1) await move();
  assert.ok(isSo());
}
