import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { z } from 'zod';
import { wordsOf } from '../../../protocol/words-of.ts';
import { type ForwardedRequest, sealHead } from '../../gateway/auth/machines/forwarded-head.ts';
import { beginGreeting, type Welcome } from '../../gateway/auth/machines/greeting.ts';
import type { MachineKey } from '../../gateway/auth/machines/machine-key.ts';
import { GREETING, GREETING_PATH } from '../machines/machine-edge.ts';
import { writeHello } from '../machines/read-hello.ts';

/** Where the active daemon is, and how it proves that it is the one that the database names. */
export interface ActiveDaemon {
  process: string;
  /** `http://…` or `https://…`, for other daemons. */
  address: string;
  publicKey: string;
}

/** This daemon. */
export interface OwnProof {
  process: string;
  key: MachineKey;
}

/** Requests to one process of a daemon, after both have proved who they are. */
export interface ForwardingSession {
  /** The value of the header that says whose request it is. */
  headOf(address: string, request: ForwardedRequest): string;
}

/** Greets the daemon. Rejects, in words, when it cannot be reached or is another one. */
export async function openSession(active: ActiveDaemon, own: OwnProof): Promise<ForwardingSession> {
  const greeting = beginGreeting(own, active.process);
  const welcome = await send(active.address, writeHello(greeting.hello));
  const secret = greeting.secretOf(welcome, active.publicKey);
  if (secret === undefined) throw new Error(`${active.address} is not the daemon that the database names`);
  let number = 0;
  return {
    headOf(address, request) {
      number += 1;
      return sealHead({ session: welcome.session, number, address }, request, secret);
    },
  };
}

/** How long the answer to a greeting may take. */
const GREETING_MS = 3_000;
const MOST_BYTES = 4_096;

const WelcomeBody = z.object({
  session: z.string().max(200),
  once: z.string().max(200),
  signature: z.string().max(200),
});

async function send(address: string, hello: string): Promise<Welcome> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sending = requestFor(address)(new URL(GREETING_PATH, address), {
    method: 'POST',
    headers: { [GREETING]: hello, 'content-length': 0 },
    agent: false,
    signal: AbortSignal.timeout(GREETING_MS),
  });
  sending.on('error', reject);
  sending.on('response', (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('error', reject);
    response.on('data', (part: string) => {
      text += part;
      if (text.length > MOST_BYTES) response.destroy(new Error('its answer is too long'));
    });
    response.on('end', () =>
      response.statusCode === 200 ? resolve(text) : reject(new Error(`it answers ${response.statusCode}`)),
    );
  });
  sending.end();
  try {
    return WelcomeBody.parse(JSON.parse(await promise));
  } catch (error) {
    throw new Error(`${address} does not answer as a daemon of this database: ${wordsOf(error)}`, { cause: error });
  }
}

export const requestFor = (address: string): typeof requestPlain =>
  address.startsWith('https:') ? requestSecure : requestPlain;
