import { isRecord } from '../protocol/is-record.ts';
/** JSON whose text depends on the value only, not on the order in which a model wrote the keys. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (isRecord(inner) ? sortKeys(inner) : inner));
}

function sortKeys(record: Record<string, unknown>): Record<string, unknown> {
  // Without a prototype, so that a key called __proto__ is a key.
  const sorted: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(record).sort((a, b) => (a < b ? -1 : 1))) sorted[key] = record[key];
  return sorted;
}
