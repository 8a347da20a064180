import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../../protocol/limits.ts';
import type { Clock } from '../clock.ts';
import { json } from './exchange.ts';

/** A request whose body may still be on its way. */
interface Arrival {
  req: IncomingMessage;
  res: ServerResponse;
  /** When its present term began, and what the connection had brought until then. */
  sinceMs: number;
  bytesBefore: number;
  mayTakeLong: boolean;
}

/** How late an end may come. */
const SWEEP_MS = 5_000;

/**
 * Ends requests whose bodies come too slowly: `LIMITS.bodyMs` is the term for one, and where it may take long another term
 * follows each that brought `LIMITS.uploadProgressBytes`. Node's own limit makes no exceptions; and a timer for every
 * request would cost more than reading its body, so all of them are looked at together.
 */
export class BodyDeadlines {
  readonly #clock: Clock;
  /** The latest of each connection that carried a body: those of one connection come one after the other. */
  readonly #arrivals = new Map<Socket, Arrival>();

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
  }

  begin(req: IncomingMessage, res: ServerResponse): void {
    const { socket, headers } = req;
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
    if (!this.#arrivals.has(socket)) socket.once('close', () => this.#arrivals.delete(socket));
    const term = { sinceMs: this.#clock.monotonic(), bytesBefore: socket.bytesRead };
    this.#arrivals.set(socket, { req, res, ...term, mayTakeLong: false });
  }

  /** To be said only of who may send that much. It counts until the request is answered. */
  mayTakeLong({ socket }: IncomingMessage): void {
    const arrival = this.#arrivals.get(socket);
    if (arrival) arrival.mayTakeLong = true;
  }

  /** Looks after the deadlines until the signal aborts. */
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
  // Node forgets a request that was answered: without this, whoever reads its body would never hear that no more comes.
  req.socket.once('close', () => req.destroy(new Error('the body came too slowly')));
  if (res.headersSent) return void req.socket.destroy(); // it had its answer, or is getting it
  const { contentType, body } = TOO_SLOW;
  const length = Buffer.byteLength(body);
  const headers = { 'Access-Control-Allow-Origin': '*', 'Content-Type': contentType, 'Content-Length': length };
  res.writeHead(408, { ...headers, Connection: 'close' }).end(body);
}

const TOO_SLOW = json(408, { error: 'The request body came too slowly' });
