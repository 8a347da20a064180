import type { Contract, Scope } from '../../protocol/contract.ts';
import { type ErrorCode, GatewayError } from '../../protocol/errors.ts';
import { CONTRACTS, isMethodName, type MethodName } from '../../protocol/index.ts';
import { parse } from '../../protocol/parse.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Call, Handlers, Principal } from './call.ts';
import type { Idempotency, Keyed } from './idempotency.ts';
import { mayCall } from './rights.ts';
import { createSerialKeys } from './serial-keys.ts';

/** What a transport knows of a call; the rest of `Call` is added on the way to the handler. */
export type Caller = Omit<Call, 'kept' | 'keep' | 'momentary'>;

/** The one way into the gateway, whichever transport a call came by. Rejects only with GatewayError. */
export type Dispatch = (method: string, params: unknown, caller: Caller) => Promise<unknown>;

export interface DispatchDeps {
  /** Total in the product; a test may serve less. */
  handlers: Partial<Handlers>;
  idempotency: Pick<Idempotency, 'answer'>;
  metrics: { request(method: string, outcome: ErrorCode | 'ok'): void };
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
}

type AnyHandler = (params: unknown, call: Call) => unknown;

export function createDispatch({ handlers, idempotency, metrics, clock, log }: DispatchDeps): Dispatch {
  const serialKeys = createSerialKeys();
  // The generic seam: a handler's params are what its own row parsed.
  const handlerOf = (method: string) =>
    (Object.hasOwn(handlers, method) ? handlers[method as keyof Handlers] : undefined) as AnyHandler | undefined;

  async function answer(method: string, params: unknown, caller: Caller): Promise<unknown> {
    const handler = handlerOf(method);
    if (!handler || !isMethodName(method)) {
      throw new GatewayError('INVALID_REQUEST', `unknown method: ${method.slice(0, 100)}`);
    }
    const row: Contract = CONTRACTS[method];
    requireScope(caller.principal, row.scope, method);
    const input = parse(row.params, params === undefined ? {} : params, `${method} params`);
    const work = (keyed: Keyed) => serialKeys.run(row.serial?.(input), () => handler(input, { ...caller, ...keyed }));
    const key = row.idempotency && keyOf(input);
    return key === undefined ? work(UNKEYED) : idempotency.answer({ method, key, params: input, caller }, work);
  }

  return async (method, params, caller) => {
    const startedMs = clock.monotonic();
    const label = isMethodName(method) ? method : 'unknown';
    try {
      const result = await answer(method, params, caller);
      metrics.request(label, 'ok');
      return result;
    } catch (error) {
      const told = toTold(error);
      metrics.request(label, told.code);
      if (told !== error) {
        log.error({ err: error, method: label, durationMs: clock.monotonic() - startedMs }, 'a call failed');
      }
      throw told;
    }
  };
}

const UNKEYED: Keyed = { kept: undefined, keep: () => [], momentary: () => undefined };

function requireScope(principal: Principal | undefined, needed: Scope, method: MethodName): void {
  if (!principal) {
    if (needed === 'public') return;
    throw new GatewayError('UNAUTHORIZED', 'unauthorized');
  }
  if (mayCall(principal.scopes, needed)) return;
  throw new GatewayError('FORBIDDEN', `${method} needs the ${needed} scope`);
}

function keyOf(input: unknown): string | undefined {
  const key = typeof input === 'object' && input !== null && 'idempotencyKey' in input && input.idempotencyKey;
  return typeof key === 'string' ? key : undefined;
}

/** Nothing of an unforeseen error reaches a client; its cause is for the log. */
function toTold(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('INTERNAL', 'Internal error', { cause: error });
}
