import { z } from 'zod';
import { GatewayError } from './errors.ts';
import { wordsFor } from './text/problem-words.ts';

/** Like `safeParse`, but with our error messages, which are created only if the value is invalid. */
export function check<S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> {
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed : schema.safeParse(value, { error: wordsFor });
}

/** Like `check`, for a schema that is used once: zod compiles no code for it, which takes longer than the parse. */
export const checkOnce = <S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> =>
  schema.safeParse(value, { jitless: true, error: wordsFor });

/** Returns the parsed value, or throws `INVALID_REQUEST` with each problem: `invalid X: <path>: <problem>; …`. */
export function parse<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const parsed = check(schema, value);
  if (parsed.success) return parsed.data;
  throw new GatewayError('INVALID_REQUEST', `invalid ${what}: ${problemsOf(parsed.error)}`, {
    details: { issues: parsed.error.issues.map(toIssue) },
  });
}

/** A problem of one field of a request; the error message repeats it. `bound`: which end of the range `limit` is. */
const Issue = z.object({
  path: z.string(),
  message: z.string(),
  limit: z.number().optional(),
  bound: z.enum(['min', 'max']).optional(),
});
export type Issue = z.infer<typeof Issue>;

const Details = z.object({ issues: z.array(Issue) });

/** The issues in the `details` of an error; empty if the details have another form. */
export const issuesOf = (details: unknown): Issue[] => Details.safeParse(details).data?.issues ?? [];

interface FieldOptions {
  /** The text between the path and the problem. */
  separator?: ' ' | ': ';
  cause?: unknown;
}

/** The error for one invalid field that its schema accepts. */
export function wrongField(
  path: string,
  problem: string,
  { separator = ': ', cause }: FieldOptions = {},
): GatewayError {
  const details = { issues: [{ path, message: problem }] };
  return new GatewayError('INVALID_REQUEST', `${path}${separator}${problem}`, { details, cause });
}

/** `limit`: the number in the message, for clients that convert it to another unit. */
function toIssue(issue: z.core.$ZodIssue): Issue {
  const { path, message } = issue;
  return { path: path.join('.'), message, ...toLimit(issue) };
}

function toLimit(issue: z.core.$ZodIssue): Pick<Issue, 'limit' | 'bound'> {
  if (issue.code === 'too_big' && typeof issue.maximum === 'number') return { limit: issue.maximum, bound: 'max' };
  if (issue.code === 'too_small' && typeof issue.minimum === 'number') return { limit: issue.minimum, bound: 'min' };
  return {};
}

/** The issues of a schema error in one line, without echoing the input. */
export function problemsOf(error: z.ZodError): string {
  return error.issues
    .slice(0, 8)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}
