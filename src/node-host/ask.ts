import { ConnectionLostError, RequestError } from '../../protocol/client/request-error.ts';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { pairingCodeOf } from '../../protocol/pairing-code.ts';
import type { HostOptions } from './host-options.ts';
import { capsOf, namesOf } from './lent-command.ts';
import { machineKind } from './system-info.ts';

type AskOptions = Pick<HostOptions, 'state' | 'name' | 'version' | 'commands' | 'clock' | 'log' | 'say'> & {
  signal: AbortSignal;
};

/** Asks to be paired with the commands as they are now, until it is heard; the outcome comes as an event. */
export async function ask(client: GatewayClient, options: AskOptions): Promise<void> {
  const { clock, signal } = options;
  for (let waitMs = await tryAsk(client, options); waitMs !== undefined; waitMs = await tryAsk(client, options)) {
    await clock.sleep(waitMs, signal).catch(() => undefined); // aborted: the client is closed
  }
}

const RETRY_MS = 1_000;

/** Milliseconds until it should be tried again; undefined when it should not. */
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
      'Compare it with what the page (Nodes) or `headgate nodes pending` shows at the gateway, and approve it there.',
    );
  } catch (error) {
    if (error instanceof RequestError && error.retryable) return error.retryAfterMs ?? RETRY_MS;
    // A lost connection: asked again on the next one.
    if (!(error instanceof ConnectionLostError)) log.error({ err: error }, 'pairing could not be asked for');
  }
  return undefined;
}
