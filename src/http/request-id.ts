import type { IncomingMessage } from 'node:http';

/** The id of a request: its `X-Request-Id` if that is well-formed, otherwise a new one. */
export type RequestIdOf = (req: Pick<IncomingMessage, 'headers'>) => string;

/** Short, and safe in logs, headers and URLs. */
const WELL_FORMED = /^[A-Za-z0-9._-]{1,64}$/;

/** New ids count up behind `prefix`, which must be different at each start: that is cheaper than random ids. */
export function createRequestIds(prefix: string): RequestIdOf {
  let count = 0;
  return ({ headers: { 'x-request-id': given } }) => {
    if (typeof given === 'string' && WELL_FORMED.test(given)) return given;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
