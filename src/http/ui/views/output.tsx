import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { toPlainText } from '../state/ansi.ts';
import { AnsiText } from './ansi-text.tsx';
import { CopyButton } from './code.tsx';
import { OutputPages } from './output-pages.tsx';

interface OutputProps {
  callId: string;
  text: string;
  isLive: boolean;
  /** Size of the whole, where `text` is only its ends and the daemon keeps the rest. */
  wholeBytes: number | undefined;
}

/** What a tool printed: as it comes, then as the model reads it, and page by page where that is not all. */
export function Output({ callId, text, isLive, wholeBytes }: OutputProps) {
  const isWhole = useSignal(false);
  if (isWhole.value && wholeBytes !== undefined)
    return <OutputPages callId={callId} onClose={() => (isWhole.value = false)} />;
  return (
    <div class="output-frame">
      <Printed text={text} isLive={isLive} />
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
              {`Show all of it (${toSize(wholeBytes)})`}
            </button>
          )}
          <CopyButton text={toPlainText(text)} />
        </div>
      )}
    </div>
  );
}

function Printed({ text, isLive }: { text: string; isLive: boolean }) {
  const element = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (isLive && isAtEnd.current && element.current) element.current.scrollTop = element.current.scrollHeight;
  }, [text, isLive]);
  return (
    <pre
      ref={element}
      class="output"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
      tabIndex={0}
      onScroll={({ currentTarget: view }) => {
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
