import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { tempStore } from '../../../testing/temp-store.ts';
import { ANYONE, DAEMON } from '../../sharing/perception.ts';
import { insertDelivery } from '../delivery-rows.ts';
import { putChat, renameChats } from '../inbox/chat-rows.ts';
import { insertChunks, readChunks, updateChunk } from '../ledger/chunk-rows.ts';
import { messageOfQuestion } from '../question-text.ts';
import { fakeBot } from './preview/preview-fixture.ts';
import { PreviewGate } from './preview/preview-gate.ts';
import { createTelegramChannel } from './telegram-channel.ts';
import { BotApiError } from './wire/bot-api-error.ts';

/** Ada's chat, in which the question apr_1 was asked. */
async function setUp() {
  const store = await tempStore();
  const clock = fakeClock(1_000);
  const { bot, shown, calls, faults } = fakeBot(clock, { ambiguous: 'once' });
  shown.push({ id: 100, text: 'May I?' });
  const messageId = messageOfQuestion('apr_1');
  const question = { messageId, provider: 'telegram', to: '7', message: 'May I?', from: 'run', acceptedMs: 1 };
  const chunks = insertChunks({ messageId, channel: 'telegram', to: '7' }, [{ formatted: 'x', plain: 'x' }], 1);
  await store.commit({ statements: [insertDelivery(question), ...chunks] });
  for (const chunk of await readChunks(store, messageId))
    await store.commit({ statements: [updateChunk(chunk, { state: 'accepted', providerId: '100' }, 2)] });
  const channel = createTelegramChannel({
    ...{ bot: () => bot, settings: () => bot.settings, store, clock, previews: new PreviewGate() },
    fetchMedia: async () => assert.fail('no file'),
    users: { boundsOf: () => undefined },
    metrics: { channelPart: () => undefined },
  });
  const decision = { messageId: 'decided:apr_1', to: '7', message: '✅ Approved', from: 'run', acceptedMs: 3 };
  return {
    ...{ store, shown, calls, faults, channel },
    decides: () =>
      channel
        .deliver(decision, {
          signal: new AbortController().signal,
          delivered: () => assert.fail('nothing is stored together with it'),
          viewer: async () => ANYONE,
        })
        .catch(({ message, retryable }) => `${message} ${retryable}`),
    states: async () => (await readChunks(store, 'decided:apr_1')).map(({ state }) => state),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

test('a decision of which nobody knows whether it arrived takes the place of its question with the next attempt', async () => {
  for (const isAfter of [false, true]) {
    await using stage = await setUp();
    stage.faults.push({ error: new BotApiError('ambiguous', 'lost'), isAfter });
    assert.equal(await stage.decides(), 'lost true');
    assert.deepEqual(await stage.states(), ['unsent']);
    assert.equal(await stage.decides(), 'taken');
    assert.deepEqual([await stage.states(), stage.shown[0]?.text], [['accepted'], 'May I?\n\n✅ Approved']);
    assert.equal(stage.calls.length, 2);
  }
});

test('a group that has another number now is found by its first one, and by its session key', async () => {
  await using stage = await setUp();
  const group = { channel: 'telegram', chat: '-5', kind: 'group' as const, session_key: 'telegram:group:-5' };
  const times = { last_in_ms: null, last_out_ms: null, created_ms: 1 };
  await stage.store.commit({
    statements: [
      putChat({ ...group, ...times, ws_id: 'w', title: '', last_sender: '7', owes_notice: 0 }),
      ...renameChats('telegram', { from: '-5', to: '-1007' }),
    ],
  });
  for (const name of ['-5', 'telegram:group:-5', '-1007'])
    assert.equal(await stage.channel.find(name, DAEMON), '-1007');
  assert.deepEqual(
    [await stage.channel.find('-5', ANYONE), await stage.channel.find('-6', DAEMON)],
    [undefined, undefined],
  );
});
