import type { EffectKind } from '../../../../protocol/events/call-effects.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { toCallEffects } from '../../permissions/call-effects.ts';
import type { JudgedCall } from '../assessment.ts';

const VERBS: Record<EffectKind, string> = {
  read: 'reads',
  write: 'writes',
  delete: 'deletes',
  network: 'connects to',
  privilege: 'acts as another user with',
  process: 'ends or starts processes with',
  system: 'changes the machine with',
  unknown: 'runs what is not known here,',
};
const WITHOUT_TARGET: Partial<Record<EffectKind, string>> = { network: 'connects to other machines' };
const MOST_TARGETS = 3;
const MOST_TARGET = 60;

/** What the call does, in one sentence. */
export function toSummary({ tool, reading }: Pick<JudgedCall, 'tool' | 'reading'>): string {
  const { list } = toCallEffects(reading ?? { effects: [], gaps: [] });
  const parts = [...Map.groupBy(list, ({ kind }) => kind)].map(([kind, effects]) => {
    const targets = effects.flatMap(({ target }) => (target === undefined ? [] : [toShort(target)]));
    if (targets.length === 0) return WITHOUT_TARGET[kind] ?? VERBS[kind].replace(/ with$/, '');
    const more = targets.length - MOST_TARGETS;
    return `${VERBS[kind]} ${targets.slice(0, MOST_TARGETS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  });
  if (parts.length > 0) return toSentence(parts);
  const names = [...new Set(reading?.commands.flatMap(({ words }) => words[0]?.value ?? []) ?? [])];
  return toSentence([
    names.length > 0
      ? `runs ${names.slice(0, MOST_TARGETS).map(toShort).join(', ')} without further effects`
      : `calls ${toShort(tool)}`,
  ]);
}

/** A dot before the full stop would look like the folder above. */
const HERE = 'the working directory';

const toShort = (text: string): string => {
  if (text === '.' || text === './') return HERE;
  const visible = toVisibleLine(text);
  return visible.length <= MOST_TARGET ? visible : `${visible.slice(0, MOST_TARGET - 1)}…`;
};

function toSentence(parts: readonly string[]): string {
  const [last = '', ...before] = parts.toReversed();
  const text = before.length === 0 ? last : `${before.toReversed().join('; ')}; ${last}`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
