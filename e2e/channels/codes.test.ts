import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { readRows } from '../support/channels/stored-rows.ts';
import type { ChatRoom } from '../support/channels/telegram/chat-room.ts';
import { type AttackStage, openAttackStage, PEOPLE, untilHandled } from './attacks/attack-stage.ts';

const CODE = /[A-Z2-9]{5}-[A-Z2-9]{5}/;
const HOUR_MS = 3_600_000;

/** The next code in a chat. */
async function nextCode(chat: ChatRoom): Promise<string> {
  const { text } = await chat.next();
  return CODE.exec(text)?.[0] ?? assert.fail(text);
}

const pair = (client: GatewayClient, code: string) => client.call('channel.pair', { channel: 'telegram', code });

/** The error of a call that must fail. */
const refusalOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'it was accepted',
    (error: unknown) => String(Reflect.get(Object(error), 'code')),
  );

const statusesIn = ({ daemon }: AttackStage) =>
  Object.fromEntries(readRows(daemon.home).senders.map(({ sender_id, status }) => [sender_id, status]));

test('a code counts only where the operator types it, whoever writes it into a chat', async () => {
  await using stage = await openAttackStage();
  const { eve, ada, bob } = stage.people;
  const client = await stage.start();
  eve.says('hello');
  const code = await nextCode(eve.chat);
  const typed = [code, code.toLowerCase(), code.replace('-', ''), `/pair ${code}`, `headgate channel pair ${code}`];
  for (const text of typed) {
    eve.says(text);
    ada.says(text);
    bob.says(`@headgate_bot ${text}`, { in: stage.group });
  }
  eve.says(`/start ${code}`);
  await untilHandled(stage);
  assert.deepEqual(statusesIn(stage), { 666: 'pending' });
  assert.equal(eve.chat.sent.length, 1, 'she is told once in an hour');
  const { name } = await pair(client, code);
  assert.deepEqual([name, statusesIn(stage)], ['Eve', { 666: 'approved' }]);
});

test('codes that are wrong, used, replaced or too old approve nobody', async () => {
  await using stage = await openAttackStage();
  const { eve } = stage.people;
  const client = await stage.start();
  eve.says('hello');
  const code = await nextCode(eve.chat);
  const digest = String(readRows(stage.daemon.home).senders[0]?.code_hash);
  const wrong = [
    ...[code.slice(0, -1), `${code}A`, code.slice(1), code.split('').reverse().join(''), 'AAAAA-AAAAA', '%', '*', '-'],
    ...[
      digest,
      PEOPLE.eve.toString(),
      '@eve',
      `${code} ${code}`,
      code.replace(/^./, (sign) => (sign === 'A' ? 'B' : 'A')),
    ],
  ];
  for (const guess of wrong) assert.equal(await refusalOf(pair(client, guess)), 'NOT_FOUND', guess);
  stage.daemon.clock.jump(HOUR_MS + 1);
  assert.equal(await refusalOf(pair(client, code)), 'NOT_FOUND', 'it is too old');
  eve.says('hello again');
  const second = await nextCode(eve.chat);
  assert.equal(await refusalOf(pair(client, code)), 'NOT_FOUND', 'it was replaced');
  await pair(client, second.toLowerCase().replace('-', ' '));
  assert.equal(await refusalOf(pair(client, second)), 'NOT_FOUND', 'it was used');
  await client.call('channel.revoke', { channel: 'telegram', senderId: '666' });
  stage.daemon.clock.jump(2 * HOUR_MS);
  eve.says('let me in');
  await untilHandled(stage);
  assert.deepEqual([statusesIn(stage), eve.chat.sent.length], [{ 666: 'revoked' }, 2]);
  const restore = (senderId: string) => client.call('channel.restore', { channel: 'telegram', senderId });
  assert.deepEqual([await restore('666'), await restore('666')], [{ restored: true }, { restored: false }]);
  assert.deepEqual(statusesIn(stage), { 666: 'restored' });
  assert.equal(await refusalOf(pair(client, second)), 'NOT_FOUND', 'it ended with the approval');
  eve.says('let me in again');
  const third = await nextCode(eve.chat);
  assert.deepEqual([statusesIn(stage), readRows(stage.daemon.home).runs], [{ 666: 'pending' }, 0]);
  await pair(client, third);
  assert.deepEqual([await restore('666'), statusesIn(stage)], [{ restored: false }, { 666: 'approved' }]);
  eve.says('hello at last');
  await eve.chat.until(({ text }) => text === 'Taken.');
});

test('at most three strangers wait for approval, however many ask at once', async () => {
  await using stage = await openAttackStage();
  stage.telegram.updates.hold();
  const strangers = Array.from({ length: 30 }, (_, index) => stage.telegram.person({ name: `Stranger ${index}` }));
  await stage.start();
  for (const stranger of strangers) stranger.says('hello');
  stage.telegram.updates.release();
  await untilHandled(stage);
  await stage.telegram.changes.until(
    () => strangers.filter(({ chat }) => chat.sent.length > 0).length >= 3 || undefined,
    () => 'three codes',
  );
  const told = strangers.filter(({ chat }) => chat.sent.length > 0);
  assert.deepEqual([Object.values(statusesIn(stage)), told.length], [['pending', 'pending', 'pending'], 3]);
});

test('nobody in particular gets no code', async () => {
  await using stage = await openAttackStage();
  await stage.start();
  const { ada } = stage.people;
  stage.telegram.deliver({
    message: { message_id: 1, date: 1, chat: ada.chat.chat, text: 'hello' },
  } as never);
  await untilHandled(stage);
  assert.deepEqual([statusesIn(stage), ada.chat.sent], [{}, []]);
});

test('an approval by code opens no group and decides nothing', async () => {
  await using stage = await openAttackStage({ groups: { [stageGroup]: { allowFrom: [PEOPLE.ada] } } });
  const { ada, eve } = stage.people;
  const client = await stage.start();
  eve.says('hello');
  await pair(client, await nextCode(eve.chat));
  eve.says('@headgate_bot hello', { in: stage.group });
  await untilHandled(stage);
  assert.deepEqual([readRows(stage.daemon.home).runs, stage.group.sent], [0, []]);
  eve.says('hello');
  await eve.chat.until(({ text }) => text === 'Taken.');
  const [run] = readRows(stage.daemon.home).requests;
  assert.equal(run?.rights, 'write');

  ada.says('@headgate_bot hello', { in: stage.group });
  await stage.group.until(({ text }) => text === 'Taken.');
  const supergroup = stage.telegram.migrate(stage.group, ada);
  eve.says('@headgate_bot hello', { in: supergroup });
  ada.says('@headgate_bot hello', { in: supergroup });
  await supergroup.until(({ text }) => text === 'Taken.');
  await untilHandled(stage);
  assert.equal(supergroup.sent.length, 1, 'the rules of the group are those of the supergroup');
});
const stageGroup = -1_001_000_000_001;

const ODD_IDS = [' 101', '101 ', '0101', '-0101', '+101', '1e2', '0x65', '１０１', '١٠١', '@ada', 'ada', '*', '%', ''];

test('people are revoked and allowed by their exact numbers only', async () => {
  await using stage = await openAttackStage();
  const client = await stage.start();
  const current = { botToken: '4242:scripted-bot-token-for-tests', apiRoot: stage.telegram.apiRoot };
  for (const id of ODD_IDS) {
    for (const method of ['channel.revoke', 'channel.restore'] as const) {
      const refusal = await refusalOf(client.call(method, { channel: 'telegram', senderId: id }));
      assert.equal(refusal, 'INVALID_REQUEST', `${method} accepts ${JSON.stringify(id)}`);
    }
    for (const changed of [
      { allowFrom: [id] },
      { approvers: [id] },
      { groups: { [stageGroup]: { allowFrom: [id] } } },
      { groups: { [id]: { allowFrom: [101] } } },
    ]) {
      if (id === '*' && 'groups' in changed && stageGroup in changed.groups) continue; // everybody, which is allowed
      const raw = JSON.stringify({ channels: { telegram: { ...current, ...changed } } });
      const { hash } = await client.call('config.get', {});
      const answer = await refusalOf(client.call('config.set', { raw, baseHash: hash ?? '' }));
      assert.equal(answer, 'INVALID_REQUEST', raw);
    }
  }
  for (const id of ['-101', '1e400', '101.5', '9007199254740993', '0']) {
    const raw = `{"channels":{"telegram":{"botToken":"${current.botToken}","allowFrom":[${id}]}}}`;
    const { hash } = await client.call('config.get', {});
    assert.equal(await refusalOf(client.call('config.set', { raw, baseHash: hash ?? '' })), 'INVALID_REQUEST', raw);
  }
});
