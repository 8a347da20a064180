import { lookup as lookUpName } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPrivateName } from '../egress-address.ts';
import { EgressError, openAgent } from '../guarded-egress.ts';
import { type AllowedHost, checkHost } from '../host-decision.ts';
import type { ProxyTarget } from '../proxy/proxy-target.ts';
import { type PostResponse, sendThrough } from '../streamed-post.ts';

/**
 * Sends one GET to an address that the agent has chosen, and follows no redirect: the next address has to be decided about,
 * too. Throws AddressRefused.
 */
export type CheckedGet = (url: URL, request: GetRequest) => Promise<GetResponse>;

/** Sends a GET, or a POST if it has a body, in the same way. */
export type CheckedSend = (url: URL, request: GetRequest & { body?: string }) => Promise<GetResponse>;

interface GetRequest {
  target: ProxyTarget;
  decision: AllowedHost;
  headers: Record<string, string>;
  signal: AbortSignal;
}

interface GetResponse extends Omit<PostResponse, 'statusText'>, AsyncDisposable {}

/** The host is, or leads to, an address that is not allowed. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  /** The rule that denies the address; undefined: it is private or reserved. */
  readonly rule: string | undefined;

  constructor(rule: string | undefined) {
    super('the address is not allowed');
    this.rule = rule;
  }
}

interface CheckedGetDeps {
  /** As for the daemon's own requests: NODE_USE_ENV_PROXY=1 enables the usual proxy variables. */
  environment: Readonly<Record<string, string | undefined>>;
  /** For tests; `dns.lookup` otherwise. */
  lookup?: LookupFunction;
}

/** See CheckedGet. */
export function createCheckedGet(deps: CheckedGetDeps): CheckedGet {
  return createCheckedSend(deps);
}

/** The connection goes to an address that was checked. Each request has its own, because each has its own decision. */
export function createCheckedSend({ environment, lookup = lookUpName }: CheckedGetDeps): CheckedSend {
  return async (url, { target, decision, headers, signal, body: sent }) => {
    const host = checkHost(target.host, { decision, lookup });
    if (host.kind === 'refused') throw new AddressRefused(undefined);
    try {
      if (environment.NODE_USE_ENV_PROXY === '1') await checkBehindProxy(target.host, host.lookup, decision);
      const { dispatcher } = await openAgent(environment, host.lookup);
      const close = () => dispatcher.destroy();
      try {
        const {
          status,
          headers: received,
          body,
        } = await sendThrough(dispatcher, url, {
          ...methodOf(sent),
          headers,
          signal,
        });
        return { status, headers: received, body, [Symbol.asyncDispose]: close };
      } catch (error) {
        await close();
        throw error;
      }
    } catch (error) {
      throw error instanceof EgressError ? new AddressRefused(host.deniedBy()) : error;
    }
  };
}

const methodOf = (body: string | undefined) =>
  body === undefined ? ({ method: 'GET', body: null } as const) : ({ method: 'POST', body } as const);

/**
 * A proxy resolves names itself. What this machine can resolve is checked before, and other names if they are meant for a
 * private network.
 */
function checkBehindProxy(host: string, lookup: LookupFunction, { mayBePrivate }: AllowedHost): Promise<void> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error) => {
      if (error instanceof EgressError) return reject(error);
      if (error && isPrivateName(host) && !mayBePrivate) return reject(new AddressRefused(undefined));
      resolve();
    });
  });
}
