import type { Client, ClientOptions, Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { until } from '../../timing/until.ts';
import { toConnectProblem } from './connect-problem.ts';
import type { ElicitResult, Listed, ServerCall, ServerReply, Session, SessionOptions } from './session.ts';

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
const Page = z.looseObject({ nextCursor: z.string().optional() });
const Answer = z.looseObject({});
const Needed = z.looseObject({
  resultType: z.literal('input_required'),
  inputRequests: z.record(z.string(), z.unknown()).default({}),
  requestState: z.string().optional(),
});

/** The request for each list, the field of its answer, and the capability that a server has with it. */
const LISTS = {
  tools: { method: 'tools/list', field: 'tools', capability: 'tools' },
  resources: { method: 'resources/list', field: 'resources', capability: 'resources' },
  templates: { method: 'resources/templates/list', field: 'resourceTemplates', capability: 'resources' },
  prompts: { method: 'prompts/list', field: 'prompts', capability: 'prompts' },
} as const satisfies Record<Listed, object>;

const LIST_CHANGES = [
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
] as const;

const MOST_PAGES = 50;
/** More entries of one list are not read. */
const MOST_LISTED = 1_000;
/** Of all entries of one list: many times what would be used of them. */
const MOST_LIST_CHARS = 32 * 1024 * 1024;
const WHOSE =
  'The server asked a question while it worked for several conversations, so nobody knows whose it is. It was not shown.';
/** Deadlines are the daemon's own, by its clock. */
const NEVER_MS = 2 ** 31 - 1;

/** Opens a session by the client of the protocol. A server that refuses one way to begin is asked in the next. */
export async function openClientSession(deps: ClientDeps, options: SessionOptions): Promise<Session> {
  const { Client, ProtocolError } = await import('@modelcontextprotocol/client');
  const attempt = async (mode: NegotiationMode): Promise<Session> => {
    const link = deps.connect();
    const client = new Client(
      { name: 'headgate', version: deps.version },
      // Nothing else that a server may ask of a client is offered, so sampling and the like are refused.
      {
        capabilities: { elicitation: { form: {}, url: {} } },
        versionNegotiation: { mode },
        jsonSchemaValidator: NO_CHECKS,
      },
    );
    const session = new ClientSession(client, link, deps.whatFailed);
    client.onerror = () => undefined; // a broken message; the request that waits for it has its deadline
    for (const method of LIST_CHANGES) client.setNotificationHandler(method, () => options.onListsChanged());
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => session.onAsked(params, mcpReq.signal));
    try {
      await until(client.connect(link.transport, { signal: options.signal, timeout: NEVER_MS }), options.signal);
    } catch (error) {
      const told = await deps.whatFailed?.(error);
      await link.close();
      if (told) throw told;
      throw error instanceof ProtocolError ? error : new Error(await whyNot(error, link, options.signal));
    }
    // Servers of the revision without sessions send changes only to whom asked for them. Without, lists are read again later.
    if (client.getProtocolEra() === 'modern') client.listen(ALL_LISTS, { timeout: NEVER_MS }).catch(() => undefined);
    return session;
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
  return isClosed ? await link.ended : toConnectProblem(error);
}

const ALL_LISTS = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };

class ClientSession implements Session {
  readonly #underWay = new Set<ServerCall>();
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

  async list(what: Listed, signal: AbortSignal): Promise<unknown[]> {
    const { method, field, capability } = LISTS[what];
    if (!this.#client.getServerCapabilities()?.[capability]) return [];
    const all: unknown[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    let chars = 0;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const { nextCursor, [field]: entries } = await this.#request({ method, params }, Page, { signal });
      if (!Array.isArray(entries)) throw new Error(`answers ${method} without ${field}`);
      chars += charsOf(entries);
      if (chars > MOST_LIST_CHARS)
        throw new Error(`answers ${method} with more than ${MOST_LIST_CHARS / 1024 / 1024} MiB`);
      all.push(...entries.slice(0, MOST_LISTED + 1));
      // A server whose pages lead in a circle has no more.
      if (nextCursor === undefined || seen.has(nextCursor) || all.length > MOST_LISTED) break;
      seen.add(nextCursor);
      cursor = nextCursor;
    }
    return all;
  }

  async call(call: ServerCall): Promise<ServerReply> {
    const { method, params, signal, onProgress } = call;
    this.#underWay.add(call);
    try {
      const answer = await this.#request({ method, params: { ...params } }, Answer, {
        signal,
        onprogress: ({ progress, total, message }) => {
          const part = total === undefined ? `${progress}` : `${progress}/${total}`;
          onProgress(toVisibleLine(message === undefined ? part : `${part} ${message.slice(0, 500)}`));
        },
      });
      const needed = Needed.safeParse(answer);
      if (!needed.success) return { kind: 'done', answer };
      const { inputRequests: requests, requestState: state } = needed.data;
      return { kind: 'input', requests, state };
    } finally {
      this.#underWay.delete(call);
    }
  }

  /** A question does not say to which call it belongs, and no other conversation may see it. */
  async onAsked(params: unknown, signal: AbortSignal): Promise<ElicitResult> {
    const calls = [...this.#underWay];
    const call = calls.at(-1);
    const isClear = calls.length === 1 || calls.every(({ wsId }) => wsId !== undefined && wsId === call?.wsId);
    if (call && isClear) return await call.onAsked(params, AbortSignal.any([signal, call.signal]));
    for (const each of calls) each.onProgress(WHOSE);
    return { action: 'cancel' };
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
        allowInputRequired: true,
        ...(onprogress && { onprogress }),
      });
      return schema.parse(await until(answer, signal));
    } catch (error) {
      signal.throwIfAborted();
      throw (await this.#whatFailed?.(error)) ?? error;
    }
  }
}

/** About as long as its JSON. Not by recursion: its levels are not limited yet. */
function charsOf(value: unknown): number {
  let chars = 0;
  const left = [value];
  while (left.length > 0) {
    const part = left.pop();
    chars += typeof part === 'string' ? part.length + 3 : 2;
    if (typeof part === 'object' && part !== null) for (const inner of partsOf(part)) left.push(inner);
  }
  return chars;
}

const partsOf = (value: object): readonly unknown[] => (Array.isArray(value) ? value : Object.entries(value).flat());

interface Progress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}
