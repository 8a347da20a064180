import type { GatewayError } from '../../../protocol/errors.ts';
import { wrongField } from '../../../protocol/parse.ts';
import { isPlainName, PLAIN_NAME_RULE } from '../../../protocol/text/plain-text.ts';

/** Throws with the words that clients of the specification expect. */
export function requireName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw required('name');
  return trimmed;
}

/** Throws with the words that clients of the specification expect. */
export function checkName(given: string): string {
  const name = requireName(given);
  if (!isPlainName(name)) throw wrongField('name', PLAIN_NAME_RULE, { separator: ' ' });
  return name;
}

export function checkContent(content: string): string {
  if (content.trim() === '') throw required('content');
  return content;
}

export function checkVariables(variables: string): string {
  if (Array.isArray(jsonIn(variables))) return variables;
  throw wrongField('variables', 'must be a valid JSON array', { separator: ' ' });
}

export function checkNotification(notifyOnComplete: string): string {
  if (jsonIn(notifyOnComplete) !== undefined) return notifyOnComplete;
  throw wrongField('notifyOnComplete', 'must be valid JSON', { separator: ' ' });
}

/** Says that a text is missing, with the words that clients of the specification expect. */
export const required = (field: string): GatewayError => wrongField(field, 'is required', { separator: ' ' });

/** Undefined if it is not JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // refused by the caller
  }
}
