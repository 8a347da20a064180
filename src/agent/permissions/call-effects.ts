import {
  type CallEffect,
  type CallEffects,
  EffectKind,
  type IncompleteReason,
  MAX_LISTED_EFFECTS,
} from '../../../protocol/events/call-effects.ts';
import type { CommandReading, Effect } from './command-reading.ts';

/** The most serious first, for lists that are too long. */
const BY_WEIGHT: readonly EffectKind[] = [
  'unknown',
  'delete',
  'privilege',
  'system',
  'network',
  'process',
  'write',
  'read',
];

/** The most serious first: arguments that depend on variables are common. */
const REASONS: readonly IncompleteReason[] = [
  'too_long',
  'not_parsed',
  'control_characters',
  'unknown_code',
  'unknown_program',
  'alias',
  'changed_environment',
  'arithmetic',
  'unknown_words',
];

const MAX_TARGET = 120;

/** The effects of a reading for people: a short list with each kind, and why it may be incomplete. */
export function toCallEffects({ effects, gaps }: Pick<CommandReading, 'effects' | 'gaps'>): CallEffects {
  const all = toDistinct(effects);
  const list = toShortList(all);
  const incomplete = REASONS.find((reason) => gaps.some((gap) => gap.reason === reason));
  return {
    list,
    ...(all.length > list.length && { more: all.length - list.length }),
    ...(incomplete !== undefined && { incomplete }),
  };
}

function toDistinct(effects: readonly Effect[]): CallEffect[] {
  const distinct = new Map<string, CallEffect>();
  for (const { kind, target, certain } of effects) {
    const shown = target === undefined ? undefined : toShort(target);
    const key = `${kind} ${shown}`;
    const isCertain = certain && distinct.get(key)?.certain !== false;
    distinct.set(key, { kind, ...(shown !== undefined && { target: shown }), certain: isCertain });
  }
  return [...distinct.values()];
}

const toShort = (text: string): string =>
  text.length <= MAX_TARGET ? text : `${text.slice(0, MAX_TARGET / 2)}…${text.slice(1 - MAX_TARGET / 2)}`;

/** First one of each kind, then the rest by weight; in the order of kinds. */
function toShortList(all: readonly CallEffect[]): CallEffect[] {
  const sorted = BY_WEIGHT.flatMap((kind) => all.filter((effect) => effect.kind === kind));
  const firsts = BY_WEIGHT.flatMap((kind) => sorted.find((effect) => effect.kind === kind) ?? []);
  const kept = new Set(firsts);
  for (const effect of sorted) if (kept.size < MAX_LISTED_EFFECTS) kept.add(effect);
  const chosen = sorted.filter((effect) => kept.has(effect));
  return EffectKind.options.flatMap((kind) => chosen.filter((effect) => effect.kind === kind));
}
