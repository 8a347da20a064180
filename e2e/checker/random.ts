/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** From 0 (inclusive) to 1 (exclusive). */
  fraction(): number;
  /** From `from` to `to`, both inclusive. */
  int(from: number, to: number): number;
  chance(probability: number): boolean;
  /** A random element; throws if the list is empty. */
  pick<T>(from: readonly T[]): T;
  /** A separate source, so that the numbers taken from one do not affect the other. */
  fork(name: string | number): Random;
}

/** Mulberry32, by Tommy Ettinger: 32 bits of state are plenty for choosing what to do next. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (from: number, to: number) => from + Math.floor(fraction() * (to - from + 1));
  return {
    fraction,
    int,
    chance: (probability) => fraction() < probability,
    pick(from) {
      if (from.length === 0) throw new Error('there is nothing to pick from');
      return from[int(0, from.length - 1)] as (typeof from)[number]; // within its length
    },
    fork: (name) => createRandom(seed ^ hashOf(String(name))),
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return hash;
}
