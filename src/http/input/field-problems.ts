import { GatewayError } from '../../../protocol/errors.ts';
import { issuesOf } from '../../../protocol/parse.ts';

/** The fields of a request whose params have other names, by param, or by a place inside one such as `a.b`. Empty: the whole body is the param. */
export type FieldNames = Readonly<Record<string, string>>;

/** Names the fields that the HTTP client sent, instead of the method's params, in a refusal of the method. */
export function inFields(error: unknown, names: FieldNames | undefined): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'INVALID_REQUEST') return error;
  const issues = issuesOf(error.details);
  if (issues.length === 0) return error;
  const told = issues.slice(0, 8).map(({ path, message }) => {
    const field = toField(path, names);
    // Some texts are specified without a colon.
    return field === '' ? message : `${field}${error.message.startsWith(`${path} `) ? '' : ':'} ${message}`;
  });
  return new GatewayError('INVALID_REQUEST', told.join('; '), { cause: error });
}

/** The name over HTTP of a param, or of a place inside it. */
export function toField(path: string, names: FieldNames = {}): string {
  const parts = path.split('.');
  for (let count = parts.length; count > 0; count -= 1) {
    const place = parts.slice(0, count).join('.');
    if (!Object.hasOwn(names, place)) continue; // a place may be named as what every object has
    const name = names[place] ?? '';
    return [...(name === '' ? [] : [name]), ...parts.slice(count)].join('.');
  }
  return path === 'idempotencyKey'
    ? 'Idempotency-Key'
    : path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
