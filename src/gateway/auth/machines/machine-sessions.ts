import type { IncomingMessage } from 'node:http';
import type { Ids } from '../../../ids.ts';
import { FORWARDED, isSealed, readHead } from './forwarded-head.ts';
import { answerGreeting, type Hello, type Welcome } from './greeting.ts';
import type { MachineKey } from './machine-key.ts';

type Asking = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

/** The requests that other daemons forward to this one. */
export interface MachineSessions {
  /** Undefined for a daemon that the database does not know, or that does not mean this process. */
  greet(hello: Hello): Promise<Welcome | undefined>;
  /**
   * The address of the client of a forwarded request. `unknown`: forwarded, but not in a session, or not for the first time.
   * Undefined: the client itself has sent it.
   */
  clientOf(request: Asking): { address: string } | 'unknown' | undefined;
}

interface SessionDeps {
  /** Of this daemon. */
  process: string;
  key: MachineKey;
  /** The public key of a process, as the database knows it now. */
  findKey(process: string): Promise<string | undefined>;
  ids: Pick<Ids, 'secret'>;
}

interface Session {
  secret: Buffer;
  seen: SeenNumbers;
}

/** More than machines that share a database; the oldest one goes first. */
const MOST_SESSIONS = 256;

export function createMachineSessions({ process, key, findKey, ids }: SessionDeps): MachineSessions {
  const sessions = new Map<string, Session>();
  const judged = new WeakMap<Asking, { address: string } | 'unknown'>();

  function judge(request: Asking, value: string): { address: string } | 'unknown' {
    const head = readHead(value);
    const session = head && sessions.get(head.session);
    if (head === undefined || session === undefined) return 'unknown';
    const { method = '', url: target = '', headers } = request;
    if (!isSealed(head, { method, target, host: headers.host ?? '' }, session.secret)) return 'unknown';
    return session.seen.add(head.number) ? { address: head.address } : 'unknown';
  }

  return {
    async greet(hello) {
      if (hello.to !== process) return undefined;
      const publicKey = await findKey(hello.from);
      if (publicKey === undefined) return undefined;
      const session = ids.secret(16);
      const answered = answerGreeting(hello, { publicKey, session, key });
      if (answered === undefined) return undefined;
      sessions.set(session, { secret: answered.secret, seen: new SeenNumbers() });
      const [oldest] = sessions.keys();
      if (sessions.size > MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest);
      return answered.welcome;
    },
    clientOf(request) {
      const value = request.headers[FORWARDED];
      if (value === undefined) return undefined;
      // Asked again for the same request: its number is used only once.
      const found = judged.get(request) ?? (typeof value === 'string' ? judge(request, value) : 'unknown');
      judged.set(request, found);
      return found;
    },
  };
}

/** How far apart requests that were sent one after the other may arrive. */
const WINDOW = 4_096;

/** Numbers that were used. Those of requests that come too late count as used. */
class SeenNumbers {
  readonly #seen = new Set<number>();
  #highest = 0;

  /** False for a number that was used before. */
  add(number: number): boolean {
    if (number <= this.#highest - WINDOW || this.#seen.has(number)) return false;
    this.#seen.add(number);
    if (number > this.#highest) this.#forget(number);
    return true;
  }

  #forget(highest: number): void {
    this.#highest = highest;
    if (this.#seen.size <= 2 * WINDOW) return;
    for (const number of this.#seen) if (number <= highest - WINDOW) this.#seen.delete(number);
  }
}
