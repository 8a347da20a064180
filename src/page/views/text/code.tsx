import { useSignal } from '@preact/signals';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import { toPlainText } from '../../state/text/ansi.ts';
import { findLanguage } from '../../state/text/languages.ts';
import { Icon } from '../icons.tsx';
import { AnsiText } from './ansi-text.tsx';
import { CodeText } from './code-text.tsx';
import { PatchView } from './patch-view.tsx';

interface CodeBlockProps {
  text: string;
  language: string;
  /** The text is still growing. */
  growing?: boolean;
}

/** A code block of an answer, with its language and a copy button. */
export function CodeBlock({ text, language, growing = false }: CodeBlockProps) {
  const name = language.split(/\s/)[0] ?? '';
  const found = findLanguage(language);
  const isQuote = isPrinted(text, name);
  return (
    <figure class="code">
      <figcaption>
        <span>{name === '' ? 'text' : name}</span>
        <CopyButton text={isQuote ? toPlainText(text) : text} />
      </figcaption>
      {found === 'diff' && !growing ? (
        <PatchView text={text} isDiff language="diff" />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
        <pre tabIndex={0}>
          {isQuote ? <AnsiText text={text} /> : <CodeText text={text} language={found} growing={growing} />}
        </pre>
      )}
    </figure>
  );
}

/** Whether a code block quotes program output with colour codes. In source code the codes are shown as text. */
const isPrinted = (text: string, name: string): boolean =>
  text.includes('\u001b[') && PRINTED.includes(name.toLowerCase());
const PRINTED = ['', 'text', 'txt', 'plain', 'plaintext', 'console', 'terminal', 'output', 'ansi'];

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const copied = useSignal(false);
  // Browsers allow clipboard access only on https and localhost.
  if (!navigator.clipboard) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    copied.value = true;
    systemTimers.after(1500, () => {
      copied.value = false;
    });
  };
  return (
    <button type="button" class="quiet copy" onClick={() => void copy()}>
      <Icon name={copied.value ? 'check' : 'copy'} />
      {copied.value ? 'Copied' : label}
    </button>
  );
}
