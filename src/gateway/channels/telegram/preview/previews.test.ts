import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../../../testing/temp-store.ts';
import { DeliveryError, NotNow } from '../../channel.ts';
import { endDelivery, insertDelivery } from '../../delivery-rows.ts';
import { putChat } from '../../inbox/chat-rows.ts';
import { readChunks } from '../../ledger/chunk-rows.ts';
import { insertPreview, readPreview } from '../../ledger/preview-rows.ts';
import { sendParts } from '../../ledger/send-parts.ts';
import { render } from '../outbound/render.ts';
import { addressOf, sendText } from '../send-text.ts';
import type { TelegramSettings } from '../telegram-settings.ts';
import { BotApiError } from '../wire/bot-api-error.ts';
import { fakeBot } from './preview-fixture.ts';
import { PreviewGate } from './preview-gate.ts';
import { Previews } from './previews.ts';
import { replacedPreview } from './replaced-preview.ts';

const RUN = { runId: 'run_1', wsId: 'w' };
const CHAT = '7';

type Listener = (wsId: string, entries: readonly { json: string; type: string }[]) => void;

async function setUp(settings: Partial<TelegramSettings> = {}, chat = CHAT) {
  const clock = fakeClock(1_000);
  const store = await tempStore();
  const row = { kind: 'dm' as const, session_key: 's', ws_id: 'w', title: 'Ada', last_sender: '7', owes_notice: 0 };
  const times = { last_in_ms: null, last_out_ms: null, created_ms: 1 };
  await store.commit({ statements: [putChat({ channel: 'telegram', chat, ...row, ...times })] });
  const telegram = fakeBot(clock, settings);
  const ended = Promise.withResolvers<void>();
  const listeners = new Set<Listener>();
  const events = {
    onAppended(listener: Listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const log = recordingLog();
  const gate = new PreviewGate();
  const { bot } = telegram;
  // Only `onAppended` is used, and of entries only their type and text.
  const previews = new Previews({ bot: () => bot, gate, events: events as never, store, clock, log });
  const run = { isCurrent: true };
  const begin = () => previews.during({ chat, run: RUN, isCurrent: () => run.isCurrent, ended: ended.promise });
  begin();
  const tell = (event: { type: string; text?: string }) => {
    for (const listener of listeners) listener('w', [{ json: JSON.stringify(event), type: event.type }]);
  };
  /** The store answers over several turns of the event loop. */
  const settle = async () => {
    for (let turn = 0; turn < 60; turn += 1) await new Promise(setImmediate);
  };
  await settle();
  return {
    ...{ ...telegram, clock, store, log, run, previews, tell },
    /** The model streams a text. */
    async stream(text: string) {
      tell({ type: 'content', text });
      await settle();
    },
    async pass(ms: number) {
      await clock.advance(ms);
      await settle();
    },
    /** The answer is delivered. Resolves with how that ended. */
    async answer(text: string) {
      ended.resolve();
      const delivery = { messageId: 'answer:run_1', to: chat };
      const replaces = await replacedPreview(delivery, { bot, gate, store, clock });
      const send = (part: { formatted: string; plain: string }) => sendText(part, bot, addressOf(chat));
      const { signal } = new AbortController();
      const message = {
        channel: 'telegram',
        delivery,
        ambiguous: 'once' as const,
        mayTell: true,
        replaces,
        send,
        signal,
      };
      const metrics = { channelPart: () => undefined };
      return sendParts({ ...message, render: () => render(text) }, { store, clock, metrics }).then(
        () => 'sent',
        (error: unknown) => (error instanceof DeliveryError || error instanceof NotNow ? error.message : String(error)),
      );
    },
    texts: () => telegram.shown.map(({ text }) => text),
    /** The parts of the answer, and what the ledger has of the preview. */
    async ledger() {
      const parts = await readChunks(store, 'answer:run_1');
      const rows = [...parts, await readPreview(store, RUN.runId)];
      return rows.map((one) => (one ? `${one.state} ${one.provider_id ?? '-'}` : 'none'));
    },
    async [Symbol.asyncDispose]() {
      ended.resolve();
      await previews.close();
      await store.close();
    },
  };
}

const failed = (...args: ConstructorParameters<typeof BotApiError>) => new BotApiError(...args);

test('the text so far is one message, edited once per second, and the answer takes its place', async () => {
  await using stage = await setUp();
  for (let piece = 1; piece <= 30; piece += 1) {
    await stage.stream(`${piece} `);
    await stage.pass(100);
  }
  assert.deepEqual(stage.calls, ['sendMessage at 1000', 'editMessageText at 2000', 'editMessageText at 3000']);
  assert.match(stage.texts()[0] ?? '', /^1 2 .* 30 ?$/);
  assert.deepEqual(await stage.ledger(), ['accepted 100']);
  assert.equal(await stage.answer('All **thirty**.'), 'sent');
  assert.deepEqual(stage.texts(), ['All <b>thirty</b>.']);
  assert.deepEqual(await stage.ledger(), ['accepted 100', 'none']);
  await stage.pass(5_000);
  assert.equal(stage.calls.length, 4);
});

test('an answer within a second has no preview', async () => {
  await using stage = await setUp();
  await stage.stream('pong');
  await stage.pass(900);
  assert.equal(await stage.answer('pong'), 'sent');
  await stage.pass(5_000);
  assert.deepEqual([stage.calls, await stage.ledger()], [['sendMessage at 900'], ['accepted 100', 'none']]);
});

test('a long text is cut for the preview, and the further parts of the answer are messages of their own', async () => {
  await using stage = await setUp();
  const paragraph = `${'word '.repeat(500)}\n\n`;
  await stage.stream(paragraph.repeat(3));
  await stage.pass(1_000);
  await stage.stream(paragraph);
  await stage.pass(1_000);
  assert.equal(stage.calls.length, 1, 'the part that is shown has not changed');
  assert.equal(await stage.answer(paragraph.repeat(4)), 'sent');
  const parts = render(paragraph.repeat(4)).map(({ formatted }) => formatted);
  assert.ok(parts.length > 1);
  assert.deepEqual(stage.texts(), parts);
});

test('only the text of the last turn is shown, and only of this run', async () => {
  await using stage = await setUp();
  await stage.stream('I shall look.');
  await stage.pass(1_000);
  stage.tell({ type: 'thinking_start' });
  await stage.pass(1_000);
  assert.deepEqual(stage.texts(), ['I shall look.']);
  await stage.stream('It is there.');
  await stage.pass(1_000);
  assert.deepEqual(stage.texts(), ['It is there.']);
  stage.run.isCurrent = false;
  await stage.stream(' Said to somebody else.');
  await stage.pass(2_000);
  assert.deepEqual(stage.texts(), ['It is there.']);
});

test('groups have previews only if the settings say so, and nobody has them when they are off', async () => {
  for (const [chat, streaming, calls] of [
    ['-100', 'direct', 0],
    ['-100:5', 'direct', 0],
    ['-100', 'all', 1],
    ['7', 'off', 0],
  ] as const) {
    await using stage = await setUp({ streaming }, chat);
    await stage.stream('some text');
    await stage.pass(1_000);
    assert.equal(stage.calls.length, calls, `${chat} ${streaming}`);
  }
});

test('a limit makes the preview wait, and the answer does not wait for it', async () => {
  await using stage = await setUp();
  await stage.stream('a');
  await stage.pass(1_000);
  stage.faults.push({ error: failed('rate-limited', 'slowly', { code: 429, retryAfterMs: 30_000 }) });
  await stage.stream('b');
  await stage.pass(1_000);
  await stage.stream('c');
  await stage.pass(20_000);
  assert.deepEqual(stage.calls, ['sendMessage at 1000', 'editMessageText at 2000']);
  assert.equal(await stage.answer('abcd'), 'sent');
  assert.deepEqual(stage.texts(), ['abcd']);
});

test('a preview whose sending is limited is sent later, and no row is left by it', async () => {
  await using stage = await setUp();
  stage.faults.push({ error: failed('rate-limited', 'slowly', { code: 429, retryAfterMs: 3_000 }) });
  await stage.stream('a');
  await stage.pass(1_000);
  assert.deepEqual(await stage.ledger(), ['none']);
  await stage.pass(3_000);
  assert.deepEqual([stage.texts(), stage.calls.at(-1)], [['a'], 'sendMessage at 4000']);
});

test('a preview comes after the messages that wait for the chat', async () => {
  await using stage = await setUp();
  const { store } = stage;
  const message = { messageId: 'm', provider: 'telegram', to: CHAT, message: 'earlier', from: 'x', acceptedMs: 1 };
  await store.commit({ statements: [insertDelivery(message)] });
  await stage.stream('a');
  await stage.pass(1_000);
  assert.deepEqual(stage.calls, []);
  await store.commit({
    statements: [endDelivery('m', { status: 'delivered', attempts: 1, error: null, nowMs: 1 })],
  });
  await stage.pass(1_000);
  assert.deepEqual(stage.calls, ['sendMessage at 2000']);
});

test('a preview that may have arrived is recorded so, is not sent twice, and the answer is whole', async () => {
  await using stage = await setUp();
  stage.faults.push({ error: failed('ambiguous', 'lost'), isAfter: true });
  await stage.stream('a');
  await stage.pass(1_000);
  await stage.stream('b');
  await stage.pass(5_000);
  assert.equal(await stage.answer('abc'), 'sent');
  assert.deepEqual(stage.texts(), ['a', 'abc']);
  assert.deepEqual(await stage.ledger(), ['accepted 101', 'ambiguous -']);
});

test('an edit of the answer that may have been made is repeated, and an unchanged message counts', async () => {
  await using stage = await setUp();
  await stage.stream('abc');
  await stage.pass(1_000);
  stage.faults.push({ error: failed('ambiguous', 'lost'), isAfter: true });
  assert.equal(await stage.answer('abcd'), 'lost');
  assert.deepEqual(await stage.ledger(), ['unsent -', 'accepted 100']);
  assert.equal(await stage.answer('abcd'), 'sent');
  assert.deepEqual([stage.texts(), await stage.ledger()], [['abcd'], ['accepted 100', 'none']]);
});

test('the answer is a new message if the preview was deleted', async () => {
  await using stage = await setUp();
  await stage.stream('abc');
  await stage.pass(1_000);
  stage.shown.length = 0;
  stage.shown.push({ id: 5, text: 'of somebody else' });
  assert.equal(await stage.answer('abcd'), 'sent');
  assert.deepEqual(stage.texts(), ['of somebody else', 'abcd']);
  assert.deepEqual(await stage.ledger(), ['accepted 101', 'none']);
});

test('a preview that an earlier process was sending is ambiguous, also if the answer comes first', async () => {
  for (const isAnswerFirst of [true, false]) {
    await using stage = await setUp();
    await stage.store.commit({ statements: [insertPreview('run_1', { channel: 'telegram', chat: CHAT }, 1)] });
    if (!isAnswerFirst) {
      await stage.stream('abc');
      await stage.pass(3_000);
      assert.deepEqual(stage.calls, []);
    }
    assert.equal(await stage.answer('abcd'), 'sent');
    assert.deepEqual(await stage.ledger(), ['accepted 100', 'ambiguous -']);
  }
});

test('the answer waits for an edit in progress, which could otherwise come after it', async () => {
  await using stage = await setUp();
  await stage.stream('a');
  await stage.pass(1_000);
  const held = Promise.withResolvers<void>();
  const order: string[] = [];
  const { api } = stage.bot;
  const call = api.call.bind(api);
  Object.assign(api, {
    call: async (...args: Parameters<typeof call>) => {
      order.push(`begins ${Reflect.get(args[1], 'text')}`);
      if (order.length === 1) await held.promise;
      order.push(`ends ${Reflect.get(args[1], 'text')}`);
      return call(...args);
    },
  });
  await stage.stream('b');
  await stage.pass(1_000);
  const answered = stage.answer('abc');
  await new Promise(setImmediate);
  held.resolve();
  assert.equal(await answered, 'sent');
  assert.deepEqual(order, ['begins ab', 'ends ab', 'begins abc', 'ends abc']);
});
