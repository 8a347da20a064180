import type { StreamEventOf } from '../../../protocol/stream-events.ts';
import { toSafeText } from './safe-text.ts';
import type { Sheet } from './sheet.ts';
import { wrapWords } from './wrap.ts';

/** What the output guard found, below the output of its call. */
export function toWarningLines(
  { annotations, redacted }: Pick<StreamEventOf<'output_warning'>, 'annotations' | 'redacted'>,
  { paint, columns }: Sheet,
): string[] {
  const beginning = redacted ? 'Secrets were hidden' : 'Be careful with this output';
  return wrapWords(paint('yellow', `  ! ${beginning}: ${toSafeText(annotations.join(' '))}`), columns);
}
