import { createHash } from 'node:crypto';
import { GatewayError } from '../../protocol/errors.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { findStepUp } from '../../protocol/methods/accounts/step-up.ts';
import { toCanonicalJson } from '../canonical-json.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { passesSteadily } from '../timing/steady-time.ts';
import type { Principal } from './auth/principal.ts';
import type { Call } from './call.ts';
import { createSharedCall, type SharedCall } from './shared-call.ts';
import { DamagedRow } from './store/row-checksum.ts';
import type { IdempotencyTable } from './store/schema/schema.ts';
import { build, statementOf } from './store/statements.ts';
import type { Statement, Store } from './store/store.ts';
import { damaged } from './store/store-fault.ts';
import { storedReader } from './store/stored-value.ts';

/** A call with an idempotency key; `params` as parsed by its row. */
export interface KeyedRequest {
  method: string;
  key: string;
  params: unknown;
  caller: Pick<Call, 'signal' | 'interim'> & { principal: Pick<Principal, 'id'> | undefined };
}

/** Replaces these fields of the caller's call. Shared by all callers who repeat the call while it runs. */
export type Keyed = Pick<Call, 'kept' | 'keep' | 'momentary'> & Partial<Pick<Call, 'interim' | 'signal'>>;

/**
 * Answers repeated calls. While the call runs they wait for the same answer; afterwards they get the stored one, for at
 * least 24 hours and across restarts. Using the same key with other params is a conflict.
 */
export interface Idempotency {
  answer(request: KeyedRequest, work: Work): Promise<unknown>;
  /** Removes expired keys hourly, while the clock does not jump. */
  run(signal: AbortSignal): Promise<void>;
}

interface IdempotencyDeps {
  store: Pick<Store, 'db' | 'commit' | 'reportDamage'>;
  clock: Clock;
  log: Log;
}

type Work = (keyed: Keyed) => unknown;
type RowId = Pick<IdempotencyTable, 'principal' | 'method' | 'key'>;
type Kind = IdempotencyTable['kind'];

export function createIdempotency(deps: IdempotencyDeps): Idempotency {
  const { store, clock, log } = deps;
  const settle = createSettle(deps);
  const inFlight = new Map<string, { shared: SharedCall; answer: Promise<unknown> }>();

  return {
    answer({ method, key, params, caller }, work) {
      const id = { principal: caller.principal?.id ?? '', method, key };
      const name = JSON.stringify(id);
      const digest = digestOf(params);
      const running = inFlight.get(name);
      if (running) {
        if (running.shared.digest !== digest) return Promise.reject(conflict());
        running.shared.join(caller);
        return running.answer;
      }
      const shared = createSharedCall(digest);
      shared.join(caller);
      const answer = settle(id, shared, work).finally(() => {
        inFlight.delete(name);
        shared.end();
      });
      inFlight.set(name, { shared, answer });
      return answer;
    },
    async run(signal) {
      while (!signal.aborted) {
        const isSteady = await passesSteadily(clock, SWEEP_MS, signal).catch(() => false); // aborted: the loop ends
        if (!isSteady) continue;
        const expired = build.deleteFrom('idempotency').where('expires_ms', '<=', clock.now());
        await store.commit({ statements: [statementOf(expired)] }).catch((error: unknown) => {
          log.warn({ err: error }, 'expired idempotency keys could not be removed');
        });
      }
    },
  };
}

const SWEEP_MS = 60 * 60 * 1000;

/** Answers one call from the stored answer, or executes it and stores the answer for repeats. */
function createSettle({ store, clock, log }: IdempotencyDeps) {
  const rowOf = (id: RowId & { digest: string }, kind: Kind, value: unknown): IdempotencyTable => {
    const nowMs = clock.now();
    const body_json = JSON.stringify(value ?? null);
    return { ...id, kind, body_json, created_ms: nowMs, expires_ms: nowMs + LIMITS.idempotencyMs };
  };

  /** Best effort: the effect has happened, and failing the call would only hide that. */
  async function remember(row: IdempotencyTable): Promise<void> {
    try {
      await store.commit({ statements: [insertStatement(row)] });
    } catch (error) {
      log.warn({ err: error, method: row.method }, 'an answer could not be stored for repeats');
    }
  }

  async function perform(id: RowId, shared: SharedCall, { work, kept }: { work: Work; kept: unknown }) {
    const named = { ...id, digest: shared.digest };
    let isKept = kept !== undefined;
    let isMomentary = false;
    const keep = (value: unknown): Statement[] => {
      const row = rowOf(named, 'kept', value);
      const statement = isKept ? updateStatement(row) : insertStatement(row, 1);
      isKept = true;
      return [statement];
    };
    const momentary = () => {
      isMomentary = true;
    };
    try {
      const result = await work({ kept, keep, momentary, interim: shared.interim, signal: shared.signal });
      // No effect if the handler already committed a kept value.
      if (kept === undefined && !isMomentary) await remember(rowOf(named, 'result', result));
      return result;
    } catch (error) {
      if (isFinal(error)) await remember(rowOf(named, 'error', toStored(error)));
      throw error;
    }
  }

  const read = storedReader(store);
  return async (id: RowId, shared: SharedCall, work: Work): Promise<unknown> => {
    const stored = await findRow(store, id);
    if (!stored) return perform(id, shared, { work, kept: undefined });
    if (stored.digest !== shared.digest) throw conflict();
    const value = read(stored.body_json, 'the answer to a call', isStored);
    if (value === undefined) throw damaged(new DamagedRow(`the answer to ${id.method} is altered`));
    if (stored.kind === 'result') return value;
    if (stored.kind === 'error') throw toError(value as StoredError); // written by toStored
    return perform(id, shared, { work, kept: value });
  };
}

const isStored = (value: unknown): value is NonNullable<unknown> | null => value !== undefined;

const conflict = () =>
  new GatewayError('CONFLICT', 'this idempotency key was used with other params; use a new key for a new request');

function digestOf(params: unknown): string {
  const { idempotencyKey: _, ...rest } = Object(params) as Record<string, unknown>;
  return createHash('sha256').update(toCanonicalJson(rest)).digest('hex');
}

/** Ignores the age, so that a clock that is a day ahead does not repeat an effect (decision 29). */
const findRow = ({ db }: Pick<Store, 'db'>, { principal, method, key }: RowId) =>
  db
    .selectFrom('idempotency')
    .select(['digest', 'kind', 'body_json'])
    .where('principal', '=', principal)
    .where('method', '=', method)
    .where('key', '=', key)
    .executeTakeFirst();

/** Leaves an existing row unchanged. */
function insertStatement(row: IdempotencyTable, expect?: number): Statement {
  const isThere = ['principal', 'method', 'key'] as const;
  return statementOf(
    build
      .insertInto('idempotency')
      .values(row)
      .onConflict((on) => on.columns(isThere).doNothing()),
    expect,
  );
}

const updateStatement = ({ principal, method, key, body_json }: IdempotencyTable): Statement =>
  statementOf(
    build
      .updateTable('idempotency')
      .set({ body_json })
      .where('principal', '=', principal)
      .where('method', '=', method)
      .where('key', '=', key),
  );

/** Whether a refusal would be the same for a retry. One for want of a fresh proof would not, once that is given. */
const isFinal = (error: unknown): error is GatewayError =>
  error instanceof GatewayError &&
  error.code !== 'INTERNAL' &&
  error.code !== 'UNAUTHORIZED' &&
  !error.retryable &&
  findStepUp(error.details) === undefined;

type StoredError = Pick<GatewayError, 'code' | 'message' | 'details' | 'payload'>;

const toStored = ({ code, message, details, payload }: GatewayError): StoredError => ({
  code,
  message,
  details,
  payload,
});

const toError = ({ code, message, details, payload }: StoredError) =>
  new GatewayError(code, message, { details, payload, retryable: false });
