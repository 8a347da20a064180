import type { RefusedHost } from '../../../../protocol/events/command-result.ts';
import type { HostDecision } from '../../../egress/host-decision.ts';
import type { Connection } from '../../../egress/proxy/egress-proxy.ts';
import type { ProxyTarget } from '../../../egress/proxy/proxy-target.ts';
import { AddressRefused, type CheckedGet } from '../../../egress/web/checked-get.ts';
import { parseWebAddress, type WebAddress } from './web-address.ts';

/** What a request for a page, and for the addresses that it leads to, needs. */
export interface Following {
  get: CheckedGet;
  /** Asked about every hop. */
  decide(target: ProxyTarget): HostDecision;
  onConnection(connection: Connection): void;
  headers: Record<string, string>;
  signal: AbortSignal;
}

/** The answer at the end of all redirects. */
export interface Reached {
  kind: 'reached';
  address: WebAddress;
  response: Awaited<ReturnType<CheckedGet>>;
}

/** Why the last hop was not made. */
export interface NotReached {
  kind: 'not-reached';
  reason: string;
  refused?: RefusedHost;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 8;

/** Asks for an address and follows its redirects. Each hop is decided about, and its address checked, as the first one. */
export async function follow(first: WebAddress, following: Following): Promise<Reached | NotReached> {
  let address = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const reached = await reach(address, hop > 0, following);
    if (reached.kind === 'not-reached') return reached;
    const { status, headers, body } = reached.response;
    const { location } = headers;
    if (!REDIRECTS.has(status) || location === undefined) return reached;
    body.cancel();
    await reached.response[Symbol.asyncDispose]();
    const next = parseWebAddress(location, address.url);
    if (typeof next === 'string') return notReached(`${address.url.href} redirects to another address. ${next}`);
    address = next;
  }
  return notReached(`${first.url.href} redirects more than ${MAX_REDIRECTS} times.`);
}

/** Makes one hop, if it may be made. Whatever comes of it is reported as a connection. */
export async function reach(
  address: WebAddress,
  isRedirect: boolean,
  { get, decide, onConnection, headers, signal }: Following,
): Promise<Reached | NotReached> {
  const { url, target } = address;
  const decision = decide(target);
  if (decision.kind === 'deny') {
    onConnection({ ...target, outcome: 'refused', ...named(decision.rule) });
    return refusedByRule(address, isRedirect, decision.rule);
  }
  try {
    const response = await get(url, { target, decision, headers, signal });
    onConnection({ ...target, outcome: 'connected' });
    return { kind: 'reached', address, response };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AddressRefused) return refusedByAddress(address, error, onConnection);
    onConnection({ ...target, outcome: 'failed' });
    return notReached(`${url.origin} could not be reached (${codeOf(error)}).`);
  }
}

function refusedByRule({ url, target }: WebAddress, isRedirect: boolean, rule: string | undefined): NotReached {
  if (rule !== undefined)
    return notReached(`A permission rule denies ${target.host}.`, { ...target, reason: 'rule', rule_id: rule });
  const text = isRedirect
    ? `It redirects to ${url.href}, and nobody has allowed ${target.host} yet. Call web_fetch with that address if you need it.`
    : `Nobody has allowed ${target.host}.`;
  return notReached(text, { ...target, reason: 'not_allowed' });
}

function refusedByAddress(
  { target }: WebAddress,
  { rule }: AddressRefused,
  onConnection: Following['onConnection'],
): NotReached {
  onConnection({ ...target, outcome: rule === undefined ? 'address' : 'refused', ...named(rule) });
  if (rule !== undefined)
    return notReached(`A permission rule denies the address of ${target.host}.`, {
      ...target,
      reason: 'rule',
      rule_id: rule,
    });
  const text = `${target.host} is, or leads to, a private or reserved address. Only the person can allow a private one, in the setting tools.network.allow.`;
  return notReached(text, { ...target, reason: 'address' });
}

const named = (rule: string | undefined) => (rule === undefined ? {} : { rule });

const notReached = (reason: string, refused?: RefusedHost): NotReached => ({
  kind: 'not-reached',
  reason,
  ...(refused && { refused }),
});

/** Not the message, which may contain more than the model should read. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
