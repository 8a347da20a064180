import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import type { Fault } from '../support/channels/telegram/scripted-faults.ts';
import { startTelegramServer } from '../support/channels/telegram-server.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { startSpanReceiver } from '../support/daemon/span-receiver.ts';
import { pause, within } from '../support/deadline.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { type BadRoot, startBadRoots } from './attacks/bad-roots.ts';
import { WRONG_CERTIFICATE } from './attacks/wrong-certificate.ts';

const SECRET = 'CANARY-of_the_bot_0123456789abcdef';
const TOKEN = `4242:${SECRET}`;
const OTHER_SECRET = 'OTHERCANARY_of_a_bot_0123456789';
const ADA = 101;

/** The secret, and what it becomes in addresses and encodings. */
const TRACES = [SECRET, OTHER_SECRET].flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').slice(0, -2),
  Buffer.from(`4242:${secret}`).toString('base64').slice(0, -2),
  Buffer.from(secret).toString('hex'),
]);

const leaksIn = (seen: Record<string, string>): string[] =>
  Object.entries(seen).flatMap(([name, text]) => TRACES.filter((trace) => text.includes(trace)).map(() => name));

/** Every fault of a call that an answer can have. */
const FAULTS: Fault[] = [
  { kind: 'bad-gateway' },
  { kind: 'reset' },
  { kind: 'truncated' },
  { kind: 'cut' },
  { kind: 'conflict' },
  { kind: 'refuse', description: `no such address: /bot${TOKEN}/sendMessage` },
];

async function untilState(client: GatewayClient, fits: (row: { state: string; why?: string | undefined }) => boolean) {
  const wait = async () => {
    for (;;) {
      const [row] = (await client.call('channel.list', {})).channels;
      if (row && fits(row)) return row;
      await pause(30); // no event tells it
    }
  };
  return within(wait(), 60_000, () => `a state that fits ${fits}`);
}

/** All files of the home, without the one in which the person wrote the token, and its copy. */
async function filesOf(home: string): Promise<Record<string, string>> {
  const names = await readdir(home, { recursive: true, withFileTypes: true });
  const files = names.filter((file) => file.isFile() && !/^config\.json(?:\.bak)?$/.test(file.name));
  const read = files.map(async ({ parentPath, name }) => {
    const file = path.join(parentPath, name);
    return [file, (await readFile(file)).toString('latin1')] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

/** Everything that the daemon tells about itself. */
async function tell(client: GatewayClient): Promise<Record<string, string>> {
  const { workstreams } = await client.call('workstream.list', {});
  const wsId = workstreams.find(({ name }) => name === 'Telegram: Ada')?.wsId ?? assert.fail('Ada has no workstream');
  const calls = {
    'config.get': await client.call('config.get', {}),
    'channel.list': await client.call('channel.list', {}),
    'channel.sender.list': await client.call('channel.sender.list', {}),
    'channel.part.list': await client.call('channel.part.list', {}),
    'audit.list': await client.call('audit.list', {}),
    'logs.tail': await client.call('logs.tail', {}),
    status: await client.call('status', {}),
    health: await client.call('health', {}),
    'workstream.export': await client.call('workstream.export', { wsId }),
    'workstream.list': workstreams,
  };
  return Object.fromEntries(Object.entries(calls).map(([name, answer]) => [name, JSON.stringify(answer)]));
}

/** What people are told when the bot is there. */
async function tellOf(client: GatewayClient, { name, state, why }: BadRoot, telegram: object) {
  const { hash } = await client.call('config.get', {});
  await client.call('config.patch', { raw: JSON.stringify({ channels: { telegram } }), baseHash: hash ?? '' });
  const row = await untilState(client, (now) => now.state === state && why.test(now.why ?? ''));
  const test = (token: object) =>
    client.call('channel.test', { channel: 'telegram', ...token }).then(
      (answer) => JSON.stringify(answer),
      (error: unknown) => `${String(error)} ${JSON.stringify(error)}`,
    );
  return {
    [`state with ${name}`]: JSON.stringify(row),
    [`channel.test with ${name}`]: await test({}),
    [`channel.test with ${name}, another token`]: await test({ token: `4242:${OTHER_SECRET}` }),
  };
}

test('the token of the bot is nowhere, whatever goes wrong at Telegram', { timeout: 120_000 }, async () => {
  await using telegram = await startTelegramServer({ token: TOKEN });
  await using model = await startScriptedModel();
  await using receiver = await startSpanReceiver();
  await using bad = await startBadRoots();
  const bot = (apiRoot: string) => ({ botToken: TOKEN, apiRoot, allowFrom: [ADA], approvers: [ADA] });
  model.onRequest(() => say('Taken.'));
  await using daemon = await startDaemon({
    model: model.url,
    config: { logLevel: 'debug', otel: { endpoint: receiver.url }, channels: { telegram: bot(telegram.apiRoot) } },
  });
  const authority = path.join(daemon.home, 'authority.pem');
  await writeFile(authority, WRONG_CERTIFICATE.cert);
  await daemon.restart({ env: { NODE_EXTRA_CA_CERTS: authority } });
  const client = await daemon.client();
  const ada = telegram.person({ name: 'Ada', id: ADA });
  const said: Record<string, string> = {};

  for (const [index, fault] of FAULTS.entries()) {
    await untilState(client, ({ state }) => state === 'polling');
    const countOf = (method: string) => telegram.callsOf(method).length;
    const [connects, polls, sends] = [countOf('getMe'), countOf('getUpdates'), countOf('sendMessage')];
    telegram.faults.add('sendMessage', fault, { chat: ADA });
    const isPollTroubled = index % 2 === 1; // each costs a second
    if (isPollTroubled) telegram.faults.add('getUpdates', fault);
    ada.says(`message ${index}`);
    await telegram.call('sendMessage', sends + 1);
    if (!isPollTroubled) continue;
    await telegram.call('getUpdates', polls + 1);
    ada.says(`more ${index}`); // a poll whose answer is spoilt ends only when there is something to answer
    await telegram.call('getMe', connects + 1); // it connects again
    await telegram.call('sendMessage', sends + 2);
  }
  for (const root of bad.roots) Object.assign(said, await tellOf(client, root, bot(root.url)));
  assert.deepEqual(bad.reached, [], 'the token went where it was redirected, or to a host with a wrong certificate');

  Object.assign(said, await tell(client));
  said['/metrics'] = await (await daemon.fetch('/metrics')).text();
  const doctor = await runHeadgate(['doctor', '--json', '--home', daemon.home]);
  said['doctor'] = `${doctor.stdout}${doctor.stderr}`;
  const list = await runHeadgate(['channel', 'list', '--json', '--home', daemon.home]);
  said['headgate channel list'] = `${list.stdout}${list.stderr}`;
  await daemon.stop();
  Object.assign(said, daemon.output());
  said['spans'] = JSON.stringify(receiver.spans);
  said['requests to the model'] = JSON.stringify(model.requests.map(({ body }) => body));
  said['chats'] = JSON.stringify(telegram.rooms.map(({ texts }) => texts));
  assert.deepEqual(leaksIn({ ...said, ...(await filesOf(daemon.home)) }), []);
  // The check can fail: these places have the public part of the token, or tell of the failures.
  const config = await readFile(path.join(daemon.home, 'config.json'), 'utf8');
  assert.ok(leaksIn({ config }).length > 0);
  assert.match(said['stderr'] ?? '', /telegram could not be polled/);
  assert.ok(receiver.spans.length > 0);
  assert.deepEqual(
    Object.keys(said).filter((name) => said[name] === ''),
    [],
  );
});

test('commands of the agent do not see the token in the environment', async () => {
  await using telegram = await startTelegramServer({ token: TOKEN });
  await using model = await startScriptedModel();
  const telegramSettings = {
    botTokenEnv: 'TELEGRAM_BOT_TOKEN',
    apiRoot: telegram.apiRoot,
    allowFrom: [ADA],
    approvers: [ADA],
  };
  await using daemon = await startDaemon({
    model: model.url,
    env: { TELEGRAM_BOT_TOKEN: TOKEN },
    config: { logLevel: 'debug', channels: { telegram: telegramSettings } },
  });
  const ada = telegram.person({ name: 'Ada', id: ADA });
  const look = 'env; cat /proc/self/environ /proc/$PPID/environ ../config.json; tr "\\\\0" "\\n" < /proc/1/environ';
  model.when('look', callTools({ name: 'bash', arguments: { command: look } }), say('Looked.'));
  ada.says('look');
  await ada.chat.until(({ text }) => text.includes('May I do this?'));
  await ada.presses('✅ Approve');
  await ada.chat.until(({ text }) => text === 'Looked.');
  const requests = JSON.stringify(model.requests.map(({ body }) => body));
  assert.match(requests, /PATH=/);
  await daemon.stop();
  assert.deepEqual(leaksIn({ requests, ...daemon.output(), ...(await filesOf(daemon.home)) }), []);
});
