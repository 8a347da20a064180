import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NodeInvokeRequest, NodePairing } from '../../../protocol/methods/node.ts';
import { CONNECT, openClient, type TestClient } from './test-client.ts';
import { turnsUntil, type WholeGateway, type WholeGatewayOptions, wholeGateway } from './whole-gateway.ts';

export interface NodeConnection {
  nodeId: string;
  token?: string;
  caps?: string[];
  headers?: Record<string, string>;
  client?: object;
}

/** The whole gateway behind a real port, for nodes that connect to it. Its clock stands still; `call` is the operator. */
export async function openNodeGateway(options: WholeGatewayOptions = {}) {
  const world = await wholeGateway(options);
  const port = await openPort(world);
  const sockets: TestClient[] = [];

  async function open(headers: Record<string, string> = {}): Promise<TestClient> {
    const socket = await openClient(port.url, headers);
    sockets.push(socket);
    return socket;
  }

  /** The socket after its handshake, with the answer to it. */
  async function connect({ nodeId, token, caps, headers, client }: NodeConnection) {
    const socket = await open(headers);
    const hello = await socket.request('connect', {
      ...CONNECT,
      client: { ...CONNECT.client, name: 'box', mode: 'node', instanceId: nodeId, ...client },
      ...(caps && { caps }),
      ...(token !== undefined && { auth: { token } }),
    });
    return Object.assign(socket, { nodeId, hello });
  }

  /** A stranger that asks. */
  async function ask(nodeId: string, claim: Partial<NodePairing> = {}) {
    const socket = await connect({ nodeId });
    const { request } = (await socket.call('node.pair.request', { nodeId, ...claim })) as { request: NodePairing };
    return { socket, request };
  }

  /** The token of a node that was approved with these commands. */
  async function pair(nodeId: string, commands: string[] = ['camera.snap']): Promise<string> {
    const { socket, request } = await ask(nodeId, { commands });
    const { node } = await world.call('node.pair.approve', { requestId: request.requestId });
    socket.socket.close();
    await socket.closed;
    return node.token;
  }

  return {
    ...world,
    call: world.call,
    open,
    connect,
    ask,
    pair,
    async join(nodeId: string, commands?: string[]) {
      return connect({ nodeId, token: await pair(nodeId, commands) });
    },
    operator: async () => {
      const socket = await open();
      await socket.call('connect', CONNECT);
      return socket;
    },
    isConnected: async (nodeId: string) => (await world.call('node.describe', { nodeId })).connected,
    async reaches(nodeId: string, connected: boolean): Promise<void> {
      const isSo = async () => (await world.call('node.describe', { nodeId })).connected === connected;
      await turnsUntil(isSo, `${nodeId} ${connected ? 'comes' : 'goes'}`);
    },
    restart: port.restart,
    async [Symbol.asyncDispose]() {
      await port.close();
      for (const { socket } of sockets) socket.terminate();
      await world[Symbol.asyncDispose]();
    },
  };
}

/** Puts the gateway behind a port, where it is again after a restart. */
async function openPort(world: WholeGateway) {
  const http = createServer((_, response) => response.end());
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  let stop = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const serve = () => {
    stop = new AbortController();
    http.removeAllListeners('upgrade');
    world.gateway.sockets.attach(http);
    running = world.gateway.run(stop.signal);
  };
  const halt = async () => {
    stop.abort();
    await running;
  };
  serve();
  return {
    url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    async restart() {
      await halt();
      await world.restart();
      serve();
    },
    async close() {
      await halt();
      http.closeAllConnections();
      http.close();
    },
  };
}

/** The `n`th request that a node was sent, counted from 1, read or still to come. */
export async function requestTo(node: TestClient, n = 1): Promise<NodeInvokeRequest> {
  const requests = () => node.events().filter(({ event }) => event === 'node.invoke.request');
  await turnsUntil(() => requests().length >= n, 'a request for the node');
  return (requests()[n - 1]?.payload ?? assert.fail()) as NodeInvokeRequest;
}
