import { useRef } from 'preact/hooks';
import { exportAddress } from '../../state/files.ts';
import type { Tab } from '../../state/tab.ts';
import { Icon } from '../icons.tsx';

const FORMATS = [
  { format: 'json', extension: 'json', words: 'As a file to import' },
  { format: 'markdown', extension: 'md', words: 'As a text (Markdown)' },
] as const;

/** Offers the conversation as a download. */
export function ExportMenu({ tab, name }: { tab: Tab; name: string }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  return (
    <details
      class="export-menu"
      ref={menu}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) close();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !menu.current?.open) return;
        event.stopPropagation();
        close();
        menu.current.querySelector('summary')?.focus();
      }}
    >
      <summary class="quiet icon-only" aria-label="Export" title="Export">
        <Icon name="down" />
      </summary>
      <ul>
        {FORMATS.map(({ format, extension, words }) => (
          <li key={format}>
            <a href={exportAddress(tab.wsId, format)} download={`${name}.${extension}`} onClick={close}>
              {words}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
