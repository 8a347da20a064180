import type { ComponentChildren } from 'preact';
import { toVisibleLine } from '../../../../protocol/visible-text.ts';

/**
 * What a machine says of itself: one line that shows what would hide or reorder, cut where it is too long, with the whole
 * in its title.
 */
export function ClaimedText({ text }: { text: string }) {
  const line = toVisibleLine(text);
  return (
    <bdi class="claimed" title={line}>
      {line}
    </bdi>
  );
}

interface ClaimsProps {
  /** What it says, under its label; undefined where it says nothing. */
  said: Record<string, string | undefined>;
  /** Before them. */
  children?: ComponentChildren;
}

/** Several of them, each with its label. */
export const Claims = ({ said, children }: ClaimsProps) => (
  <dl class="claims">
    {children}
    {Object.entries(said).map(
      ([label, text]) =>
        text !== undefined && (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <ClaimedText text={text} />
            </dd>
          </div>
        ),
    )}
  </dl>
);
