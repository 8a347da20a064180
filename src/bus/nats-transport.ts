import { wordsOf } from '../../protocol/words-of.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { connectTo, type NatsConnection, placeOfNats, subjectOf } from './nats-connection.ts';
import type { Transport, TransportDeps } from './transport.ts';

export interface NatsOptions extends TransportDeps {
  /** `nats://user:password@host:4222` or `tls://…`. */
  url: string;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
}

/**
 * Connects to a NATS server, and again whenever the connection is lost. While there is none, messages are refused instead of
 * being kept for later. Throws in words if the first connection fails.
 */
export async function connectNats({ url, own, onMessage, clock, log }: NatsOptions): Promise<Transport> {
  const place = placeOfNats(url);
  const connection = await connectTo(url, { own, again: clock });
  connection.subscribe(subjectOf(own), {
    callback(error, { data }) {
      if (error) log.warn({ reason: wordsOf(error) }, 'a message of another daemon could not be received');
      else onMessage(data);
    },
  });
  await connection.flush(); // the server knows the subscription
  const listeners: ((isConnected: boolean) => void)[] = [];
  let isConnected = true;
  const become = (next: boolean): void => {
    if (next === isConnected) return;
    isConnected = next;
    if (next) log.info({ place }, 'the bus is connected again');
    else log.warn({ place }, 'the connection to the bus is lost; trying again');
    for (const listener of listeners) listener(next);
  };
  void follow(connection, become);
  return {
    send(to, message) {
      if (!isConnected) throw new Error(`${place} is not connected`);
      connection.publish(subjectOf(to), message);
    },
    get isConnected() {
      return isConnected;
    },
    onState: (listener) => void listeners.push(listener),
    close: () => connection.close(),
  };
}

async function follow(connection: NatsConnection, become: (isConnected: boolean) => void): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === 'disconnect' || type === 'staleConnection') become(false);
    else if (type === 'reconnect') become(true);
  }
}
