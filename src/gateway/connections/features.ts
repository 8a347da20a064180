import type { HelloOk } from '../../../protocol/connect.ts';
import type { Contract } from '../../../protocol/contract.ts';
import { GATEWAY_EVENTS, type GatewayEventRow } from '../../../protocol/events/gateway.ts';
import { CONTRACTS } from '../../../protocol/index.ts';
import { PERMISSIONS } from '../../../protocol/methods/accounts/permissions.ts';
import { isService } from '../auth/services/service-tokens.ts';
import { type Held, holdsOneOf, mayCall, mayReceive } from '../rights.ts';

/** Somebody who may change roles could otherwise fill the memory. */
const MAX_KNOWN = 1000;

/** Few distinct sets of rights exist, so the features of each set (`HelloOk['features']`) are computed and encoded once. */
export function createFeatures(): (held: Held) => Buffer {
  const byRights = new Map<string, Buffer>();
  /** A principal that gets other rights is another object. */
  const byHolder = new WeakMap<Held, Buffer>();
  return (held) => {
    const known = byHolder.get(held);
    if (known) return known;
    const name = nameOf(held);
    const features = byRights.get(name) ?? Buffer.from(JSON.stringify(featuresOf(held)));
    if (byRights.size >= MAX_KNOWN) byRights.clear();
    byRights.set(name, features);
    byHolder.set(held, features);
    return features;
  };
}

function nameOf({ scopes, permissions }: Held): string {
  let bits = 0;
  for (const [at, permission] of PERMISSIONS.entries()) if (permissions.has(permission)) bits |= 1 << at;
  return `${[...scopes].sort().join()} ${bits}`;
}

/** What the caller may call and receive. An event for one connection alone has no permission. */
function featuresOf(held: Held): HelloOk['features'] {
  const { scopes, permissions } = held;
  return {
    methods: Object.entries<Contract>(CONTRACTS)
      .filter(([method]) => method !== 'connect')
      .filter(([, row]) => mayCall(scopes, row.scope) && holdsOneOf(permissions, row.permission))
      .filter(([, row]) => !(row.refusesServices && isService(held)))
      .map(([method]) => method),
    events: Object.entries<GatewayEventRow>(GATEWAY_EVENTS)
      .filter(([, row]) => mayReceive(held, row) || (row.direct !== undefined && scopes.has(row.direct)))
      .map(([event]) => event),
  };
}
