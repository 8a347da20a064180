import { isRecord } from '../../protocol/is-record.ts';
import { UsageError } from '../start-error.ts';

/** Params as a person types them: a JSON object, or nothing. */
export function parseParams(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // reported below
  }
  throw new UsageError(`The params must be a JSON object, not: ${text}`);
}
