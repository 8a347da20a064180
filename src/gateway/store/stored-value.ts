import { DamagedRow } from './row-checksum.ts';
import type { Store } from './store.ts';

/**
 * Parses a stored text that has no checksum. `what` names it for the report. Undefined, after the report, if it is
 * damaged: everything else stays available.
 */
export type ReadStored = <T>(json: string, what: string, isIntact: (value: unknown) => value is T) => T | undefined;

export const storedReader =
  ({ reportDamage }: Pick<Store, 'reportDamage'>): ReadStored =>
  (json, what, isIntact) => {
    const value = parsed(json);
    if (isIntact(value)) return value;
    reportDamage(new DamagedRow(`${what} is altered`));
    return undefined;
  };

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // not JSON
  }
}

export const isListOf =
  <T>(isItem: (value: unknown) => value is T) =>
  (value: unknown): value is T[] =>
    Array.isArray(value) && value.every(isItem);

export const isText = (value: unknown): value is string => typeof value === 'string';
