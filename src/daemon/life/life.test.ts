import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordingLog } from '../../testing/temp-store.ts';
import type { Daemon, DaemonOptions } from '../daemon-options.ts';
import { beginLife } from './life.ts';

const serving = (shutdown: Daemon['shutdown']): Daemon => ({
  ...{ url: 'http://127.0.0.1:1', port: 1, workdir: '/w', notices: [], notSandboxed: undefined },
  model: { alias: 'a', provider: 'p', modelId: 'm' },
  shared: { epoch: 1, drain: async () => undefined },
  shutdown,
  loginLink: async () => ({ url: 'link', expiresAtMs: 1 }),
  descriptor: () => 1,
});

test('a second signal to hand over does not concern the next daemon of the process', async () => {
  const started: Parameters<Parameters<typeof beginLife>[0]['start']>[0][] = [];
  const stops: string[] = [];
  const life = beginLife({
    start: async (how) => {
      started.push(how);
      return serving(async (why) => void stops.push(why));
    },
    standby: { signal: new AbortController().signal, onWaiting: async () => undefined },
  });
  await life.daemon();
  const isReady = Promise.withResolvers<void>();
  const log = recordingLog();
  void life.follow({ end: () => assert.fail('it ends'), onReady: async () => isReady.resolve(), log });
  started[0]?.onOver('drained');
  await new Promise(setImmediate); // it is being followed
  started[0]?.onOver('drained');
  started[0]?.onOver('replaced');
  await isReady.promise;
  await new Promise(setImmediate);
  assert.deepEqual([started.length, stops], [2, ['another daemon takes over']]);
});

test('a daemon that handed over and cannot start again ends with 1, and says why', async () => {
  const started: Parameters<Parameters<typeof beginLife>[0]['start']>[0][] = [];
  const log = recordingLog();
  const life = beginLife({
    start: (how) => {
      started.push(how);
      return started.length === 1
        ? Promise.resolve(serving(async () => undefined))
        : Promise.reject(new Error('the database is away'));
    },
    standby: { signal: new AbortController().signal, onWaiting: async () => undefined },
  });
  await life.daemon();
  const ends: unknown[] = [];
  const following = life.follow({
    end: (why, code) => void ends.push([why, code]),
    onReady: () => assert.fail('it serves'),
    log,
  });
  started[0]?.onOver('drained' satisfies Parameters<DaemonOptions['onOver']>[0]);
  await following;
  assert.deepEqual(ends, [
    ['This daemon could not become active again. It ends; start it again to make it a standby.', 1],
  ]);
});

test('a daemon that cannot go on ends with 1, and says why it cannot', async () => {
  for (const [why, words] of [
    ['replaced', /Another daemon has taken over/],
    ['forgotten', /lacks changes that it had confirmed/],
  ] as const) {
    let onOver: DaemonOptions['onOver'] = () => undefined;
    const life = beginLife({
      start: async (how) => {
        ({ onOver } = how);
        return serving(async () => undefined);
      },
      standby: undefined,
    });
    const ends: [why: string, code: number][] = [];
    const end = (...ended: (typeof ends)[number]) => void ends.push(ended);
    const following = life.follow({ end, onReady: async () => undefined, log: recordingLog() });
    onOver(why);
    await following;
    assert.deepEqual(
      ends.map(([, code]) => code),
      [1],
    );
    assert.match(ends[0]?.[0] ?? '', words);
  }
});
