import { type ConnectionStatus, createGatewayClient, type GatewayClientOptions } from '../ws-client.ts';
import { fakeGateway } from './fake-gateway.ts';
import { fakeTimers } from './fake-timers.ts';

/** A client before `connect`, with a gateway and timers that the test controls. */
export function newClient(options: Partial<GatewayClientOptions> = {}) {
  const gateway = fakeGateway();
  const timers = fakeTimers();
  const statuses: ConnectionStatus['kind'][] = [];
  const client = createGatewayClient({
    url: 'ws://gateway/',
    client: { name: 'test', version: '1', mode: 'test' },
    WebSocket: gateway.WebSocket,
    timers,
    onStatus: ({ kind }) => statuses.push(kind),
    ...options,
  });
  return { gateway, timers, statuses, client };
}

/** A client that the gateway has accepted. */
export async function connectedClient(options: Partial<GatewayClientOptions> = {}) {
  const parts = newClient(options);
  parts.client.connect();
  await parts.gateway.socket.accept();
  return parts;
}

/** The fields and the name of the error that a promise rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<{ name: string; message: string }> {
  const error: unknown = await promise.then(
    (value) => new Error(`was not rejected but answered ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error('rejected with a value that is not an error');
  const fields = Object.entries(error).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(fields), name: error.name, message: error.message };
}
