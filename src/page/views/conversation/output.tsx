import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ToolPhase } from '../../state/conversation/blocks.ts';
import { PAGE_BYTES } from '../../state/conversation/output-reader.ts';
import { toPlainText } from '../../state/text/ansi.ts';
import { AnsiText } from '../text/ansi-text.tsx';
import { CopyButton } from '../text/code.tsx';
import { OutputPages } from './output-pages.tsx';

interface OutputProps {
  callId: string;
  text: string;
  phase: ToolPhase;
  /** Size of the full output if `text` has only its ends and the daemon stores the rest. */
  wholeBytes: number | undefined;
}

/**
 * The output of a tool: live while it runs, then as the model gets it, with the full output page by page if it was
 * shortened. A growing output and that of a failed tool are scrolled to the end, where the reason is.
 */
export function Output({ callId, text, phase, wholeBytes }: OutputProps) {
  const isWhole = useSignal(false);
  const isLive = phase === 'running';
  const endFirst = isLive || phase === 'failed';
  if (isWhole.value && wholeBytes !== undefined) {
    const first = endFirst ? Math.max(0, Math.ceil(wholeBytes / PAGE_BYTES) - 1) : 0;
    return <OutputPages callId={callId} first={first} endFirst={endFirst} onClose={() => (isWhole.value = false)} />;
  }
  return (
    <div class="output-frame">
      <Printed text={text} endFirst={endFirst} />
      {!isLive && (
        <div class="output-tools">
          {wholeBytes !== undefined && (
            <button
              type="button"
              class="quiet"
              onClick={() => {
                isWhole.value = true;
              }}
            >
              {`Show full output (${toSize(wholeBytes)})`}
            </button>
          )}
          <CopyButton text={toPlainText(text)} />
        </div>
      )}
    </div>
  );
}

function Printed({ text, endFirst }: { text: string; endFirst: boolean }) {
  const element = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  const seenHeight = useRef(0);
  useLayoutEffect(() => {
    const { current: view } = element;
    if (!endFirst || !view) return;
    const settle = () => {
      if (isAtEnd.current) view.scrollTop = view.scrollHeight;
      seenHeight.current = view.scrollHeight;
    };
    settle();
    // Chunks are laid out only near the screen, and their height then differs from the estimate.
    const sizes = new ResizeObserver(settle);
    if (view.firstElementChild) sizes.observe(view.firstElementChild);
    return () => sizes.disconnect();
  }, [text, endFirst]);
  return (
    <pre
      ref={element}
      class="output"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
      tabIndex={0}
      onScroll={({ currentTarget: view }) => {
        if (view.scrollHeight !== seenHeight.current) return; // the output grew; this is not a scroll by a person
        isAtEnd.current = view.scrollHeight - view.scrollTop - view.clientHeight < 24;
      }}
    >
      <AnsiText text={text.trimEnd()} />
    </pre>
  );
}

/** `812 B`, `64 KB`, `12.4 MB`. */
function toSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 999_500) return `${Math.round(bytes / 1_000)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
