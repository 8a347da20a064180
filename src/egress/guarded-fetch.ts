import { lookup as lookUpName } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { unescape as decode } from 'node:querystring';
import type { Dispatcher } from 'undici';
import { classifyAddress, isPrivateName } from './egress-address.ts';

/** Why the daemon did not send a request, or did not follow its answer. */
export type EgressReason = 'address' | 'redirect';

export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly reason: EgressReason;

  constructor(reason: EgressReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

interface GuardOptions {
  /** Host names that may resolve to private addresses, beyond those whose name says so. Asked at each connection. */
  privateHosts(): readonly string[];
  /** Of the process: with NODE_USE_ENV_PROXY=1 the usual proxy variables count, as they do for Node's own `fetch`. */
  environment: Readonly<Record<string, string | undefined>>;
  /** For tests; `dns.lookup` otherwise. */
  lookup?: LookupFunction;
}

/**
 * `fetch` for addresses that come from the configuration or a client. It follows no redirect, so that no key travels to a
 * host that nobody configured, and refuses link-local and metadata addresses. A name may resolve to a private address
 * only when the name itself is private (`localhost`, `nas.local`) or `egress.privateHosts` lists it. The address that was
 * checked is the address that is connected to. Throws EgressError. Behind a proxy only literal addresses are checked.
 */
export function createGuardedFetch({ privateHosts, environment, lookup = lookUpName }: GuardOptions): typeof fetch {
  const isPrivateHost = (host: string) =>
    isPrivateName(host) || privateHosts().some((known) => isSameHost(known, host));
  const guarded = guardLookup(lookup, isPrivateHost);
  let opened: Promise<Opened> | undefined;
  const send = async (input: URL | string, init: RequestInit | undefined): Promise<Response> => {
    opened ??= openAgent(environment, guarded);
    const { fetch, dispatcher } = await opened;
    return fetch(input, { ...init, redirect: 'manual', dispatcher });
  };
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    requireAllowedLiteral(url);
    const response = await send(...withoutCredentials(url, init));
    if (!REDIRECTS.has(response.status)) return response;
    await response.body?.cancel();
    throw redirected(url, response.headers.get('location'));
  };
}

/** Throws EgressError when the URL names an address, instead of a host, that is never allowed. */
function requireAllowedLiteral({ hostname }: URL): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && classifyAddress(host) === 'refused') throw refusedAddress(host, host);
}

/** `fetch` refuses an address with a user and a password, and says both in its error: they are sent as Basic authentication. */
function withoutCredentials(url: URL, init: RequestInit | undefined): [URL, RequestInit | undefined] {
  const { username, password } = url;
  if (username === '' && password === '') return [url, init];
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  const headers = new Headers(init?.headers);
  const basic = Buffer.from(`${decode(username)}:${decode(password)}`).toString('base64');
  if (!headers.has('authorization')) headers.set('authorization', `Basic ${basic}`); // a key of its own wins
  return [bare, { ...init, headers: Object.fromEntries(headers) }];
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

interface Opened {
  fetch(url: URL | string, init: RequestInit & { dispatcher: Dispatcher }): Promise<Response>;
  dispatcher: Dispatcher;
}

/** undici is what Node's own `fetch` is made of; the built-in one takes no look-up. Imported when the first request is sent. */
async function openAgent(environment: GuardOptions['environment'], lookup: LookupFunction): Promise<Opened> {
  // The package is CommonJS: bundled, it has a default export only.
  const { Agent, EnvHttpProxyAgent, fetch } = (await import('undici')).default;
  const viaProxy = environment.NODE_USE_ENV_PROXY === '1';
  const options = { connect: { lookup } };
  const dispatcher = viaProxy ? new EnvHttpProxyAgent(options) : new Agent(options);
  if (!isLikeGlobal(fetch)) throw new TypeError('undici has no fetch');
  return { fetch, dispatcher };
}

/** Its types name undici's own classes, which are built like the global ones. */
const isLikeGlobal = (candidate: unknown): candidate is Opened['fetch'] => typeof candidate === 'function';

/** Every address of a name has to be allowed: which one is connected to is nobody's choice. */
function guardLookup(lookup: LookupFunction, isPrivateHost: (host: string) => boolean): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      const addresses = Array.isArray(found) ? found : [];
      const problem = error ?? problemOf(host, addresses, isPrivateHost);
      const [first = { address: '', family: 0 }] = addresses;
      if (problem || !options.all) callback(problem ?? null, first.address, first.family);
      else callback(null, addresses);
    });
  };
}

function problemOf(
  host: string,
  addresses: readonly { address: string }[],
  isPrivateHost: (host: string) => boolean,
): EgressError | undefined {
  for (const { address } of addresses) {
    const kind = classifyAddress(address);
    if (kind === 'refused') return refusedAddress(host, address);
    if (kind === 'private' && !isPrivateHost(host)) {
      const mend = 'If that is intended, add the name to egress.privateHosts in config.json.';
      return new EgressError('address', `${host} resolves to the private address ${address}. ${mend}`);
    }
  }
  return undefined;
}

function refusedAddress(host: string, address: string): EgressError {
  const named = host === address ? address : `${host} resolves to ${address}, which`;
  return new EgressError(
    'address',
    `${named} is a link-local, metadata or reserved address; Headgate never connects to it.`,
  );
}

function redirected(from: URL, location: string | null): EgressError {
  const target = location !== null && URL.canParse(location, from) ? new URL(location, from).origin : 'another address';
  const mend = 'Redirects are not followed; configure the final address.';
  return new EgressError('redirect', `${from.origin} answered with a redirect to ${target}. ${mend}`);
}

const isSameHost = (known: string, host: string): boolean => known.toLowerCase() === host.toLowerCase();
