import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { after, test } from 'node:test';
import { wordsOf } from '../../protocol/words-of.ts';
import { systemClock } from '../clock.ts';
import { NATS_PASSWORD, type NatsServer, startNats } from '../testing/nats-server.ts';
import { needs } from '../testing/needs.ts';
import { recordingLog } from '../testing/temp-store.ts';
import { untilTrue } from '../testing/until-true.ts';
import { connectNats } from './nats-transport.ts';
import type { Transport } from './transport.ts';

const installed = await needs('nats-server');

let shared: Promise<NatsServer> | undefined;
const server = (): Promise<NatsServer> => {
  shared ??= startNats();
  return shared;
};
after(async () => (await shared)?.close());

/** A daemon on the bus; closed with the test. */
async function join(own: string, url?: string) {
  const log = recordingLog();
  const received: Buffer[] = [];
  const transport = await connectNats({
    url: url ?? (await server()).url,
    own,
    onMessage: (message) => void received.push(Buffer.from(message)),
    clock: systemClock,
    log,
  });
  const states: boolean[] = [];
  transport.onState((isConnected) => void states.push(isConnected));
  return { transport, received, states, log, [Symbol.asyncDispose]: () => transport.close() };
}

/** Resolves once what is sent arrives; a subscription reaches the server some time after it was made. */
async function untilHeard(from: Transport, to: string, received: Buffer[]): Promise<void> {
  for (let turns = 0; received.length === 0; turns += 1) {
    if (turns % 100 === 0) from.send(to, Buffer.from('there?'));
    await new Promise(setImmediate);
  }
  from.send(to, Buffer.from('last'));
  await untilTrue(() => received.at(-1)?.toString() === 'last');
  received.length = 0;
}

/** At the address of a killed server, refuses logins until there were so many, or none for a while; returns their number. */
async function refuseFor(url: string, most: number): Promise<number> {
  let refused = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('INFO {"server_id":"x","version":"2.10.0","proto":1,"max_payload":1048576,"auth_required":true}\r\n');
    socket.on('data', (data) => {
      if (!data.includes('CONNECT')) return;
      refused += 1;
      socket.end("-ERR 'Authorization Violation'\r\n");
    });
  });
  server.listen(Number(new URL(url).port), '127.0.0.1');
  const untilMs = performance.now() + 5_000;
  await untilTrue(() => refused >= most || performance.now() > untilMs);
  server.close();
  return refused;
}

test(
  'a thousand messages from each of two daemons arrive in order, and only at their receiver',
  installed,
  async () => {
    await using a = await join('a');
    await using b = await join('b');
    await using c = await join('c');
    for (const from of [a, c]) await untilHeard(from.transport, 'b', b.received);
    for (let n = 0; n < 1_000; n += 1)
      for (const [name, { transport }] of [
        ['a', a],
        ['c', c],
      ] as const)
        transport.send('b', Buffer.from(`${name} ${n}`));
    await untilTrue(() => b.received.length === 2_000);
    const texts = b.received.map(String);
    for (const name of ['a', 'c'])
      assert.deepEqual(
        texts.filter((text) => text.startsWith(name)),
        Array.from({ length: 1_000 }, (_, n) => `${name} ${n}`),
      );
    assert.deepEqual([a.received, c.received], [[], []]);
  },
);

test('messages of all sizes up to a piece with its seal arrive unchanged', installed, async () => {
  await using a = await join('a');
  await using b = await join('b');
  await untilHeard(a.transport, 'b', b.received);
  const messages = [0, 1, 1_000, 512 * 1024, 512 * 1024 + 200].map((size) => randomBytes(size));
  for (const message of messages) a.transport.send('b', message);
  await untilTrue(() => b.received.length === messages.length);
  assert.ok(b.received.every((message, index) => message.equals(messages[index] ?? Buffer.alloc(0))));
});

test('many long messages at once arrive in order', installed, async () => {
  await using a = await join('a');
  await using b = await join('b');
  await untilHeard(a.transport, 'b', b.received);
  const message = randomBytes(512 * 1024);
  for (let n = 0; n < 100; n += 1) {
    message.writeUInt32BE(n);
    a.transport.send('b', Buffer.from(message));
  }
  await untilTrue(() => b.received.length === 100 || b.states.length > 0);
  assert.deepEqual(
    b.received.map((one) => one.readUInt32BE()),
    Array.from({ length: 100 }, (_, n) => n),
  );
});

test(
  'a killed server is noticed, messages are refused meanwhile, and they flow again afterwards',
  installed,
  async () => {
    const nats = await startNats();
    try {
      await using a = await join('a', nats.url);
      await using b = await join('b', nats.url);
      await untilHeard(a.transport, 'b', b.received);
      await nats.kill();
      await untilTrue(() => a.states.length > 0 && b.states.length > 0);
      assert.deepEqual([a.states, a.transport.isConnected], [[false], false]);
      assert.throws(() => a.transport.send('b', Buffer.from('lost')), /nats:\/\/127\.0\.0\.1:\d+ is not connected/);
      await nats.start();
      await untilTrue(() => a.states.length > 1 && b.states.length > 1);
      assert.deepEqual([a.states, b.states, a.transport.isConnected], [[false, true], [false, true], true]);
      await untilHeard(a.transport, 'b', b.received);
      assert.deepEqual(a.log.lines, [
        ['warn', 'the connection to the bus is lost; trying again'],
        ['info', 'the bus is connected again'],
      ]);
      assert.ok(!JSON.stringify([a.log, b.log]).includes(NATS_PASSWORD));
    } finally {
      await nats.close();
    }
  },
);

test('a lost server is found again also if the clock of the machine is set back meanwhile', installed, async (t) => {
  const nats = await startNats();
  try {
    await using a = await join('a', nats.url);
    const { now } = Date;
    t.mock.method(Date, 'now', () => now() - 3_600_000);
    await nats.kill();
    await untilTrue(() => a.states.length > 0);
    await nats.start();
    await untilTrue(() => a.transport.isConnected);
  } finally {
    await nats.close();
  }
});

test('a daemon receives messages from the moment at which it is connected', installed, async () => {
  await using a = await join('a');
  for (let n = 0; n < 10; n += 1) {
    await using b = await join(`b${n}`);
    a.transport.send(`b${n}`, Buffer.from('first'));
    for (let turns = 0; turns < 10_000 && b.received.length === 0; turns += 1) await new Promise(setImmediate);
    assert.deepEqual(b.received.map(String), ['first']);
  }
});

test(
  'a server that refuses the password for a while, as when it is changed, is tried until it accepts it',
  installed,
  async () => {
    const nats = await startNats();
    try {
      await using a = await join('a', nats.url);
      await nats.kill();
      await untilTrue(() => a.states.length > 0);
      const refusals = await refuseFor(nats.url, 3);
      assert.ok(refusals >= 3, `it gave up after ${refusals} attempts`);
      await nats.start();
      await untilTrue(() => a.transport.isConnected);
    } finally {
      await nats.close();
    }
  },
);

test('a connection that is closed on purpose is not said to be lost', installed, async () => {
  const { transport, states, log } = await join('a');
  await transport.close();
  await transport.close();
  assert.deepEqual([states, log.lines], [[], []]);
});

test(
  'a wrong password, or a server that is not there, is refused in words without the password',
  installed,
  async () => {
    const { url } = await server();
    const wrong = url.replace(NATS_PASSWORD, 'wr0ng-p4ss');
    await assert.rejects(join('a', wrong), (error: Error) => {
      assert.match(error.message, /^nats:\/\/127\.0\.0\.1:\d+ cannot be reached: .*authorization/i);
      assert.ok(!`${error.message} ${wordsOf(error)} ${error.stack}`.includes('wr0ng'));
      return true;
    });
    await assert.rejects(join('a', `nats://headgate:${NATS_PASSWORD}@127.0.0.1:1`), (error: Error) => {
      assert.match(error.message, /^nats:\/\/127\.0\.0\.1:1 cannot be reached: /);
      assert.ok(!`${error.message} ${error.stack}`.includes(NATS_PASSWORD));
      return true;
    });
  },
);
