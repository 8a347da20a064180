import { useContext, useMemo, useRef } from 'preact/hooks';
import { isDrawnAtOnce } from '../../state/text/drawn-at-once.ts';
import { type MarkdownPart, splitMarkdown } from '../../state/text/markdown-split.ts';
import { InConversation } from '../conversation/conversation-context.ts';
import { MarkdownBlock } from './markdown-block.tsx';
import { useStepwise } from './stepwise.ts';
import { useUndrawn } from './use-undrawn.ts';

/** Blocks per group. While an answer grows, each earlier group is compared as a whole. */
const GROUP_PARTS = 40;

interface MarkdownProps {
  text: string;
  streaming: boolean;
}

/** A model's Markdown. While it streams, only its last block is parsed and drawn again. A very long text is read as if it streamed. */
export function Markdown({ text: whole, streaming }: MarkdownProps) {
  const text = toLineEnd(whole, useStepwise(whole.length, STEP_READ_CHARS));
  const growing = streaming || text.length < whole.length;
  const earlier = useRef<{ text: string; parts: readonly MarkdownPart[] }>({ text: '', parts: [] });
  const parts = useMemo(() => {
    const grows = text.startsWith(earlier.current.text);
    const split = splitMarkdown(text, grows ? earlier.current.parts : []);
    earlier.current = { text, parts: split };
    return split;
  }, [text]);
  const limit = useStepwise(parts.at(-1)?.at ?? 0, STEP_CHARS);
  const drawn = parts.filter(({ at }) => at <= limit);
  const groups = Array.from({ length: Math.ceil(drawn.length / GROUP_PARTS) }, (_, index) =>
    drawn.slice(index * GROUP_PARTS, (index + 1) * GROUP_PARTS),
  );
  const isSearched = useContext(InConversation)?.search?.value !== undefined;
  const searched = useStepwise(isSearched ? groups.length : 0, 1);
  return (
    <div class="markdown">
      {groups.map((group, index) => (
        <Group
          key={index}
          parts={group}
          growing={growing && index === groups.length - 1}
          isSearched={index < searched}
        />
      ))}
    </div>
  );
}

/** Characters drawn per frame. */
const STEP_CHARS = 8_000;
/** Characters parsed per frame. */
const STEP_READ_CHARS = 40_000;

/** The beginning of a text, up to the end of a line if there is one. */
function toLineEnd(text: string, chars: number): string {
  if (chars >= text.length) return text;
  return text.slice(0, text.lastIndexOf('\n', chars) + 1 || chars);
}

interface GroupProps {
  parts: readonly MarkdownPart[];
  growing: boolean;
  /** A search marks words in what is drawn. */
  isSearched: boolean;
}

/**
 * A full group never changes again while the text grows: its parts are the same objects. Away from the screen it is
 * empty, because each element of a long answer costs time until it is removed.
 */
function Group({ parts, growing, isSearched }: GroupProps) {
  const [first, last] = [parts.at(0), parts.at(-1)];
  const mayBeEmpty = useMemo(
    () => !growing && parts.length === GROUP_PARTS && isDrawnAtOnce(parts),
    [first, last, growing],
  );
  const undrawn = useUndrawn();
  const height = mayBeEmpty && !isSearched ? undrawn.height : undefined;
  return useMemo(
    () => (
      <div class="group" ref={undrawn.element} style={height === undefined ? undefined : { height: `${height}px` }}>
        {height === undefined &&
          parts.map(({ at, token }, index) => (
            <Part key={at} token={token} growing={growing && index === parts.length - 1} />
          ))}
      </div>
    ),
    [first, last, growing, height],
  );
}

const Part = ({ token, growing }: { token: MarkdownPart['token']; growing: boolean }) =>
  useMemo(() => <MarkdownBlock token={token} growing={growing} />, [token.raw, growing]);
