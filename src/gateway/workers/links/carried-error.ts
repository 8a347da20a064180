import { ERROR_CODES, type ErrorCode, GatewayError } from '../../../../protocol/errors.ts';
import { StopReason } from '../../../agent/stop-reason.ts';
import type { Log } from '../../../log.ts';
import { Elsewhere } from '../elsewhere.ts';

/** An error as it travels to another daemon. */
export type WrittenError =
  | { kind: 'elsewhere'; machine: string | null }
  | {
      kind: 'error';
      code: ErrorCode;
      message: string;
      details?: unknown;
      payload?: unknown;
      retryable: boolean;
      retryAfterMs?: number;
    };

/** Hides unforeseen errors; the log of this machine has the cause. */
export function writeError(error: unknown, log: Pick<Log, 'error'>): WrittenError {
  if (error instanceof Elsewhere) return { kind: 'elsewhere', machine: error.machine };
  if (error instanceof GatewayError) {
    const { code, message, details, payload, retryable, retryAfterMs } = error;
    return {
      kind: 'error',
      code,
      message,
      details,
      payload,
      retryable,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
  }
  log.error({ err: error }, 'a question of another daemon could not be answered');
  return { kind: 'error', code: 'INTERNAL', message: 'Internal error', retryable: ERROR_CODES.INTERNAL.retryable };
}

export function readError(written: WrittenError): Error {
  if (written.kind === 'elsewhere') return new Elsewhere(written.machine);
  const { code, message, ...options } = written;
  const isKnown = Object.hasOwn(ERROR_CODES, code); // a newer version may have more
  return new GatewayError(isKnown ? code : 'UPSTREAM_FAILED', message, options);
}

/** Why a question is cancelled: the run that asked is stopped, or the caller has gone. */
export type WrittenCancel = { stop: StopReason['kind'] } | null;

export const writeCancel = (reason: unknown): WrittenCancel =>
  reason instanceof StopReason ? { stop: reason.kind } : null;

/** No fault, so it is not logged as one. */
const CALLER_GONE = new GatewayError('UNAVAILABLE', 'the caller has gone');

export const readCancel = (written: WrittenCancel): Error =>
  written === null ? CALLER_GONE : new StopReason(written.stop, 'the run was stopped');
