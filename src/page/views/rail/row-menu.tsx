import { useId, useRef, useState } from 'preact/hooks';
import { mayShare } from '../../state/accounts/who.ts';
import type { App, Desk } from '../../state/app.ts';
import { exportAddress } from '../../state/files.ts';
import { toFragment } from '../../state/finding/message-link.ts';
import { type Tab, tabName } from '../../state/tab.ts';
import { walk } from '../arrow-keys.ts';
import { Icon } from '../icons.tsx';

interface RowMenuProps {
  app: App;
  desk: Desk;
  tab: Tab;
  /** The only workstream stays. */
  mayClose: boolean;
  isNext: boolean;
  rename(): void;
  close(): void;
}

/** What can be done with a workstream of the list: a menu in front of everything. Escape and a press elsewhere close it. */
export function RowMenu({ app, desk, tab, mayClose, isNext, rename, close }: RowMenuProps) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const name = tabName(tab);
  const act = (run: () => void) => () => {
    menu.current?.hidePopover();
    run();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="quiet icon-only tab-more"
        tabIndex={isNext ? 0 : -1}
        aria-label={`Options of ${name}`}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        title="More"
        popovertarget={id}
      >
        <Icon name="more" />
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        class="row-menu"
        role="menu"
        aria-label={name}
        onBeforeToggle={({ newState }) => {
          if (newState === 'open') place(menu.current, button.current);
        }}
        onToggle={({ newState }) => {
          setOpen(newState === 'open');
          if (newState === 'open') menu.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
        }}
        onKeyDown={(event) => {
          event.stopPropagation(); // the keys of the list and the page do not apply here
          walk(event, '[role=menuitem]');
        }}
      >
        {isOpen && (
          <>
            <Entry
              words={desk.rail.pins.ids.value.has(tab.wsId) ? 'Unpin' : 'Pin'}
              run={act(() => desk.rail.pins.toggle(tab.wsId))}
            />
            {app.rights.write.value && <Entry words="Rename" keys="F2" run={act(rename)} />}
            {navigator.clipboard && <Entry words="Copy link" run={act(() => void copyLink(tab))} />}
            <a
              role="menuitem"
              class="quiet"
              href={exportAddress(tab.wsId, 'markdown')}
              download={`${name}.md`}
              onClick={act(() => undefined)}
            >
              Export as text
            </a>
            <a
              role="menuitem"
              class="quiet"
              href={exportAddress(tab.wsId, 'json')}
              download={`${name}.json`}
              onClick={act(() => undefined)}
            >
              Export to import elsewhere
            </a>
            <ShareEntry app={app} desk={desk} tab={tab} act={act} />
            {mayClose && <Entry words="Close; stays saved" keys="Del" run={act(close)} />}
            {mayClose && app.rights.deleteConversations.value && (
              <Entry words="Delete" run={act(() => desk.rail.removals.remove(tab))} />
            )}
          </>
        )}
      </div>
    </>
  );
}

interface ShareEntryProps extends Pick<RowMenuProps, 'app' | 'desk' | 'tab'> {
  act(run: () => void): () => void;
}

/** The other one of the two choices that the menu next to the name has. */
function ShareEntry({ app, desk, tab, act }: ShareEntryProps) {
  const row = tab.row.value;
  const who = app.who.value;
  if (!mayShare(who, row, app.auth.value.hasUsers)) return null;
  const isPrivate = row.visibility === 'private';
  return (
    <Entry
      words={isPrivate ? 'Share with everyone here' : 'Make private'}
      title={isPrivate ? undefined : `${desk.owners.onlyWords(who, row)} see it then`}
      run={act(() => void desk.actions.share(tab, isPrivate ? 'shared' : 'private'))}
    />
  );
}

interface EntryProps {
  words: string;
  keys?: string;
  title?: string | undefined;
  run(): void;
}

const Entry = ({ words, keys, title, run }: EntryProps) => (
  <button type="button" role="menuitem" class="quiet" title={title} onClick={run}>
    {words}
    {keys !== undefined && <kbd>{keys}</kbd>}
  </button>
);

const copyLink = ({ wsId }: Tab): Promise<void> =>
  navigator.clipboard.writeText(`${location.origin}${location.pathname}#${toFragment({ wsId })}`);

/** Room that the menu needs below its button. */
const HEIGHT_PX = 360;

/** Below its button, or above it near the end of the screen. */
function place(menu: HTMLElement | null, button: HTMLElement | null): void {
  if (!menu || !button) return;
  const { left, top, bottom } = button.getBoundingClientRect();
  const isLow = bottom + HEIGHT_PX > window.innerHeight && top > window.innerHeight / 2;
  menu.style.left = `${Math.max(8, Math.min(left, window.innerWidth - 232))}px`;
  menu.style.top = isLow ? 'auto' : `${bottom + 2}px`;
  menu.style.bottom = isLow ? `${window.innerHeight - top + 2}px` : 'auto';
}
