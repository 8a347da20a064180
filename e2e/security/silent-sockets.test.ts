import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../protocol/limits.ts';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import { type ClockedDaemon, startClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { openSilent, type Silence, type SilentSocket } from '../support/faults/silent-sockets.ts';

const CONNECTIONS = 'service_gateway_connections_active';
const STRANGERS = 300;
const SILENCES: Silence[] = ['nothing', 'half a frame', 'pings'];

/** Opens this many sockets at once; the number of each one selects its address and behaviour. */
async function openMany(daemon: ClockedDaemon, count: number, of: (n: number) => { from: string; silence: Silence }) {
  const stack = new DisposableStack();
  const sockets = await Promise.all(
    Array.from({ length: count }, (_, n) => openSilent({ port: daemon.port, ...of(n) })),
  );
  for (const socket of sockets) stack.use(socket);
  return { sockets, [Symbol.dispose]: () => stack.dispose() };
}

const counted = (sockets: SilentSocket[]) => ({
  held: sockets.filter(({ status }) => status === 101).length,
  refused: sockets.filter(({ status, retryAfter }) => status === 503 && retryAfter === '1').length,
});

/** The result for a new client from an address: hello-ok, or the status of the refusal. */
async function newcomer(daemon: ClockedDaemon, localAddress: string): Promise<string> {
  const client = await openClient(`ws://127.0.0.1:${daemon.port}/v1/ws`, {}, { localAddress }).catch(String);
  if (typeof client === 'string') return client;
  const { ok } = await client.request('connect', { ...CONNECT, auth: { token: daemon.token } });
  client.socket.close();
  return ok ? 'served' : 'refused';
}

const isHealthy = async (daemon: ClockedDaemon) => (await daemon.fetch('/health')).status === 200;

test(`of ${STRANGERS} silent sockets from one address 32 are kept, for ten seconds, without affecting others`, async () => {
  await using daemon = await startClockedDaemon();
  const present = await daemon.connect();
  using many = await openMany(daemon, STRANGERS, (n) => ({
    from: '127.0.0.66',
    silence: SILENCES[n % SILENCES.length] ?? 'nothing',
  }));
  const meanwhile = {
    ...counted(many.sockets),
    open: await daemon.gauge(CONNECTIONS),
    present: (await present.request('system-presence')).ok,
    other: await newcomer(daemon, '127.0.0.1'),
    sameAddress: await newcomer(daemon, '127.0.0.66'),
    health: await isHealthy(daemon),
  };
  assert.deepEqual(meanwhile, {
    ...{ held: 32, refused: 268, open: 33, present: true, other: 'served' },
    ...{ sameAddress: 'Error: Unexpected server response: 503', health: true },
  });
  await daemon.clock.advance(LIMITS.handshakeMs);
  await Promise.all(many.sockets.map(({ gone }) => gone));
  assert.equal(await newcomer(daemon, '127.0.0.66'), 'served');
});

test('all addresses together have at most 256 silent sockets; HTTP and open connections continue, and new clients get in after ten seconds', async () => {
  await using daemon = await startClockedDaemon();
  const present = await daemon.connect();
  using halves = await openMany(daemon, 50, () => ({ from: '127.0.0.1', silence: 'half an upgrade' }));
  using many = await openMany(daemon, STRANGERS, (n) => ({ from: `127.0.1.${1 + (n % 10)}`, silence: 'nothing' }));
  const meanwhile = {
    ...counted(many.sockets),
    present: (await present.request('system-presence')).ok,
    newcomer: await newcomer(daemon, '127.0.0.1'),
    health: await isHealthy(daemon),
  };
  assert.deepEqual(meanwhile, {
    ...{ held: 256, refused: 44, present: true },
    ...{ newcomer: 'Error: Unexpected server response: 503', health: true },
  });
  assert.ok(
    halves.sockets.every((one) => one.isHeld()),
    'an unfinished upgrade takes none of the places',
  );
  await daemon.clock.advance(LIMITS.handshakeMs);
  await Promise.all(many.sockets.map(({ gone }) => gone));
  assert.equal(await newcomer(daemon, '127.0.0.1'), 'served');
});
