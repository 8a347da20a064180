import type { Transport } from '@modelcontextprotocol/client';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import { unsendableIn } from '../../egress/header-values.ts';
import type { Environment } from '../../environment.ts';
import { until } from '../../timing/until.ts';
import { withDeadline } from '../process/deadline.ts';
import { createTokenProvider, toConsentProblem, type UsedAccount } from './accounts/token-provider.ts';
import { openClientSession } from './client-session.ts';
import { toConnectProblem, wasDropped } from './connect-problem.ts';
import { withLimits } from './links/limited-response.ts';
import { createUnaskedLimit, TOO_MANY_UNASKED } from './links/unasked-limit.ts';
import { fillVariables, type ServerConfig } from './server-config.ts';
import type { Session, SessionOptions } from './session.ts';
import { ServerProblem } from './tool-server.ts';

export interface RemoteDeps {
  environment: Environment;
  /** The daemon's own: it checks the address that it connects to, and follows no redirect. */
  fetch: typeof fetch;
  clock: Clock;
  version: string;
}

/** The stream on which a server tells of changes is opened again so often. */
const RECONNECTS = { maxRetries: 3, initialReconnectionDelay: 1_000, maxReconnectionDelay: 30_000 };
/** A server that wants to be asked more often is not. */
const LEAST_PAUSE_MS = 500;
/** How long a server may take to end its session. */
const FAREWELL_MS = 5_000;

/** Opens a session with a server that somebody else runs, over streamable HTTP. */
export async function openRemote(
  { config, url, account }: { config: ServerConfig; url: string; account?: UsedAccount | undefined },
  options: SessionOptions,
  { environment, fetch, clock, version }: RemoteDeps,
): Promise<Session> {
  const headers = fillVariables(config.headers, config, environment);
  if (typeof headers === 'string') throw new Error(`cannot be reached: ${headers}`);
  const unsendable = unsendableIn(headers);
  if (unsendable !== undefined) throw new Error(`cannot be reached: ${unsendable}`);
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const tokens = account && createTokenProvider(account);
  const connect = () => {
    const ended = Promise.withResolvers<string>();
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      ...(tokens && { authProvider: tokens.provider, onInsufficientScope: 'throw' }),
      reconnectionOptions: { ...RECONNECTS, reconnectionDelayGrowFactor: 4 },
      reconnectionScheduler: (reconnect, wantedMs) => wait(reconnect, { clock, wantedMs }),
      async fetch(input, init) {
        const send = () => fetch(input, init);
        const isOpen = transport.protocolVersion !== undefined; // agreed on when it opens
        const sent = isOpen ? send() : send().catch((error: unknown) => againIfDropped(error, send));
        const response = await sent.catch((error: unknown) => {
          if (init?.signal?.aborted !== true) ended.resolve(toConnectProblem(error));
          throw error;
        });
        // A server that was started again does not know its sessions. Not all say that with the right status.
        if ([400, 404].includes(response.status) && new Headers(init?.headers).has('mcp-session-id'))
          ended.resolve('has forgotten the session');
        const limited = withLimits(response);
        tokens?.note(limited, init?.headers);
        return limited;
      },
    });
    transport.onclose = () => ended.resolve('was closed');
    answerLost(transport);
    const isTooMany = createUnaskedLimit(clock);
    transport.onmessage = (message) => {
      if (!isTooMany(message)) return;
      ended.resolve(TOO_MANY_UNASKED);
      void transport.close(); // at once: what it sends on would keep the daemon busy
    };
    const close = async () => {
      using deadline = withDeadline(new AbortController().signal, { clock, ms: FAREWELL_MS });
      tokens?.leave();
      // It may be gone already; its session ends by itself then.
      await until(transport.terminateSession(), deadline.signal).catch((error: unknown) =>
        ended.resolve(wordsOf(error)),
      );
      await transport.close();
    };
    return { transport, ended: ended.promise, close };
  };
  const whatFailed = async (error: unknown) => {
    if (isLost(error)) return new ServerProblem('ended its answer before it was complete', { mayHaveActed: true });
    // Nobody waits for an account whose session is being ended.
    return account && !tokens?.isLeaving ? toConsentProblem(error, account) : undefined;
  };
  return openClientSession({ connect, modes: ['auto'], whatFailed, version }, options);
}

/**
 * A server may close a connection that nobody uses at the very moment when it is used again. What opens a session does nothing,
 * so it is sent once more, over another connection.
 */
function againIfDropped(error: unknown, send: () => Promise<Response>): Promise<Response> {
  if (!wasDropped(error)) throw error;
  return send();
}

/**
 * Fails a call when the stream of its answer ends without the answer: the server was started again, or something in between cut
 * the connection. The SDK would wait for its deadline. If the answer has come, this has no effect.
 */
function answerLost(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      if (!('method' in message && 'id' in message)) return;
      transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error: { code: LOST, message: 'no answer' } });
    };
    return send(message, Object.assign({}, options, { onRequestStreamEnd }));
  };
}

/** In the range that the protocol leaves to implementations. */
const LOST = -32_087;
const isLost = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === LOST;

/** A server may name the pause: also none at all, or a longer one than a timer of Node has. */
function wait(reconnect: () => void, { clock, wantedMs }: { clock: Clock; wantedMs: number }): () => void {
  const left = new AbortController();
  clock.sleep(Math.max(wantedMs, LEAST_PAUSE_MS), left.signal).then(reconnect, () => undefined);
  return () => left.abort();
}
