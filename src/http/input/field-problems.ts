import { GatewayError } from '../../../protocol/errors.ts';
import { issuesOf } from '../../../protocol/parse.ts';

/** Names the fields that the HTTP client sent, instead of the method's params, in a refusal by the method's schema. */
export function inFields(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'INVALID_REQUEST') return error;
  const issues = issuesOf(error.details);
  if (issues.length === 0) return error;
  const told = issues.slice(0, 8).map(({ path, message }) => (path === '' ? message : `${toField(path)}: ${message}`));
  return new GatewayError('INVALID_REQUEST', told.join('; '), { cause: error });
}

const toField = (path: string): string =>
  path === 'idempotencyKey' ? 'Idempotency-Key' : path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
