import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { closeServer, listen } from '../../src/listen.ts';
import { startTelegramServer } from '../support/channels/telegram-server.ts';
import { askApi, told } from '../support/clients/ask-api.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say } from '../support/model/scripted-steps.ts';

const TOKEN = '4242:scripted-bot-token-for-tests';
const telegram = await startTelegramServer({ token: TOKEN });
after(() => telegram[Symbol.asyncDispose]());
/** The first message is refused; later ones wait for their answer. */
let held = 0;
const hook = createServer((_, response) => {
  held += 1;
  if (held === 1) response.writeHead(410).end();
});
const port = await listen(hook, { host: '127.0.0.1', port: 0 });
after(() => {
  hook.closeAllConnections();
  return closeServer(hook);
});

const { daemon, model } = await openStage({
  config: {
    channels: {
      telegram: { botToken: TOKEN, apiRoot: telegram.apiRoot },
      webhook: { ops: { url: `http://127.0.0.1:${port}/`, secret: 'sixteen letters!' } },
    },
  },
});
const { token } = daemon;
type Asked = NonNullable<Parameters<typeof askApi>[2]>;
const ask = (method: string, path: string, asked: Asked = {}) => askApi(daemon, [method, path], { token, ...asked });
const client = await daemon.client();

const CODE = /[A-Z0-9]{5}-[A-Z0-9]{5}/;
let people = 500;
/** Somebody who has written, with the code that the bot gave. */
async function newStranger(name: string) {
  people += 1;
  const person = telegram.person({ name, id: people });
  person.says('let me in');
  const [code = ''] = CODE.exec((await person.chat.next()).text) ?? [];
  return { person, code, id: String(people) };
}
const pair = (code: string, more: object = {}) =>
  ask('POST', 'admin/channels/telegram/pair', { body: { code, ...more } });
const PASSWORD = 'correct horse';
/** Somebody with one role: a built-in one, or a new one with these permissions. */
async function newUser(username: string, role: string | string[]) {
  const made = { name: `role-of-${username}`, permissions: typeof role === 'string' ? '' : role.join(',') };
  const roleId = typeof role === 'string' ? role : (await ask('POST', 'admin/roles', { body: made })).body.role_id;
  const person = { username, display_name: username, password: PASSWORD, roles: [roleId] };
  const { body } = await ask('POST', 'admin/users', { body: person });
  const login = await ask('POST', 'auth/login', { body: { username, password: PASSWORD } });
  return { id: body.user_id, jwt: login.body.jwt };
}
const sendersOf = async () => (await ask('GET', 'admin/channels/senders')).body.senders;
const senderOf = async (id: string) =>
  (await sendersOf()).find(({ sender_id }: { sender_id: string }) => sender_id === id);

test('The channels must be listed with their states, and webhooks with what became of the messages to them', async () => {
  const { code } = await newStranger('Wanda');
  await telegram.untilAcknowledged();
  const notify = (message: string) => client.call('send', { to: 'ops', message, idempotencyKey: message });
  await notify('disk is full');
  await notify('disk is fuller');
  while (held < 2) await once(hook, 'request'); // the first has ended when the second arrives
  const { channels, notifications } = (await ask('GET', 'channels')).body;
  const { since, last_poll, last_in, last_out, ...rest } = channels[0];
  assert.deepEqual(rest, {
    ...{ channel: 'telegram', state: 'polling', why: '', bot: 'headgate_bot' },
    ...{ backlog: 0, waiting: 0, pending: 1, blocked: 1 },
  });
  assert.ok(Date.parse(since) <= Date.parse(last_poll), `${since} ${last_poll}`);
  assert.deepEqual([last_in, last_out], [null, null], 'nobody may write yet');
  const row = { channel: 'webhook', name: 'ops', waiting: 1, failed: 1, last_out: null };
  assert.deepEqual(notifications, [{ ...row, why: 'HTTP 410' }]);
  const viewer = (await newUser('vera', 'builtin-viewer')).jwt;
  const seen = await ask('GET', 'channels', { token: viewer });
  assert.deepEqual([seen.status, seen.body.notifications], [200, [{ ...row, why: '' }]]);
  assert.equal((await pair(code)).status, 200);
});

test('A code must approve the person who received it, once; an unknown code must answer 404', async () => {
  const { person, code, id } = await newStranger('Eve');
  const { sender_id, name, status, user_id, code_expires, updated, blocked } = await senderOf(id);
  assert.deepEqual([sender_id, name, status, user_id, blocked], [id, 'Eve', 'pending', null, 1]);
  assert.equal(Date.parse(code_expires) - Date.parse(updated), 3_600_000);
  const unknown = 'Unknown code. A code is valid for one hour; the person gets a new one by writing again.';
  assert.deepEqual(told(await pair('AAAAA-AAAAA')), [404, unknown]);
  assert.deepEqual(told(await pair('')), [400, 'code: must not be empty']);
  assert.deepEqual(told(await pair(code, { username: 'nobody' })), [404, 'Unknown user']);
  const { id: userId } = await newUser('eva', 'builtin-operator');
  const paired = await pair(code.toLowerCase(), { username: 'eva' });
  assert.deepEqual([paired.status, paired.body], [200, { channel: 'telegram', sender_id: id, name: 'Eve' }]);
  assert.deepEqual(told(await pair(code)), [404, unknown]);
  const approved = await senderOf(id);
  assert.deepEqual([approved.status, approved.user_id, approved.code_expires], ['approved', userId, null]);
  model.when('hello from Eve', say('Welcome.'));
  person.says('hello from Eve');
  await person.chat.until(({ text }) => text === 'Welcome.');
});

test('A revoked person must be listed as `revoked`, and must not be answered any more', async () => {
  const { person, code, id } = await newStranger('Rob');
  await pair(code);
  model.when('hello from Rob', say('Hello, Rob.'));
  person.says('hello from Rob');
  await person.chat.until(({ text }) => text === 'Hello, Rob.');
  const revoked = await ask('DELETE', `admin/channels/telegram/senders/${id}`);
  assert.deepEqual([revoked.status, revoked.body], [200, { status: 'ok' }]);
  const before = model.requests.length;
  person.says('hello from Rob');
  await telegram.untilAcknowledged();
  const { status } = await senderOf(id);
  assert.deepEqual([status, model.requests.length - before], ['revoked', 0]);
  assert.deepEqual(person.chat.texts.slice(1), ['Hello, Rob.']);
});

test('A person who was restored must get a new code with the next message; to restore somebody who is not revoked must change nothing', async () => {
  const { person, code, id } = await newStranger('Ron');
  const restore = async () => {
    const { status, body } = await ask('POST', `admin/channels/telegram/senders/${id}/restore`);
    return [status, body, (await senderOf(id)).status];
  };
  await pair(code);
  assert.deepEqual(await restore(), [200, { restored: false }, 'approved']);
  await ask('DELETE', `admin/channels/telegram/senders/${id}`);
  assert.deepEqual(await restore(), [200, { restored: true }, 'restored']);
  person.says('may I come back?');
  const { text } = await person.chat.until((message) => CODE.test(message.text) && !message.text.includes(code));
  assert.equal((await pair(CODE.exec(text)?.[0] ?? '')).status, 200);
  model.when('hello from Ron', say('Hello again.'));
  person.says('hello from Ron');
  await person.chat.until((message) => message.text === 'Hello again.');
});

test('The parts of messages must be listed newest first, with the ids of the service and the reasons of failures', async () => {
  const { person, code, id } = await newStranger('Lou');
  await pair(code);
  model.when('tell Lou', say('Arrived.'));
  person.says('tell Lou');
  const { messageId } = await person.chat.until(({ text }) => text === 'Arrived.');
  telegram.faults.add('sendMessage', { kind: 'refuse', description: 'message is unwelcome' }, { chat: Number(id) });
  model.when('tell Lou in vain', say('Refused.'));
  model.when('tell Lou again', say('Arrived again.'));
  person.says('tell Lou in vain');
  person.says('tell Lou again');
  await person.chat.until(({ text }) => text === 'Arrived again.');
  const { deliveries } = (await ask('GET', 'admin/channels/deliveries')).body;
  const [, refused, first] = deliveries.filter(({ to }: { to: string }) => to === id);
  const { message_id, updated, reason, ...rest } = refused;
  assert.deepEqual(rest, { channel: 'telegram', to: id, part: 0, state: 'failed', provider_id: null, receipt: null });
  assert.match(reason, /message is unwelcome/);
  assert.ok(message_id !== first.message_id && Date.parse(updated) >= Date.parse(first.updated));
  assert.deepEqual([first.state, first.provider_id, first.reason], ['accepted', String(messageId), '']);
  const one = await ask('GET', 'admin/channels/deliveries?limit=1');
  assert.deepEqual([one.status, one.body.deliveries.length], [200, 1]);
  assert.equal((await ask('GET', 'admin/channels/deliveries?limit=501')).status, 400);
});

test('A test of a token must answer with its account or the reason of its refusal, and must store nothing', async () => {
  const check = (body: object) => ask('POST', 'admin/channels/telegram/test', { body });
  const { hash } = await client.call('config.get', {});
  const stored = await check({});
  assert.deepEqual([stored.status, stored.body], [200, { channel: 'telegram', account: '4242', bot: 'headgate_bot' }]);
  const refusal = 'Telegram does not accept this token. Ask @BotFather for another.';
  assert.deepEqual(told(await check({ token: '4242:another-token' })), [400, refusal]);
  assert.equal((await client.call('config.get', {})).hash, hash);
});

test('A call for an unknown channel must answer 400 with the names of the known ones', async () => {
  const words = 'unsupported channel: pigeon (available: telegram, whatsapp)';
  const calls = [
    ask('POST', 'admin/channels/pigeon/test', { body: {} }),
    ask('POST', 'admin/channels/pigeon/pair', { body: { code: 'AAAAA-AAAAA' } }),
    ask('DELETE', 'admin/channels/pigeon/senders/1'),
    ask('POST', 'admin/channels/pigeon/senders/1/restore'),
  ];
  for (const answer of await Promise.all(calls)) assert.deepEqual(told(answer), [400, words]);
});

test('Administering channels must answer 403 without the permission `admin.users`', async () => {
  const { jwt } = await newUser('olga', 'builtin-operator');
  const { jwt: settings } = await newUser('sam', ['read', 'write', 'approve', 'admin.settings']);
  const calls = [
    ['GET', 'admin/channels/senders'],
    ['GET', 'admin/channels/deliveries'],
    ['POST', 'admin/channels/telegram/test'],
    ['POST', 'admin/channels/telegram/pair'],
    ['DELETE', 'admin/channels/telegram/senders/1'],
    ['POST', 'admin/channels/telegram/senders/1/restore'],
  ] as const;
  for (const [method, path] of calls) {
    const refused = await ask(method, path, { token: settings });
    assert.deepEqual(told(refused), [403, "Forbidden: missing 'admin.users' permission"], path);
    assert.equal((await ask(method, path, { token: jwt })).status, 403, path);
  }
});
