import { createHmac, timingSafeEqual } from 'node:crypto';

/** The header of a request that another daemon forwards; lower case, as Node names headers. */
export const FORWARDED = 'headgate-forwarded';
/** What this header adds to a request at most: its name, a session, a number, an IP address and a code. */
export const FORWARDED_BYTES = 256;
/** In the answer to a request whose session is not known, as after a restart: greet again. */
export const UNKNOWN_SESSION = 'headgate-session-unknown';

/** What the forwarding daemon says about a request. */
export interface ForwardedHead {
  session: string;
  /** Of the request in its session; never used twice. */
  number: number;
  /** The client's IP address; empty if it has gone. */
  address: string;
}

/** What the daemon that is asked sees of the request. */
export interface ForwardedRequest {
  method: string;
  target: string;
  host: string;
}

/** The value of the header: its fields and their authentication code, between semicolons. */
export const sealHead = (head: ForwardedHead, request: ForwardedRequest, secret: Buffer): string =>
  [head.session, head.number, head.address, codeOf(head, request, secret).toString('base64url')].join(';');

/** The fields as they were sent, to find the session; undefined for another text. */
export function readHead(value: string): (ForwardedHead & { code: Buffer }) | undefined {
  const [session, number = '', address, code, more] = value.split(';');
  if (session === undefined || address === undefined || code === undefined || more !== undefined) return undefined;
  if (!/^\d{1,15}$/.test(number)) return undefined;
  return { session, number: Number(number), address, code: Buffer.from(code, 'base64url') };
}

/** Whether the owner of the secret has sent this head with this request. */
export function isSealed(head: ForwardedHead & { code: Buffer }, request: ForwardedRequest, secret: Buffer): boolean {
  const code = codeOf(head, request, secret);
  return code.length === head.code.length && timingSafeEqual(code, head.code);
}

const codeOf = (
  { session, number, address }: ForwardedHead,
  { method, target, host }: ForwardedRequest,
  secret: Buffer,
): Buffer => createHmac('sha256', secret).update([session, number, address, method, target, host].join('\n')).digest();
