import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIds } from '../../../ids.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../../testing/temp-store.ts';
import { untilTrue } from '../../../testing/until-true.ts';
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
