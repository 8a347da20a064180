import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { DAEMON } from '../sharing/perception.ts';
import { DeliveryError } from './channel.ts';
import { createWebhookChannel } from './webhook.ts';

const SECRET = 'whsec_c2l4dGVlbiBsZXR0ZXJzIQ==';
const ATTEMPT = {
  signal: new AbortController().signal,
  delivered: () => assert.fail('the other side stores nothing of ours'),
  viewer: async () => DAEMON,
};
const DELIVERY = { messageId: 'msg_1', to: 'ops', message: 'hello', from: 'operator', acceptedMs: 1_700_000_000_000 };

/** A channel with one destination that answers like this. */
function channelTo(answer: Response | Error, secret = SECRET) {
  const requests: { url: string; init: RequestInit }[] = [];
  const channel = createWebhookChannel({
    destinations: () => new Map([['ops', { url: 'https://hooks.example.com/x', secret }]]),
    fetch: async (url, init) => {
      requests.push({ url, init });
      if (answer instanceof Error) throw answer;
      return answer;
    },
    clock: fakeClock(1_700_000_005_999),
  });
  const deliver = (delivery = DELIVERY) => channel.deliver(delivery, ATTEMPT);
  return { channel, requests, deliver };
}

test('a message is posted as JSON and signed according to Standard Webhooks', async () => {
  const { requests, deliver } = channelTo(new Response(null, { status: 204 }));
  await deliver();
  const { url, init } = requests[0] ?? assert.fail('nothing was sent');
  const headers = new Headers(init.headers);
  const body = String(init.body);
  const signed = `msg_1.1700000005.${body}`;
  const expected = createHmac('sha256', 'sixteen letters!').update(signed).digest('base64');
  assert.deepEqual(
    [url, init.method, headers.get('webhook-id'), headers.get('webhook-timestamp')],
    ['https://hooks.example.com/x', 'POST', 'msg_1', '1700000005'],
  );
  assert.equal(headers.get('webhook-signature'), `v1,${expected}`);
  assert.deepEqual(JSON.parse(body), {
    type: 'message',
    timestamp: '2023-11-14T22:13:20.000Z',
    data: { messageId: 'msg_1', message: 'hello', from: 'operator' },
  });
});

test('a request that is under way when the daemon stops is not ended', async () => {
  const { channel, requests } = channelTo(new Response());
  assert.equal(await channel.deliver(DELIVERY, { ...ATTEMPT, signal: AbortSignal.abort() }), 'taken');
  assert.equal(requests[0]?.init.signal?.aborted, false);
});

test('a secret in another form is used as the key unchanged', async () => {
  const { requests, deliver } = channelTo(new Response(), 'plain text secret');
  await deliver();
  const { init } = requests[0] ?? assert.fail('nothing was sent');
  const signed = createHmac('sha256', 'plain text secret').update(`msg_1.1700000005.${init.body}`);
  assert.equal(new Headers(init.headers).get('webhook-signature'), `v1,${signed.digest('base64')}`);
});

const away = Object.assign(new TypeError('fetch failed'), { cause: new Error('connect ECONNREFUSED') });
for (const [what, answer, expected] of [
  ['500', new Response('no', { status: 500 }), { message: 'HTTP 500', retryable: true }],
  [
    '429 with Retry-After',
    new Response('', { status: 429, headers: { 'retry-after': '7' } }),
    { message: 'HTTP 429', retryable: true, retryAfterMs: 7_000 },
  ],
  ['400', new Response('', { status: 400 }), { message: 'HTTP 400', retryable: false }],
  ['a redirect', new Response('', { status: 302 }), { message: 'HTTP 302', retryable: false }],
  ['no server', away, { message: 'no answer: connect ECONNREFUSED', retryable: true }],
] as const) {
  test(`${what}: ${expected.message}, ${expected.retryable ? 'retryable' : 'final'}`, async () => {
    const error = await channelTo(answer)
      .deliver()
      .catch((thrown: unknown) => thrown);
    if (!(error instanceof DeliveryError)) assert.fail(String(error));
    const { message, retryable, retryAfterMs } = error;
    assert.deepEqual({ message, retryable, ...(retryAfterMs && { retryAfterMs }) }, expected);
  });
}

test('it has the configured destinations, and a removed one is a final failure', async () => {
  const { channel, deliver } = channelTo(new Response());
  assert.deepEqual(
    [channel.destinations, await channel.find('ops', DAEMON), await channel.find('nobody', DAEMON)],
    [['ops'], 'ops', undefined],
  );
  await assert.rejects(deliver({ ...DELIVERY, to: 'nobody' }), { name: 'DeliveryError', retryable: false });
});
