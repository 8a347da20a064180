import { useEffect, useMemo, useState } from 'preact/hooks';
import { showHidden } from '../../state/text/hidden-characters.ts';
import type { Piece, Pieces } from '../../state/text/highlight.ts';
import type { Language } from '../../state/text/languages.ts';
import { CHUNK_ROWS, hasLongLine, toChunks } from '../../state/text/text-chunks.ts';
import { HIGHLIGHT } from '../parts/highlight-part.ts';
import { whenIdle } from './idle.ts';
import { useStepwise } from './stepwise.ts';

interface CodeTextProps {
  text: string;
  language: Language | undefined;
  growing: boolean;
}

/** Chunks drawn per frame. */
const STEP_CHUNKS = 10;

/** Lines of code, plain at first and highlighted when the browser is idle. Growing text stays plain. */
export function CodeText({ text, language, growing }: CodeTextProps) {
  const chunks = useMemo(() => toChunks(text), [text]);
  const count = useStepwise(chunks.length, STEP_CHUNKS);
  const lines = useHighlighted(text, growing ? undefined : language);
  return (
    <code class="code-text">
      {chunks.slice(0, count).map((chunk, index) => (
        <Chunk key={index} text={chunk} lines={lines?.slice(index * CHUNK_ROWS, (index + 1) * CHUNK_ROWS)} />
      ))}
    </code>
  );
}

const Chunk = ({ text, lines }: { text: string; lines: readonly Pieces[] | undefined }) =>
  useMemo(
    () => <span class="chunk">{lines ? joinLines(lines).map(toSpan) : `${showHidden(text)}\n`}</span>,
    [text, lines === undefined],
  );

/** The pieces of some lines with their line ends. Neighbours without a colour are one piece: fewer nodes are drawn. */
function joinLines(lines: readonly Pieces[]): Pieces {
  const joined: Piece[] = [];
  for (const piece of lines.flatMap((line) => [...line, LINE_END])) {
    const last = joined.at(-1);
    const isOne = last && last.className === undefined && piece.className === undefined;
    if (isOne) joined[joined.length - 1] = { text: last.text + piece.text, className: undefined };
    else joined.push(piece);
  }
  return joined;
}

const LINE_END: Piece = { text: '\n', className: undefined };

/** A highlighted piece. Text without a colour needs no element. */
const toSpan = ({ text, className }: Piece, index: number) =>
  className === undefined ? (
    showHidden(text)
  ) : (
    <span key={index} class={className}>
      {showHidden(text)}
    </span>
  );

/**
 * The highlighted lines of a text; undefined until they and what highlights are there, and if the language is unknown or
 * the text too long.
 */
export function useHighlighted(text: string, language: Language | undefined): readonly Pieces[] | undefined {
  const [done, setDone] = useState<{ text: string; lines: readonly Pieces[] | undefined }>();
  const highlighter = HIGHLIGHT.module.value?.highlighter;
  useEffect(() => {
    if (language === undefined || text === '' || hasLongLine(text)) return;
    if (!highlighter) return void HIGHLIGHT.load();
    if (highlighter.find(text, language)) return;
    return whenIdle(() => setDone({ text, lines: highlighter.highlight(text, language) }));
  }, [text, language, highlighter]);
  if (language === undefined) return undefined;
  return done?.text === text ? done.lines : highlighter?.find(text, language);
}
