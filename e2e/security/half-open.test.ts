import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeTimers } from '../../protocol/client/testing/fake-timers.ts';
import { type ConnectionStatus, createGatewayClient } from '../../protocol/client/ws-client.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { StreamEvent } from '../../protocol/stream-events.ts';
import type { TestClient } from '../../src/gateway/testing/test-client.ts';
import { type ClockedDaemon, startClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { within } from '../support/deadline.ts';
import { startHalfOpenProxy } from '../support/faults/half-open-proxy.ts';

const CONNECTIONS = 'service_gateway_connections_active';

/** Produces a stored event for all clients, with an unknown command. */
const say = (client: TestClient, wsId: string, text: string) =>
  client.call('workstream.command', { wsId, command: `/${text}` });

/** Advances the clock by a tick and waits until all live clients have answered the ping. */
async function tick(daemon: ClockedDaemon, present: TestClient): Promise<void> {
  const seen = present.events().filter(({ event }) => event === 'tick').length;
  await daemon.clock.advance(LIMITS.tickIntervalMs);
  while (present.events().filter(({ event }) => event === 'tick').length === seen) await present.call('health');
  await present.call('health');
}

const rowsOf = async (client: TestClient, instanceId: string) => {
  const rows = (await client.call('system-presence')) as { instanceId?: string; reason?: string }[];
  return rows.filter((row) => row.instanceId === instanceId).map(({ reason }) => reason);
};

test('a client that vanishes without a FIN is dropped after two unanswered pings, and its resources are released', async () => {
  await using daemon = await startClockedDaemon();
  using proxy = await startHalfOpenProxy(daemon.port);
  const present = await daemon.connect();
  const lost = await daemon.connect({ port: proxy.port, client: { instanceId: 'lost' } });
  const { wsId } = (await present.call('workstream.create', {})) as { wsId: string };
  await lost.call('events.subscribe', { wsId });
  await tick(daemon, present);
  const seen = [await daemon.gauge(CONNECTIONS), await rowsOf(present, 'lost')];
  proxy.goDead();
  await tick(daemon, present);
  await tick(daemon, present);
  const asked = [await daemon.gauge(CONNECTIONS), await rowsOf(present, 'lost')];
  await tick(daemon, present);
  const gone = [await daemon.gauge(CONNECTIONS), await rowsOf(present, 'lost')];
  assert.deepEqual(
    { seen, asked, gone },
    { seen: [2, ['connect']], asked: [2, ['connect']], gone: [1, ['disconnect']] },
  );
});

test('a client whose gateway falls silent reconnects after two ticks without lost or duplicated events', async () => {
  await using daemon = await startClockedDaemon();
  using proxy = await startHalfOpenProxy(daemon.port);
  const speaker = await daemon.connect();
  const { wsId } = (await speaker.call('workstream.create', {})) as { wsId: string };
  const timers = fakeTimers();
  const statuses: ConnectionStatus['kind'][] = [];
  const heard: string[] = [];
  let wake = Promise.withResolvers<void>();
  const client = createGatewayClient({
    url: `ws://127.0.0.1:${proxy.port}/v1/ws`,
    token: daemon.token,
    client: { name: 'e2e', version: '1', mode: 'test' },
    timers,
    onStatus({ kind }) {
      statuses.push(kind);
      wake.resolve();
    },
  });
  const until = async (isSo: () => boolean, what: string) => {
    while (!isSo()) {
      wake = Promise.withResolvers();
      await within(wake.promise, 60_000, () => `${what}; heard ${heard}, was ${statuses}`);
    }
  };
  const texts = (event: StreamEvent) => (event.type === 'info' ? [/word\d/.exec(event.message)?.[0] ?? ''] : []);
  await client.connect();
  client.subscribe(wsId, {
    onSnapshot: () => wake.resolve(),
    onEvent(event) {
      heard.push(...texts(event));
      wake.resolve();
    },
  });
  await client.call('health');
  await say(speaker, wsId, 'word1');
  await until(() => heard.length === 1, 'the first word');

  proxy.goDead();
  await say(speaker, wsId, 'word2');
  await say(speaker, wsId, 'word3');
  await timers.advance(2 * LIMITS.tickIntervalMs - 1);
  assert.deepEqual([statuses.at(-1), heard], ['open', ['word1']]);
  await timers.advance(1);
  assert.equal(statuses.at(-1), 'waiting');
  await timers.advance(LIMITS.tickIntervalMs);
  await until(() => heard.length === 3, 'what was said meanwhile');
  await say(speaker, wsId, 'word4');
  await until(() => heard.length === 4, 'the word after it');
  assert.deepEqual(heard, ['word1', 'word2', 'word3', 'word4']);
  client.close();
});

test('a node whose connection vanished keeps its token when it is approved again, and asks again on another connection', async () => {
  await using daemon = await startClockedDaemon();
  using proxy = await startHalfOpenProxy(daemon.port);
  const present = await daemon.connect();
  const asNode = { mode: 'node', instanceId: 'attic' };
  const connect = (token: string, port?: number) =>
    daemon.connect({ auth: token, client: asNode, ...(port !== undefined && { port }) });
  const asks = async (node: TestClient, commands: string[]) => {
    const { request } = Object(await node.call('node.pair.request', { nodeId: 'attic', commands }));
    return { requestId: String(request.requestId) };
  };
  const waiting = async () => Object(await present.call('node.pair.list', {})).pending.length;
  const first = Object(await present.call('node.pair.approve', await asks(present, ['system.info'])));
  const lost = await connect(first.node.token, proxy.port);
  const request = await asks(lost, ['system.info', 'system.run']);
  proxy.goDead();
  const approval = present.request('node.pair.approve', request);
  for (let looks = 0; (await waiting()) > 0 && looks < 100; looks += 1);
  await daemon.clock.advance(3_000);
  assert.equal((await approval).error?.code, 'UNAVAILABLE');
  const back = await connect(first.node.token);
  await present.call('node.pair.approve', await asks(back, ['system.info', 'system.run']));
  const { payload } = await back.event('node.pair.token');
  assert.equal(typeof Object(payload).token, 'string');
});
