import type { Clock } from '../../clock.ts';
import type { Wire } from './wire.ts';

const MAX_MISSED_PINGS = 2;
/** How long a client has that is asked for a sign of life. */
const LIFE_SIGN_MS = 3_000;

/** Whether a client is still there: it answers pings. A class because there are many instances, which share its methods. */
export class Pulse {
  readonly #wire: Wire;
  readonly #connection: { terminate(): void };
  #missedPings = 0;
  /** Somebody waits for a sign of life. */
  #lifeSign: PromiseWithResolvers<boolean> | undefined;

  constructor(wire: Wire, connection: { terminate(): void }) {
    this.#wire = wire;
    this.#connection = connection;
  }

  /** The client has sent something. */
  felt(): void {
    this.excuse();
    this.#answer(true);
  }

  /** It was not read from, so it could not answer. */
  excuse(): void {
    this.#missedPings = 0;
  }

  /** Pings the client; closes the connection after two unanswered pings. */
  tick(): void {
    if (this.#missedPings >= MAX_MISSED_PINGS) {
      this.#connection.terminate();
    } else {
      this.#missedPings += 1;
      this.#wire.ping();
    }
  }

  /** Pings the client; closes the connection if it does not answer at once. */
  check(clock: Pick<Clock, 'sleep'>): Promise<boolean> {
    if (this.#lifeSign) return this.#lifeSign.promise;
    const sign = Promise.withResolvers<boolean>();
    const heard = new AbortController();
    this.#lifeSign = sign;
    this.#wire.ping();
    clock.sleep(LIFE_SIGN_MS, heard.signal).then(
      () => this.#connection.terminate(),
      () => undefined, // it has answered, or the connection has ended
    );
    return sign.promise.finally(() => heard.abort());
  }

  /** The connection has ended. */
  stop(): void {
    this.#answer(false);
  }

  #answer(isAlive: boolean): void {
    this.#lifeSign?.resolve(isAlive);
    this.#lifeSign = undefined;
  }
}
