import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { App, Desk } from '../state/app.ts';
import type { Theme } from '../state/appearance.ts';
import type { Panel } from '../state/workstreams.ts';
import { Icon, type IconName } from './icons.tsx';
import type { Overlay } from './overlay.ts';
import { TabList } from './rail/tab-list.tsx';

interface RailProps {
  app: App;
  desk: Desk;
  overlay: Overlay;
}

/** The list of workstreams and the buttons below it: a column next to the conversation, or a drawer on a phone. */
export function Rail({ app, desk, overlay }: RailProps) {
  const element = useRef<HTMLElement>(null);
  const isDrawn = overlay.value === 'drawer';
  useDrawerFocus(isDrawn, element.current);
  const show = (what: 'new' | 'saved' | 'shortcuts') => () => {
    overlay.value = what;
  };
  const closeDrawer = () => {
    if (overlay.peek() === 'drawer') overlay.value = undefined;
  };
  useNarrowOnly(isDrawn, closeDrawer);
  const { shown } = desk.workstreams;
  const showPanel = (panel: Panel) => () => {
    closeDrawer();
    shown.value = panel;
  };
  const asking = desk.nodes.waiting.value;
  return (
    <>
      <nav class="rail" id="rail" aria-label="Workstreams" ref={element}>
        <div class="brand">
          <span class="mark">
            <Icon name="gate" />
          </span>
          <span class="brand-name">Headgate</span>
          <button
            type="button"
            class="quiet icon-only drawer-close"
            aria-label="Back to the conversation"
            onClick={closeDrawer}
          >
            <Icon name="close" />
          </button>
        </div>
        <TabList app={app} desk={desk} onChosen={closeDrawer} />
        <div class="rail-actions">
          {app.rights.createWorkstreams.value && (
            <button type="button" class="quiet" onClick={show('new')}>
              <Icon name="plus" />
              <span>New workstream</span>
            </button>
          )}
          <button type="button" class="quiet" onClick={show('saved')}>
            <Icon name="archive" />
            <span>Saved conversations</span>
          </button>
          <PanelButton
            name="Dashboard"
            icon="board"
            isShown={shown.value === 'dashboard'}
            show={showPanel('dashboard')}
          />
          {app.rights.decide.value && (
            <PanelButton name="Inbox" icon="shield" isShown={shown.value === 'inbox'} show={showPanel('inbox')}>
              {desk.waiting.value > 0 && (
                <span class="badge">
                  {desk.waiting.value}
                  <span class="hidden-text"> waiting</span>
                </span>
              )}
            </PanelButton>
          )}
          <PanelButton name="Agent" icon="spark" isShown={shown.value === 'agent'} show={showPanel('agent')} />
          <PanelButton name="Schedule" icon="clock" isShown={shown.value === 'schedule'} show={showPanel('schedule')} />
          <PanelButton
            name="Nodes"
            icon="node"
            isShown={shown.value === 'nodes'}
            show={showPanel('nodes')}
            title={asking === 0 ? undefined : 'Pairing requests need a decision'}
          >
            {asking > 0 && <span class="badge">{asking === 1 ? 'asks' : `${asking} ask`}</span>}
          </PanelButton>
          <PanelButton
            name="Channels"
            icon="answer"
            isShown={shown.value === 'channels'}
            show={showPanel('channels')}
          />
          <PanelButton name="Usage" icon="chart" isShown={shown.value === 'usage'} show={showPanel('usage')} />
          <PanelButton name="Account" icon="person" isShown={shown.value === 'account'} show={showPanel('account')} />
        </div>
        <RailFoot app={app} onShortcuts={show('shortcuts')} />
      </nav>
      {isDrawn && <div class="drawer-shade" aria-hidden="true" onClick={closeDrawer} />}
    </>
  );
}

const THEMES: Record<Theme, { icon: IconName; label: string }> = {
  auto: { icon: 'auto', label: 'Colours: system' },
  light: { icon: 'light', label: 'Colours: light' },
  dark: { icon: 'dark', label: 'Colours: dark' },
};

function RailFoot({ app, onShortcuts }: { app: App; onShortcuts(): void }) {
  const { kind } = app.connection.value;
  const word = kind === 'open' ? 'Connected' : kind === 'connecting' ? 'Connecting…' : 'Disconnected';
  const version = app.health.value?.version;
  const theme = THEMES[app.appearance.theme.current.value];
  return (
    <div class="rail-foot">
      <span
        class={`link-state link-${kind}`}
        role="status"
        title={version === undefined ? word : `Headgate ${version}`}
      >
        {word}
      </span>
      <button
        type="button"
        class="quiet icon-only for-keyboards"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts (?)"
        onClick={onShortcuts}
      >
        <Icon name="keyboard" />
      </button>
      <button
        type="button"
        class="quiet icon-only"
        aria-label={theme.label}
        title={theme.label}
        onClick={() => app.appearance.theme.next()}
      >
        <Icon name={theme.icon} />
      </button>
      {app.auth.value.authEnabled && (
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Log out"
          title="Log out"
          onClick={() => void app.logOut()}
        >
          <Icon name="exit" />
        </button>
      )}
    </div>
  );
}

interface PanelButtonProps {
  name: string;
  icon: IconName;
  isShown: boolean;
  title?: string | undefined;
  /** After the name. */
  children?: ComponentChildren;
  show(): void;
}

const PanelButton = ({ name, icon, isShown, title, children, show }: PanelButtonProps) => (
  <button type="button" class="quiet" aria-current={isShown ? 'page' : undefined} title={title} onClick={show}>
    <Icon name={icon} />
    <span>{name}</span>
    {children}
  </button>
);

/** Moves the focus into the drawer when it opens, and back when it closes. */
function useDrawerFocus(isDrawn: boolean, drawer: HTMLElement | null): void {
  // A layout effect: in the next frame the page under the drawer loses the focus, and its place would be unknown.
  useLayoutEffect(() => {
    if (!isDrawn) return;
    const before = document.activeElement;
    drawer?.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus();
    return () => {
      if (before instanceof HTMLElement && document.querySelector('dialog[open]') === null) before.focus();
    };
  }, [isDrawn, drawer]);
}

/** Closes the drawer when the window gets wide, for example when a phone is turned: the list then has its own column. */
function useNarrowOnly(isDrawn: boolean, close: () => void): void {
  useLayoutEffect(() => {
    if (!isDrawn) return;
    const wide = matchMedia('(min-width: 761px)');
    const look = () => {
      if (wide.matches) close();
    };
    look();
    wide.addEventListener('change', look);
    return () => wide.removeEventListener('change', look);
  }, [isDrawn]);
}
