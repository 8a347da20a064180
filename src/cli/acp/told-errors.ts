import { RequestError as AcpError } from '@agentclientprotocol/sdk';
import { HttpError } from '../../../protocol/client/http-error.ts';
import { ConnectionLostError, RequestError } from '../../../protocol/client/request-error.ts';
import type { ErrorCode } from '../../../protocol/errors.ts';
import { StartError } from '../../start-error.ts';
import { toSafeText } from '../terminal/safe-text.ts';

/** Codes of JSON-RPC and of the Agent Client Protocol. */
const CODES = { invalidParams: -32_602, internal: -32_603, authRequired: -32_000, notFound: -32_002 } as const;

const CODE_OF: Partial<Record<ErrorCode, number>> = {
  INVALID_REQUEST: CODES.invalidParams,
  PAYLOAD_TOO_LARGE: CODES.invalidParams,
  UNAUTHORIZED: CODES.authRequired,
  NOT_FOUND: CODES.notFound,
};

/** An error as an editor shows it: what was wrong, in one sentence. */
export function toAcpError(error: unknown): AcpError {
  if (error instanceof AcpError) return error;
  const code = error instanceof RequestError ? (CODE_OF[error.code] ?? CODES.internal) : CODES.internal;
  const details = error instanceof RequestError ? { code: error.code } : undefined;
  return new AcpError(code, toSafeText(wordsOf(error)), details);
}

/** For params that the schema of the protocol allows, and that make no sense here. */
export const wrongParams = (message: string): AcpError => new AcpError(CODES.invalidParams, message);

function wordsOf(error: unknown): string {
  if (error instanceof ConnectionLostError) return `${error.message} before the answer came`;
  if (error instanceof RequestError || error instanceof StartError || error instanceof HttpError) return error.message;
  return error instanceof Error ? error.message : String(error);
}
