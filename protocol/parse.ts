import { z } from 'zod';
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
    details: { issues: parsed.error.issues.map(toIssue) },
  });
}

/** What is wrong with one field of a request; the message of the refusal says the same in one sentence. */
const Issue = z.object({ path: z.string(), message: z.string(), limit: z.number().optional() });
export type Issue = z.infer<typeof Issue>;

const Details = z.object({ issues: z.array(Issue) });

/** The issues in the `details` of a refusal; none where they are about something else. */
export const issuesOf = (details: unknown): Issue[] => Details.safeParse(details).data?.issues ?? [];

interface FieldOptions {
  /** Between the path and the problem. */
  separator?: ' ' | ': ';
  cause?: unknown;
}

/** A refusal because of one field, beyond what its schema says. */
export function wrongField(
  path: string,
  problem: string,
  { separator = ': ', cause }: FieldOptions = {},
): GatewayError {
  const details = { issues: [{ path, message: problem }] };
  return new GatewayError('INVALID_REQUEST', `${path}${separator}${problem}`, { details, cause });
}

/** `limit`: the number that the message names, for clients that say it in a unit of their own. */
function toIssue(issue: z.core.$ZodIssue): Issue {
  const { path, message } = issue;
  const limit = issue.code === 'too_big' ? issue.maximum : issue.code === 'too_small' ? issue.minimum : undefined;
  return { path: path.join('.'), message, ...(typeof limit === 'number' && { limit }) };
}

/** The issues of a schema error in one line, without echoing the input. */
export function problemsOf(error: z.ZodError): string {
  return error.issues
    .slice(0, 8)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}
