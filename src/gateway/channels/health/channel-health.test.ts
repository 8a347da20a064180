import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Notice, warn } from '../../../../protocol/notice.ts';
import { recordingLog, tempStore } from '../../../testing/temp-store.ts';
import { insertDelivery } from '../delivery-rows.ts';
import { putChat } from '../inbox/chat-rows.ts';
import { ChannelHealth } from './channel-health.ts';
import type { WatchedChannel } from './watched-channel.ts';

const MINUTE_MS = 60_000;
type Report = ReturnType<WatchedChannel['report']>;

/** A service with a report that the test changes; `alertMs` undefined: it is not polled. */
async function setUp({
  label = 'Telegram',
  alertMs = 10 * MINUTE_MS,
}: {
  label?: string;
  alertMs?: number | null;
} = {}) {
  const store = await tempStore();
  const log = recordingLog();
  const world = { report: { state: 'polling', sinceMs: 5 } as Report, jobs: [] as Notice[] };
  const channel = label.toLowerCase();
  const service: WatchedChannel = {
    ...{ channel, label, backlog: () => 2, alertMs: () => alertMs ?? undefined },
    report: () => world.report,
  };
  const health = new ChannelHealth({ services: [service], jobNotices: () => world.jobs, store, log });
  return {
    ...{ world, store, health },
    /** What people are told after a look with this report. */
    async sees(report: Report): Promise<string[]> {
      world.report = report;
      await health.look();
      return health.notices().map(({ code, text }) => `${code}: ${text}`);
    },
    logged: () => log.lines.map(([level, message]) => `${level} ${message}`),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

const NEEDS = 'warn a chat service needs attention';
const WELL = 'info a chat service needs no attention any more';

test('polls that fail for the time of the settings are told once, with the reason, and once more when one succeeds', async () => {
  await using stage = await setUp();
  const failing = (silentMs: number): Report => ({ state: 'connecting', sinceMs: 5, why: 'Refused.', silentMs });
  assert.deepEqual(await stage.sees(failing(10 * MINUTE_MS - 1)), []);
  const told = [
    'channel_down: No messages have come from Telegram for 10 minutes, because it cannot be asked for them. Refused.',
  ];
  assert.deepEqual(await stage.sees(failing(10 * MINUTE_MS)), told);
  assert.deepEqual(await stage.sees({ ...failing(11 * MINUTE_MS), why: 'Timeout.' }), told, 'the text stays');
  assert.deepEqual(stage.logged(), [NEEDS]);
  assert.deepEqual(await stage.sees({ state: 'polling', sinceMs: 9, silentMs: 0 }), []);
  assert.deepEqual(stage.logged(), [NEEDS, WELL]);
});

test('a token that is refused is told at once, and until a poll succeeds with other settings', async () => {
  await using stage = await setUp();
  const why = 'Telegram does not accept the bot token (401).';
  const told = [`channel_down: Telegram does not work until its settings change. ${why}`];
  assert.deepEqual(await stage.sees({ state: 'error', sinceMs: 5, why }), told);
  assert.deepEqual(await stage.sees({ state: 'connecting', sinceMs: 6, silentMs: 0 }), told);
  assert.deepEqual(await stage.sees({ state: 'polling', sinceMs: 7, silentMs: 0 }), []);
  assert.deepEqual(stage.logged(), [NEEDS, WELL]);
});

test('a conflict is told when it lasts for a minute, also while polls succeed between its parts', async () => {
  await using stage = await setUp();
  const conflict = (conflictMs: number): Report => ({ state: 'conflict', sinceMs: 5, why: 'x', conflictMs });
  assert.deepEqual(await stage.sees(conflict(MINUTE_MS - 1)), []);
  const [told = ''] = await stage.sees(conflict(MINUTE_MS));
  assert.match(told, /^channel_conflict: Another program receives messages of the bot at Telegram/);
  assert.deepEqual(await stage.sees({ ...conflict(MINUTE_MS), state: 'polling' }), [told]);
  assert.deepEqual(await stage.sees({ state: 'polling', sinceMs: 5 }), []);
  assert.deepEqual(stage.logged(), [NEEDS, WELL]);
});

test('a service that calls the daemon is never silent, and one that is off is not shown', async () => {
  await using stage = await setUp({ label: 'WhatsApp', alertMs: null });
  assert.deepEqual(await stage.sees({ state: 'polling', sinceMs: 5, silentMs: 1e12 }), []);
  assert.equal(stage.health.rows().length, 1);
  assert.deepEqual(await stage.sees({ state: 'off', sinceMs: 5 }), []);
  assert.deepEqual([stage.health.rows(), stage.logged()], [[], []]);
});

test('a row has the times of the last messages, and what waits; notices about jobs follow those about services', async () => {
  await using stage = await setUp();
  const chat = { channel: 'telegram', kind: 'dm', session_key: 'k', ws_id: 'w', title: 't', last_sender: '1' } as const;
  const message = { provider: 'telegram', to: '1', message: 'hi', from: 'ada', acceptedMs: 9 };
  await stage.store.commit({
    statements: [
      putChat({ ...chat, chat: '1', last_in_ms: 70, last_out_ms: 40, owes_notice: 0, created_ms: 1 }),
      putChat({ ...chat, chat: '2', last_in_ms: 30, last_out_ms: 80, owes_notice: 0, created_ms: 1 }),
      ...['a', 'b'].map((messageId) => insertDelivery({ ...message, messageId })),
      insertDelivery({ ...message, messageId: 'c', provider: 'webhook' }),
    ],
  });
  stage.world.jobs = [warn('channel_missing', 'jobs')];
  const told = await stage.sees({ state: 'error', sinceMs: 5, why: 'No token.', lastPollMs: 4 });
  assert.deepEqual(told, [
    'channel_down: Telegram does not work until its settings change. No token.',
    'channel_missing: jobs',
  ]);
  assert.deepEqual(stage.health.rows(), [
    {
      ...{ channel: 'telegram', state: 'error', why: 'No token.', sinceMs: 5, lastPollAtMs: 4, backlog: 2 },
      ...{ lastInAtMs: 70, lastOutAtMs: 80, waiting: 2 },
    },
  ]);
});
