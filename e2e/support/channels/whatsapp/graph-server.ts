import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { closeServer, listen } from '../../../../src/listen.ts';
import { Changes } from '../telegram/changes.ts';

const DAY_MS = 24 * 3_600_000;
const MAX_TEXT = 4_096;

/** How the next request for a message goes wrong. `taken`: the message was accepted before that. */
export type GraphFault =
  | { kind: 'error'; status: number; code: number; message: string }
  | { kind: 'status'; status: number }
  | { kind: 'reset'; taken: boolean }
  /** Never answers. */
  | { kind: 'stall'; onReached(): void }
  | { kind: 'garbled' };

/** A message that the server has accepted. */
export interface AcceptedMessage {
  id: string;
  to: string;
  body: Record<string, unknown>;
}

interface GraphServerOptions {
  phoneNumberId: string;
  accessToken: string;
  /** Names of the templates that Meta has approved. */
  templates?: readonly string[];
  nowMs?(): number;
}

/** A scripted Cloud API of WhatsApp: tokens, the window of 24 hours, templates, limits of texts, files and faults. */
export async function startGraphServer(options: GraphServerOptions) {
  const world = new GraphWorld(options);
  const server = createServer((request, response) => void world.serve(request, response));
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  world.origin = `http://127.0.0.1:${port}`;
  return {
    apiRoot: `${world.origin}/v23.0`,
    /** In the order in which they were accepted. */
    accepted: world.accepted,
    /** Ids of messages that were marked as read, with whether typing is shown. */
    read: world.read,
    /** The first accepted message that fits, also one from before. */
    until: (fits: (message: AcceptedMessage) => boolean): Promise<AcceptedMessage> =>
      world.changes.until(
        () => world.accepted.find(fits),
        () => `a message; accepted: ${JSON.stringify(world.accepted)}`,
      ),
    /** The person has just written, which opens the window of 24 hours. */
    wrote: (person: string) => void world.wroteMs.set(person, world.nowMs()),
    /** Files that were uploaded, in their order; their ids are `upload-1` and so on. */
    uploads: world.uploads,
    fail: (...faults: GraphFault[]) => void world.faults.push(...faults),
    file: (id: string, bytes: Uint8Array, more: FileMore = {}) => void world.files.set(id, { bytes, ...more }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await closeServer(server);
    },
  };
}

interface FileMore {
  /** An address that the server names instead of its own. */
  url?: string;
  /** A size that the server names instead of the true one. */
  claims?: number;
}

class GraphWorld {
  readonly accepted: AcceptedMessage[] = [];
  readonly read: { id: string; isTyping: boolean }[] = [];
  readonly wroteMs = new Map<string, number>();
  readonly faults: GraphFault[] = [];
  readonly changes = new Changes();
  readonly uploads: { type: string; fileName: string; text: string }[] = [];
  readonly files = new Map<string, { bytes: Uint8Array } & FileMore>();
  readonly nowMs: () => number;
  origin = '';
  readonly #options: GraphServerOptions;

  constructor(options: GraphServerOptions) {
    this.#options = options;
    this.nowMs = options.nowMs ?? (() => 0);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { phoneNumberId, accessToken } = this.#options;
    const isForm = request.headers['content-type']?.startsWith('multipart/') === true;
    const body = isForm ? {} : await readJson(request);
    const { pathname, searchParams } = new URL(request.url ?? '/', this.origin);
    if (request.headers.authorization !== `Bearer ${accessToken}`)
      refuse(response, { status: 401, code: 190, message: 'Invalid OAuth access token.' });
    else if (isForm && pathname === `/v23.0/${phoneNumberId}/media`) await this.#upload(request, response);
    else if (request.method === 'POST' && pathname === `/v23.0/${phoneNumberId}/messages`)
      this.#message(body, response);
    else if (pathname === `/v23.0/${phoneNumberId}` && searchParams.has('fields'))
      answer(response, { id: phoneNumberId, display_phone_number: '+49 170 1' });
    else this.#file(pathname, response);
  }

  async #upload(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = await new Response(Readable.toWeb(request) as ReadableStream, {
      headers: { 'content-type': request.headers['content-type'] ?? '' },
    }).formData();
    const [file, type] = [form.get('file'), String(form.get('type'))];
    const isWhole = form.get('messaging_product') === 'whatsapp' && file instanceof File && file.type === type;
    if (!isWhole || type === 'application/octet-stream') {
      refuse(response, {
        status: 400,
        code: 100,
        message: `Param file must be a file with one of the types, not ${type}`,
      });
      return;
    }
    this.uploads.push({ type, fileName: file.name, text: Buffer.from(await file.arrayBuffer()).toString('latin1') });
    answer(response, { id: `upload-${this.uploads.length}` });
  }

  #file(pathname: string, response: ServerResponse): void {
    const [, place, id = ''] = /^\/(v23\.0|files)\/([^/]+)$/.exec(pathname) ?? [];
    const file = this.files.get(id);
    const size = file?.claims ?? file?.bytes.length;
    if (!file) refuse(response, { status: 400, code: 100, message: `Unsupported get request: ${pathname}` });
    else if (place === 'files') response.end(file.bytes);
    else
      answer(response, {
        ...{ id, url: file.url ?? `${this.origin}/files/${id}`, file_size: size, mime_type: 'image/png' },
      });
  }

  #message(body: Record<string, unknown>, response: ServerResponse): void {
    if (body.status === 'read') return void this.#markRead(body, response);
    const fault = this.faults.shift();
    if (fault?.kind === 'error') refuse(response, fault);
    else if (fault?.kind === 'status') response.writeHead(fault.status).end('<html>Bad gateway</html>');
    else if (fault?.kind === 'reset' && !fault.taken) reset(response);
    else this.#accept(body, response, fault);
  }

  #markRead(body: Record<string, unknown>, response: ServerResponse): void {
    this.read.push({ id: String(body.message_id), isTyping: body.typing_indicator !== undefined });
    answer(response, { success: true });
  }

  #accept(body: Record<string, unknown>, response: ServerResponse, fault: GraphFault | undefined): void {
    const problem = this.#problemOf(body);
    if (problem) {
      refuse(response, { status: 400, ...problem });
      return;
    }
    const id = `wamid.${this.accepted.length + 1}`;
    this.accepted.push({ id, to: String(body.to), body });
    this.changes.notify();
    if (fault?.kind === 'reset') reset(response);
    else if (fault?.kind === 'stall') fault.onReached();
    else if (fault?.kind === 'garbled') response.end('{"messages":[');
    else answer(response, { messaging_product: 'whatsapp', messages: [{ id }] });
  }

  #problemOf({ to, type, text, template }: Record<string, unknown>): { code: number; message: string } | undefined {
    if (type === 'template') {
      const name = fieldOf(template, 'name');
      const isKnown = this.#options.templates?.some((approved) => approved === name);
      return isKnown
        ? undefined
        : { code: 132_001, message: `Template name (${name}) does not exist in the translation` };
    }
    if (type === 'text' && fieldOf(text, 'body').length > MAX_TEXT)
      return { code: 100, message: `Param text['body'] must be at most ${MAX_TEXT} characters long.` };
    const wroteMs = this.wroteMs.get(String(to));
    const isOpen = wroteMs !== undefined && this.nowMs() - wroteMs < DAY_MS;
    return isOpen ? undefined : { code: 131_047, message: 'Re-engagement message' };
  }
}

const fieldOf = (value: unknown, name: string): string =>
  typeof value === 'object' && value !== null ? String(Reflect.get(value, name)) : '';

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const pieces: Uint8Array[] = [];
  for await (const piece of request) pieces.push(piece);
  return pieces.length === 0 ? {} : JSON.parse(Buffer.concat(pieces).toString());
}

const answer = (response: ServerResponse, body: object): void => void response.end(JSON.stringify(body));

function refuse(
  response: ServerResponse,
  { status, code, message }: { status: number; code: number; message: string },
): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type: 'OAuthException', code, fbtrace_id: 'trace' } }));
}

const reset = (response: ServerResponse): void => void response.socket?.resetAndDestroy();
