import { diffieHellman, generateKeyPairSync, hkdfSync, type KeyObject } from 'node:crypto';
import { isSignedBy, type MachineKey, publicPart, readPublicKey } from './machine-key.ts';

/*
 * Two daemons prove to each other that the database knows them, and agree on a secret for the requests that one forwards to
 * the other. Each signs the other's one-time key (X25519, RFC 7748), so that nothing that was recorded can be used again, and
 * no clock matters.
 */

/** Of the daemon that wants to forward. */
export interface Hello {
  /** Its process. */
  from: string;
  /** The process that it means. */
  to: string;
  /** Its one-time public key. */
  once: string;
  signature: string;
}

/** The answer. */
export interface Welcome {
  session: string;
  once: string;
  signature: string;
}

/** An own greeting, until it is answered. */
export interface Greeting {
  hello: Hello;
  /** The secret; undefined if the answer is not from the owner of the public key. */
  secretOf(welcome: Welcome, publicKey: string): Buffer | undefined;
}

export function beginGreeting(own: { process: string; key: MachineKey }, to: string): Greeting {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const from = own.process;
  const once = publicPart(publicKey);
  const hello = { from, to, once, signature: own.key.sign(textOfHello({ from, to, once })) };
  return {
    hello,
    secretOf(welcome, known) {
      const theirs = readPublicKey('X25519', welcome.once);
      if (!isSignedBy(known, textOfWelcome(hello, welcome), welcome.signature)) return undefined;
      return theirs && agree(privateKey, theirs, welcome.session);
    },
  };
}

/** Answers a greeting; undefined if it is not from the owner of the public key. */
export function answerGreeting(
  hello: Hello,
  { publicKey: known, session, key }: { publicKey: string; session: string; key: MachineKey },
): { welcome: Welcome; secret: Buffer } | undefined {
  const theirs = readPublicKey('X25519', hello.once);
  if (theirs === undefined || !isSignedBy(known, textOfHello(hello), hello.signature)) return undefined;
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const once = publicPart(publicKey);
  const welcome = { session, once, signature: key.sign(textOfWelcome(hello, { session, once })) };
  return { welcome, secret: agree(privateKey, theirs, session) };
}

const textOfHello = ({ from, to, once }: Omit<Hello, 'signature'>): string =>
  ['headgate hello 1', from, to, once].join('\n');

const textOfWelcome = ({ from, to, once }: Omit<Hello, 'signature'>, answer: Omit<Welcome, 'signature'>): string =>
  ['headgate welcome 1', from, to, once, answer.once, answer.session].join('\n');

const agree = (privateKey: KeyObject, publicKey: KeyObject, session: string): Buffer =>
  Buffer.from(hkdfSync('sha256', diffieHellman({ privateKey, publicKey }), session, 'headgate forwarding 1', 32));
