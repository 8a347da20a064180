import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIds } from '../../../ids.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../../testing/temp-store.ts';
import { untilTrue } from '../../../testing/until-true.ts';
import { readWaiting } from '../inbox/inbox-rows.ts';
import { PollState } from './poll-state.ts';
import { Poller } from './poller.ts';

test('a server that answers polls at once is asked once a second', async () => {
  const store = await tempStore();
  const clock = fakeClock(1_000_000);
  const state = new PollState(clock);
  let polls = 0;
  const api = {
    async call(method: string) {
      await new Promise(setImmediate);
      if (method === 'getUpdates') polls += 1;
      return method === 'getUpdates' ? [] : { username: 'headgate_bot', url: '' };
    },
  };
  const poller = new Poller({
    bot: () => ({ api: api as never, account: '1', settings: {} as never }), // no other part of them is used
    isConfigured: () => true,
    ...{ state, store, clock },
    onStored: async () => undefined,
    ids: randomIds,
    log: recordingLog(),
  });
  const stop = new AbortController();
  const running = poller.run(stop.signal);
  await untilTrue(() => polls === 2); // the first one asks for no wait
  for (const polled of [3, 4]) {
    await clock.advance(999);
    assert.equal(polls, polled - 1);
    await clock.advance(1);
    await untilTrue(() => polls === polled);
  }
  assert.equal(state.report.state, 'polling');
  stop.abort();
  await running;
  await store.close();
});

test('updates that cannot be read are passed over, and those after them are stored', async () => {
  const store = await tempStore();
  const message = (id: number) => ({ message_id: id, date: 1, chat: { id: 5, type: 'private' }, from: { id: 5 } });
  const answers: unknown[] = [
    [null, { update_id: 'seven' }],
    [
      ...[null, { update_id: 2 ** 53 + 4, message: message(1) }, { update_id: 1.5, message: message(2) }],
      ...[
        { update_id: 3, message: { message_id: 3 } },
        { update_id: 4, callback_query: { id: 'x' } },
      ],
      { update_id: 2, message: message(4) },
    ],
    [],
  ];
  const offsets: unknown[] = [];
  const api = {
    async call(method: string, { offset }: { offset?: number }) {
      await new Promise(setImmediate);
      if (method !== 'getUpdates') return { username: 'headgate_bot', url: '' };
      offsets.push(offset);
      return answers.shift() ?? [];
    },
  };
  const clock = fakeClock(1_000_000);
  const log = recordingLog();
  const state = new PollState(clock);
  const poller = new Poller({
    bot: () => ({ api: api as never, account: '1', settings: {} as never }), // no other part of them is used
    isConfigured: () => true,
    ...{ state, store, clock, log },
    onStored: async () => undefined,
    ids: randomIds,
  });
  const stop = new AbortController();
  const running = poller.run(stop.signal);
  await untilTrue(() => state.report.why !== undefined);
  assert.equal(state.report.why, 'Telegram sent updates without numbers. Check channels.telegram.apiRoot.');
  await clock.advance(1_000);
  await untilTrue(() => offsets.length === 3);
  const stored = await readWaiting(store, { channel: 'telegram', account: '1' });
  stop.abort();
  await running;
  await store.close();
  assert.deepEqual([offsets, stored.map(({ update_id: id }) => id)], [[undefined, undefined, 5], ['2']]);
});

test('while Telegram calls the daemon, failures that are far apart do not add up', async () => {
  const store = await tempStore();
  const clock = fakeClock(1_000_000);
  const state = new PollState(clock);
  const log = recordingLog();
  let checks = 0;
  const api = {
    async call(method: string) {
      await new Promise(setImmediate);
      if (method !== 'getWebhookInfo') return { username: 'headgate_bot' };
      checks += 1;
      if (checks % 2 === 0) throw new Error('no answer');
      return { url: 'https://headgate.example/hook', pending_update_count: 0 };
    },
  };
  const poller = new Poller({
    // no other part of them is used
    bot: () => ({ api: api as never, account: '1', settings: { hookUrl: 'https://headgate.example/hook' } as never }),
    isConfigured: () => true,
    ...{ state, store, clock, log },
    onStored: async () => undefined,
    ids: randomIds,
  });
  const stop = new AbortController();
  const running = poller.run(stop.signal);
  for (let failure = 1; failure <= 3; failure += 1) {
    await untilTrue(() => checks === 2 * failure - 1);
    await settled();
    await clock.advance(30_000);
    await untilTrue(() => checks === 2 * failure);
    await settled();
    await clock.advance(4_000);
  }
  stop.abort();
  await running;
  await store.close();
  const failures = log.fields.flatMap((field) => ('failures' in field ? [field.failures] : []));
  assert.deepEqual(failures, [1, 1, 1]);
});

/** What was begun now waits for the clock. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}
