import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { tempStore } from '../../../testing/temp-store.ts';
import { ServiceError } from '../calls/service-error.ts';
import type { AmbiguousPolicy } from '../chats/chat-settings.ts';
import { endWaitingFor, insertDelivery } from '../delivery-rows.ts';
import { putChat, readChat } from '../inbox/chat-rows.ts';
import { readChunks } from './chunk-rows.ts';
import { type SendChunk, sendParts } from './send-parts.ts';

const CHAT = { channel: 'telegram', chat: '7' };

async function setUp() {
  const store = await tempStore();
  const clock = fakeClock(1_000);
  const chat = { kind: 'dm' as const, session_key: 'telegram:dm:7', ws_id: 'w', title: 'Ada', last_sender: '7' };
  const times = { last_in_ms: null, last_out_ms: null, created_ms: 1 };
  await store.commit({ statements: [putChat({ ...CHAT, ...chat, ...times, owes_notice: 0 })] });
  return {
    store,
    /** Sends a message by its id and its texts, one part each. Resolves with how it ended, and the parts as they are stored. */
    async send(
      [messageId = '', ...texts]: readonly string[],
      send: SendChunk,
      { ambiguous = 'once' as AmbiguousPolicy, to = '7', signal = new AbortController().signal } = {},
    ) {
      const message = {
        channel: 'telegram',
        delivery: { messageId, to },
        ambiguous,
        signal,
        mayTell: true,
        render: () => texts.map(toChunk),
        send,
        movedTo: (error: ServiceError) => (error.message === 'moved' ? '-9' : undefined),
      };
      const end = await sendParts(message, { store, clock, metrics: { channelPart: () => undefined } }).then(
        (how) => (how === 'taken' ? 'sent' : how),
        (error: Error & { retryable?: boolean; againInMs?: number }) =>
          `${error.name}: ${error.message} ${error.retryable ?? error.againInMs}`,
      );
      return [
        end,
        ...(await readChunks(store, messageId)).map((chunk) => `${chunk.state} ${chunk.provider_id ?? '-'}`),
      ];
    },
    async owes() {
      return (await readChat(store, CHAT))?.owes_notice;
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

function toChunk(text: string) {
  if (text === 'cannot be shown') throw new RangeError('Maximum call stack size exceeded');
  return { formatted: `<b>${text}</b>`, plain: text };
}

const failing =
  (...args: ConstructorParameters<typeof ServiceError>): SendChunk =>
  ({ plain }) =>
    plain === 'a' ? Promise.reject(new ServiceError(...args)) : Promise.resolve(`id-${plain}`);

const works: SendChunk = async ({ plain }) => `id-${plain}`;

test('a message that cannot be rendered is given up at once, so that those behind it are sent', async () => {
  await using stage = await setUp();
  const end = 'DeliveryError: the message cannot be shown: Maximum call stack size exceeded false';
  assert.deepEqual(await stage.send(['m', 'cannot be shown'], works), [end]);
});

test('each part gets the id of the service, and its texts are removed', async () => {
  await using stage = await setUp();
  assert.deepEqual(await stage.send(['m', 'a', 'b'], works), ['sent', 'accepted id-a', 'accepted id-b']);
  const [first] = await readChunks(stage.store, 'm');
  assert.deepEqual([first?.formatted, first?.plain], [null, null]);
});

test('a part that is refused or too large fails alone, and the others are sent', async () => {
  for (const kind of ['rejected', 'too-large'] as const) {
    await using stage = await setUp();
    assert.deepEqual(await stage.send(['m', 'a', 'b'], failing(kind, 'no')), [
      'DeliveryError: part 1 of 2 was not sent: no false',
      'failed -',
      'accepted id-b',
    ]);
  }
});

test('a part that was certainly not sent stays unsent and is sent with the next attempt, with everything behind it', async () => {
  const ends = {
    unreachable: 'DeliveryError: no true',
    unauthorized: 'DeliveryError: no true',
    conflict: 'DeliveryError: no true',
    'rate-limited': 'NotNow: no 7000',
  } as const;
  for (const [kind, end] of Object.entries(ends)) {
    await using stage = await setUp();
    const failed = failing(kind as keyof typeof ends, 'no', { retryAfterMs: 7_000 }); // Object.entries widens the keys
    assert.deepEqual(await stage.send(['m', 'a', 'b'], failed), [end, 'unsent -', 'unsent -'], kind);
    assert.deepEqual(await stage.send(['m'], works), ['sent', 'accepted id-a', 'accepted id-b']);
  }
});

test('an ambiguous part is not sent again, and the next message says so once', async () => {
  await using stage = await setUp();
  const end = await stage.send(['m', 'a', 'b'], failing('ambiguous', 'lost'));
  assert.deepEqual(end, [
    'DeliveryError: part 1 of 2 may not have arrived: lost false',
    'ambiguous -',
    'accepted id-b',
  ]);
  assert.equal(await stage.owes(), 1);
  const told: string[] = [];
  const tells: SendChunk = async ({ plain }) => String(told.push(plain));
  await stage.send(['n', 'c'], tells);
  await stage.send(['o', 'd'], tells);
  assert.deepEqual(
    told.map((text) => text.slice(0, 20)),
    ['⚠ Something that I s', 'c', 'd'],
  );
  assert.equal(await stage.owes(), 0);
});

test('with the policy retry, an ambiguous part is sent again', async () => {
  await using stage = await setUp();
  const retry = { ambiguous: 'retry' as const };
  const lost = await stage.send(['m', 'a'], failing('ambiguous', 'lost'), retry);
  assert.deepEqual(lost, ['DeliveryError: lost true', 'unsent -']);
  assert.deepEqual(await stage.send(['m'], works, retry), ['sent', 'accepted id-a']);
});

test('a part that was being sent when the daemon died is ambiguous, or is sent again with the policy retry', async () => {
  for (const [policy, state] of [
    ['once', 'ambiguous -'],
    ['retry', 'accepted id-a'],
  ] as const) {
    await using stage = await setUp();
    await stage.send(['m', 'a'], () => Promise.reject(new Error('the process dies')));
    const [, now] = await stage.send(['m'], works, { ambiguous: policy });
    assert.equal(now, state);
  }
});

test('a chat that has another id now keeps its row, and the message goes on to it later', async () => {
  await using stage = await setUp();
  assert.deepEqual(await stage.send(['m', 'a'], failing('rejected', 'moved')), [
    'NotNow: the chat has another id now 1',
    'unsent -',
  ]);
  assert.equal(await readChat(stage.store, CHAT), undefined);
  assert.equal((await readChat(stage.store, { ...CHAT, chat: '-9' }))?.ws_id, 'w');
  assert.deepEqual(await stage.send(['m'], works, { to: '-9' }), ['sent', 'accepted id-a']);
  const [part] = await readChunks(stage.store, 'm');
  assert.equal(part?.destination, '-9', 'where its buttons are pressed');
});

test('no part begins while the daemon stops, and the rest is sent by the next one', async () => {
  await using stage = await setUp();
  const stop = new AbortController();
  const sent: string[] = [];
  const stops: SendChunk = async ({ plain }) => {
    stop.abort(new Error('the daemon stops'));
    return String(sent.push(plain));
  };
  const end = await stage.send(['m', 'a', 'b'], stops, { signal: stop.signal });
  assert.deepEqual([end, sent], [['Error: the daemon stops undefined', 'accepted 1', 'unsent -'], ['a']]);
  assert.deepEqual(await stage.send(['m'], works), ['sent', 'accepted 1', 'accepted id-b']);
});

test('no further part is sent to a person who is revoked meanwhile, unless somebody has named the chat', async () => {
  const ends = {
    headgate: [['recorded', 'accepted 1', 'failed -', 'failed -'], ['a']],
    operator: [
      ['sent', 'accepted 1', 'accepted 2', 'accepted 3'],
      ['a', 'b', 'c'],
    ],
  };
  for (const [from, end] of Object.entries(ends)) {
    await using stage = await setUp();
    const message = { messageId: 'm', provider: 'telegram', to: '7', message: 'x', from, acceptedMs: 1 };
    await stage.store.commit({ statements: [insertDelivery(message)] });
    const sent: string[] = [];
    const revokes: SendChunk = async ({ plain }) => {
      await stage.store.commit({ statements: [endWaitingFor({ channel: 'telegram', senderId: '7' }, 2)] });
      return String(sent.push(plain));
    };
    assert.deepEqual([await stage.send(['m', 'a', 'b', 'c'], revokes), sent], end, from);
  }
});
