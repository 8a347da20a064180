import type { CommandReading, Effect } from '../command-reading.ts';

/**
 * A reading as text for tables: `read a.txt, delete $X?, !unknown_words`. Paths are relative to `/work`; a question mark
 * means that the target is not certain.
 */
export function toReadingText({ effects, gaps }: CommandReading): string {
  const reasons = [...new Set(gaps.map(({ reason }) => `!${reason}`))];
  // Two commands may have the same effect.
  const distinct = new Map(effects.map(({ by: _, ...effect }) => [JSON.stringify(effect), effect]));
  return [...[...distinct.values()].map(toText), ...reasons].join(', ');
}

const toText = ({ kind, target, path, certain }: Effect): string => {
  const shown = path === undefined ? target : path === '/work' ? '.' : path.replace(/^\/work\//, '');
  return `${[kind, ...(shown === undefined ? [] : [shown])].join(' ')}${certain ? '' : '?'}`;
};
