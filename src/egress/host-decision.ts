import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type AddressClass, classifyAddress } from './egress-address.ts';
import { guardLookup } from './guarded-egress.ts';

/** Whether the agent, or one of its programs, may connect to a host. */
export type HostDecision =
  | {
      kind: 'allow';
      /** Also if it is, or resolves to, a private address. */
      mayBePrivate: boolean;
      /** The rule that denies an address that it resolves to. */
      denies?(address: string): string | undefined;
    }
  | {
      kind: 'deny';
      /** The rule that denies it; absent if nothing allows it. */
      rule?: string;
    };

export type AllowedHost = Extract<HostDecision, { kind: 'allow' }>;

/** What is known of the addresses of an allowed host before a connection. */
export type CheckedHost =
  /** It is a literal address, and a private or reserved one. */
  | { kind: 'refused' }
  | {
      kind: 'open';
      /** Checks all addresses of the name when it is resolved. The connection goes to one of them. */
      lookup: LookupFunction;
      /** The rule that denied an address that was looked up. */
      deniedBy(): string | undefined;
    };

/** Prepares a connection to an allowed host. */
export function checkHost(
  host: string,
  { decision, lookup }: { decision: AllowedHost; lookup: LookupFunction },
): CheckedHost {
  if (isIP(host) !== 0 && !isAllowedLiteral(host, decision)) return { kind: 'refused' };
  let denied: string | undefined;
  const classifyRuled = (address: string): AddressClass => {
    denied = decision.denies?.(address);
    return denied === undefined ? classifyHere(address) : 'refused';
  };
  return {
    kind: 'open',
    lookup: guardLookup(lookup, () => decision.mayBePrivate, classifyRuled),
    deniedBy: () => denied,
  };
}

function isAllowedLiteral(address: string, { mayBePrivate }: AllowedHost): boolean {
  const kind = classifyHere(address);
  return kind === 'public' || (kind === 'private' && mayBePrivate);
}

/** The addresses of this machine are private, too: its services, such as the daemon, listen there. */
export function classifyHere(address: string): AddressClass {
  const [bare = ''] = address.split('%', 1);
  // The list knows mapped addresses in all their spellings.
  const isOwn = isIP(bare) !== 0 && ownAddresses().check(bare, isIPv4(bare) ? 'ipv4' : 'ipv6');
  const kind = classifyAddress(address);
  return isOwn && kind === 'public' ? 'private' : kind;
}

/** Read at each connection, because a laptop changes its network. */
function ownAddresses(): BlockList {
  const own = new BlockList();
  for (const { address, family } of Object.values(networkInterfaces()).flatMap((entries) => entries ?? []))
    own.addAddress(address, family === 'IPv4' ? 'ipv4' : 'ipv6');
  return own;
}
