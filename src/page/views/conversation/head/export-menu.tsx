import { exportAddress } from '../../../state/files.ts';
import type { Tab } from '../../../state/tab.ts';
import type { Overlay } from '../../overlay.ts';
import { HeadMenu } from './head-menu.tsx';

const FORMATS = [
  { format: 'json', extension: 'json', words: 'As a file to import' },
  { format: 'markdown', extension: 'md', words: 'As a text (Markdown)' },
] as const;

interface ExportMenuProps {
  tab: Tab;
  name: string;
  overlay: Overlay;
}

/** Offers the conversation as a download, and on a phone what the head has no room for. */
export const ExportMenu = ({ tab, name, overlay }: ExportMenuProps) => (
  <HeadMenu label="Export" icon="down">
    {(close) => [
      ...FORMATS.map(({ format, extension, words }) => (
        <li key={format}>
          <a href={exportAddress(tab.wsId, format)} download={`${name}.${extension}`} onClick={close}>
            {words}
          </a>
        </li>
      )),
      <li key="find" class="for-phones">
        <button
          type="button"
          class="quiet"
          onClick={() => {
            close();
            tab.search.value ??= '';
          }}
        >
          Find in this conversation
        </button>
      </li>,
      <li key="files" class="for-phones">
        <button
          type="button"
          class="quiet"
          onClick={() => {
            close();
            tab.aside.value = { view: 'files' };
          }}
        >
          Files
        </button>
      </li>,
      <li key="changes" class="for-phones">
        <button
          type="button"
          class="quiet"
          onClick={() => {
            close();
            overlay.value = 'changes';
          }}
        >
          Changes on disk
        </button>
      </li>,
    ]}
  </HeadMenu>
);
