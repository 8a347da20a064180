import { EgressError } from '../../../egress/guarded-egress.ts';

/** Whether a failed `fetch` certainly sent nothing: the connection was never established. */
export function isCertainlyUnsent(error: unknown): boolean {
  for (const failure of causesOf(error)) {
    if (failure instanceof AggregateError && failure.errors.length > 0) return failure.errors.every(isCertainlyUnsent);
    if (failure instanceof EgressError) return failure.reason === 'address';
    if (SYSCALLS.has(textOf(failure, 'syscall')) || NEVER_CONNECTED.has(textOf(failure, 'code'))) return true;
    if (CERTIFICATE.test(textOf(failure, 'code')) || BEFORE_REQUEST.test(failure.message)) return true;
  }
  return false;
}

/** A short reason for people: the code of the innermost error, or its message. */
export function reasonOf(error: unknown): string {
  const causes = causesOf(error);
  const coded = causes.findLast((cause) => !(cause instanceof EgressError) && textOf(cause, 'code') !== '');
  if (coded) return textOf(coded, 'code');
  return causes.at(-1)?.message || 'unknown failure';
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length < MOST_CAUSES; cause = cause.cause)
    causes.push(cause);
  return causes;
}

/** Errors may refer to each other in a circle. */
const MOST_CAUSES = 10;

function textOf(error: Error, name: 'code' | 'syscall'): string {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : '';
}

/** The system calls before a connection exists. */
const SYSCALLS: ReadonlySet<string> = new Set(['connect', 'getaddrinfo']);

/** Errors that only occur before a connection is established. A reset is not among them: it may follow the request. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTDOWN',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
  'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** A certificate is checked before the request is written. */
const CERTIFICATE =
  /^(CERT_|CRL_|DEPTH_ZERO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|SELF_SIGNED_|UNABLE_TO_)/;

/** A handshake that broke off, and a proxy that refused the tunnel. */
const BEFORE_REQUEST = /before secure TLS connection was established|when HTTP Tunneling/;
