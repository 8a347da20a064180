import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../../testing/temp-store.ts';
import { createRetention } from '../../store/retention.ts';
import type { Store } from '../../store/store.ts';
import { insertDelivery } from '../delivery-rows.ts';
import { endUpdate, storeUpdates } from '../inbox/inbox-rows.ts';
import { insertChunks, updateChunk } from './chunk-rows.ts';
import { forgetChats } from './forget-chats.ts';

const DAY_MS = 86_400_000;
const NOW_MS = 100 * DAY_MS;
const never = new AbortController().signal;
const OF = { channel: 'telegram', account: '42' };

const update = (updateId: string, daysAgo: number) =>
  storeUpdates(OF, [{ updateId, chat: '1', senderId: '1', body: {} }], NOW_MS - daysAgo * DAY_MS);
const ended = (updateId: string) =>
  endUpdate({ ...OF, update_id: updateId }, { state: 'answered', nowMs: NOW_MS - 50 * DAY_MS });
const part = (messageId: string, daysAgo: number) => {
  const atMs = NOW_MS - daysAgo * DAY_MS;
  return [
    ...insertChunks({ channel: 'telegram', messageId, to: '1' }, [{ formatted: 'x', plain: 'x' }], atMs),
    updateChunk({ message_id: messageId, chunk: 0 }, { state: 'accepted', providerId: '7' }, atMs),
  ];
};

const left = async ({ db }: Pick<Store, 'db'>) => ({
  updates: (await db.selectFrom('channel_inbox').select('update_id').orderBy('position').execute()).map(
    ({ update_id: id }) => id,
  ),
  parts: (await db.selectFrom('channel_chunks').select('message_id').orderBy('message_id').execute()).map(
    ({ message_id: id }) => id,
  ),
});

test('ended updates and parts go after the days of the settings; what waits stays, however old', async () => {
  await using store = await tempStore();
  const message = { provider: 'telegram', to: '1', message: 'x', from: 'ada', acceptedMs: 1, messageId: 'half sent' };
  await store.commit({
    statements: [
      ...[...update('old', 31), ended('old'), ...update('new', 29), ended('new'), ...update('stuck', 90)],
      ...[...part('old', 31), ...part('new', 29), ...part('half sent', 31), insertDelivery(message)],
    ],
  });
  await forgetChats(store, { nowMs: NOW_MS, days: 30, signal: never });
  assert.deepEqual(await left(store), { updates: ['new', 'stuck'], parts: ['half sent', 'new'] });
});

test('updates stay for eight days, so that one that comes again is recognised, however few days are set', async () => {
  await using store = await tempStore();
  await store.commit({
    statements: [
      ...[...update('7 days', 7.9), ended('7 days'), ...update('9 days', 8.1), ended('9 days'), ...part('part', 2)],
    ],
  });
  await forgetChats(store, { nowMs: NOW_MS, days: 1, signal: never });
  await store.commit({ statements: update('7 days', 0) });
  const rows = await store.db.selectFrom('channel_inbox').select(['update_id', 'state']).execute();
  assert.deepEqual(rows, [{ update_id: '7 days', state: 'answered' }], 'it is not handled again');
  assert.deepEqual((await left(store)).parts, []);
});

test('100 000 old rows go in steps of a thousand, and an end of the daemon ends them', async () => {
  await using store = await tempStore();
  await store.commit({
    statements: [
      {
        sql: `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
              INSERT INTO channel_inbox (channel, account, update_id, chat, sender_id, state, received_ms, ended_ms)
              SELECT 'telegram', '42', i, '1', '1', 'accepted', i, i FROM n`,
        parameters: [],
      },
    ],
  });
  const countLeft = async () =>
    Number(
      (
        await store.db
          .selectFrom('channel_inbox')
          .select(({ fn }) => fn.countAll().as('count'))
          .executeTakeFirst()
      )?.count,
    );
  const stop = new AbortController();
  let steps = 0;
  const counting: Pick<Store, 'db' | 'commit'> = {
    db: store.db,
    commit(unit) {
      steps += 1;
      if (steps === 10) stop.abort();
      return store.commit(unit);
    },
  };
  await forgetChats(counting, { nowMs: NOW_MS, days: 30, signal: stop.signal });
  assert.deepEqual([steps, await countLeft()], [10, 90_000]);
  await forgetChats(counting, { nowMs: NOW_MS, days: 30, signal: never });
  assert.deepEqual([steps, await countLeft()], [100, 0]);
});

test('the daily removal of old rows includes them', async () => {
  await using store = await tempStore();
  await store.commit({ statements: [...update('old', 31), ended('old'), ...part('old', 31)] });
  const { log, clock } = { log: recordingLog(), clock: fakeClock(NOW_MS) };
  await createRetention({ store, clock, log, live: { retentionDays: 30 }, isBeingMade: () => false }).sweep(never);
  assert.deepEqual(await left(store), { updates: [], parts: [] });
});
