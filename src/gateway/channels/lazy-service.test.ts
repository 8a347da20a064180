import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { createLazyService, type LoadedService } from './lazy-service.ts';

function setUp() {
  const happened: string[] = [];
  let isSetUp = false;
  let failures = 0;
  const service: LoadedService = {
    report: () => ({ state: 'polling', sinceMs: 7 }),
    backlog: () => 3,
    check: async () => ({ account: '1', bot: 'b' }),
    drop: async (senderId) => void happened.push(`drop ${senderId}`),
    look: () => void happened.push('look'),
    run: async () => void happened.push('run'),
    close: async () => void happened.push('close'),
  };
  const lazy = createLazyService({
    service: { channel: 'telegram', label: 'Telegram' },
    isSetUp: () => isSetUp,
    alertMs: () => undefined,
    async load() {
      happened.push('load');
      failures -= 1;
      if (failures >= 0) throw new Error('cannot be loaded');
      return service;
    },
    clock: fakeClock(5),
  });
  return {
    ...{ happened, lazy },
    setUp: ({ failing = 0 } = {}) => {
      isSetUp = true;
      failures = failing;
    },
  };
}

test('a service that is not set up is not loaded, by no look, by no end', async () => {
  const { lazy, happened } = setUp();
  const stop = new AbortController();
  const running = lazy.run(stop.signal);
  lazy.look();
  assert.deepEqual([lazy.report(), lazy.backlog(), await lazy.hook()], [{ state: 'off', sinceMs: 5 }, 0, undefined]);
  stop.abort();
  await running;
  await lazy.close();
  assert.deepEqual(happened, []);
});

test('a service is loaded once, as soon as it is set up, and runs then', async () => {
  const { lazy, happened, setUp: configure } = setUp();
  const running = lazy.run(new AbortController().signal);
  configure();
  assert.equal(lazy.report().state, 'connecting');
  lazy.look();
  await running;
  await lazy.drop('9');
  lazy.look();
  await lazy.close();
  assert.deepEqual(happened, ['load', 'run', 'drop 9', 'look', 'close']);
  assert.deepEqual([lazy.report().state, lazy.backlog()], ['polling', 3]);
});

test('a service that could not be loaded is loaded again when it is needed again', async () => {
  const { lazy, happened, setUp: configure } = setUp();
  configure({ failing: 1 });
  await assert.rejects(lazy.drop('7'), /cannot be loaded/);
  await lazy.close();
  await lazy.drop('7');
  assert.deepEqual(happened, ['load', 'load', 'drop 7']);
});
