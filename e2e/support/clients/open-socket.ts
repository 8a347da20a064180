import { CONNECT, openClient, type TestClient } from '../../../src/gateway/testing/test-client.ts';
import type { DaemonUnderTest } from '../daemon/daemon.ts';

/** A socket after its handshake, with access to each frame. Close it with its `socket`. */
export async function openSocket(daemon: DaemonUnderTest): Promise<TestClient> {
  const client = await openClient(daemon.wsUrl, {});
  await client.call('connect', { ...CONNECT, auth: { token: daemon.token } });
  return client;
}
