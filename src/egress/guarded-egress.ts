import { lookup as lookUpName } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { unescape as decode } from 'node:querystring';
import type { Dispatcher } from 'undici';
import { type AddressClass, classifyAddress, isPrivateName } from './egress-address.ts';
import { requireSendable } from './header-values.ts';
import { type Post, postThrough } from './streamed-post.ts';

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
  /** Host names that may resolve to private addresses, in addition to private names. Called for each connection. */
  privateHosts(): readonly string[];
  /** The environment of the process: NODE_USE_ENV_PROXY=1 enables the usual proxy variables, as for Node's `fetch`. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Which addresses are private; by default as the network says. */
  classify?(address: string): AddressClass;
  /** For tests; `dns.lookup` otherwise. */
  lookup?: LookupFunction;
}

/** Two ways to send a request, with the same rules and the same connections. */
interface Egress {
  fetch: typeof fetch;
  post: Post;
}

/**
 * Requests to addresses that come from the configuration or a client. They do not follow redirects, so that keys reach
 * only configured hosts, and refuse link-local and metadata addresses. A name may resolve to a private address only if
 * the name is private (`localhost`, `nas.local`) or listed in `egress.privateHosts`. They connect to the address that
 * was checked. Both throw EgressError. Behind a proxy, only literal addresses are checked.
 */
export function createGuardedEgress({
  privateHosts,
  environment,
  classify,
  lookup = lookUpName,
}: GuardOptions): Egress {
  const isPrivateHost = (host: string) =>
    isPrivateName(host) || privateHosts().some((known) => isSameHost(known, host));
  const guarded = guardLookup(lookup, isPrivateHost, classify);
  let opening: Promise<Opened> | undefined;
  const open = () => {
    opening ??= openAgent(environment, guarded);
    return opening;
  };
  return {
    async fetch(input, init) {
      // Not `instanceof Request`: this class alone would load Node's copy of undici, beside ours.
      const url = new URL(typeof input === 'string' || input instanceof URL ? input : input.url);
      requireAllowedLiteral(url);
      requireSendable(init?.headers);
      const [bare, basic] = withoutCredentials(url, init?.headers);
      const { fetch, dispatcher } = await open();
      const response = await fetch(bare, { ...init, ...(basic && { headers: basic }), redirect: 'manual', dispatcher });
      if (!REDIRECTS.has(response.status)) return response;
      await response.body?.cancel();
      throw redirected(url, response.headers.get('location'));
    },
    async post(address, request) {
      const url = new URL(address);
      requireAllowedLiteral(url);
      requireSendable(request.headers);
      const [bare, basic] = withoutCredentials(url, request.headers);
      const { dispatcher } = await open();
      const response = await postThrough(dispatcher, bare, { ...request, ...(basic && { headers: basic }) });
      if (!REDIRECTS.has(response.status)) return response;
      response.body.cancel();
      throw redirected(url, response.headers.location ?? null);
    },
  };
}

/** Throws EgressError if the URL contains a literal address that is never allowed. */
function requireAllowedLiteral({ hostname }: URL): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && classifyAddress(host) === 'refused') throw refusedAddress(host, host);
}

/**
 * Removes user and password of a URL, because `fetch` refuses such URLs and repeats both in its error. Returns the
 * headers that send them as Basic authentication.
 */
function withoutCredentials(url: URL, headers: HeadersInit | undefined): [URL, Record<string, string> | undefined] {
  const { username, password } = url;
  if (username === '' && password === '') return [url, undefined];
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  const all = new Headers(headers);
  const basic = Buffer.from(`${decode(username)}:${decode(password)}`).toString('base64');
  if (!all.has('authorization')) all.set('authorization', `Basic ${basic}`); // an explicit header wins
  return [bare, Object.fromEntries(all)];
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

interface Opened {
  fetch(url: URL | string, init: RequestInit & { dispatcher: Dispatcher }): Promise<Response>;
  dispatcher: Dispatcher;
}

/**
 * A client whose connections resolve names with this lookup. Node's `fetch` is built on undici but accepts no custom one.
 * undici is imported at the first request.
 */
export async function openAgent(environment: GuardOptions['environment'], lookup: LookupFunction): Promise<Opened> {
  // The package is CommonJS: bundled, it has a default export only.
  const { Agent, EnvHttpProxyAgent, fetch } = (await import('undici')).default;
  const viaProxy = environment.NODE_USE_ENV_PROXY === '1';
  const connect = { lookup };
  const dispatcher = viaProxy ? new EnvHttpProxyAgent({ connect, ...proxiesOf(environment) }) : new Agent({ connect });
  if (!isLikeGlobal(fetch)) throw new TypeError('undici has no fetch');
  return { fetch, dispatcher };
}

function proxiesOf(environment: GuardOptions['environment']) {
  const [httpProxy, httpsProxy, noProxy] = ['http_proxy', 'https_proxy', 'no_proxy'].map(
    (name) => environment[name] ?? environment[name.toUpperCase()],
  );
  return {
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
    ...(noProxy !== undefined && { noProxy }),
  };
}

/** undici's types use its own classes, which work like the global ones. */
const isLikeGlobal = (candidate: unknown): candidate is Opened['fetch'] => typeof candidate === 'function';

/** A lookup that refuses a name if one of its addresses is not allowed, because any of them may be used. */
export function guardLookup(
  lookup: LookupFunction,
  isPrivateHost: (host: string) => boolean,
  classify: (address: string) => AddressClass = classifyAddress,
): LookupFunction {
  return (host, asked, callback) => {
    lookup(host, { ...asked, all: true }, (error, found) => {
      const addresses = Array.isArray(found) ? found : [];
      const problem = error ?? problemOf(host, addresses, { isPrivateHost, classify });
      const [first = { address: '', family: 0 }] = addresses;
      if (problem || !asked.all) callback(problem ?? null, first.address, first.family);
      else callback(null, addresses);
    });
  };
}

function problemOf(
  host: string,
  addresses: readonly { address: string }[],
  { isPrivateHost, classify }: { isPrivateHost(host: string): boolean; classify(address: string): AddressClass },
): EgressError | undefined {
  for (const { address } of addresses) {
    const kind = classify(address);
    if (kind === 'refused') return refusedAddress(host, address);
    if (kind === 'private' && !isPrivateHost(host)) {
      const advice = 'If that is intended, add the name to egress.privateHosts in config.json.';
      return new EgressError('address', `${host} resolves to the private address ${address}. ${advice}`);
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
  const advice = 'Redirects are not followed; configure the final address.';
  return new EgressError('redirect', `${from.origin} answered with a redirect to ${target}. ${advice}`);
}

const isSameHost = (known: string, host: string): boolean => known.toLowerCase() === host.toLowerCase();
