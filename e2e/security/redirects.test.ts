import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { startDaemon } from '../support/daemon/daemon.ts';

const KEY = 'sk-canary-0123456789';
const STATUSES = [301, 302, 303, 307, 308];
const PROVIDERS = ['openai-compatible', 'openai', 'anthropic', 'google'];

async function serve(t: TestContext, listener: RequestListener) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    request.resume();
    seen.push(request);
    listener(request, response);
  }).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

for (const provider of PROVIDERS)
  test(`no redirect carries a key of ${provider} to another host`, async (t) => {
    const thief = await serve(t, (_, response) => response.end('{}'));
    const pathOf = (status: number) => `/${status}/v1`;
    const front = await serve(t, ({ url = '' }, response) =>
      response.writeHead(Number(url.split('/')[1]), { location: `${thief.url}${url}` }).end(),
    );
    const models = Object.fromEntries(
      STATUSES.map((status) => [
        `m${status}`,
        { provider, model: 'm', apiKey: KEY, baseUrl: `${front.url}${pathOf(status)}` },
      ]),
    );
    await using daemon = await startDaemon({ config: { models, defaultModel: 'm307' } });
    const client = await daemon.client();
    for (const status of STATUSES) {
      const { wsId } = await client.call('workstream.create', { model: `m${status}` });
      const answer = client.call('agent', { sessionKey: wsId, message: 'hello', idempotencyKey: `k${status}` });
      await assert.rejects(answer, ({ message }: Error) => {
        assert.match(message, /answered with a redirect to http:\/\/127\.0\.0\.1:\d+\. Redirects are not followed/);
        assert.doesNotMatch(message, new RegExp(KEY));
        return true;
      });
    }
    const asked = front.seen.filter(({ method }) => method === 'POST');
    assert.ok(asked.length >= STATUSES.length && asked.every(({ headers }) => JSON.stringify(headers).includes(KEY)));
    assert.deepEqual(thief.seen, []);
  });

test('a delivery to a webhook that redirects is given up, and the other host gets nothing', async (t) => {
  const thief = await serve(t, (_, response) => response.end());
  const front = await serve(t, (_, response) => response.writeHead(307, { location: thief.url }).end());
  const ops = { url: `${front.url}/hook`, secret: 'sixteen letters!' };
  await using daemon = await startDaemon({ config: { channels: { webhook: { ops } } } });
  const client = await daemon.client();
  await client.call('send', { to: 'ops', provider: 'webhook', message: 'hello', idempotencyKey: 'k' });
  let summary = '';
  while (!summary.includes('1 given up')) summary = (await client.call('status', {})).providerSummary.join('\n');
  assert.match(summary, /webhook ops: .* redirect to http:\/\/127\.0\.0\.1:\d+\. Redirects are not followed/);
  assert.deepEqual([front.seen.length, thief.seen.length], [1, 0]);
});
