import assert from 'node:assert/strict';
import { test } from 'node:test';
import { putChat } from '../channels/inbox/chat-rows.ts';
import { restoreSender, revokeSender } from '../channels/inbox/sender-rows.ts';
import type { TelegramSettings } from '../channels/telegram/telegram-settings.ts';
import { DAEMON } from '../sharing/perception.ts';
import { onlyWebhooks } from '../testing/only-webhooks.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';
import { watchGateway } from './watch-fixture.ts';

const CHAT = { provider: 'telegram', to: '7' };
const TELEGRAM: TelegramSettings = {
  ...{ token: '', apiRoot: '', hookUrl: undefined, alertMs: 60_000, streaming: 'direct', ackReaction: undefined },
  ...{ dmPolicy: 'pairing', session: 'chat', ambiguous: 'once' },
  ...{ allowFrom: new Set(), approvers: new Set(), groups: new Map() },
};
const BY_CHAT = { principal: 'telegram:7', request: { deliver: CHAT, fromChat: true as const } };

const noNetwork = () => Promise.reject(new Error('no network'));

/** A gateway with a private workstream that belongs to a chat, whose person may write. */
async function setUp() {
  const allowFrom = new Set(['7']);
  const it = await watchGateway({
    channelServices: {
      ...onlyWebhooks({ destinations: () => new Map(), fetch: noNetwork }),
      telegram: { settings: () => ({ ...TELEGRAM, allowFrom }), fetch: noNetwork, fetchMedia: noNetwork },
    },
  });
  const owned = { ownerId: '', visibility: 'private' as const };
  const workstream = await it.parts.workstreams.create(
    { owned, sessionKey: 'telegram:dm:7', generatedName: 'Telegram: Ada' },
    ({ ws_id: wsId }) => [
      putChat({
        ...{ channel: 'telegram', chat: '7', kind: 'dm', session_key: 'telegram:dm:7', ws_id: wsId, title: 'Ada' },
        ...{ last_in_ms: null, last_out_ms: null, last_sender: '7', owes_notice: 0, created_ms: 1 },
      }),
    ],
  );
  const { wsId } = workstream.data;
  return {
    ...{ it, wsId, allowFrom },
    runs: () => it.store.db.selectFrom('runs').selectAll().where('ws_id', '=', wsId).execute(),
    sent: () => it.store.db.selectFrom('outbox').select(['provider', 'destination', 'message', 'ws_id']).execute(),
    async [Symbol.asyncDispose]() {
      it.end();
      await it[Symbol.asyncDispose]();
    },
  };
}

test('the answer to a watch that a person of a chat asked for goes into the chat', async () => {
  await using stage = await setUp();
  const { it, wsId } = stage;
  it.prints.push('1', '2');
  it.puppet.turn('It has changed.');
  it.begin();
  const { watch_id: id } = await it.watch({ wsId }, BY_CHAT);
  await it.polled(id, 1);
  await it.clock.advance(60_000);
  assert.equal((await it.over(id)).end, 'fired');
  await turnsUntil(async () => (await stage.sent()).length > 0, 'the answer');
  assert.deepEqual(await stage.sent(), [
    { provider: 'telegram', destination: '7', message: 'It has changed.', ws_id: wsId },
  ]);
});

for (const isRestored of [false, true])
  test(`a watch ends with the approval of the person who asked for it, and its result is dropped: ${isRestored ? 'restored since' : 'revoked'}`, async () => {
    await using stage = await setUp();
    const { it, wsId } = stage;
    it.prints.push('1', '2');
    it.begin();
    const { watch_id: id } = await it.watch({ wsId }, BY_CHAT);
    await it.polled(id, 1);
    const [ada, by] = [
      { channel: 'telegram', senderId: '7' },
      { by: 'operator', nowMs: it.clock.now() },
    ];
    await it.store.commit({ statements: [revokeSender(ada, by), ...(isRestored ? [restoreSender(ada, by)] : [])] });
    await it.clock.advance(60_000);
    assert.equal((await it.over(id)).end, 'rights');
    assert.equal(it.started.length, 1);
  });

test('a watch ends when the person who asked for it may no longer write in the chat, without a revocation', async () => {
  await using stage = await setUp();
  const { it, wsId, allowFrom } = stage;
  it.prints.push('1', '2');
  it.begin();
  const { watch_id: id } = await it.watch({ wsId }, BY_CHAT);
  await it.polled(id, 1);
  allowFrom.delete('7');
  await it.clock.advance(60_000);
  assert.equal((await it.over(id)).end, 'rights');
  assert.equal(it.started.length, 1);
});

test('the answer to another watch goes into no chat', async () => {
  await using stage = await setUp();
  const { it } = stage;
  it.prints.push('1', '2');
  it.begin();
  const { watch_id: id } = await it.watch();
  await it.polled(id, 1);
  await it.clock.advance(60_000);
  await it.over(id);
  await turnsUntil(async () => (await it.told()).length === 1, 'the message');
  await it.isIdle(await it.main());
  assert.deepEqual([await stage.sent(), it.parts.workstreams.list(DAEMON).length], [[], 2]);
});

test('a watch that a message created belongs to whoever edited that last, and to no chat that the message came from', async () => {
  await using it = await watchGateway();
  const deliver = { provider: 'telegram', to: '42' };
  await it.watch({}, { principal: 'telegram:7', request: { deliver, fromChat: true, editedBy: ['bob'] } });
  const rows = await it.store.db.selectFrom('watches').select(['created_by', 'chat_json']).execute();
  assert.deepEqual(rows, [{ created_by: 'bob', chat_json: null }]);
});
