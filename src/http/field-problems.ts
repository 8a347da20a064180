import { z } from 'zod';
import { GatewayError } from '../../protocol/errors.ts';

const Details = z.object({ issues: z.array(z.object({ path: z.string(), message: z.string() })).min(1) });

/** HTTP clients know fields, not methods and their params: a refusal by the method's schema names the fields they sent. */
export function inFields(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'INVALID_REQUEST') return error;
  const details = Details.safeParse(error.details);
  if (!details.success) return error;
  const told = details.data.issues
    .slice(0, 8)
    .map(({ path, message }) => (path === '' ? message : `${toField(path)}: ${message}`));
  return new GatewayError('INVALID_REQUEST', told.join('; '), { cause: error });
}

const toField = (path: string): string =>
  path === 'idempotencyKey' ? 'Idempotency-Key' : path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
