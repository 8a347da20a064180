import type { Contract } from '../../protocol/contract.ts';
import { type ErrorCode, GatewayError } from '../../protocol/errors.ts';
import { ErrorShape } from '../../protocol/frames.ts';
import { CONTRACTS, isMethodName, type MethodName } from '../../protocol/index.ts';
import { parse } from '../../protocol/parse.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { createSerialKeys } from '../timing/serial-keys.ts';
import type { CallAudit, CallRecord } from './audit/call-audit.ts';
import { requireFreshProof } from './auth/fresh-proof.ts';
import { requireStanding } from './auth/require-authentication.ts';
import { type Call, type Caller, type Handlers, loggedAs } from './call.ts';
import type { RequireLease } from './cluster/require-lease.ts';
import { toErrorShape } from './error-shape.ts';
import type { FrameCheck } from './frame-check.ts';
import type { Idempotency, Keyed } from './idempotency.ts';
import { requireRights } from './required-rights.ts';
import type { Forwarding } from './workers/calls/forwarding.ts';
import { Elsewhere, unreachable } from './workers/elsewhere.ts';

/**
 * The single entrance to the gateway, for every transport. Returns the result directly if the handler had it at once,
 * because a promise costs as much as a small call; otherwise returns a promise. Never throws: errors become a promise
 * that rejects with a GatewayError.
 */
export type Dispatch = (method: string, params: unknown, caller: Caller) => unknown;

export interface DispatchDeps {
  /** Complete in the product; tests may serve fewer methods. */
  handlers: Partial<Handlers>;
  idempotency: Pick<Idempotency, 'answer'>;
  /** Default: nothing is recorded. */
  audit?: CallAudit | undefined;
  /** Default: no other daemon can be active. */
  requireLease?: RequireLease;
  /** Default: all workstreams are here. */
  forwarding?: Forwarding | undefined;
  metrics: { request(method: string, outcome: ErrorCode | 'ok'): void };
  check: FrameCheck;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
}

type AnyHandler = (params: unknown, call: Call) => unknown;

interface Asked {
  row: Contract;
  method: MethodName;
  handler: AnyHandler;
  params: unknown;
  caller: Caller;
}

export function createDispatch({
  handlers,
  idempotency,
  audit,
  requireLease,
  forwarding,
  metrics,
  check,
  clock,
  log,
}: DispatchDeps): Dispatch {
  const serialKeys = createSerialKeys();
  // The generic seam: a handler's params were parsed by its own row.
  const known = new Map<string, AnyHandler>(
    Object.keys(handlers).map((method) => [method, Reflect.get(handlers, method)]),
  );

  function answer(method: string, params: unknown, caller: Caller): unknown {
    const handler = known.get(method);
    if (!handler || !isMethodName(method)) {
      throw new GatewayError('INVALID_REQUEST', `unknown method: ${method.slice(0, 100)}`);
    }
    const row: Contract = CONTRACTS[method];
    const asked = { row, method, handler, params, caller };
    if (row.audit === undefined || audit === undefined) return serve(asked, NOT_AUDITED);
    const record = audit.begin(row.audit, { input: params, caller });
    return recorded(record, () => serve(asked, record.audited));
  }

  function serve({ row, method, handler, params, caller }: Asked, audited: Call['audited']): unknown {
    requireLease?.(method);
    const input = toInput({ row, method, params, caller });
    const serial = row.serial?.(input);
    const handle = (keyed: Keyed) => {
      if (row.scope !== 'public') requireStanding(caller.principal);
      const call: Call = { ...caller, ...keyed, audited, perform: async (other, its) => dispatch(other, its, caller) };
      const checked = withChecks(call, { method, row, check });
      if (forwarding === undefined) return handler(input, checked);
      return forwarding.answer(() => handler(input, checked), { method, params, caller: checked });
    };
    const work = (keyed: Keyed) => (serial === undefined ? handle(keyed) : serialKeys.run(serial, () => handle(keyed)));
    const key = row.idempotency && keyOf(input);
    return key === undefined ? work(UNKEYED) : idempotency.answer({ method, key, params: input, caller }, work);
  }

  /** Counts a failed call and returns the error for its caller. */
  function failed(error: unknown, { label, caller, startedMs }: Started): GatewayError {
    const told = toTold(error);
    metrics.request(label, told.code);
    if (check.isDue()) check.inspect(label, ErrorShape, toErrorShape(told));
    const call = { ...loggedAs(caller), method: label, durationMs: clock.monotonic() - startedMs };
    if (told === error || error instanceof Elsewhere) log.debug({ ...call, code: told.code }, 'a call was refused');
    else log.error({ ...call, err: error }, 'a call failed');
    return told;
  }

  function succeeded(result: unknown, { label }: Started): unknown {
    metrics.request(label, 'ok');
    if (check.isDue() && isMethodName(label)) check.inspect(label, CONTRACTS[label].result(), result);
    return result;
  }

  async function settle(answered: Promise<unknown>, started: Started): Promise<unknown> {
    try {
      return succeeded(await answered, started);
    } catch (error) {
      throw failed(error, started);
    }
  }

  const dispatch: Dispatch = (method, params, caller) => {
    const started = { label: isMethodName(method) ? method : 'unknown', caller, startedMs: clock.monotonic() };
    try {
      const answered = answer(method, params, caller);
      return answered instanceof Promise ? settle(answered, started) : succeeded(answered, started);
    } catch (error) {
      return Promise.reject(failed(error, started));
    }
  };
  return dispatch;
}

/** Also checks the first of two answers. */
function withChecks(
  call: Call,
  { method, row: { interim: shape }, check }: { method: MethodName; row: Contract; check: FrameCheck },
): Call {
  if (shape === undefined) return call;
  const interim = (payload: unknown) => {
    if (check.isDue()) check.inspect(method, shape(), payload);
    call.interim(payload);
  };
  return { ...call, interim };
}

/** The parsed params of a call that its caller may make. */
function toInput({ row, method, params, caller }: Omit<Asked, 'handler'>): unknown {
  requireRights(caller.principal, row, method);
  const input = parse(row.params(), params === undefined ? {} : params, `${method} params`);
  if (row.stepUp?.(input)) requireFreshProof(caller.principal);
  return input;
}

interface Started {
  /** The method, if its name is known. */
  label: string;
  caller: Caller;
  startedMs: number;
}

/** Records how a call ended. A call that was answered at once stays one. */
function recorded(record: CallRecord, work: () => unknown): unknown {
  try {
    const result = work();
    if (result instanceof Promise) return settled(record, result);
    const stored = record.succeeded(result);
    return stored === undefined ? result : stored.then(() => result);
  } catch (error) {
    record.failed(error);
    throw error;
  }
}

async function settled(record: CallRecord, answered: Promise<unknown>): Promise<unknown> {
  try {
    const result = await answered;
    await record.succeeded(result);
    return result;
  } catch (error) {
    record.failed(error);
    throw error;
  }
}

const NOT_AUDITED = () => [];

const UNKEYED: Keyed = { kept: undefined, keep: () => [], momentary: () => undefined };

function keyOf(input: unknown): string | undefined {
  const key = typeof input === 'object' && input !== null && 'idempotencyKey' in input && input.idempotencyKey;
  return typeof key === 'string' ? key : undefined;
}

/** Hides unforeseen errors from clients; the log has the cause. */
function toTold(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof Elsewhere) return unreachable(error.machine ?? 'the active daemon', error);
  return new GatewayError('INTERNAL', 'Internal error', { cause: error });
}
