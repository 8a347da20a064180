const UNITS = [
  { letter: 'w', word: 'week', ms: 604_800_000 },
  { letter: 'd', word: 'day', ms: 86_400_000 },
  { letter: 'h', word: 'hour', ms: 3_600_000 },
  { letter: 'm', word: 'minute', ms: 60_000 },
  { letter: 's', word: 'second', ms: 1_000 },
] as const;

/** `90s`, `30m`, `2h30m`, `30d`, `2w` in milliseconds: each unit at most once, the larger first. Undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const parts = UNITS.map(({ letter }) => `(?:(\\d{1,6})${letter})?`).join('');
  const counts = new RegExp(`^(?=.)${parts}$`).exec(text.trim().toLowerCase())?.slice(1);
  return counts?.reduce((sum, count, index) => sum + Number(count ?? 0) * (UNITS[index]?.ms ?? 0), 0);
}

/** `15 minutes`, `2 hours 30 minutes`, `1 day`; in `ms` unless it is whole seconds. Weeks only if no remainder is left. */
export function describeDuration(ms: number): string {
  if (ms % 1_000 !== 0) return `${ms} ms`;
  let leftMs = ms;
  const words = UNITS.filter(({ word }) => word !== 'week' || ms % UNITS[0].ms === 0).flatMap((unit) => {
    const count = Math.floor(leftMs / unit.ms);
    leftMs %= unit.ms;
    return count === 0 ? [] : [`${count} ${unit.word}${count === 1 ? '' : 's'}`];
  });
  return words.join(' ') || '0 seconds';
}
