const UNITS = [
  { ms: 31_557_600_000, word: 'y' },
  { ms: 604_800_000, word: 'w' },
  { ms: 86_400_000, word: 'd' },
  { ms: 3_600_000, word: 'h' },
  { ms: 60_000, word: 'm' },
] as const;

/** How long ago, in as few characters as possible: `5m`, `3h`, `2d`, `4w`; empty within a minute. */
export function toAge(atMs: number, nowMs: number): string {
  const ago = nowMs - atMs;
  const unit = UNITS.find(({ ms }) => ago >= ms);
  return unit ? `${Math.floor(ago / unit.ms)}${unit.word}` : '';
}
