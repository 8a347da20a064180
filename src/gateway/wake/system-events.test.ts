import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { tempStore } from '../../testing/temp-store.ts';
import { build, statementOf } from '../store/statements.ts';
import { UnitRefused } from '../store/store.ts';
import { createSystemEvents } from './system-events.ts';

const note = statementOf(build.insertInto('meta').values({ key: 'note', value: 'x' }), 1);
const refused = statementOf(build.deleteFrom('meta').where('key', '=', 'nothing'), 1);

async function queueOver() {
  const store = await tempStore();
  const open = () => createSystemEvents({ store, clock: fakeClock(1_000) });
  return {
    events: open(),
    /** The queue as the next process loads it. */
    async reread() {
      const events = open();
      await events.load();
      return events;
    },
    isNoted: async () => (await store.db.selectFrom('meta').selectAll().where('key', '=', 'note').execute()).length,
    [Symbol.asyncDispose]: () => store.close(),
  };
}

const FROM = { rights: 'approve' } as const;

test('the statements passed with an event are committed with it, even if its text is a repeat', async () => {
  await using queue = await queueOver();
  await queue.events.add('news', FROM);
  await queue.events.add('news', { ...FROM, also: [note] });
  assert.deepEqual([queue.events.texts(), await queue.isNoted()], [['news'], 1]);
});

test('an event whose statements are refused is not queued, and the same text again is not a repeat of it', async () => {
  await using queue = await queueOver();
  const first = queue.events.add('news', { ...FROM, also: [refused], wakes: 'ada' });
  const second = queue.events.add('news', FROM);
  await assert.rejects(first, UnitRefused);
  await second;
  assert.deepEqual([queue.events.texts(), queue.events.wakes()], [['news'], undefined]);
  assert.deepEqual((await queue.reread()).texts(), ['news']);
});

test('what an event was made from that nobody trusts is stored with it, and given to the turn that carries it', async () => {
  await using queue = await queueOver();
  const taint = { kind: 'network', target: 'example.org' } as const;
  await queue.events.add('the answer of a job', { ...FROM, taint });
  await queue.events.add('a line of a person', FROM);
  assert.deepEqual((await queue.reread()).take()?.taint, taint);
});

test('a turn takes only stored events', async () => {
  await using queue = await queueOver();
  const adding = queue.events.add('news', FROM);
  assert.equal(queue.events.take(), undefined);
  await adding;
  assert.match(queue.events.take()?.text ?? '', /news$/);
});

test('a requested turn survives a restart, also for a repeat and for a dropped event', async () => {
  await using queue = await queueOver();
  await queue.events.add('first', FROM);
  assert.equal((await queue.reread()).wakes(), undefined);
  await queue.events.add('first', { ...FROM, wakes: 'ada' });
  assert.equal((await queue.reread()).wakes(), 'ada');
  for (let n = 0; n < 25; n += 1) await queue.events.add(`event ${n}`, FROM);
  const reread = await queue.reread();
  assert.deepEqual([reread.texts().length, reread.wakes()], [20, 'ada']);
  assert.equal(reread.take() && reread.wakes(), undefined);
});

test('the number of dropped events is reported, also after a restart', async () => {
  await using queue = await queueOver();
  for (let n = 0; n < 22; n += 1) await queue.events.add(`event ${n}`, FROM);
  const lines = (await queue.reread()).take()?.text.split('\n') ?? [];
  assert.deepEqual(
    [lines.length, lines[0], lines[1]?.slice(-7)],
    [
      21,
      'System: 2 earlier events were dropped: the queue holds at most 20, with 262144 characters in total.',
      'event 2',
    ],
  );
});

test('the oldest events are dropped if all together are too long for a turn', async () => {
  await using queue = await queueOver();
  const long = (n: number) => `${n}`.padEnd(64 * 1024, '.');
  for (let n = 0; n < 5; n += 1) await queue.events.add(long(n), FROM);
  assert.deepEqual(
    queue.events.texts().map((text) => text[0]),
    ['1', '2', '3', '4'],
  );
  await queue.events.add('short', FROM);
  assert.deepEqual(
    (await queue.reread()).texts().map((text) => text[0]),
    ['2', '3', '4', 's'],
  );
  assert.match(queue.events.take()?.text ?? '', /^System: 2 earlier events were dropped/);
});
