import { ECDH } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '../../../protocol/errors.ts';
import type { PushSubscription, pushContracts } from '../../../protocol/methods/channels/push.ts';
import { wrongField } from '../../../protocol/parse.ts';
import { toPlainName } from '../../../protocol/text/plain-text.ts';
import type { Clock } from '../../clock.ts';
import { EgressError } from '../../egress/guarded-egress.ts';
import type { Ids } from '../../ids.ts';
import type { Holders, Standing } from '../auth/logins/standing.ts';
import type { Principal } from '../auth/principal.ts';
import type { Call, Handlers } from '../call.ts';
import { DeliveryError } from '../channels/channel.ts';
import type { PushSubscriptionTable } from '../store/schema/channels/push-schema.ts';
import { type BrowserDeps, Browsers, hostOf } from './browsers.ts';
import { configuredTargets } from './configured-targets.ts';
import { Notifier } from './notifier.ts';
import { deleteSubscription, putSubscription } from './subscription-rows.ts';
import type { ThingSources } from './thing-kinds.ts';
import { ThingWatch } from './thing-watch.ts';

const MOST_OF_PRINCIPAL = 20;

export interface PushDeps extends BrowserDeps, Pick<ThingSources, 'requests' | 'servers'> {
  holders: Holders;
  /** The address of the page. */
  url(): string;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  log: BrowserDeps['log'] & { warn(fields: object, message: string): void };
}

/** Notifications, once somebody wants them. */
export function createLoadedPush(deps: PushDeps) {
  const { store, services, holders, requests, servers, url, clock, log } = deps;
  const browsers = new Browsers({ store, services, holders, clock, log });
  const notifier = new Notifier({
    targetsOf: async (matter) => [
      ...(await browsers.targetsOf(matter)),
      ...(await configuredTargets(matter, { services, url, clock })),
    ],
    delayMs: () => services.settings().delayMs,
    clock,
    log,
  });
  const secret = async () => (await browsers.keys()).privateKey;
  const things = new ThingWatch({ store, requests, servers, notifier, secret, clock, log });
  return { notifier, things, methods: pushMethods(deps, browsers) };
}

export type LoadedPush = ReturnType<typeof createLoadedPush>;

const pushMethods = (deps: PushDeps, browsers: Browsers): Handlers<keyof typeof pushContracts> => ({
  'push.list': async (_, call) => {
    const own = await browsers.standing(callerIn(call).id);
    return { publicKey: (await browsers.keys()).publicKey, subscriptions: own.map(toWire) };
  },
  'push.subscribe': (params, call) => subscribe(params, call, { deps, browsers }),
  'push.remove': async ({ subscriptionId }, call) => {
    await ownOf(call, subscriptionId, browsers);
    await deps.store.commit({
      statements: [deleteSubscription(subscriptionId), ...call.audited({ id: subscriptionId })],
    });
    return { status: 'ok' };
  },
  'push.test': async ({ subscriptionId }, call) => {
    const [row] = await ownOf(call, subscriptionId, browsers);
    try {
      await browsers.send(row, { title: 'Notifications work' }, { signal: call.signal });
      return { accepted: true };
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error;
      return { accepted: false, problem: error.message };
    }
  },
});

type Subscribe = Parameters<Handlers<'push.subscribe'>['push.subscribe']>[0];

async function subscribe(
  { endpoint, keys, content = 'title', label = '' }: Subscribe,
  call: Call,
  { deps: { store, services, holders, clock, ids }, browsers }: { deps: PushDeps; browsers: Browsers },
) {
  const principal = callerIn(call);
  const holder = holders.of(principal);
  if (holder === undefined) throw new GatewayError('FORBIDDEN', 'This credential gets no notifications');
  refusePrivate(endpoint, services);
  requirePoint(keys.p256dh);
  const own = await browsers.standing(principal.id);
  const before = own.find(([row]) => row.endpoint === endpoint)?.[0];
  if (before === undefined && own.length >= MOST_OF_PRINCIPAL)
    throw new GatewayError('CONFLICT', `You have ${MOST_OF_PRINCIPAL} browsers with notifications; remove one first`);
  const row: PushSubscriptionTable = {
    ...holder,
    subscription_id: before?.subscription_id ?? ids.id('push'),
    principal_id: principal.id,
    endpoint,
    p256dh: keys.p256dh,
    auth: keys.auth,
    content,
    label: toPlainName(label),
    created_ms: before?.created_ms ?? clock.now(),
    last_sent_ms: before?.last_sent_ms ?? null,
    problem: null,
  };
  // A page subscribes again whenever it connects: only what changes something is stored and recorded.
  const isKnown = before !== undefined && isDeepStrictEqual({ ...before, problem: null }, row);
  const record = call.audited({ id: row.subscription_id, host: hostOf(row), content });
  if (!isKnown) await store.commit({ statements: [...putSubscription(row), ...record] });
  const standing = holders.standing(row);
  if (standing === undefined || principal.ended.aborted) {
    await store.commit({ statements: [deleteSubscription(row.subscription_id)] }); // revoked during the write
    throw new GatewayError('UNAUTHORIZED', 'The credential of this request was revoked or has expired');
  }
  return { subscription: toWire([isKnown ? before : row, standing]) };
}

/** Nothing could be encrypted for another key, and browsers have none. */
function requirePoint(p256dh: string): void {
  try {
    ECDH.convertKey(p256dh, 'prime256v1', 'base64url');
  } catch (cause) {
    throw wrongField('keys.p256dh', 'must be a point of the curve P-256', { cause });
  }
}

function refusePrivate(endpoint: string, services: PushDeps['services']): void {
  try {
    services.requirePublic(endpoint);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw new GatewayError('INVALID_REQUEST', `endpoint: ${error.message}`, { cause: error });
  }
}

function callerIn({ principal }: Pick<Call, 'principal'>): Principal {
  if (principal === undefined) throw new GatewayError('UNAUTHORIZED', 'unauthorized');
  return principal;
}

async function ownOf(call: Call, subscriptionId: string, browsers: Browsers) {
  const own = await browsers.standing(callerIn(call).id);
  const found = own.find(([row]) => row.subscription_id === subscriptionId);
  if (found === undefined) throw new GatewayError('NOT_FOUND', 'Unknown subscription');
  return found;
}

const toWire = ([row, { isLoggedIn }]: readonly [PushSubscriptionTable, Standing]): PushSubscription => ({
  subscriptionId: row.subscription_id,
  label: row.label,
  host: hostOf(row),
  content: row.content,
  createdAtMs: row.created_ms,
  ...(row.last_sent_ms !== null && { lastSentAtMs: row.last_sent_ms }),
  ...(row.problem !== null && { problem: row.problem }),
  isExpired: !isLoggedIn,
});
