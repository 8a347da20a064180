import { isRecord } from '../protocol/is-record.ts';
/** JSON with sorted keys: equal values have equal texts, in whatever order a model wrote the keys. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (isRecord(inner) ? sortKeys(inner) : inner));
}

function sortKeys(record: Record<string, unknown>): Record<string, unknown> {
  // No prototype, so that __proto__ is an ordinary key.
  const sorted: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(record).sort((a, b) => (a < b ? -1 : 1))) sorted[key] = record[key];
  return sorted;
}
