import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ToolPhase } from '../../state/conversation/blocks.ts';
import { PAGE_BYTES } from '../../state/conversation/output-reader.ts';
import { toPlainText } from '../../state/text/ansi.ts';
import { AnsiText } from '../text/ansi-text.tsx';
import { CopyButton } from '../text/code.tsx';
import { OpenAside } from './open-aside.tsx';
import { OutputPages } from './output-pages.tsx';

interface OutputProps {
  callId: string;
  text: string;
  phase: ToolPhase;
  /** Shows it beside the conversation. */
  onOpen: (() => void) | undefined;
  /** Size of the full output if `text` has only its ends and the daemon stores the rest. */
  wholeBytes: number | undefined;
}

/**
 * The output of a tool: live while it runs, then as the model gets it, with the full output page by page if it was
 * shortened. A growing output and that of a failed tool are scrolled to the end, where the reason is.
 */
export function Output({ callId, text, phase, wholeBytes, onOpen }: OutputProps) {
  const isWhole = useSignal(false);
  const isLive = phase === 'running';
  const endFirst = isLive || phase === 'failed';
  if (isWhole.value && wholeBytes !== undefined) {
    const first = endFirst ? Math.max(0, Math.ceil(wholeBytes / PAGE_BYTES) - 1) : 0;
    return <OutputPages of={{ callId }} first={first} endFirst={endFirst} onClose={() => (isWhole.value = false)} />;
  }
  return (
    <div class="output-frame">
      <Printed text={text} endFirst={endFirst} />
      {(!isLive || onOpen) && (
        <div class="output-tools">
          {onOpen && <OpenAside label="Open the output" onOpen={onOpen} />}
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
          {!isLive && <CopyButton text={toPlainText(text)} />}
        </div>
      )}
    </div>
  );
}

interface PrintedProps {
  text: string;
  /** Begin at its end, and stay there while it grows. */
  endFirst: boolean;
  /** Whether its end is in view; a person who scrolls changes it, and so may others. */
  isAtEnd?: Signal<boolean>;
}

export function Printed({ text, endFirst, isAtEnd: given }: PrintedProps) {
  const element = useRef<HTMLPreElement>(null);
  const own = useSignal(true);
  const isAtEnd = given ?? own;
  const followed = isAtEnd.value;
  const seenHeight = useRef(0);
  useLayoutEffect(() => {
    const { current: view } = element;
    if (!endFirst || !view) return;
    const settle = () => {
      if (isAtEnd.peek()) view.scrollTop = view.scrollHeight;
      seenHeight.current = view.scrollHeight;
    };
    settle();
    // Chunks are laid out only near the screen, and their height then differs from the estimate.
    const sizes = new ResizeObserver(settle);
    if (view.firstElementChild) sizes.observe(view.firstElementChild);
    return () => sizes.disconnect();
  }, [text, endFirst, followed]);
  return (
    <pre
      ref={element}
      class="output"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
      tabIndex={0}
      onScroll={({ currentTarget: view }) => {
        if (view.scrollHeight !== seenHeight.current) return; // the output grew; this is not a scroll by a person
        isAtEnd.value = view.scrollHeight - view.scrollTop - view.clientHeight < 24;
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
