import assert from 'node:assert/strict';
import type { NodeInvokeRequest, NodePairing } from '../../../protocol/methods/node.ts';
import { listeningGateway } from './listening-gateway.ts';
import { CONNECT, type TestClient } from './test-client.ts';
import { turnsUntil, type WholeGatewayOptions } from './whole-gateway.ts';

export interface NodeConnection {
  nodeId: string;
  token?: string;
  caps?: string[];
  headers?: Record<string, string>;
  client?: object;
}

/** A listening gateway without authentication, for nodes that connect to it; `call` is the operator. */
export async function openNodeGateway(options: WholeGatewayOptions = {}) {
  const gateway = await listeningGateway({ isAuthEnabled: false, ...options });
  const { call, open } = gateway;

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

  const isConnected = async (nodeId: string) => (await call('node.describe', { nodeId })).connected;

  /** The token of a node that was approved with these commands. */
  async function pair(nodeId: string, commands: string[] = ['camera.snap']): Promise<string> {
    const { socket, request } = await ask(nodeId, { commands });
    const { node } = await call('node.pair.approve', { requestId: request.requestId });
    socket.socket.close();
    await socket.closed;
    return node.token;
  }

  return Object.assign(gateway, {
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
    isConnected,
    /** Resolves when the node is connected. */
    arrives: (nodeId: string) => turnsUntil(() => isConnected(nodeId), `${nodeId} arrives`),
    /** Resolves when the node is no longer connected. */
    leaves: (nodeId: string) => turnsUntil(async () => !(await isConnected(nodeId)), `${nodeId} leaves`),
  });
}

/** The `n`th request that a node was sent, counted from 1, read or still to come. */
export async function requestTo(node: TestClient, n = 1): Promise<NodeInvokeRequest> {
  const requests = () => node.events().filter(({ event }) => event === 'node.invoke.request');
  await turnsUntil(() => requests().length >= n, 'a request for the node');
  return (requests()[n - 1]?.payload ?? assert.fail()) as NodeInvokeRequest;
}
