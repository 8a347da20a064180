import { GatewayError } from '../../../../protocol/errors.ts';

/**
 * What daemons say to each other over a link. To be raised only when a release cannot work with the one before: further
 * questions, news and fields need no other number, because who does not know them refuses or ignores them.
 */
export const LINK_PROTOCOL = 1;

/** Throws, in words, if the other daemon speaks another one. `who`: as in "The active daemon". */
export function requireSameProtocol(protocol: unknown, { who, version }: { who: string; version: string }): void {
  if (protocol === LINK_PROTOCOL) return;
  throw new GatewayError(
    'CONFLICT',
    `${who} has version ${version}, which is too far from this one to work with it. Bring both to the same version.`,
  );
}

/** For a question that this daemon does not know. */
export const unknownQuestion = (what: string) =>
  new GatewayError(
    'UNAVAILABLE',
    `The machine that was asked has another version of Headgate, which does not know "${what.slice(0, 100)}". Bring all machines to the same version.`,
    { retryable: false },
  );
