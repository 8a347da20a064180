import { exportAddress } from '../../../state/files.ts';
import type { Tab } from '../../../state/tab.ts';
import { HeadMenu } from './head-menu.tsx';

const FORMATS = [
  { format: 'json', extension: 'json', words: 'As a file to import' },
  { format: 'markdown', extension: 'md', words: 'As a text (Markdown)' },
] as const;

/** Offers the conversation as a download. */
export const ExportMenu = ({ tab, name }: { tab: Tab; name: string }) => (
  <HeadMenu label="Export" icon="down">
    {(close) =>
      FORMATS.map(({ format, extension, words }) => (
        <li key={format}>
          <a href={exportAddress(tab.wsId, format)} download={`${name}.${extension}`} onClick={close}>
            {words}
          </a>
        </li>
      ))
    }
  </HeadMenu>
);
