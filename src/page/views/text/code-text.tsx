import { useEffect, useMemo, useState } from 'preact/hooks';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { createHighlighter, type Pieces } from '../../state/text/highlight.ts';
import type { Language } from '../../state/text/languages.ts';
import { CHUNK_ROWS, hasLongLine, toChunks } from '../../state/text/text-chunks.ts';
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
    () => (
      <span class="chunk">
        {lines ? lines.map((pieces, row) => <Row key={row} pieces={pieces} />) : `${showHidden(text)}\n`}
      </span>
    ),
    [text, lines === undefined],
  );

const Row = ({ pieces }: { pieces: Pieces }) => (
  <>
    {pieces.map(toSpan)}
    {'\n'}
  </>
);

/** A highlighted piece. Text without a colour needs no element. */
const toSpan = ({ text, className }: { text: string; className: string | undefined }, index: number) =>
  className === undefined ? (
    showHidden(text)
  ) : (
    <span key={index} class={className}>
      {showHidden(text)}
    </span>
  );

/** Shared by all code on the page, so that code scrolled back into view is highlighted at once. */
const highlighter = createHighlighter();

/**
 * The highlighted lines of a text; undefined until they are ready, and if the language is unknown or the text too long.
 */
export function useHighlighted(text: string, language: Language | undefined): readonly Pieces[] | undefined {
  const [done, setDone] = useState<{ text: string; lines: readonly Pieces[] | undefined }>();
  useEffect(() => {
    if (language === undefined || text === '' || highlighter.find(text, language) || hasLongLine(text)) return;
    return whenIdle(() => setDone({ text, lines: highlighter.highlight(text, language) }));
  }, [text, language]);
  if (language === undefined) return undefined;
  return done?.text === text ? done.lines : highlighter.find(text, language);
}
