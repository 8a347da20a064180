import type { OutputFlag } from './output-assessment.ts';
import type { SecretKind } from './tags.ts';

/** A secret in a text. */
export interface Span {
  start: number;
  end: number;
  kind: SecretKind;
  flag: OutputFlag;
  /** How the text after it continues the same secret. */
  goesOn?: 'private_key';
}

/** In order, without overlaps; of overlapping ones the first, made long enough for all. */
export function inOrder(spans: readonly Span[]): Span[] {
  const ordered: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = ordered.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else ordered.push({ ...span });
  }
  return ordered;
}
