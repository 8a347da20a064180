/** What a parameter of a statement can be. */
export type Parameter = null | string | number | bigint | Uint8Array;

/**
 * Converts a parameter to what the driver sends. Names the value that cannot be stored. PostgreSQL has no NUL character in
 * texts, so U+FFFD takes its place; JSON texts write it as an escape and are not affected.
 */
export function toParameter(value: unknown): Parameter {
  if (value === null || typeof value === 'number' || typeof value === 'bigint') return value;
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`a parameter of type ${typeof value} cannot be stored`);
}
