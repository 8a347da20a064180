import type { Client, ClientOptions, Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { until } from '../../timing/until.ts';
import { MOST_TOOLS } from './announced-tools.ts';
import type { ServerCall, Session, SessionOptions, ToolAnswer } from './session.ts';

/** A way to the server that knows why it ended. */
interface Link {
  transport: Transport;
  readonly ended: Promise<string>;
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
}

interface ClientDeps {
  /** A new way to the server. */
  connect(): Link;
  /** How to agree on a revision of the protocol, one after the other, each over a new connection. */
  modes: readonly NegotiationMode[];
  /** The error to report in place of one of the connection; undefined: that one. */
  whatFailed?: ((error: unknown) => Promise<Error | undefined>) | undefined;
  version: string;
}

/** Not the ones of the package: a single odd tool or part would make it refuse all of them. */
const Tools = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const Answer = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

const MOST_PAGES = 50;
/** Deadlines are the daemon's own, by its clock. */
const NEVER_MS = 2 ** 31 - 1;

/** Opens a session by the client of the protocol. A server that refuses one way to begin is asked in the next. */
export async function openClientSession(deps: ClientDeps, options: SessionOptions): Promise<Session> {
  const { Client, ProtocolError } = await import('@modelcontextprotocol/client');
  const attempt = async (mode: NegotiationMode): Promise<Session> => {
    const link = deps.connect();
    const client = new Client(
      { name: 'headgate', version: deps.version },
      // Nothing that a server may ask of a client is offered, so sampling and the like are refused.
      { capabilities: {}, versionNegotiation: { mode }, jsonSchemaValidator: NO_CHECKS },
    );
    client.onerror = () => undefined; // a broken message; the request that waits for it has its deadline
    client.setNotificationHandler('notifications/tools/list_changed', () => options.onToolsChanged());
    try {
      await until(client.connect(link.transport, { signal: options.signal, timeout: NEVER_MS }), options.signal);
    } catch (error) {
      const told = await deps.whatFailed?.(error);
      await link.close();
      if (told) throw told;
      throw error instanceof ProtocolError ? error : new Error(await whyNot(error, link, options.signal));
    }
    return new ClientSession(client, link, deps.whatFailed);
  };
  const [first, ...others] = deps.modes;
  let session = attempt(first ?? 'legacy');
  for (const mode of others)
    session = session.catch((error: unknown) => {
      if (!(error instanceof ProtocolError)) throw error;
      return attempt(mode);
    });
  return session;
}

export type NegotiationMode = NonNullable<NonNullable<ClientOptions['versionNegotiation']>['mode']>;

/** Schemas of a server are never compiled into code here. What it returns is data, whatever it promised. */
const NO_CHECKS: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (input) => ({ valid: true, data: toAny(input), errorMessage: undefined }),
};

/** The package's interface lets the caller choose the type. */
// biome-ignore lint/suspicious/noExplicitAny: see above.
const toAny = (input: unknown): any => input;

async function whyNot(error: unknown, link: Link, signal: AbortSignal): Promise<string> {
  if (signal.aborted) return wordsOf(signal.reason);
  const isClosed = error instanceof Error && 'code' in error && error.code === 'CONNECTION_CLOSED';
  return isClosed ? await link.ended : wordsOf(error);
}

class ClientSession implements Session {
  readonly #client: Client;
  readonly #link: Link;
  readonly #whatFailed: ClientDeps['whatFailed'];

  constructor(client: Client, link: Link, whatFailed: ClientDeps['whatFailed']) {
    this.#client = client;
    this.#link = link;
    this.#whatFailed = whatFailed;
  }

  get about(): string {
    const { name = '', version = '' } = this.#client.getServerVersion() ?? {};
    return toVisibleLine(`${name} ${version}`.trim().slice(0, 200));
  }

  get ended(): Promise<string> {
    return this.#link.ended;
  }

  async listTools(signal: AbortSignal): Promise<unknown[]> {
    if (!this.#client.getServerCapabilities()?.tools) return [];
    const all: unknown[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const { tools, nextCursor } = await this.#request({ method: 'tools/list', params }, Tools, { signal });
      all.push(...tools.slice(0, MOST_TOOLS + 1));
      // A server whose pages lead in a circle has no more.
      if (nextCursor === undefined || seen.has(nextCursor) || all.length > MOST_TOOLS) break;
      seen.add(nextCursor);
      cursor = nextCursor;
    }
    return all;
  }

  async call({ tool, args, signal, onProgress }: ServerCall): Promise<ToolAnswer> {
    const answer = await this.#request({ method: 'tools/call', params: { name: tool, arguments: args } }, Answer, {
      signal,
      onprogress: ({ progress, total, message }) => {
        const part = total === undefined ? `${progress}` : `${progress}/${total}`;
        onProgress(toVisibleLine(message === undefined ? part : `${part} ${message.slice(0, 500)}`));
      },
    });
    const { content = [], structuredContent, isError = false } = answer;
    return { content, isError, ...(structuredContent !== undefined && { structured: structuredContent }) };
  }

  async close(): Promise<void> {
    await this.#link.close();
  }

  async #request<T extends z.ZodType>(
    request: { method: string; params: Record<string, unknown> },
    schema: T,
    { signal, onprogress }: { signal: AbortSignal; onprogress?: (progress: Progress) => void },
  ): Promise<z.infer<T>> {
    try {
      const answer = this.#client.request(request, schema, {
        signal,
        timeout: NEVER_MS,
        ...(onprogress && { onprogress }),
      });
      return schema.parse(await until(answer, signal));
    } catch (error) {
      signal.throwIfAborted();
      throw (await this.#whatFailed?.(error)) ?? error;
    }
  }
}

interface Progress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}
