import type { Prepared, Tool } from '../tools/tool.ts';
import type { Effect } from './command-reading.ts';

/** What a call does besides changing files. */
const HARMLESS: ReadonlySet<Effect['kind']> = new Set(['read', 'network', 'process']);

/**
 * Whether a call may change files of this machine, by its effects. A call of which nothing is known may. Files beside the
 * work, such as caches in the home, do not count.
 */
export function mayChangeFiles(call: Prepared & { tool?: Tool }): boolean {
  if (call.kind === 'refused' || call.tool?.readOnly || call.matched?.node !== undefined) return false;
  const { reading, stored } = call;
  if (stored !== undefined) return false;
  if (!reading) return true;
  const isKnown = reading.gaps.every(({ reason }) => reason === 'unknown_words');
  return !isKnown || reading.effects.some(({ kind, isIncidental }) => !isIncidental && !HARMLESS.has(kind));
}
