import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { CONTRACTS } from '../../protocol/index.ts';
import { listeningGateway } from '../../src/gateway/testing/listening-gateway.ts';
import { CONNECT } from '../../src/gateway/testing/test-client.ts';

type Gateway = Awaited<ReturnType<typeof listeningGateway>>;

/** Sends one text as the first frame and waits for the end. */
async function greet(gateway: Gateway, text: string) {
  const client = await gateway.open();
  client.socket.send(text);
  const closed = await client.closed;
  return { frames: client.frames, closed };
}

const req = (method: string, params?: unknown) => JSON.stringify({ type: 'req', id: '1', method, params });

/** The status of an upgrade request: 101 if it is accepted. */
const upgrade = async (...args: Parameters<typeof answerToUpgrade>) => (await answerToUpgrade(...args)).statusCode;

function answerToUpgrade(
  { port }: Gateway,
  headers: Record<string, string>,
  path = '/v1/ws',
): Promise<Pick<IncomingMessage, 'statusCode' | 'headers'>> {
  const key = { Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': KEY };
  const sent = request({ port, host: '127.0.0.1', path, headers: { ...key, ...headers } });
  sent.end();
  return new Promise((resolve, reject) => {
    sent.on('response', resolve);
    sent.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response);
    });
    sent.on('error', reject);
  });
}

const KEY = 'AAAAAAAAAAAAAAAAAAAAAA==';

test('The answer to `connect` must be the first frame that a client receives', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.open();
  client.socket.send(req('connect', { ...CONNECT, auth: { token: 'read-token' } }));
  gateway.parts.broadcast.publish('tick', { ts: 1 });
  await client.answerTo('1');
  gateway.parts.broadcast.publish('tick', { ts: 2 });
  await client.event('tick');
  assert.deepEqual(
    client.frames.slice(0, 2).map((frame) => (frame.type === 'event' ? frame.payload : frame.type)),
    ['res', { ts: 2 }],
  );
});

test('`features.methods` must list every method that the caller may use, except `connect`', async () => {
  await using gateway = await listeningGateway();
  const { hello } = await gateway.client('approve-token');
  const { hello: reader } = await gateway.client('read-token');
  const names = Object.entries(CONTRACTS)
    .filter(([name, { scope }]) => name !== 'connect' && scope !== 'node' && scope !== 'service') // those are only for nodes and other machines
    .map(([name]) => name);
  const readable = Object.entries(CONTRACTS)
    .filter(([name, { scope }]) => name !== 'connect' && (scope === 'read' || scope === 'public'))
    .map(([name]) => name);
  assert.deepEqual(hello.features.methods, names);
  assert.deepEqual(reader.features.methods, readable);
});

test('A second `connect` must be answered INVALID_REQUEST and leave the connection open', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  const { ok, error } = await client.request('connect', CONNECT);
  assert.deepEqual(
    { ok, code: error?.code, message: error?.message },
    { ok: false, code: 'INVALID_REQUEST', message: 'connect is only valid as the first request' },
  );
  assert.ok(await client.call('system-presence'));
});

test('A first frame that is not JSON must be closed with 1000 and get no answer', async () => {
  await using gateway = await listeningGateway();
  assert.deepEqual(await greet(gateway, '{'), { frames: [], closed: { code: 1000, reason: '' } });
});

test('A first frame that is not a request must be closed with 1008 `invalid handshake` and get no answer', async () => {
  await using gateway = await listeningGateway();
  for (const text of [
    '3',
    'null',
    '[]',
    '{}',
    '{"type":"event","event":"tick"}',
    '{"type":"req","id":"","method":"connect"}',
  ])
    assert.deepEqual(await greet(gateway, text), {
      frames: [],
      closed: { code: 1008, reason: 'invalid handshake' },
    });
});

test('A first request other than `connect` must be refused and closed with 1008 `invalid handshake`', async () => {
  await using gateway = await listeningGateway();
  const error = {
    code: 'INVALID_REQUEST',
    message: 'invalid handshake: first request must be connect',
    retryable: false,
  };
  assert.deepEqual(await greet(gateway, req('health')), {
    frames: [{ type: 'res', id: '1', ok: false, error }],
    closed: { code: 1008, reason: 'invalid handshake' },
  });
});

test('Invalid `connect` params must be refused and closed with 1008 `invalid handshake`', async () => {
  await using gateway = await listeningGateway();
  for (const params of [undefined, {}, { ...CONNECT, surprise: 1 }, { ...CONNECT, minProtocol: 0 }]) {
    const { frames, closed } = await greet(gateway, req('connect', params));
    const [frame] = frames;
    assert.partialDeepStrictEqual(frame, { type: 'res', id: '1', ok: false, error: { code: 'INVALID_REQUEST' } });
    assert.match(frame?.type === 'res' ? (frame.error?.message ?? '') : '', /^invalid connect params: /);
    assert.deepEqual(closed, { code: 1008, reason: 'invalid handshake' });
  }
});

test('A protocol range without 2 must be reported before any other error in `connect`', async () => {
  await using gateway = await listeningGateway();
  const later = { minProtocol: 3, maxProtocol: 4, client: { id: 'cli' }, role: 'operator', auth: { token: 'wrong' } };
  for (const params of [later, { minProtocol: 1, maxProtocol: 1 }, { ...CONNECT, ...later }]) {
    const { frames, closed } = await greet(gateway, req('connect', params));
    const [first] = frames;
    const error = first?.type === 'res' ? first.error : undefined;
    assert.deepEqual(
      [error?.message, error?.details, closed],
      ['protocol mismatch', { expectedProtocol: 2 }, { code: 1002, reason: 'protocol mismatch' }],
    );
  }
});

test('A protocol range without 2 must be refused with the expected version and closed with 1002', async () => {
  await using gateway = await listeningGateway();
  const error = {
    code: 'INVALID_REQUEST',
    message: 'protocol mismatch',
    details: { expectedProtocol: 2 },
    retryable: false,
  };
  for (const [minProtocol, maxProtocol] of [
    [1, 1],
    [3, 4],
  ])
    assert.deepEqual(await greet(gateway, req('connect', { ...CONNECT, minProtocol, maxProtocol })), {
      frames: [{ type: 'res', id: '1', ok: false, error }],
      closed: { code: 1002, reason: 'protocol mismatch' },
    });
});

test('A missing or wrong token must be refused as UNAUTHORIZED and closed with 1008', async () => {
  await using gateway = await listeningGateway();
  const error = { code: 'UNAUTHORIZED', message: 'unauthorized', retryable: false };
  for (const auth of [undefined, {}, { token: '' }, { token: 'guess' }])
    assert.deepEqual(await greet(gateway, req('connect', { ...CONNECT, auth })), {
      frames: [{ type: 'res', id: '1', ok: false, error }],
      closed: { code: 1008, reason: 'unauthorized' },
    });
});

test('A connection that sends nothing for ten seconds must be closed with 1000', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.open();
  await gateway.clock.advance(9_999);
  assert.equal(gateway.gateway.sockets.connections, 1);
  await gateway.clock.advance(1);
  assert.deepEqual(
    { frames: client.frames, closed: await client.closed },
    { frames: [], closed: { code: 1000, reason: '' } },
  );
});

test('An upgrade with an unknown host name must be answered 403', async () => {
  await using gateway = await listeningGateway();
  const hosts = ['evil.test', `evil.test:${gateway.port}`, '127.0.0.1.evil.test', 'localhost.'];
  const statuses = await Promise.all(hosts.map((Host) => upgrade(gateway, { Host })));
  assert.deepEqual(statuses, [403, 403, 403, 403]);
  assert.equal(await upgrade(gateway, { Host: 'localhost' }), 101);
});

test('An upgrade from the page of another site must be answered 403, even with a credential', async () => {
  for (const isAuthEnabled of [true, false]) await refusesForeignPages(isAuthEnabled);
});

async function refusesForeignPages(isAuthEnabled: boolean): Promise<void> {
  await using gateway = await listeningGateway({ isAuthEnabled });
  const own = `http://127.0.0.1:${gateway.port}`;
  const origins = ['http://evil.test', 'null', `http://127.0.0.1:${gateway.port + 1}`, `${own}.evil.test`];
  const Host = `127.0.0.1:${gateway.port}`;
  const credential = { Authorization: 'Bearer approve-token', Cookie: 'service_auth=approve-token' };
  const asked = origins.flatMap((Origin) => [
    { Host, Origin },
    { Host, Origin, ...credential },
  ]);
  const statuses = await Promise.all(asked.map((headers) => upgrade(gateway, headers)));
  assert.deepEqual(
    statuses,
    asked.map(() => 403),
  );
  assert.equal(await upgrade(gateway, { Host, 'Sec-Fetch-Site': 'same-site' }), 403);
  assert.equal(await upgrade(gateway, { Host, Origin: own }), 101);
}

test('A login cookie must be accepted on an upgrade only if the daemon’s own page opens the socket', async () => {
  await using gateway = await listeningGateway();
  const Cookie = 'service_auth=read-token';
  const answerFor = async (headers: Record<string, string>) => {
    const client = await gateway.open(headers).catch(() => undefined);
    return (await client?.request('connect', CONNECT))?.ok ?? false;
  };
  assert.deepEqual(
    [
      await answerFor({ Cookie, Origin: `http://127.0.0.1:${gateway.port}` }),
      await answerFor({ Cookie, Origin: 'http://evil.test' }),
      await answerFor({ Cookie }),
    ],
    [true, false, false],
  );
});

test('An address must be limited to 32 unauthenticated sockets; the next one is answered 503 with `Retry-After`', async () => {
  await using gateway = await listeningGateway();
  const clients = [];
  for (let i = 0; i < 32; i++) clients.push(await gateway.open());
  const Host = `127.0.0.1:${gateway.port}`;
  const { statusCode, headers } = await answerToUpgrade(gateway, { Host });
  assert.deepEqual([statusCode, headers['retry-after']], [503, '1']);
  await clients[0]?.request('connect', { ...CONNECT, auth: { token: 'read-token' } });
  assert.equal(await upgrade(gateway, { Host }), 101);
});

test('an upgrade on any other path is answered 404', async () => {
  await using gateway = await listeningGateway();
  const Host = `127.0.0.1:${gateway.port}`;
  assert.deepEqual(
    [
      await upgrade(gateway, { Host }, '/v1/wss'),
      await upgrade(gateway, { Host }, '/'),
      await upgrade(gateway, { Host }, '/v1/ws?a=b'),
    ],
    [404, 101, 101],
  );
});
