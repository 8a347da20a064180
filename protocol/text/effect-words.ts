import type { CallEffect, CallEffects, EffectKind, IncompleteReason } from '../events/call-effects.ts';
import { toLineEnds } from './text-ends.ts';
import { toVisibleLine } from './visible-text.ts';

/** What a call does in one way, in words for people; `incomplete`: why it may do more. */
export interface EffectPhrase {
  kind: EffectKind | 'incomplete';
  text: string;
}

const WORDS: Record<EffectKind, string> = {
  read: 'Reads',
  write: 'Writes',
  delete: 'Deletes',
  network: 'Network',
  privilege: 'Rights',
  process: 'Processes',
  system: 'System',
  unknown: 'Unknown effects',
};

const REASONS: Record<IncompleteReason, string> = {
  not_parsed: 'not all of it could be parsed',
  too_long: 'it is too long to check',
  control_characters: 'it contains control characters',
  unknown_program: 'the name of a program is unknown',
  unknown_code: 'it runs code that is not shown',
  changed_environment: 'it changes variables that programs obey',
  alias: 'it defines aliases',
  arithmetic: 'it calculates with unknown values',
  unknown_words: 'some arguments are unknown',
};

/** The widest target that is shown in full. */
const TARGET_CELLS = 40;

/** The effects of a call as phrases, one for each kind; `isShort` leaves out what they are on. */
export function toEffectPhrases({ list, more, incomplete }: CallEffects, { isShort = false } = {}): EffectPhrase[] {
  const kinds = [...new Set(list.map(({ kind }) => kind))];
  const phrases: EffectPhrase[] = kinds.map((kind) => {
    const targets = isShort ? [] : list.filter((effect) => effect.kind === kind).flatMap(toTarget);
    const words = isShort && kind === 'unknown' ? 'Unknown' : WORDS[kind];
    return { kind, text: targets.length === 0 ? words : `${words}: ${targets.join(', ')}` };
  });
  if (more !== undefined && !isShort) phrases.push({ kind: 'incomplete', text: `${more} more` });
  if (incomplete !== undefined && !isShort)
    phrases.push({ kind: 'incomplete', text: `May do more: ${REASONS[incomplete]}` });
  // In a short line, one word says it.
  if (incomplete !== undefined && isShort && !kinds.includes('unknown'))
    phrases.push({ kind: 'incomplete', text: 'May do more' });
  return phrases;
}

/** A target that is not certain is marked as such. */
function toTarget({ kind, target, certain }: CallEffect): string[] {
  if (target === undefined) return [];
  // A dot alone would read as the end of the sentence.
  const shown = toLineEnds(toVisibleLine(target === '.' ? './' : target), TARGET_CELLS)
    .map(({ text }) => text)
    .join('');
  // "Unknown" says already that it is not certain.
  return [certain || kind === 'unknown' ? shown : `perhaps ${shown}`];
}
