import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Cut, countOf, type Part, toParts } from './cut.ts';

/** What a conversation shows: the number of a message, or a summary with what it replaced. */
type Entry = { seq: number } | { at: number; label: string; replaced: Entry[] };

type Step =
  | { do: 'say'; count: number }
  | { do: 'rewind'; back: number }
  | { do: 'remove'; pick: number }
  | { do: 'compact'; from: number; to: number };

/** A conversation as a plain list that is really shortened, with the cuts that are stored for it. */
class Shortened {
  readonly cuts: Cut[] = [];
  live: Entry[] = [];
  count = 0;

  constructor(steps: readonly Step[]) {
    for (const step of steps) {
      if (step.do === 'say') for (let said = 0; said < step.count; said += 1) this.live.push({ seq: ++this.count });
      else if (step.do === 'rewind') this.#rewind(Math.max(0, this.count - step.back));
      else if (step.do === 'remove') this.#remove(step.pick);
      else this.#compact(step.from % (this.live.length + 1), step.to % (this.live.length + 1));
    }
  }

  #rewind(afterSeq: number): void {
    this.#add({ kind: 'rewind', afterSeq, toSeq: this.count });
    this.live = expand(this.live, afterSeq).filter((entry) => endOf(entry) <= afterSeq);
  }

  #remove(pick: number): void {
    const plain = this.live.filter((entry) => 'seq' in entry);
    const picked = plain[pick % Math.max(1, plain.length)];
    if (!picked) return;
    this.#add({ kind: 'remove', afterSeq: picked.seq - 1, toSeq: picked.seq });
    this.live = this.live.filter((entry) => entry !== picked);
  }

  #compact(one: number, other: number): void {
    const from = Math.min(one, other);
    const replaced = this.live.slice(from, Math.max(one, other));
    const last = replaced.at(-1);
    if (!last) return;
    const before = this.live[from - 1];
    const label = `summary ${this.cuts.length + 1}`;
    const summary = { role: 'user', content: label } as const;
    this.#add({ kind: 'compaction', afterSeq: before ? endOf(before) : 0, toSeq: endOf(last), summary });
    this.live = this.live.toSpliced(from, replaced.length, { at: this.count, label, replaced });
  }

  #add(cut: Omit<Cut, 'n' | 'atSeq' | 'createdMs'>): void {
    this.cuts.push({ ...cut, n: this.cuts.length + 1, atSeq: this.count, createdMs: 0 });
  }
}

/** Undoes the compactions that were made after a message. */
const expand = (entries: readonly Entry[], afterSeq: number): Entry[] =>
  entries.flatMap((entry) => ('seq' in entry || entry.at <= afterSeq ? [entry] : expand(entry.replaced, afterSeq)));

/** A compaction that the rewind keeps ends before it was made. */
function endOf(entry: Entry): number {
  if ('seq' in entry) return entry.seq;
  const last = entry.replaced.at(-1);
  return last ? endOf(last) : 0;
}

const originals = (entries: readonly Entry[]): number[] =>
  entries.flatMap((entry) => ('seq' in entry ? [entry.seq] : originals(entry.replaced)));

const toTexts = (parts: readonly Part[]): (string | number)[] =>
  parts.flatMap((part): (string | number)[] => {
    if (part.kind === 'stored') return Array.from({ length: part.upTo - part.after }, (_, n) => part.after + n + 1);
    return part.message.role === 'user' ? [part.message.content] : [];
  });

const small = fc.nat({ max: 12 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: small.map((count): Step => ({ do: 'say', count })) },
  { weight: 2, arbitrary: small.map((back): Step => ({ do: 'rewind', back })) },
  { weight: 1, arbitrary: small.map((pick): Step => ({ do: 'remove', pick })) },
  { weight: 2, arbitrary: fc.tuple(small, small).map(([from, to]): Step => ({ do: 'compact', from, to })) },
);

test('messages and cuts fold into what a list holds that is really shortened', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const { cuts, live, count } = new Shortened(steps);
      const range = { after: 0, upTo: count };
      const parts = toParts(cuts, range);
      assert.deepEqual(
        toTexts(parts),
        live.map((entry) => ('seq' in entry ? entry.seq : entry.label)),
      );
      assert.equal(countOf(parts), live.length);
      assert.deepEqual(toTexts(toParts(cuts, range, 'original')), originals(live));
    }),
    { numRuns: 2_000 },
  );
});

test('every part of a range is the part of the whole', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), fc.nat(), fc.nat(), (steps, a, b) => {
      const { cuts, count } = new Shortened(steps);
      const [after = 0, upTo = 0] = [a % (count + 1), b % (count + 1)].sort((x, y) => x - y);
      const whole = toParts(cuts, { after: 0, upTo: count }).flatMap(splitUp);
      const inside = whole.filter((part) => (part.kind === 'stored' ? part.upTo : part.seq) > after);
      assert.deepEqual(
        toParts(cuts, { after, upTo }).flatMap(splitUp),
        inside.filter((part) => (part.kind === 'stored' ? part.upTo : part.seq) <= upTo),
      );
    }),
  );
});

const splitUp = (part: Part): Part[] =>
  part.kind === 'summary'
    ? [part]
    : Array.from({ length: part.upTo - part.after }, (_, n) => ({
        kind: 'stored',
        after: part.after + n,
        upTo: part.after + n + 1,
      }));
