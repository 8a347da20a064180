import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { closeServer, listen } from '../../../src/listen.ts';
import { fakeClock } from '../../../src/testing/fake-clock.ts';
import { postTo } from './telegram/post-to.ts';
import { startTelegramServer } from './telegram-server.ts';

test('a webhook receives updates with the secret, again after a failure', async () => {
  const clock = fakeClock(1_000_000);
  await using server = await startTelegramServer({ clock });
  const statuses = [500, 200, 200];
  const received: unknown[] = [];
  const hook = createServer((request, response) => {
    received.push(request.headers['x-telegram-bot-api-secret-token']);
    request.resume();
    response.writeHead(statuses.shift() ?? 500).end(() => server.changes.notify());
  });
  const url = `http://127.0.0.1:${await listen(hook, { host: '127.0.0.1', port: 0 })}/hook`;
  await postTo(server, 'setWebhook', { url, secret_token: 's3cret' });
  server.person().says('hello');
  await server.changes.until(
    () => server.updates.webhookInfo().last_error_message,
    () => 'a failed delivery',
  );
  await clock.advance(1_000);
  await server.untilAcknowledged();
  assert.deepEqual(received, ['s3cret', 's3cret']);
  const info = await postTo(server, 'getWebhookInfo', {});
  assert.equal(Reflect.get(Object(info.result), 'last_error_message'), 'Wrong response from the webhook: 500');
  await closeServer(hook);
});

for (const [kind, isDone] of [
  ['reset', false],
  ['reset-after', true],
  ['cut', true],
  ['truncated', true],
] as const)
  test(`${kind}: the answer is lost, and the message was ${isDone ? '' : 'not '}sent`, async () => {
    await using server = await startTelegramServer();
    const { chat } = server.person();
    server.faults.add('sendMessage', { kind });
    await assert.rejects(postTo(server, 'sendMessage', { chat_id: chat.id, text: 'x' }));
    assert.deepEqual([chat.texts.length, server.calls[0]?.isDone], [Number(isDone), isDone]);
    assert.equal((await postTo(server, 'sendMessage', { chat_id: chat.id, text: 'y' })).ok, true);
  });

test('faults end after their number, their time, or when they are cleared', async () => {
  const clock = fakeClock(1_000_000);
  await using server = await startTelegramServer({ clock });
  const me = async () => (await postTo(server, 'getMe', {})).error_code;
  server.faults.add('*', { kind: 'unauthorized' }, { times: 2 });
  assert.deepEqual([await me(), await me(), await me()], [401, 401, undefined]);
  server.faults.add('getMe', { kind: 'conflict' }, { forMs: 5_000 });
  assert.equal(await me(), 409);
  await clock.advance(5_000);
  assert.equal(await me(), undefined);
  server.faults.add('getMe', { kind: 'limit', seconds: 7 }, { times: 9 });
  assert.deepEqual((await postTo(server, 'getMe', {})).parameters, { retry_after: 7 });
  server.faults.clear('getMe');
  assert.equal(await me(), undefined);
});

test('a server that went away refuses connections, and comes back at the same address', async () => {
  await using server = await startTelegramServer();
  const { apiRoot } = server;
  await server.goAway();
  await assert.rejects(postTo(server, 'getMe', {}));
  await server.comeBack();
  assert.equal(server.apiRoot, apiRoot);
  assert.equal((await postTo(server, 'getMe', {})).ok, true);
});
