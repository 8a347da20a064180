import { GATEWAY_EVENTS, type GatewayEventName, type GatewayEventRow } from '../../../protocol/events/gateway.ts';
import { type Held, mayReceive } from '../rights.ts';

/** The kinds of events that somebody's rights let through, as bits. */
export type Hearing = number;

const rows = Object.entries<GatewayEventRow>(GATEWAY_EVENTS).map(([event, row]) => ({
  event,
  row,
  needs: [row.scope, row.permission ?? []].flat().join(),
}));

/** One row of each kind. Events of a kind need the same rights. */
const kinds = rows.filter(({ needs }, at) => rows.findIndex((other) => other.needs === needs) === at);

/** The number of each event's kind. */
export const KIND_OF = Object.fromEntries(
  rows.map(({ event, needs }) => [event, kinds.findIndex((kind) => kind.needs === needs)]),
) as Record<GatewayEventName, number>; // from the same rows

export const hears = (hearing: Hearing, kind: number): boolean => (hearing & (1 << kind)) !== 0;

/** Computed once per connection, so that sending an event compares bits instead of rights. */
export const hearingOf = (held: Held): Hearing =>
  kinds.reduce((hearing, { row }, kind) => (mayReceive(held, row) ? hearing | (1 << kind) : hearing), 0);
