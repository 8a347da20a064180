import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import { Icon } from './icons.tsx';

/** A fence of an answer, with its language and a copy button. */
export function CodeBlock({ text, language }: { text: string; language: string }) {
  const name = language.split(/\s/)[0] ?? '';
  return (
    <figure class="code">
      <figcaption>
        <span>{name === '' ? 'text' : name}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre>{name === 'diff' ? <DiffLines text={text} /> : <code>{text}</code>}</pre>
    </figure>
  );
}

/** What a tool shows before it acts: a diff in colours, anything else as it is. */
export function Preview({ text }: { text: string }) {
  return <pre class="preview">{isDiff(text) ? <DiffLines text={text} /> : <code>{text}</code>}</pre>;
}

/** Beyond this many lines a diff is shown without colours: elements cost more than letters. */
const MAX_COLOURED_LINES = 3_000;

function DiffLines({ text }: { text: string }) {
  const lines = useMemo(() => text.trimEnd().split('\n'), [text]);
  if (lines.length > MAX_COLOURED_LINES) return <code>{text}</code>;
  return (
    <code class="diff">
      {lines.map((line, index) => (
        <span key={index} class={lineClass(line)}>{`${line}\n`}</span>
      ))}
    </code>
  );
}

const isDiff = (text: string) => /^(@@ |--- |\+\+\+ )/m.test(text);

function lineClass(line: string): string | undefined {
  if (line.startsWith('@@')) return 'hunk';
  if (line.startsWith('+++') || line.startsWith('---')) return 'file';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : undefined;
}

function CopyButton({ text }: { text: string }) {
  const copied = useSignal(false);
  // Browsers give the clipboard only to https and localhost.
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
      {copied.value ? 'Copied' : 'Copy'}
    </button>
  );
}
