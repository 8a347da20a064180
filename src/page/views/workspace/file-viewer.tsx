import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { findFileLanguage } from '../../state/text/languages.ts';
import { type FileBoard, PAGE_LINES, type ShownFile } from '../../state/workspace/file-board.ts';
import { Icon } from '../icons.tsx';
import { CopyButton } from '../text/code.tsx';
import { CodeText } from '../text/code-text.tsx';

interface FileViewerProps {
  board: FileBoard;
  file: ShownFile;
  /** The line that the person wants to see. */
  line: number | undefined;
  onBack(): void;
}

/** A file with line numbers and colours, a thousand lines at once. */
export function FileViewer({ board, file, line, onBack }: FileViewerProps) {
  const { path, text, first, last, lines, cut, without } = file;
  return (
    <section class="file-viewer" aria-label={`File ${showHidden(path)}`}>
      <header class="file-viewer-head">
        <button type="button" class="quiet icon-only" aria-label="All files" title="All files" onClick={onBack}>
          <Icon name="previous" />
        </button>
        <bdi class="file-path">{showHidden(path)}</bdi>
        {text !== undefined && <CopyButton text={text} />}
      </header>
      {without !== undefined && <p class="empty">{WITHOUT_WORDS[without]}</p>}
      {text !== undefined && lines === 0 && <p class="empty">The file is empty.</p>}
      {text !== undefined && lines > 0 && first === 0 && (
        <p class="empty">{`There is no such line: the file has ${lines.toLocaleString()} lines.`}</p>
      )}
      {text !== undefined && first > 0 && <Lines text={text} path={path} first={first} last={last} line={line} />}
      {cut && <p class="soft">The line is too long to be shown in full.</p>}
      {(first > 1 || last < lines) && first > 0 && (
        <p class="file-pages">
          {`Lines ${first.toLocaleString()} to ${last.toLocaleString()} of ${lines.toLocaleString()}`}
          <button type="button" disabled={first <= 1} onClick={() => void board.turn(-1)}>
            {`Previous ${PAGE_LINES.toLocaleString()}`}
          </button>
          <button type="button" disabled={last >= lines} onClick={() => void board.turn(1)}>
            {`Next ${PAGE_LINES.toLocaleString()}`}
          </button>
        </p>
      )}
    </section>
  );
}

interface LinesProps {
  text: string;
  path: string;
  first: number;
  last: number;
  line: number | undefined;
}

const LINE_PX = 20;

function Lines({ text, path, first, last, line }: LinesProps) {
  const mark = useRef<HTMLDivElement>(null);
  const numbers = useMemo(
    () => Array.from({ length: last - first + 1 }, (_, index) => first + index).join('\n'),
    [first, last],
  );
  const isMarked = line !== undefined && line >= first && line <= last;
  useLayoutEffect(() => mark.current?.scrollIntoView({ block: 'center' }), [text, line]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
    <div class="file-lines" tabIndex={0}>
      {isMarked && (
        <div
          ref={mark}
          class="file-mark"
          data-line={line}
          style={{ top: `${(line - first) * LINE_PX}px`, height: `${LINE_PX}px` }}
        />
      )}
      <pre class="file-numbers" aria-hidden="true">
        {numbers}
      </pre>
      <pre class="file-text">
        <CodeText text={text.replace(/\n$/, '')} language={findFileLanguage(path)} growing={false} />
      </pre>
    </div>
  );
}

const WITHOUT_WORDS = {
  binary: 'This file is not text.',
  large: 'This file is too large to be shown.',
  secret: 'This file is not shown, because it may hold secrets.',
};
