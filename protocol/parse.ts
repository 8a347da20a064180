import type { z } from 'zod';
import { GatewayError } from './errors.ts';
import { wordsFor } from './problem-words.ts';

/** As `safeParse`, with problems in words of ours; they are looked for only when there is something wrong. */
export function check<S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> {
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed : schema.safeParse(value, { error: wordsFor });
}

/** The value as the schema reads it, or `INVALID_REQUEST` that names each wrong place: `invalid X: <path> <problem>; …`. */
export function parse<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const parsed = check(schema, value);
  if (parsed.success) return parsed.data;
  throw new GatewayError('INVALID_REQUEST', `invalid ${what}: ${problemsOf(parsed.error)}`, {
    details: { issues: parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })) },
  });
}

/** The issues of a schema error in one line, without echoing the input. */
export function problemsOf(error: z.ZodError): string {
  return error.issues
    .slice(0, 8)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}
