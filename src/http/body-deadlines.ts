import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../../protocol/limits.ts';
import type { Clock } from '../clock.ts';
import { everyAnswer, failureAnswer } from './exchange.ts';
import type { EdgeResponse } from './express-classes.ts';

/** A request whose body may still be on its way. */
interface Arrival {
  req: IncomingMessage;
  res: EdgeResponse;
  /** Start of the current period; of an upload, also the bytes that the connection had received by then. */
  sinceMs: number;
  bytesBefore: number;
  mayTakeLong: boolean;
}

/** How late a request may be ended after its deadline. */
const SWEEP_MS = 5_000;

/**
 * Ends requests whose bodies arrive too slowly. A body has `LIMITS.bodyMs`. An upload gets another such period each
 * time it has sent `LIMITS.uploadProgressBytes`. Node's own limit has no exceptions, and a timer per request would cost
 * more than reading its body, so one sweep checks all requests.
 */
export class BodyDeadlines {
  readonly #clock: Clock;
  /** The latest request with a body on each connection; a connection carries one body at a time. */
  readonly #arrivals = new Map<Socket, Arrival>();

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
  }

  begin(req: IncomingMessage, res: EdgeResponse): void {
    const { socket, headers } = req;
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
    const sinceMs = this.#clock.monotonic();
    const known = this.#arrivals.get(socket);
    if (known) {
      // Cheaper than a new one for every request.
      known.req = req;
      known.res = res;
      known.sinceMs = sinceMs;
      known.mayTakeLong = false;
      return;
    }
    socket.once('close', () => this.#arrivals.delete(socket));
    this.#arrivals.set(socket, { req, res, sinceMs, bytesBefore: 0, mayTakeLong: false });
  }

  /** Call this only for callers who may send a large upload. It applies until the request is answered. */
  mayTakeLong({ socket }: IncomingMessage): void {
    const arrival = this.#arrivals.get(socket);
    if (!arrival) return;
    arrival.mayTakeLong = true;
    arrival.bytesBefore = socket.bytesRead;
  }

  /** Checks the deadlines until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(SWEEP_MS, signal).catch(() => undefined); // aborted: the loop ends
      for (const arrival of this.#arrivals.values()) if (this.#isOver(arrival)) end(arrival);
    }
  }

  #isOver(arrival: Arrival): boolean {
    const { req, res, sinceMs, bytesBefore, mayTakeLong } = arrival;
    const nowMs = this.#clock.monotonic();
    if (req.complete || nowMs - sinceMs < LIMITS.bodyMs) return false;
    const { bytesRead } = req.socket;
    const moves = mayTakeLong && !res.writableEnded && bytesRead - bytesBefore >= LIMITS.uploadProgressBytes;
    if (moves) Object.assign(arrival, { sinceMs: nowMs, bytesBefore: bytesRead });
    return !moves;
  }
}

function end({ req, res }: Arrival): void {
  // Node drops a request once it is answered. Without this, the reader of its body would wait forever.
  req.socket.once('close', () => req.destroy(new Error('the request body arrived too slowly')));
  if (res.headersSent) return void req.socket.destroy(); // already answered, or being answered
  const { exchange } = res.locals;
  const { status, contentType, body } = failureAnswer(exchange, TOO_SLOW);
  const length = Buffer.byteLength(body);
  const headers = { ...everyAnswer(exchange), 'Content-Type': contentType, 'Content-Length': length };
  res.writeHead(status, { ...headers, Connection: 'close' }).end(body);
}

const TOO_SLOW = { status: 408, body: { error: 'The request body arrived too slowly' } };
