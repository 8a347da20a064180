import type { EffectPhrase } from '../../../../protocol/text/effect-words.ts';
import { Icon, type IconName } from '../icons.tsx';

const ICONS: Record<EffectPhrase['kind'], IconName> = {
  read: 'search',
  write: 'pencil',
  delete: 'bin',
  network: 'globe',
  privilege: 'lock',
  process: 'stop',
  system: 'sliders',
  unknown: 'question',
  incomplete: 'warning',
};

/** Kinds that a person should notice first. */
const isRisky = (kind: EffectPhrase['kind']): boolean => !['read', 'write'].includes(kind);

/** What a call does, as far as its arguments tell. */
export const Effects = ({ phrases }: { phrases: readonly EffectPhrase[] }) => (
  <ul class="effects" aria-label="Effects">
    {phrases.map(({ kind, text }) => (
      <li key={text} class={isRisky(kind) ? 'risky' : ''}>
        <Icon name={ICONS[kind]} />
        {text}
      </li>
    ))}
  </ul>
);

/** The same without words, which its label has. */
export const EffectIcons = ({ phrases }: { phrases: readonly EffectPhrase[] }) => (
  <span class="effect-icons" role="img" aria-label={phrases.map(({ text }) => text).join(', ')}>
    {phrases.map(({ kind, text }) => (
      <span key={text} class={isRisky(kind) ? 'risky' : ''} title={text}>
        <Icon name={ICONS[kind]} />
      </span>
    ))}
  </span>
);
