import { ConnectionLostError, RequestError } from '../../protocol/client/request-error.ts';
import { type ConnectionStatus, createGatewayClient, type GatewayClient } from '../../protocol/client/ws-client.ts';
import { type NodeInvokeResultParams, PROCESS_CAP } from '../../protocol/methods/node.ts';
import { StartError } from '../start-error.ts';
import { ask } from './ask.ts';
import { createCommandServer } from './command-server.ts';
import type { HostOptions } from './host-options.ts';
import { capsOf, namesOf } from './lent-command.ts';
import type { Pairing } from './node-state.ts';
import { machineKind } from './system-info.ts';

/** How a connection phase ended: with a token, or because the node stops. */
type PhaseEnd = { kind: 'paired'; token: string } | { kind: 'stopped' };

/**
 * Pairs if necessary and lends the commands until aborted. Rejects with StartError for problems that only a person can fix:
 * rejected, revoked, or another node with the same id. Before it returns, all its commands have ended.
 */
export async function runHost(options: HostOptions, signal: AbortSignal): Promise<void> {
  const { state, gateway, say } = options;
  const line = createLine(options, signal);
  try {
    while (!signal.aborted) {
      const pairing = state.find(gateway);
      const end = await (pairing === undefined ? line.pair() : line.serve(pairing));
      if (end.kind === 'stopped') return;
      await state.keep(gateway, { token: end.token, commands: namesOf(options.commands) });
      say('Paired.');
    }
  } finally {
    await line.close();
  }
}

/** The connections of one node, one after the other; answers use the current one. */
function createLine(options: HostOptions, signal: AbortSignal) {
  const { gateway, name, version, processId, commands, state, clock, log, say } = options;
  const names = namesOf(commands);
  let current: GatewayClient | undefined;

  async function answer(result: NodeInvokeResultParams, closing: AbortSignal): Promise<void> {
    while (!closing.aborted && !(await trySend(result))) {
      await clock.sleep(RETRY_MS, closing).catch(() => undefined); // aborted: the loop ends
    }
  }

  async function trySend(result: NodeInvokeResultParams): Promise<boolean> {
    try {
      await current?.call('node.invoke.result', result);
      return current !== undefined;
    } catch (error) {
      if (isPassing(error)) return false;
      if (error instanceof RequestError && error.code === 'PAYLOAD_TOO_LARGE') return trySend(tooLarge(result));
      throw error;
    }
  }

  const server = createCommandServer({ commands, answer, clock, log });

  /** One client, from its first connection until `end` is called or the gateway refuses it. */
  async function connected(pairing: Pairing | undefined, onOpen: (client: GatewayClient, end: End) => void) {
    const over = Promise.withResolvers<PhaseEnd>();
    const end: End = { resolve: over.resolve, reject: over.reject };
    const client = createGatewayClient({
      url: gateway,
      token: pairing?.token,
      caps: [...capsOf(commands), `${PROCESS_CAP}${processId}`],
      client: { name, version, mode: 'node', platform: machineKind, instanceId: state.nodeId },
      onStatus: (status) => onStatus(status, { client, say, end, onOpen, isPaired: pairing !== undefined }),
    });
    const stop = () => over.resolve({ kind: 'stopped' });
    signal.addEventListener('abort', stop, { once: true });
    client.on('node.pair.token', ({ token }) => over.resolve({ kind: 'paired', token }));
    client.on('node.pair.resolved', ({ decision }) => {
      if (decision !== 'approved') onRefusal(decision, { end, say, isPaired: pairing !== undefined });
    });
    client.on('node.invoke.request', server.onRequest);
    client.on('node.invoke.cancel', server.onCancel);
    current = client;
    try {
      client.connect().catch(() => undefined); // `onStatus` reports it
      return await over.promise;
    } finally {
      signal.removeEventListener('abort', stop);
      client.close();
    }
  }

  const askFor = (client: GatewayClient) =>
    void ask(client, { state, name, version, commands, clock, log, say, signal });

  return {
    close: () => server.close(),
    pair: () => connected(undefined, askFor),
    serve: (pairing: Pairing) =>
      connected(pairing, (client) => {
        say('Connected.');
        if (!isSame(pairing.commands, names)) askFor(client);
      }),
  };
}

const RETRY_MS = 1_000;

interface End {
  resolve(end: PhaseEnd): void;
  reject(error: Error): void;
}

interface Phase {
  client: GatewayClient;
  end: End;
  say(line: string): void;
  onOpen(client: GatewayClient, end: End): void;
  isPaired: boolean;
}

function onStatus(status: ConnectionStatus, { client, end, say, onOpen, isPaired }: Phase): void {
  if (status.kind === 'open') onOpen(client, end);
  if (status.kind === 'waiting') {
    say(`Not connected (${status.error.message}); retrying in ${Math.ceil(status.retryInMs / 1_000)} s.`);
  }
  if (status.kind === 'closed' && status.error !== undefined) end.reject(toRefusal(status.error, isPaired));
}

function toRefusal(error: Error, isPaired: boolean): Error {
  if (error instanceof ConnectionLostError && error.closing === 'node_replaced')
    return new StartError('Another process connected with the id of this node, so this one stops.');
  if (!(error instanceof RequestError) || error.code !== 'UNAUTHORIZED' || !isPaired) return error;
  return new StartError(
    'The gateway no longer knows this node: its pairing was revoked, or its token was replaced. ' +
      'Start with --pair to pair again, or with --token and the new token.',
  );
}

function onRefusal(
  decision: 'rejected' | 'expired',
  { end, say, isPaired }: Pick<Phase, 'end' | 'say' | 'isPaired'>,
): void {
  const what = decision === 'rejected' ? 'was rejected' : 'was not answered in time';
  if (isPaired) say(`The request ${what}; the commands approved before remain.`);
  else end.reject(new StartError(`The pairing request ${what}.`));
}

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.join('\n') === b.join('\n');

/** It may succeed on the next connection. */
const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionLostError || (error instanceof RequestError && error.retryable);

const tooLarge = ({ id, nodeId }: NodeInvokeResultParams): NodeInvokeResultParams => ({
  id,
  nodeId,
  ok: false,
  error: { code: 'PAYLOAD_TOO_LARGE', message: 'the answer is larger than the gateway accepts' },
});
