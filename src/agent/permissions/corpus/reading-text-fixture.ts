import type { CommandReading, Effect } from '../command-reading.ts';

/**
 * A reading as text for tables: `list src, read a.txt, delete $X?, !unknown_words`. Paths are relative to `/work`; a
 * question mark means that the target is not certain.
 */
export function toReadingText({ effects, gaps }: CommandReading): string {
  const reasons = gaps.map(({ reason }) => `!${reason}`);
  return [...new Set([...effects.map(toText), ...reasons])].join(', ');
}

function toText({ kind, target, path, certain, isListing, isIncidental, isProject }: Effect): string {
  const shown = path === undefined ? target : path === '/work' ? '.' : path.replace(/^\/work\//, '');
  const name = isListing ? 'list' : isProject ? 'project' : isIncidental ? `beside ${kind}` : kind;
  return `${[name, ...(shown === undefined ? [] : [shown])].join(' ')}${certain ? '' : '?'}`;
}
