import { isIP } from 'node:net';
import { isPrivateName } from './egress-address.ts';
import { EgressError } from './guarded-egress.ts';
import { classifyHere } from './host-decision.ts';

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * For addresses that callers choose, whose answers somebody else gets to see: like `fetch` of the guarded egress, but private
 * addresses and names, and those of this machine, are refused, too, unless they are listed. Throws EgressError. `fetch` checks
 * what a name resolves to (`classifyHere`).
 */
export const createPublicFetch =
  (fetch: Fetch, privateHosts: () => readonly string[]): Fetch =>
  async (address, init) => {
    requirePublic(address, privateHosts());
    return fetch(address, init);
  };

/** Throws EgressError for an address whose host is private, as far as that is known without looking up its name. */
export function requirePublic(address: string, privateHosts: readonly string[]): void {
  const { hostname, protocol } = new URL(address);
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  if (protocol !== 'http:' && protocol !== 'https:') throw new EgressError('address', `${protocol} is not loaded`);
  const isPrivate = isIP(host) === 0 ? isPrivateName(host) : classifyHere(host) !== 'public';
  if (isPrivate && !privateHosts.some((known) => known.toLowerCase() === host))
    throw new EgressError('address', `${host} is private`);
}
