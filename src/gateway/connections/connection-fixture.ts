import assert from 'node:assert/strict';
import type { ResponseFrame } from '../../../protocol/frames.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import type { Defer } from '../../timing/end-of-turn.ts';
import type { Principal } from '../auth/principal.ts';
import type { Dispatch } from '../dispatch.ts';
import { createFrameCheck } from '../frame-check.ts';
import type { InboundLimit } from '../live-settings.ts';
import { INBOUND } from '../testing/default-deps.ts';
import { fakeWire } from '../testing/fake-wire.ts';
import { CONNECT } from '../testing/test-client.ts';
import { NO_PERMISSIONS } from '../users/grant.ts';
import { type Broadcast, createBroadcast } from './broadcast.ts';
import { Connection, type ConnectionDeps } from './connection.ts';
import { createDeadlines } from './deadlines.ts';
import { createHello, type GatewayView } from './hello.ts';
import { createFrameJoin } from './outbox.ts';
import { createRevocations } from './revocations.ts';

/** The buffer limit for a client of this fixture, in bytes. */
export const BUDGET = 4_000;

interface ConnectionFixtureOptions {
  dispatch?: Dispatch;
  isStalled?: boolean;
  inbound?: InboundLimit;
  authenticate?: () => Promise<Principal | undefined>;
}

/** Lets no node in. */
export const noNodes: ConnectionDeps['nodes'] = {
  admit: () => assert.fail('no node is expected'),
  join: () => assert.fail('no node is expected'),
};

/** A broadcast that throws on an event that does not fit its row. */
export function strictBroadcast(): Broadcast {
  const onInvalid = (event: string, problem: unknown) => {
    throw new Error(`invalid ${event} event`, { cause: problem });
  };
  return createBroadcast({ check: createFrameCheck({ every: 1, onInvalid }) });
}

const VIEW: GatewayView = {
  server: { version: '1.2.3' },
  presence: () => Buffer.from('[]'),
  health: () => '{}',
  stateVersion: () => ({ presence: 1, health: 1 }),
  uptimeMs: () => 12.5,
  policy: { maxBufferedBytes: BUDGET, tickIntervalMs: 30_000 },
};

/** A connection with a wire and a clock that tests control; turns end when the test says so. */
export function openConnection({
  dispatch = async (method) => method,
  isStalled = false,
  inbound = INBOUND,
  authenticate,
}: ConnectionFixtureOptions = {}) {
  const clock = fakeClock();
  const broadcast = strictBroadcast();
  const seen: string[] = [];
  const revocation = new AbortController();
  const principal: Principal = {
    id: 'ada',
    scopes: new Set(['write']),
    permissions: NO_PERMISSIONS,
    source: { kind: 'operator' },
    ended: revocation.signal,
  };
  const turn: (() => void)[] = [];
  const defer: Defer = (task) => void turn.push(task);
  const fake = fakeWire({ isStalled });
  const leaveLobby = () => void seen.push('left lobby');
  const upgrade = {
    connId: 'c1',
    address: '::1',
    credential: { token: undefined, via: 'cookie' } as const,
    hasOrigin: false,
    leaveLobby,
  };
  const connection = new Connection(fake.wire, upgrade, {
    dispatch,
    authenticator: { authenticate: authenticate ?? (async () => principal) },
    hello: createHello(VIEW, defer),
    presence: {
      connected: (connId) => void seen.push(`present ${connId}`),
      disconnected: (connId) => void seen.push(`absent ${connId}`),
    },
    nodes: noNodes,
    broadcast,
    revocations: createRevocations(),
    onRateLimited: () => void seen.push('rate limited'),
    follow: () => assert.fail('nobody subscribes'),
    maxBufferedBytes: BUDGET,
    live: { inbound },
    defer,
    join: createFrameJoin(),
    deadlines: createDeadlines({ ms: LIMITS.handshakeMs, clock }),
    clock,
    log: recordingLog(),
  });
  const endTurn = () => endTurnOf(turn);
  const say = (frame: unknown) => connection.onMessage(JSON.stringify(frame));
  const call = (id: string, method: string, params?: unknown) => say({ type: 'req', id, method, params });
  return {
    ...fake,
    clock,
    broadcast,
    seen,
    revocation,
    connection,
    endTurn,
    say,
    call,
    async welcome() {
      call('c', 'connect', CONNECT);
      await endTurn();
    },
    /** Answers in the form `id code|payload`. */
    answers: () =>
      (fake.frames() as ResponseFrame[])
        .filter(({ type }) => type === 'res')
        .map(({ id, payload, error }) => [id, error?.code ?? payload]),
  };
}

async function endTurnOf(turn: (() => void)[]): Promise<void> {
  await new Promise(setImmediate);
  for (const task of turn.splice(0)) task();
}
