import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../../../src/clock.ts';
import { closeServer, listen } from '../../../src/listen.ts';
import { BotFailure } from './telegram/bot-failure.ts';
import { createMethods } from './telegram/bot-methods.ts';
import { type Params, readParams } from './telegram/params.ts';
import { type Fault, ScriptedFaults } from './telegram/scripted-faults.ts';
import { SendLimits, type SendPace, tooManyRequests } from './telegram/send-limits.ts';
import { TelegramWorld } from './telegram/telegram-world.ts';

/** A call of the Bot API that arrived. */
interface ReceivedCall {
  method: string;
  params: Readonly<Record<string, unknown>>;
  /** Status of the answer; undefined: none was sent, or not yet. */
  status: number | undefined;
  /** Whether it was carried out. */
  isDone: boolean;
  atMs: number;
}

interface ServerOptions {
  token?: string;
  username?: string;
  /** For long polls, limits and dates. */
  clock?: Clock;
  /** Default: no limits. */
  pace?: SendPace;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** The method, or the path of a file. */
  name: string;
  params: Params;
  fault: Fault | undefined;
}

/**
 * The Bot API of Telegram, played on a free port. Tests are its people: they write, press buttons and look at what the bot
 * sent, and cause faults.
 */
export class TelegramServer extends TelegramWorld implements AsyncDisposable {
  readonly token: string;
  /** Every call, oldest first. */
  readonly calls: ReceivedCall[] = [];
  readonly faults: ScriptedFaults;
  readonly #open = new Map<string, number>();
  readonly #mostOpen = new Map<string, number>();
  readonly #clock: Clock;
  readonly #methods;
  #server = createServer();
  #port = 0;

  constructor({
    token = '4242:scripted-bot-token',
    username = 'headgate_bot',
    clock = systemClock,
    pace,
  }: ServerOptions) {
    super({ clock, botId: Number(token.split(':')[0]) || 4242, username });
    this.token = token;
    this.#clock = clock;
    this.faults = new ScriptedFaults(clock);
    this.#methods = createMethods({ world: this, limits: new SendLimits(clock, pace), nowMs: clock.now });
  }

  get apiRoot(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, at the first time on a free port, then on the same again. */
  async comeBack(): Promise<void> {
    this.#server = createServer((request, response) => {
      void this.#onRequest(request, response).catch(() => response.destroy()); // the caller went away
    });
    this.#port = await listen(this.#server, { host: '127.0.0.1', port: this.#port });
  }

  /** Refuses connections, and closes the open ones. */
  goAway(): Promise<void> {
    return closeServer(this.#server);
  }

  /** How many calls of a method were without an answer at the same time, at most. */
  mostAtOnce(method: string): number {
    return this.#mostOpen.get(method) ?? 0;
  }

  /** The calls of a method so far. */
  callsOf(method: string): ReceivedCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** Resolves with the n-th call of a method, counted from 1, as soon as it has arrived. */
  call(method: string, n = 1): Promise<ReceivedCall> {
    return this.changes.until(
      () => this.callsOf(method)[n - 1],
      () => `call ${n} of ${method}; there were ${this.callsOf(method).length}`,
    );
  }

  /** Resolves once every update has been acknowledged. */
  async untilAcknowledged(): Promise<void> {
    await this.changes.until(
      () => this.updates.pending.length === 0 || undefined,
      () => `${this.updates.pending.length} updates to be acknowledged`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.updates.close();
    await closeServer(this.#server);
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, kind, token, name = ''] = /^\/(file\/bot|bot)([^/]+)\/([^?]*)/.exec(request.url ?? '') ?? [];
    const method = kind === 'file/bot' ? 'download' : name;
    this.#count(method, response);
    const params = await readParams(request);
    const call = { method, params: params.values, status: undefined, isDone: false, atMs: this.#clock.now() };
    this.calls.push(call);
    const fault = this.faults.take(method, params);
    this.changes.notify();
    try {
      if (token !== this.token) throw new BotFailure(401, 'Unauthorized');
      await this.#answer(call, { request, response, name, params, fault });
    } catch (error) {
      if (!(error instanceof BotFailure)) throw error;
      Object.assign(call, { status: error.code });
      sendFailure(response, error);
    } finally {
      this.changes.notify();
    }
  }

  #count(method: string, response: ServerResponse): void {
    const open = (this.#open.get(method) ?? 0) + 1;
    this.#open.set(method, open);
    this.#mostOpen.set(method, Math.max(open, this.mostAtOnce(method)));
    response.once('close', () => this.#open.set(method, (this.#open.get(method) ?? 1) - 1));
  }

  async #answer(call: ReceivedCall, { request, response, name, params, fault }: Exchange): Promise<void> {
    if (await this.#failsBefore(fault, { request, response })) return;
    const isFile = call.method === 'download';
    const body = isFile ? this.#file(name) : await this.#carryOut({ response, name }, params);
    call.isDone = true;
    if (response.destroyed || failsAfter(fault, { response, body })) return;
    call.status = 200;
    response.writeHead(200, { 'content-type': isFile ? 'application/octet-stream' : 'application/json' }).end(body);
  }

  async #carryOut({ response, name }: Pick<Exchange, 'response' | 'name'>, params: Params): Promise<Buffer> {
    const played = this.#methods.get(name.toLowerCase());
    if (!played) throw new BotFailure(404, 'Not Found: method not found');
    const gone = new AbortController();
    const hangUp = () => gone.abort();
    response.once('close', hangUp);
    try {
      return Buffer.from(JSON.stringify({ ok: true, result: await played(params, gone.signal) }));
    } finally {
      response.off('close', hangUp);
    }
  }

  #file(path: string): Buffer {
    const bytes = this.files.at(path.split('/').map(decodeURIComponent).join('/'));
    if (!bytes) throw new BotFailure(404, 'Not Found');
    return Buffer.from(bytes);
  }

  /** Whether the call ends here. */
  async #failsBefore(
    fault: Fault | undefined,
    { request, response }: Pick<Exchange, 'request' | 'response'>,
  ): Promise<boolean> {
    switch (fault?.kind) {
      case 'stall':
        await once(response, 'close');
        return true;
      case 'reset':
        request.socket.resetAndDestroy();
        return true;
      case 'bad-gateway':
        sendBadGateway(response);
        return true;
      case 'unauthorized':
        throw new BotFailure(401, 'Unauthorized');
      case 'conflict':
        throw new BotFailure(409, 'Conflict: terminated by other getUpdates request');
      case 'limit':
        throw tooManyRequests(fault.seconds);
      case 'refuse':
        throw new BotFailure(400, `Bad Request: ${fault.description}`);
      case 'slow':
        await this.#clock.sleep(fault.ms, new AbortController().signal);
        return false;
      default:
        return false;
    }
  }
}

/** Whether the answer is spoilt. */
function failsAfter(fault: Fault | undefined, { response, body }: { response: ServerResponse; body: Buffer }): boolean {
  const half = body.subarray(0, Math.floor(body.length / 2));
  switch (fault?.kind) {
    case 'stall-after':
      return true;
    case 'reset-after':
      response.socket?.resetAndDestroy();
      return true;
    case 'bad-gateway-after':
      sendBadGateway(response);
      return true;
    case 'truncated':
      response.writeHead(200, { 'content-type': 'application/json' }).end(half);
      return true;
    case 'cut':
      response.writeHead(200, { 'content-length': body.length }).write(half, () => response.destroy());
      return true;
    default:
      return false;
  }
}

const sendBadGateway = (response: ServerResponse) =>
  response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>');

function sendFailure(response: ServerResponse, { code, message: description, parameters }: BotFailure): void {
  const body = { ok: false, error_code: code, description, ...(parameters && { parameters }) };
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Starts the server on a free port. */
export async function startTelegramServer(options: ServerOptions = {}): Promise<TelegramServer> {
  const server = new TelegramServer(options);
  await server.comeBack();
  return server;
}
