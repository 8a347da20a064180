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

/** A secret in a text; `isOpen`: the text ends before it is known to be one, or to be complete. */
export interface FoundSecret extends Span {
  isOpen: boolean;
}

/** In order, without overlaps; of overlapping ones the first, made long enough for all. */
export function inOrder(spans: readonly Span[]): Span[] {
  const ordered: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = ordered.at(-1);
    if (last === undefined || span.start >= last.end) ordered.push({ ...span });
    else Object.assign(last, { end: Math.max(last.end, span.end), ...(span.goesOn && { goesOn: span.goesOn }) });
  }
  return ordered;
}
