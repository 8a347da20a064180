import type { ComponentChildren } from 'preact';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';

/**
 * Text that a machine reports about itself, as one line. Hidden and reordering characters are made visible. A line that
 * is too long is cut; its title has all of it.
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
  /** Reported values by label; undefined values are left out. */
  said: Record<string, string | undefined>;
  /** Shown before the values. */
  children?: ComponentChildren;
}

/** A labelled list of values that a machine reports about itself. */
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
