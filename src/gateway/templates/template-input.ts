import { GatewayError } from '../../../protocol/errors.ts';
import { wrongField } from '../../../protocol/parse.ts';

/** Throws with the words that clients of the specification expect. */
export function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw new GatewayError('INVALID_REQUEST', 'name is required');
  return trimmed;
}

export function checkContent(content: string): string {
  if (content.trim() === '') throw new GatewayError('INVALID_REQUEST', 'content is required');
  return content;
}

export function checkVariables(variables: string): string {
  if (Array.isArray(jsonIn(variables))) return variables;
  throw new GatewayError('INVALID_REQUEST', 'variables must be a valid JSON array');
}

export function checkNotification(notifyOnComplete: string): string {
  if (jsonIn(notifyOnComplete) !== undefined) return notifyOnComplete;
  throw wrongField('notifyOnComplete', 'must be valid JSON', { separator: ' ' });
}

/** Undefined if it is not JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // refused by the caller
  }
}
