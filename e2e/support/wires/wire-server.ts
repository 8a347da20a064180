import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import {
  checkRequest,
  type Refusal,
  type RequestParts,
  type ScriptedAnswer,
  type Wire,
  type WireLimits,
} from './wire.ts';

/** A valid request, and how many thoughts its server left out. */
export interface WireRequest extends RequestParts {
  wire: string;
  dropped: number;
}

/** How a server answers a request. */
export type WireResponse =
  | {
      kind: 'answer';
      answer: ScriptedAnswer /** After so many events it waits for the client to leave. */;
      holdAfter?: number;
      /** When this resolves, the rest follows. Only within a process. */
      released?: Promise<void>;
    }
  | { kind: 'fail'; status: number; body: object };

export interface WireServerOptions {
  limits: WireLimits;
  /** What the model answers to a valid request. */
  decide(request: WireRequest): WireResponse;
  /** Called with the reason of every refusal. */
  onRefusal?(refusal: Refusal, wire: string): void;
}

/** What a server sends back. */
interface Reply {
  status: number;
  body: string[];
  holds: boolean;
  /** What follows when a held answer is released. */
  rest?: { released: Promise<void>; body: string[] };
}

/** Validates a request and answers it. */
function replyTo<Body>(
  wire: Wire<Body>,
  { path, text }: { path: string; text: string },
  { limits, decide, onRefusal }: WireServerOptions,
): Reply {
  if (!wire.isAsked(path)) return json(200, { object: 'list', data: [{ id: 'model', max_model_len: limits.window }] });
  const body = JSON.parse(text);
  const checked = checkRequest(wire, wire.withModel?.(body, path) ?? body, limits);
  if (isRefusal(checked)) {
    onRefusal?.(checked, wire.name);
    return json(checked.status, checked.body);
  }
  const parts = wire.partsOf(checked);
  const { dropped } = wire.answer(checked, {});
  const response = decide({ ...parts, wire: wire.name, dropped });
  if (response.kind === 'fail') return json(response.status, response.body);
  const { events } = wire.answer(checked, response.answer);
  const { holdAfter = events.length, released } = response;
  const holds = response.holdAfter !== undefined;
  const rest = released && { rest: { released, body: events.slice(holdAfter) } };
  return { status: 200, body: events.slice(0, holdAfter), holds, ...rest };
}

const isRefusal = (checked: unknown): checked is Refusal =>
  typeof checked === 'object' && checked !== null && 'rule' in checked && 'status' in checked;

const json = (status: number, body: object): Reply => ({ status, body: [JSON.stringify(body)], holds: false });

/** The same server within this process, as a `fetch`. */
export function fetchFrom<Body>(wire: Wire<Body>, options: WireServerOptions): typeof globalThis.fetch {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const { status, body, holds, rest } = replyTo(
      wire,
      { path: new URL(url).pathname, text: String(init?.body ?? '{}') },
      options,
    );
    init?.signal?.throwIfAborted();
    const encoder = new TextEncoder();
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of body) controller.enqueue(encoder.encode(piece));
        if (!holds) return controller.close();
        init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason), { once: true });
        void rest?.released.then(() => {
          if (init?.signal?.aborted) return;
          for (const piece of rest.body) controller.enqueue(encoder.encode(piece));
          controller.close();
        });
      },
    });
    return new Response(stream, { status, headers: { 'content-type': typeOf(status, body) } });
  };
}

/** The server on a free port. */
export async function startWireServer<Body>(wire: Wire<Body>, options: WireServerOptions) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const path = new URL(request.url ?? '/', 'http://localhost').pathname;
      send(response, replyTo(wire, { path, text: Buffer.concat(chunks).toString() || '{}' }, options));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function send(response: ServerResponse, { status, body, holds }: Reply): void {
  response.writeHead(status, { 'content-type': typeOf(status, body) });
  for (const piece of body) response.write(piece);
  if (!holds) response.end();
}

const typeOf = (status: number, body: readonly string[]): string =>
  status === 200 && !body[0]?.startsWith('{') ? 'text/event-stream' : 'application/json';
