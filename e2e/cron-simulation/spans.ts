import type { Span } from './evidence.ts';

/** Ascending and not adjacent. */
export type Spans = readonly Span[];

export function merged(spans: Iterable<Span>): Spans {
  const all: Span[] = [];
  for (const { fromMs, toMs } of [...spans].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = all.at(-1);
    if (last && fromMs <= last.toMs) last.toMs = Math.max(last.toMs, toMs);
    else if (fromMs < toMs) all.push({ fromMs, toMs });
  }
  return all;
}

/** The parts of the spans between two times. */
export function within(spans: Spans, { fromMs, toMs }: Span): Span[] {
  const found: Span[] = [];
  for (let index = firstEndingAfter(spans, fromMs); index < spans.length; index += 1) {
    const span = spans[index];
    if (!span || span.fromMs >= toMs) break;
    found.push({ fromMs: Math.max(fromMs, span.fromMs), toMs: Math.min(toMs, span.toMs) });
  }
  return found;
}

/** The gaps of the spans between two times. */
export function gaps(spans: Spans, whole: Span): Span[] {
  const found: Span[] = [];
  let { fromMs } = whole;
  for (const span of within(spans, whole)) {
    if (span.fromMs > fromMs) found.push({ fromMs, toMs: span.fromMs });
    fromMs = span.toMs;
  }
  if (fromMs < whole.toMs) found.push({ fromMs, toMs: whole.toMs });
  return found;
}

/** The spans shortened at both ends; spans that are too short are omitted. */
export const shrunk = (spans: Spans, byMs: number): Span[] =>
  spans.flatMap(({ fromMs, toMs }) => (toMs - fromMs > 2 * byMs ? [{ fromMs: fromMs + byMs, toMs: toMs - byMs }] : []));

export const longest = (spans: Spans): number => Math.max(0, ...spans.map(lengthOf));

export const sum = (spans: Spans): number => spans.reduce((ms, span) => ms + lengthOf(span), 0);

const lengthOf = ({ fromMs, toMs }: Span): number => toMs - fromMs;

function firstEndingAfter(spans: Spans, atMs: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.toMs ?? 0) > atMs) high = middle;
    else low = middle + 1;
  }
  return low;
}
