import { LIMITS } from '../../../protocol/limits.ts';
import { FORWARDED } from './machines/forwarded-head.ts';

/** Headers that decide who the caller is, where the request comes from, and how the body is read. */
const SINGLE = new Set(['host', 'origin', 'sec-fetch-site', 'authorization', 'content-type']);
const LENGTHS = new Set([...SINGLE].map((name) => name.length));

export interface HeadProblem {
  status: 400 | 431;
  text: string;
}

/**
 * A problem with a request's headers, checked before anything else. If a header is repeated, servers and proxies may
 * use different values, so a check by one of them would not bind the other.
 */
export function problemOfHead(rawHeaders: readonly string[]): HeadProblem | undefined {
  if (rawHeaders.length > 2 * LIMITS.requestHeaders && countOf(rawHeaders) > LIMITS.requestHeaders) {
    return { status: 431, text: `The request has more than ${LIMITS.requestHeaders} headers` };
  }
  let seen: Set<string> | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!LENGTHS.has(name.length)) continue; // skips most headers cheaply
    const known = name.toLowerCase();
    if (!SINGLE.has(known)) continue;
    if (seen?.has(known)) return { status: 400, text: `The header ${name} was sent more than once. Send it once.` };
    seen ??= new Set();
    seen.add(known);
  }
  return seen?.has('host') ? undefined : NO_HOST;
}

/** Without the header that another daemon adds to a request of its client. */
function countOf(rawHeaders: readonly string[]): number {
  const isForwarded = rawHeaders.some((name, at) => at % 2 === 0 && name.toLowerCase() === FORWARDED);
  return rawHeaders.length / 2 - (isForwarded ? 1 : 0);
}

/** Refused here and not by Node, whose answer would have neither a body nor the headers of every answer. */
const NO_HOST: HeadProblem = { status: 400, text: 'The header Host is missing' };
