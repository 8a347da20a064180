import { useMemo } from 'preact/hooks';
import { parseDiff } from '../../state/text/diff-rows.ts';
import type { Language } from '../../state/text/languages.ts';
import { CodeText } from './code-text.tsx';
import { FileDiffView } from './file-diff-view.tsx';

interface PatchViewProps {
  text: string;
  isDiff: boolean;
  /** Default true. False if the line numbers count from the first line of the text and not of the file. */
  numbered?: boolean;
  /** The language of the text if it is not a diff. */
  language?: Language | undefined;
}

/** A tool's preview: a diff as before and after, anything else as plain text. */
export function PatchView({ text, isDiff, numbered = true, language }: PatchViewProps) {
  const patch = useMemo(() => (isDiff ? parseDiff(text) : undefined), [text, isDiff]);
  if (!patch)
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
      <pre class="preview" tabIndex={0}>
        <CodeText text={text} language={language} growing={false} />
      </pre>
    );
  return (
    <div class="patch">
      {patch.remarks !== '' && <p class="patch-remarks">{patch.remarks}</p>}
      {patch.files.map((file, index) => (
        <FileDiffView key={index} file={file} numbered={numbered} />
      ))}
    </div>
  );
}
