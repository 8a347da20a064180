import { z } from 'zod';
import type { Hello, Welcome } from '../../auth/machines/greeting.ts';

/** What daemons send to each other: greetings in the open, everything after them sealed. */
export type Envelope =
  | { kind: 'hello'; hello: Hello }
  /** `once`: of the hello that it answers. */
  | { kind: 'welcome'; once: string; welcome: Welcome }
  | { kind: 'sealed'; session: string; sealed: Uint8Array };

const Text = z.string().max(200);
const Greetings = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('hello'), hello: z.object({ from: Text, to: Text, once: Text, signature: Text }) }),
  z.object({
    kind: z.literal('welcome'),
    once: Text,
    welcome: z.object({ session: Text, once: Text, signature: Text }),
  }),
]);

/** The first byte of a sealed message; greetings are JSON. */
const SEALED = 0;
const MOST_GREETING_BYTES = 2_000;

export function writeEnvelope(envelope: Envelope): Buffer {
  if (envelope.kind !== 'sealed') return Buffer.from(JSON.stringify(envelope));
  const session = Buffer.from(envelope.session);
  return Buffer.concat([Buffer.of(SEALED, session.length), session, envelope.sealed]);
}

/** Undefined for what no daemon sends. */
export function readEnvelope(message: Uint8Array): Envelope | undefined {
  if (message[0] === SEALED) {
    const end = 2 + (message[1] ?? 0);
    return { kind: 'sealed', session: Buffer.from(message.subarray(2, end)).toString(), sealed: message.subarray(end) };
  }
  if (message.length > MOST_GREETING_BYTES) return undefined;
  try {
    return Greetings.parse(JSON.parse(Buffer.from(message).toString()));
  } catch {
    return undefined;
  }
}
