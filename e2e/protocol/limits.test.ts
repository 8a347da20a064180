import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OF_EVERYONE } from '../../src/gateway/sharing/perception.ts';
import { listeningGateway } from '../../src/gateway/testing/listening-gateway.ts';

/** One byte more than fits into a frame of `bytes`, or exactly as much. */
const frameOf = (bytes: number) => {
  const [head, tail] = ['{"type":"req","id":"big","method":"system-presence","params":"', '"}'];
  return head + 'x'.repeat(bytes - head.length - tail.length) + tail;
};

test('A frame over 64 KiB before hello-ok must be closed with 1009', async () => {
  await using gateway = await listeningGateway();
  const [fits, over] = [await gateway.open(), await gateway.open()];
  fits.socket.send(frameOf(65_536));
  over.socket.send(frameOf(65_537));
  assert.deepEqual([(await fits.closed).code, (await over.closed).code], [1008, 1009]);
});

test('A frame over `policy.maxPayload` must be closed with 1009', async () => {
  await using gateway = await listeningGateway();
  const [fits, over] = [await gateway.client(), await gateway.client()];
  const { maxPayload } = fits.hello.policy;
  fits.socket.send(frameOf(maxPayload));
  over.socket.send(frameOf(maxPayload + 1));
  assert.equal((await fits.answerTo('big')).ok, true);
  assert.equal((await over.closed).code, 1009);
});

test('Requests beyond the burst must be answered RATE_LIMITED with `retryAfterMs`', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  const ask = (length: number) => Promise.all(Array.from({ length }, () => client.request('system-presence')));
  // In two halves, because requests in one packet are in flight together, which has its own limit.
  const answers = [await ask(150), await ask(151)];
  assert.deepEqual(
    answers
      .flat()
      .filter(({ ok }) => !ok)
      .map(({ error }) => error),
    [{ code: 'RATE_LIMITED', message: 'too many requests', retryable: true, retryAfterMs: 20 }],
  );
  await gateway.clock.advance(20);
  assert.equal((await client.request('system-presence')).ok, true);
});

test('More than 256 requests in flight must be answered BUSY', async () => {
  await using gateway = await listeningGateway();
  const answer = Promise.withResolvers<void>();
  gateway.puppet.turn(answer.promise);
  const client = await gateway.client();
  await client.call('chat.send', { sessionKey: 'main', message: 'hello', idempotencyKey: 'run' });
  const answers = Array.from({ length: 257 }, () => client.request('agent.wait', { runId: 'run' }));
  const { error } = await (answers.at(-1) ?? assert.fail());
  assert.deepEqual(error, { code: 'BUSY', message: 'too many requests in flight', retryable: true });
  answer.resolve();
  assert.equal((await Promise.all(answers)).filter(({ ok }) => ok).length, 256);
});

test('A client that reads too slowly must be closed with 1008 `slow consumer` at the next event that cannot be skipped', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  client.socket.pause();
  const text = 'x'.repeat(1_000_000);
  for (let i = 0; i < 20; i++) {
    gateway.parts.broadcast.toWatchers(
      'agent',
      { wsId: 'w', ...OF_EVERYONE },
      JSON.stringify({ runId: 'r', seq: i, stream: 'assistant', ts: 1, data: { text } }),
    );
    await new Promise((resolve) => setImmediate(resolve));
  }
  client.socket.resume();
  assert.deepEqual(await client.closed, { code: 1008, reason: 'slow consumer' });
});

test('A `tick` event must come every `policy.tickIntervalMs`', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  const { tickIntervalMs } = client.hello.policy;
  await gateway.clock.advance(tickIntervalMs - 1);
  await client.call('system-presence');
  assert.deepEqual(
    client.events().filter(({ event }) => event === 'tick'),
    [],
  );
  await gateway.clock.advance(1);
  await client.event('tick');
  await gateway.clock.advance(tickIntervalMs);
  await client.call('system-presence');
  const ticks = client.events().filter(({ event }) => event === 'tick');
  assert.deepEqual(
    ticks.map(({ payload }) => payload),
    [{ ts: 1_000_000 + tickIntervalMs }, { ts: 1_000_000 + 2 * tickIntervalMs }],
  );
});

test('The open sockets of a revoked login must be closed with 1008 `unauthorized`', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client('write-token');
  const other = await gateway.client('read-token');
  gateway.revoke('write-token');
  assert.deepEqual(await client.closed, { code: 1008, reason: 'unauthorized' });
  assert.ok(await other.call('system-presence'));
});

test('A stopping daemon must announce `shutdown` before it closes sockets with 1012', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  const closing = gateway.gateway.sockets.shutdown('gateway stopping', { restartExpectedMs: 1500 });
  const { payload } = await client.event('shutdown');
  assert.deepEqual(payload, { reason: 'gateway stopping', restartExpectedMs: 1500 });
  assert.deepEqual(await client.closed, { code: 1012, reason: 'service restart' });
  await gateway.clock.advance(2_000);
  await closing;
});
