import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onlyWebhooks } from '../testing/only-webhooks.ts';
import { turnsUntil, wholeGateway } from '../testing/whole-gateway.ts';

const url = 'https://hooks.example.com/x';
const HOUR_MS = 3_600_000;

/** A gateway with the destinations `ops` and `home`, which answer with these statuses, then 204. */
async function setUp(...statuses: (number | ResponseInit)[]) {
  const sent: { messageId: string; message: string }[] = [];
  const destination = { url, secret: 'sixteen letters!' };
  const gateway = await wholeGateway({
    channelServices: onlyWebhooks({
      destinations: () =>
        new Map([
          ['ops', destination],
          ['home', destination],
        ]),
      fetch: async (_url, { body }) => {
        const { data } = JSON.parse(String(body));
        sent.push({ messageId: data.messageId, message: data.message });
        const next = statuses.shift() ?? 204;
        return new Response(null, typeof next === 'number' ? { status: next } : next);
      },
    }),
  });
  const stop = new AbortController();
  const start = () => void gateway.gateway.run(stop.signal);
  const send = (params: { to: string; message: string; provider?: string }, idempotencyKey = params.message) =>
    gateway.call('send', { ...params, idempotencyKey });
  const rows = () => gateway.store.db.selectFrom('outbox').selectAll().orderBy('seq').execute();
  const settled = () => turnsUntil(async () => (await rows()).every(({ status }) => status !== 'pending'), 'all ended');
  return {
    ...{ gateway, sent, start, send, rows, settled },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

test('a message is accepted, delivered, and has one final record', async () => {
  await using world = await setUp();
  world.start();
  const { messageId, ...answer } = await world.send({ to: 'ops', message: 'hello' });
  assert.deepEqual(answer, { runId: 'hello', provider: 'webhook', chatId: 'ops' });
  await world.settled();
  assert.deepEqual(world.sent, [{ messageId, message: 'hello' }]);
  assert.deepEqual(
    (await world.rows()).map(({ status, attempts, sender }) => ({ status, attempts, sender })),
    [{ status: 'delivered', attempts: 1, sender: 'ada' }],
  );
});

test('messages accepted before a restart are delivered after it; a repeat gets the same answer and sends nothing', async () => {
  await using world = await setUp();
  const first = await world.send({ to: 'ops', message: 'hello' });
  await world.gateway.restart();
  assert.deepEqual(await world.send({ to: 'ops', message: 'hello' }), first);
  const other = await world.gateway.refusal('send', { to: 'ops', message: 'other', idempotencyKey: 'hello' });
  assert.equal(other.code, 'CONFLICT');
  world.start();
  await world.settled();
  assert.deepEqual(
    world.sent.map(({ message }) => message),
    ['hello'],
  );
});

test('failures are retried with growing waits, in order for each destination', async () => {
  await using world = await setUp(503, 204, 503);
  world.start();
  await world.send({ to: 'ops', message: 'one' });
  await turnsUntil(() => world.sent.length === 1, 'a first attempt');
  await world.send({ to: 'ops', message: 'two' });
  await world.send({ to: 'home', message: 'of another place' });
  await turnsUntil(() => world.sent.length === 2, 'the other place');
  const messages = () => world.sent.map(({ message }) => message).filter((message) => !message.startsWith('of'));
  await world.gateway.clock.advance(1_000);
  await turnsUntil(() => messages().length === 2, 'a second attempt');
  await world.gateway.clock.advance(1_999);
  assert.deepEqual(messages(), ['one', 'one']);
  await world.gateway.clock.advance(1);
  await world.settled();
  assert.deepEqual(messages(), ['one', 'one', 'one', 'two']);
});

test('a clock that is set back a day delays nothing', async () => {
  await using world = await setUp(503);
  world.start();
  world.gateway.clock.jump(48 * HOUR_MS); // so that it does not go back before 1970
  await world.send({ to: 'ops', message: 'hello' });
  await turnsUntil(async () => (await world.rows())[0]?.attempts === 1, 'a first attempt');
  world.gateway.clock.jump(-24 * HOUR_MS);
  await world.gateway.clock.advance(60_000);
  await world.settled();
  assert.equal((await world.rows())[0]?.status, 'delivered');
});

test('a message refused permanently, or for a day, is given up and shown by status', async () => {
  await using world = await setUp(400, ...Array<number>(20).fill(500));
  world.start();
  const { messageId } = await world.send({ to: 'ops', message: 'never' });
  await world.settled();
  await world.send({ to: 'home', message: 'not today' });
  for (let hour = 0; hour < 30; hour++) await world.gateway.clock.leap(HOUR_MS);
  await world.settled();
  const { providerSummary } = await world.gateway.call('status', {});
  assert.equal(world.sent.length, 21);
  assert.deepEqual(
    providerSummary.slice(-4).map((line) => line.replace(/ \(.*/, '')),
    ['webhook: ops, home', 'outbox: 0 waiting, 2 given up', 'webhook home: HTTP 500', 'webhook ops: HTTP 400'],
  );
  assert.match(providerSummary.at(-1) ?? '', new RegExp(messageId));
});

test('a note goes into another workstream: people see it, the model reads it next', async () => {
  await using world = await setUp();
  world.start();
  const { gateway } = world;
  await gateway.call('sessions.patch', { key: 'garden' });
  const { sessionId: wsId = '' } = await gateway.call('chat.history', { sessionKey: 'garden' });
  const { provider, chatId } = await world.send({ to: wsId, message: 'water the beans' });
  await world.settled();
  const events = await gateway.events(wsId);
  assert.deepEqual(
    [provider, chatId, events.at(-1)],
    ['workstream', 'garden', { type: 'info', message: 'Note from ada: water the beans' }],
  );
  await gateway.call('agent', { sessionKey: wsId, message: 'What is up?', idempotencyKey: 'k1' });
  const asked = gateway.puppet.requests.at(-1)?.messages.map((message) => message.role === 'user' && message.content);
  assert.deepEqual(asked, ['Note from ada: water the beans', 'What is up?']);
});

test('a note is stored together with the end of its delivery, so a failure after it causes no second note', async () => {
  await using world = await setUp();
  const { gateway } = world;
  const { store } = gateway;
  const commit = store.commit.bind(store);
  store.commit = async (unit) => {
    const endsDeliveryAlone = !unit.events && (unit.statements ?? []).some(({ sql }) => /^update "outbox"/i.test(sql));
    if (endsDeliveryAlone) throw new Error('killed before it was recorded');
    return commit(unit);
  };
  world.start();
  await gateway.call('sessions.patch', { key: 'garden' });
  const { sessionId: wsId = '' } = await gateway.call('chat.history', { sessionKey: 'garden' });
  await world.send({ to: wsId, message: 'water the beans' });
  const notes = async () => (await gateway.events(wsId)).filter(({ type }) => type === 'info').length;
  await turnsUntil(async () => (await notes()) > 0, 'the note');
  await gateway.clock.advance(5_000);
  assert.deepEqual([await notes(), (await world.rows()).map(({ status }) => status)], [1, ['delivered']]);
});

test('a note waits while a run is in progress, even for hours, and delays nothing else', async () => {
  await using world = await setUp();
  world.start();
  const { gateway } = world;
  gateway.puppet.turn(new Promise(() => undefined));
  await gateway.call('chat.send', { sessionKey: 'main', message: 'long', idempotencyKey: 'k1' });
  await world.send({ to: 'main', message: 'later' });
  for (let minute = 0; minute < 120; minute += 1) await gateway.clock.leap(60_000);
  await world.send({ to: 'ops', message: 'meanwhile' });
  await turnsUntil(() => world.sent.length === 1, 'the other place');
  assert.deepEqual((await world.rows()).map(({ provider, status, attempts }) => [provider, status, attempts])[0], [
    'workstream',
    'pending',
    0,
  ]);
  await gateway.call('chat.abort', { sessionKey: 'main' });
  await gateway.clock.advance(1_000);
  await world.settled();
  assert.deepEqual(
    (await world.rows()).map(({ status, attempts }) => [status, attempts]),
    [
      ['delivered', 1],
      ['delivered', 1],
    ],
  );
});

test('a destination that asks for early retries gets no more attempts, and one that asks for a pause gets it', async () => {
  const soon = { status: 429, headers: { 'retry-after': '1' } };
  await using world = await setUp({ status: 503, headers: { 'retry-after': '60' } }, ...Array(40).fill(soon));
  world.start();
  await world.send({ to: 'ops', message: 'patience' });
  await turnsUntil(async () => (await world.rows())[0]?.attempts === 1, 'a first attempt');
  await world.gateway.clock.advance(59_999);
  assert.equal(world.sent.length, 1);
  for (let minute = 0; minute < 120; minute += 1) await world.gateway.clock.leap(60_000);
  assert.deepEqual(
    (await world.rows()).map(({ status }) => status),
    ['pending'],
  );
  assert.ok(world.sent.length > 8 && world.sent.length < 15, `${world.sent.length} attempts in two hours`);
});

test('the answer of a run is sent to the requested destination, and next time to the last one', async () => {
  await using world = await setUp();
  world.start();
  const { gateway } = world;
  const ask = (key: string, params: object) =>
    gateway.call('agent', { message: key, idempotencyKey: key, deliver: true, ...params });
  assert.equal(
    (await gateway.refusal('agent', { message: 'a', idempotencyKey: 'a', deliver: true })).message,
    'deliver needs `to`: this session has neither received nor sent anything by a channel yet',
  );
  gateway.puppet.turn('The first.');
  await ask('one', { channel: 'webhook', to: 'ops' });
  gateway.puppet.turn('The second.');
  await ask('two', { channel: 'last' });
  gateway.puppet.turn('Once more.');
  await ask('more', { channel: 'Webhook' });
  assert.equal(
    (await gateway.refusal('agent', { message: 'a', idempotencyKey: 'b', deliver: true, channel: 'workstream' }))
      .message,
    'deliver needs `to`: this session has neither received nor sent anything by workstream yet',
  );
  assert.match(
    (await gateway.refusal('agent', { message: 'a', idempotencyKey: 'c', deliver: true, channel: 'pigeon' })).message,
    /^unsupported channel: pigeon/,
  );
  gateway.puppet.turn('The third.');
  await ask('three', { channel: 'webchat' });
  gateway.puppet.turn(new Error('the model is away'));
  await ask('four', {}).catch(() => undefined);
  await world.settled();
  assert.deepEqual(world.sent, [
    { messageId: 'answer:one', message: 'The first.' },
    { messageId: 'answer:two', message: 'The second.' },
    { messageId: 'answer:more', message: 'Once more.' },
  ]);
});

test('an unknown channel or destination is refused with the known ones', async () => {
  await using world = await setUp();
  const refusals = await Promise.all(
    [
      { to: 'ops', provider: 'Pigeon' },
      { to: 'ops', provider: 'Telegram' },
      { to: 'nobody', provider: 'webhook' },
      { to: 'nobody' },
      { to: 'ops', message: '  ' },
      { to: '  ' },
    ].map((params, n) => world.gateway.refusal('send', { message: 'x', idempotencyKey: `k${n}`, ...params })),
  );
  assert.deepEqual(
    refusals.map(({ code, message }) => `${code}: ${message}`),
    [
      'INVALID_REQUEST: unsupported channel: pigeon (available: webhook, workstream, telegram, whatsapp)',
      'NOT_LINKED: telegram is not set up; add it to config.json under channels.telegram',
      'NOT_FOUND: Unknown destination: nobody (available: ops, home)',
      'NOT_FOUND: Unknown destination: nobody (available: ops, home)',
      'INVALID_REQUEST: message must not be blank',
      'INVALID_REQUEST: to must not be blank',
    ],
  );
  await using unlinked = await wholeGateway();
  const { code } = await unlinked.refusal('send', {
    to: 'ops',
    provider: 'webhook',
    message: 'x',
    idempotencyKey: 'k',
  });
  assert.equal(code, 'NOT_LINKED');
});
