import { type ConnectionOptions, connect, type NatsConnection } from '@nats-io/transport-node';
import { wordsOf } from '../../protocol/words-of.ts';
import type { Clock } from '../clock.ts';

/** How often the client asks whether the server is still there; twice without an answer ends the connection. */
const PING_MS = 2_000;

/** Before the client tries to connect again. */
const RETRY_MS = 250;
/** How long a login may take. */
const LOGIN_MS = 10_000;

/** Each daemon has one subject, with its process id. */
export const subjectOf = (process: string): string => `headgate.${process}`;

/** The server, without the user and the password. */
export const placeOfNats = (url: string): string => `nats://${new URL(url).host}`;

export type { NatsConnection };

interface Connecting {
  /** The process id of this daemon. */
  own: string;
  /** Connects again whenever the connection is lost; without a clock, it does not. */
  again?: Pick<Clock, 'monotonic'>;
}

/** Connects to `nats://user:password@host:4222` or `tls://…`. Throws a `NatsTrouble` if that fails. */
export function connectTo(url: string, { own, again }: Connecting): Promise<NatsConnection> {
  const { host, username, password, protocol } = new URL(url);
  return connect({
    servers: host,
    ...(username !== '' && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    ...(protocol === 'tls:' && { tls: {} }),
    name: `headgate ${own}`,
    pingInterval: PING_MS,
    ignoreClusterUpdates: true,
    ...(again === undefined ? { reconnect: false } : reconnecting(again)),
    maxReconnectAttempts: -1,
    timeout: LOGIN_MS,
  }).catch((error: unknown) => {
    throw new NatsTrouble(placeOfNats(url), error);
  });
}

/**
 * The client waits until the time of day of its last attempt is long ago, which takes hours if the clock is set back. So it
 * waits for no time of day, and is delayed by a clock that never goes back.
 */
function reconnecting(clock: Pick<Clock, 'monotonic'>): ConnectionOptions {
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    reconnectDelayHandler: () => Number.NEGATIVE_INFINITY,
    reconnectToServer([server]) {
      const nowMs = clock.monotonic();
      const delay = Math.max(0, Math.ceil(lastMs + RETRY_MS - nowMs));
      lastMs = nowMs + delay;
      return server === undefined ? null : { server, delay };
    },
    ignoreAuthErrorAbort: true,
  };
}

/** Why a server cannot be reached, in words, and what to do about it. */
export class NatsTrouble extends Error {
  override readonly name = 'NatsTrouble';
  readonly mend: string;

  constructor(place: string, cause: unknown) {
    const { words, mend } = explain(cause);
    super(`${place} cannot be reached: ${words}`, { cause });
    this.mend = mend;
  }
}

const OTHER_MEND = 'Start the server, or correct store.bus (or HEADGATE_STORE_BUS).';

/** The codes of errors of TLS, and the words of the client. */
const TROUBLES: { when: RegExp; words: string; mend: string }[] = [
  {
    when: /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)/,
    words: 'this machine does not trust the authority that signed its certificate',
    mend: 'Name the certificate of the authority in NODE_EXTRA_CA_CERTS.',
  },
  {
    when: /ALTNAME_INVALID/,
    words: 'its certificate is for another host name',
    mend: 'Use a host name of the certificate in store.bus (or HEADGATE_STORE_BUS), or make a certificate for this one.',
  },
  { when: /CERT_HAS_EXPIRED/, words: 'its certificate has expired', mend: 'Give the server a new certificate.' },
  { when: /CERT_NOT_YET_VALID/, words: 'its certificate is not valid yet', mend: 'Check the clocks of both machines.' },
  {
    when: /does not support 'tls'/,
    words: 'it does not encrypt connections (TLS)',
    mend: 'Give the server a certificate, or use nats:// in place of tls:// in a network that you trust.',
  },
  {
    when: /authorization violation/i,
    words: 'it refuses the user or the password (Authorization Violation)',
    mend: 'Correct the user and the password in store.bus (or HEADGATE_STORE_BUS), or in the configuration of the server.',
  },
];

function explain(error: unknown): { words: string; mend: string } {
  const said = saidBy(error).join(' ');
  const known = TROUBLES.find(({ when }) => when.test(said));
  return { words: known?.words ?? wordsOf(error), mend: known?.mend ?? OTHER_MEND };
}

/** The words and codes of an error and its causes. */
function saidBy(error: unknown): string[] {
  if (!(error instanceof Error)) return [wordsOf(error)];
  const code = 'code' in error ? [String(error.code)] : [];
  return [...code, error.message, ...(error.cause === undefined ? [] : saidBy(error.cause))];
}
