import { ConnectionLostError, RequestError } from '../../protocol/client/request-error.ts';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { pairingCodeOf } from '../../protocol/text/pairing-code.ts';
import type { HostOptions } from './host-options.ts';
import { capsOf, namesOf } from './lent-command.ts';
import { machineKind } from './system-info.ts';

type AskOptions = Pick<HostOptions, 'state' | 'name' | 'version' | 'commands' | 'clock' | 'log' | 'say'> & {
  signal: AbortSignal;
};

/** Requests pairing with the current commands, and retries until the gateway accepts the request. The decision comes as an event. */
export async function ask(client: GatewayClient, options: AskOptions): Promise<void> {
  const { clock, signal } = options;
  for (let waitMs = await tryAsk(client, options); waitMs !== undefined; waitMs = await tryAsk(client, options)) {
    await clock.sleep(waitMs, signal).catch(() => undefined); // aborted: the client is closed
  }
}

const RETRY_MS = 1_000;

/** Returns the milliseconds until a retry; undefined if none is needed. */
async function tryAsk(client: GatewayClient, options: AskOptions): Promise<number | undefined> {
  const { state, name, version, commands, log, say } = options;
  const about = { displayName: name, platform: machineKind, version, caps: capsOf(commands) };
  try {
    const { request } = await client.call('node.pair.request', {
      ...about,
      nodeId: state.nodeId,
      commands: namesOf(commands),
    });
    say(`Pairing code: ${pairingCodeOf(request.requestId)}`);
    say(
      'At the gateway, check that the page (Nodes) or `headgate nodes pending` shows the same code, and approve it there.',
    );
  } catch (error) {
    if (error instanceof RequestError && error.retryable) return error.retryAfterMs ?? RETRY_MS;
    // After a lost connection, the next one asks again.
    if (!(error instanceof ConnectionLostError)) log.error({ err: error }, 'the pairing request failed');
  }
  return undefined;
}
