import process from 'node:process';
import { toDiff } from '../../src/agent/tools/files/file-diff.ts';
import type { Row } from '../row.ts';

const LINES = 500_000;
const many = (count: number, toLine: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `${toLine(index)}\n`).join('');
/** The same sequence each time, without a pattern that a comparison could use. */
function noise(seed: number): () => number {
  let last = seed;
  return () => {
    last = (Math.imul(last, 1_103_515_245) + 12_345) >>> 0;
    return last >>> 16;
  };
}

/** Two texts of 1 MB, of kinds that are hard to compare. */
const PAIRS: Readonly<Record<string, () => readonly [string, string]>> = {
  letters() {
    const [one, other] = [noise(1), noise(2)];
    return [many(LINES, () => (one() % 2 === 0 ? 'a' : 'b')), many(LINES, () => (other() % 2 === 0 ? 'a' : 'b'))];
  },
  shifted: () => [
    many(LINES, () => 'a'),
    many(3_000, () => 'c') + many(LINES - 6_000, () => 'a') + many(3_000, () => 'd'),
  ],
  halved: () => [many(LINES, () => 'a'), many(LINES, (index) => (index % 2 === 0 ? 'a' : 'b'))],
  words() {
    const [one, other] = [noise(1), noise(2)];
    return [many(150_000, () => `word ${one() % 50}`), many(150_000, () => `word ${other() % 50}`)];
  },
  rewritten: () => [
    many(20_000, (index) => `line ${index} ${'x'.repeat(40)}`),
    many(20_000, (index) => `new ${index} ${'x'.repeat(40)}`),
  ],
};

export const diffRow: Row = {
  name: 'diff',
  what: 'processor time of the main thread for the diff of two texts of 1 MB; the worst of five kinds that are hard to compare',
  anchor: 'the clock',
  unit: 'ms',
  maxRounds: 3,
  async open() {
    const pairs = Object.entries(PAIRS).map(([name, make]) => [name, make()] as const);
    return async () => {
      const figures: Record<string, number> = {};
      for (const [name, [before, after]] of pairs) {
        const begun = process.threadCpuUsage();
        toDiff({ shown: 'x', before, after });
        const { user, system } = process.threadCpuUsage(begun);
        figures[name] = (user + system) / 1_000;
      }
      return { value: Math.max(...Object.values(figures)), figures };
    };
  },
};
