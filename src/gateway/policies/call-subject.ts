import { isRecord } from '../../../protocol/is-record.ts';
import type { StoredCall } from './latest-calls.ts';

/** Enough to recognise a call; answers with a thousand calls stay small. */
const MOST_CHARS = 300;

/** What a stored call works on: its command, its path, or what it looks for. Undefined if its arguments are not known. */
export function subjectOf({ argumentsJson }: Pick<StoredCall, 'argumentsJson'>): string | undefined {
  const { node, command, path, pattern } = argumentsIn(argumentsJson);
  const parts = [node, command ?? path ?? pattern].filter((part) => typeof part === 'string');
  return parts.length === 0 ? undefined : parts.join(' ').slice(0, MOST_CHARS);
}

/** Those of a call, as far as they can be read: malformed ones were refused. */
export function argumentsIn(json: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json ?? '{}');
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
