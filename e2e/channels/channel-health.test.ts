import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HealthSummary } from '../../protocol/methods/health.ts';
import { startTelegramServer } from '../support/channels/telegram-server.ts';
import { startClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';

const TOKEN = '4242:scripted-bot-token-for-tests';
const botAt = (apiRoot: string, more: object = {}) => ({
  channels: { telegram: { botToken: TOKEN, apiRoot, allowFrom: [101], ...more } },
});

/** Calls until the answer fits; the test runner ends a test that waits in vain. */
async function until<T>(ask: () => Promise<T>, fits: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    await new Promise(setImmediate);
  }
}

test('health, status, /health and the command line show a bot that works, with the times of its messages', async () => {
  await using telegram = await startTelegramServer({ token: TOKEN });
  await using daemon = await startDaemon({ config: botAt(telegram.apiRoot) });
  const ada = telegram.person({ name: 'Ada', id: 101 });
  ada.says('say hello');
  await ada.chat.next();
  await telegram.untilAcknowledged();
  const client = await daemon.client();
  const { channels, telegram: flag } = await until(
    () => client.call('health', {}),
    ({ channels: [row] }) => row?.lastOutAtMs !== undefined && row.waiting === 0,
  );
  const [row] = channels;
  assert.deepEqual(
    [channels.length, flag, row?.channel, row?.state, row?.why, row?.backlog],
    [1, { configured: true }, 'telegram', 'polling', undefined, 0],
  );
  assert.ok((row?.lastInAtMs ?? 0) <= (row?.lastOutAtMs ?? 0) && row?.lastPollAtMs !== undefined);
  const status = await client.call('status', {});
  assert.deepEqual(status.channels[0], row);
  assert.ok(status.providerSummary.includes('telegram: polling'));
  const { body } = await daemon.get('/health');
  const iso = (ms = 0) => new Date(ms).toISOString();
  assert.deepEqual(body.channels, [
    {
      ...{
        channel: 'telegram',
        state: 'polling',
        why: '',
        since: iso(row?.sinceMs),
        last_poll: iso(row?.lastPollAtMs),
      },
      ...{ last_in: iso(row?.lastInAtMs), last_out: iso(row?.lastOutAtMs), backlog: 0, waiting: 0 },
    },
  ]);
  const { stdout } = await runHeadgate(['status'], { HEADGATE_HOME: daemon.home });
  assert.match(stdout, /^Telegram polling \(since .*\), last message in .* ago, out .* ago; backlog 0, waiting 0$/m);
});

test('a token that Telegram refuses, and a job for a channel that is not set up, are told everywhere', async () => {
  await using telegram = await startTelegramServer({ token: '7:another-token-of-the-scripted-bot' });
  await using daemon = await startDaemon({ config: botAt(telegram.apiRoot) });
  const client = await daemon.client();
  const job = {
    schedule: { kind: 'every', everyMs: 3_600_000 },
    sessionTarget: 'isolated',
    wakeMode: 'next-heartbeat',
    name: 'Morning',
    tellMain: false,
  } as const;
  const payload = { kind: 'agentTurn', message: 'x', deliver: true, to: '1' } as const;
  await assert.rejects(
    client.call('cron.add', { ...job, payload: { ...payload, channel: 'pigeon' }, idempotencyKey: 'a' }),
    {
      code: 'INVALID_REQUEST',
    },
  );
  const { id } = await client.call('cron.add', {
    ...job,
    payload: { ...payload, channel: 'whatsapp' },
    idempotencyKey: 'b',
  });
  await assert.rejects(client.call('cron.update', { id, patch: { payload: { ...payload, channel: 'pigeon' } } }), {
    code: 'INVALID_REQUEST',
  });
  await client.call('cron.run', { id, mode: 'force' });
  const { entries } = await client.call('cron.runs', { id });
  const unlinked = 'whatsapp is not set up; add it to config.json under channels.whatsapp';
  assert.deepEqual([entries[0]?.status, entries[0]?.error], ['error', unlinked]);
  await assert.rejects(client.call('send', { provider: 'whatsapp', to: '1', message: 'x', idempotencyKey: 'c' }), {
    code: 'NOT_LINKED',
    message: unlinked,
  });
  const { notices } = await until(
    () => client.call('health', {}),
    ({ channels: [row] }) => row?.state === 'error',
  );
  const told = notices.filter(({ code }) => code.startsWith('channel_'));
  assert.deepEqual(
    told.map(({ code, level }) => [code, level]),
    [
      ['channel_down', 'error'],
      ['channel_missing', 'warning'],
    ],
  );
  assert.match(told[0]?.text ?? '', /^Telegram does not work until its settings change\. .*\(40[14]\)\.$/);
  const { providerSummary } = await client.call('status', {});
  const { stdout } = await runHeadgate(['status'], { HEADGATE_HOME: daemon.home });
  for (const { text } of told) assert.ok(providerSummary.includes(text) && stdout.includes(`! ${text}`), text);
});

test('a bot that cannot be polled for the time of the settings is told once, and once when it works again', async () => {
  await using telegram = await startTelegramServer({ token: TOKEN });
  await using daemon = await startClockedDaemon(botAt(telegram.apiRoot, { alertMinutes: 2 }));
  await telegram.call('getUpdates');
  const client = await daemon.connect();
  const notices = async () =>
    HealthSummary.parse(await client.call('health', {})).notices.filter(({ code }) => code === 'channel_down');
  await telegram.goAway();
  for (let ms = 0; ms < 110_000; ms += 10_000) await daemon.clock.advance(10_000);
  assert.deepEqual(await notices(), []);
  const [notice] = await until(
    async () => {
      await daemon.clock.advance(2_000);
      return notices();
    },
    ({ length }) => length > 0,
  );
  assert.match(notice?.text ?? '', /^No messages have come from Telegram for 2 minutes, because it cannot be asked/);
  await daemon.clock.advance(60_000);
  await telegram.comeBack();
  telegram.person({ name: 'Ada', id: 101 }).says('hello');
  await until(
    async () => {
      await daemon.clock.advance(2_000);
      return notices();
    },
    ({ length }) => length === 0,
  );
  const told = daemon.log.lines.filter(([, message]) => message.startsWith('a chat service needs'));
  assert.deepEqual(
    told.map(([level, message]) => [level, message]),
    [
      ['warn', 'a chat service needs attention'],
      ['info', 'a chat service needs no attention any more'],
    ],
  );
});
