import type { ComponentChildren } from 'preact';
import { Icon } from '../icons.tsx';

/** The number of a footnote in the text; leads to the note. */
export const FootnoteMark = ({ label }: { label: string }) => (
  <sup>
    <button
      type="button"
      class="footnote-mark"
      data-mark={label}
      aria-label={`Footnote ${label}`}
      onClick={({ currentTarget }) => go(currentTarget, `[data-note="${label}"]`)}
    >
      {label}
    </button>
  </sup>
);

/** A footnote. Its button leads back to the text. */
export const Footnote = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class="footnote" role="note" aria-label={`Footnote ${label}`} data-note={label} tabIndex={-1} dir="auto">
    <span class="footnote-label">{label}</span>
    <p>
      {children}{' '}
      <button
        type="button"
        class="footnote-mark"
        aria-label={`Back to footnote ${label} in the text`}
        onClick={({ currentTarget }) => go(currentTarget, `[data-mark="${label}"]`)}
      >
        <Icon name="back" />
      </button>
    </p>
  </div>
);

/** Within the same message: others have the same numbers. */
function go(from: Element, to: string): void {
  const target = from.closest('.markdown')?.querySelector<HTMLElement>(to);
  target?.scrollIntoView({ block: 'nearest' });
  target?.focus({ preventScroll: true });
}
