import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Scope } from '../../../protocol/contract.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { CONTRACTS, type ParamsInput, type Result } from '../../../protocol/index.ts';
import { isBusy } from '../../../protocol/is-busy.ts';
import { BUILTIN_ROLES, type Permission } from '../../../protocol/methods/accounts/permissions.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Principal } from '../auth/principal.ts';
import type { Caller, ServedMethod, Subscriptions } from '../call.ts';
import { expandScopes, type Rights } from '../rights.ts';
import { DAEMON } from '../sharing/perception.ts';
import type { SqliteStore } from '../store/sqlite-store.ts';
import type { StoredEvent } from '../store/store.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';
import { MAIN } from '../workstreams/session-keys.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import { type MachineOptions, openMachine } from './machine.ts';

export interface CallAs {
  /** Default: everything. */
  scope?: Scope;
  /** Default: ada. */
  id?: string;
  /** Default: the operator, who is no user. */
  userId?: string;
  /** Default: all, or without the approve scope those of a member. */
  permissions?: ReadonlySet<Permission>;
  /** Default: the operator token. */
  source?: Principal['source'];
  signal?: AbortSignal;
  interim?(payload: unknown): void;
  subscriptions?: Subscriptions;
}

export type WholeGatewayOptions = MachineOptions;

interface Sent {
  /** Default: `main`. */
  to?: Workstream;
  /** Refuses the message, with undefined, when something runs. */
  ifIdle?: boolean;
  key?: string;
  rights?: Rights;
}

/**
 * The whole gateway over a real store in a temporary folder, with a clock that stands still, a puppet for a model, and
 * two tools: `look` runs at once, `touch` asks first. Every result is checked against its row.
 */
export async function wholeGateway(options: WholeGatewayOptions = {}) {
  const machine = await openMachine(options);
  const call = async <M extends ServedMethod>(
    method: M,
    params: ParamsInput<M>,
    as: CallAs = {},
  ): Promise<Result<M>> => {
    const result = await machine.gateway.dispatch(method, params, callerOf(as));
    assert.deepEqual(CONTRACTS[method].result().parse(result), result, `${method} answers what its row says`);
    return result as Result<M>; // as its row has just parsed it
  };
  const events = (wsId: string) => eventsOf(machine.store, wsId);
  const mainWorkstream = () =>
    machine.parts.workstreams.list(DAEMON).find(({ data }) => data.sessionKey === MAIN) ?? assert.fail('no main');

  return Object.assign(machine, {
    mainWorkstream,
    /** Accepts a message as methods do; the handle of its run knows the end. */
    accept(message: string, { to = mainWorkstream(), ifIdle = false, key, rights = 'approve' }: Sent = {}) {
      const { runs } = machine.parts;
      const source = 'person' as const;
      const accepted = { message, principal: 'ada', rights, source, ...(key !== undefined && { key }) };
      return ifIdle ? runs.acceptIfIdle(to, accepted) : runs.accept(to, accepted);
    },
    call,
    /** How a call that must fail is answered. */
    async refusal(method: ServedMethod, params: unknown, as: CallAs = {}) {
      return refusalOf(await ended(machine.gateway.dispatch(method, params, callerOf(as))));
    },
    /** The wsId of the session that is always there. */
    async main(): Promise<string> {
      const { workstreams } = await call('workstream.list', {});
      return workstreams.find(({ sessionKey }) => sessionKey === 'main')?.wsId ?? assert.fail('no main');
    },
    events,
    /** Resolves when the log holds so many events of the type. */
    async reaches(wsId: string, type: StreamEvent['type'], count = 1): Promise<void> {
      await turnsUntil(async () => (await events(wsId)).filter((event) => event.type === type).length >= count, type);
    },
    /** Resolves when nothing runs in it any more. */
    async isIdle(wsId: string): Promise<void> {
      await turnsUntil(async () => {
        const { snapshot } = await call('workstream.get', { wsId });
        // A run that was just accepted has not changed the state yet.
        return !isBusy(snapshot.workstream.state) && machine.parts.workstreams.find(wsId, DAEMON)?.busy !== true;
      }, 'idle');
    },
  });
}

/** How a call ends: with its answer, or with what refused it. */
const ended = (answer: unknown) => Promise.resolve(answer).catch((error: unknown) => error);

function refusalOf(end: unknown) {
  if (!(end instanceof GatewayError)) return assert.fail(`answered: ${JSON.stringify(end)}`);
  const { code, message, payload } = end;
  return { code, message, ...(payload !== undefined && { payload }) };
}

export type WholeGateway = Awaited<ReturnType<typeof wholeGateway>>;

/** Several times what the longest wait takes over PostgreSQL on a machine that is slow and loaded, where 20 s were not enough once. */
const PATIENCE_MS = 120_000;
/** After so many turns, the condition waits for a process, a server or a file. Asking in each turn would take their processor. */
const QUICK_TURNS = 200;
const PAUSE_MS = 2;

/** Waits for turns of the event loop until a condition holds; fails after two minutes. */
export async function turnsUntil(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const begunMs = performance.now();
  for (let turn = 0; performance.now() - begunMs < PATIENCE_MS; turn += 1) {
    if (await isSo()) return;
    await (turn < QUICK_TURNS ? new Promise(setImmediate) : pause(PAUSE_MS));
  }
  assert.fail(`never came: ${what}`);
}

/** Those of a user who works with conversations. */
const MEMBER_PERMISSIONS = new Set(BUILTIN_ROLES['builtin-operator'].permissions);

export function callerOf({ scope = 'approve', id = 'ada', userId, signal, interim, ...as }: CallAs = {}): Caller {
  const ended = new AbortController().signal;
  const { permissions = scope === 'approve' ? ALL_PERMISSIONS : MEMBER_PERMISSIONS } = as;
  const { source = { kind: 'operator' } } = as;
  const principal: Principal = { id, scopes: expandScopes([scope]), permissions, source, ended };
  if (userId !== undefined) principal.userId = userId;
  return {
    principal,
    signal: signal ?? new AbortController().signal,
    address: '127.0.0.1',
    interim: interim ?? (() => undefined),
    subscriptions: as.subscriptions,
  };
}

async function eventsOf(store: SqliteStore, wsId: string): Promise<StreamEvent[]> {
  const stored: StoredEvent[] = [];
  for (let page = await store.readEvents(wsId, 0, 10_000); page.length > 0; ) {
    stored.push(...page);
    page = await store.readEvents(wsId, page.at(-1)?.offset ?? 0, 10_000);
  }
  return stored.map(({ json }): StreamEvent => JSON.parse(json));
}

/** The types of events in order, with the state for `ws_state`. */
export const shapesOf = (events: readonly StreamEvent[]): string[] =>
  events.map((event) => (event.type === 'ws_state' ? `ws_state ${event.state}` : event.type));
