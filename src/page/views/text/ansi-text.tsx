import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type AnsiColour, type AnsiLine, type AnsiStyle, parseAnsi } from '../../state/text/ansi.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { foldLine, toChunks } from '../../state/text/text-chunks.ts';
import { useStepwise } from './stepwise.ts';

/** Chunks drawn per frame. */
const STEP_CHUNKS = 6;

interface AnsiTextProps {
  text: string;
  /** Called when the whole text is drawn, for those who search it then. What it returns is called when that ends. */
  onDrawn?: () => () => void;
}

/** Program output in its colours. While it grows, only its end is parsed and drawn again. */
export function AnsiText({ text, onDrawn }: AnsiTextProps) {
  const chunks = useChunks(text);
  const count = useStepwise(chunks.length, STEP_CHUNKS);
  const isDrawn = count === chunks.length;
  useLayoutEffect(() => (isDrawn ? onDrawn?.() : undefined), [chunks, isDrawn]);
  return (
    <code class="ansi code-text">
      {chunks.slice(0, count).map((chunk, index) => (
        <Chunk key={index} lines={chunk.lines} />
      ))}
    </code>
  );
}

interface ReadChunk {
  printed: string;
  start: AnsiStyle;
  lines: readonly AnsiLine[];
  end: AnsiStyle;
}

const USUAL: AnsiStyle = {};

function useChunks(text: string): readonly ReadChunk[] {
  const earlier = useRef<readonly ReadChunk[]>([]);
  return useMemo(() => {
    let start = USUAL;
    earlier.current = toChunks(text, (line) => [line]).map((printed, index) => {
      const known = earlier.current[index];
      const isSame = known?.printed === printed && known.start === start;
      const { lines, style } = isSame ? { lines: known.lines, style: known.end } : parseAnsi(printed, start);
      const chunk = isSame ? known : { printed, start, lines, end: style };
      start = chunk.end;
      return chunk;
    });
    return earlier.current;
  }, [text]);
}

const Chunk = ({ lines }: { lines: readonly AnsiLine[] }) =>
  useMemo(
    () => (
      <span class="chunk">
        {lines.map((line, row) => (
          <Line key={row} line={line} />
        ))}
      </span>
    ),
    [lines],
  );

const Line = ({ line }: { line: AnsiLine }) => (
  <>
    {line.map(({ text, style }, index) => {
      const shown = foldLine(showHidden(text)).join('\n');
      const look = toLook(style);
      return look ? (
        <span key={index} {...look}>
          {shown}
        </span>
      ) : (
        shown
      );
    })}
    {'\n'}
  </>
);

/** Classes, and custom properties for the colours: one of the theme's, or three checked numbers. */
function toLook(style: AnsiStyle): { class: string; style: Record<string, string> } | undefined {
  const { foreground, background, ...flags } = style;
  const [front, back] = flags.inverse ? [background, foreground] : [foreground, background];
  const classes = Object.keys(flags).map((flag) => `ansi-${flag}`);
  const own: Record<string, string> = {};
  if (front) {
    classes.push('ansi-on');
    own['--ansi-front'] = toCssColour(front);
  }
  if (back) {
    classes.push('ansi-at');
    own['--ansi-back'] = toCssColour(back);
  }
  return classes.length === 0 ? undefined : { class: classes.join(' '), style: own };
}

const toCssColour = (colour: AnsiColour): string =>
  colour.kind === 'palette' ? `var(--ansi-${colour.index})` : `rgb(${colour.red} ${colour.green} ${colour.blue})`;
