import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { WorkstreamState } from '../../../../protocol/stream-events.ts';

/** A tab as the status line shows it. */
export interface TabRow {
  name: string;
  state: WorkstreamState;
  isCurrent: boolean;
}

/** The workstreams of one terminal, of which it shows one. */
export interface ChatTabs {
  readonly rows: readonly TabRow[];
  /** Shows a workstream, in a new tab unless it has one. */
  open(wsId: string): void;
  /** Shows the tab at a place, from 1. False if there is none. */
  choose(place: number): boolean;
  /** Closes the tab that is shown. False if it is the only one. */
  close(): boolean;
}

/** The chat of the tab that is shown. */
export interface TabChat {
  readonly talk: {
    readonly settings: { readonly name: string };
    readonly transcript: { readonly state: WorkstreamState };
  };
  /** What is typed and not sent. */
  readonly draft: string;
  close(): void;
}

interface TabsDeps<C extends TabChat> {
  client: Pick<GatewayClient, 'subscribe'>;
  /** Begins to show a workstream. */
  start(wsId: string, draft: string): C;
  onChange(): void;
}

interface Tab {
  wsId: string;
  name: string;
  state: WorkstreamState;
  draft: string;
  /** Ends following the state of a tab that is not shown. */
  unfollow?: (() => void) | undefined;
}

/** Call `open` for the first tab. */
export function createTabs<C extends TabChat>({ client, start, onChange }: TabsDeps<C>): ChatTabs & Shown<C> {
  let tabs: Tab[] = [];
  let shown: { tab: Tab; chat: C } | undefined;
  const leave = (): void => {
    if (shown === undefined) return;
    const { tab, chat } = shown;
    Object.assign(tab, { name: chat.talk.settings.name, state: chat.talk.transcript.state, draft: chat.draft });
    chat.close();
    if (tabs.includes(tab)) tab.unfollow = followState(client, tab, onChange);
  };
  const show = (tab: Tab): void => {
    leave();
    tab.unfollow?.();
    tab.unfollow = undefined;
    shown = { tab, chat: start(tab.wsId, tab.draft) };
  };
  return {
    get current() {
      return shown?.chat;
    },
    get rows() {
      return tabs.map((tab) => toRow(tab, shown?.tab === tab ? shown.chat : undefined));
    },
    open(wsId) {
      const known = tabs.find((tab) => tab.wsId === wsId);
      if (known !== undefined && known === shown?.tab) return;
      const tab: Tab = known ?? { wsId, name: '', state: 'idle', draft: '' };
      if (!known) tabs = [...tabs, tab];
      show(tab);
    },
    choose(place) {
      const tab = tabs[place - 1];
      if (tab !== undefined && tab !== shown?.tab) show(tab);
      return tab !== undefined;
    },
    close() {
      const index = tabs.findIndex((tab) => tab === shown?.tab);
      const next = tabs[index + 1] ?? tabs[index - 1];
      if (next === undefined) return false;
      tabs = tabs.filter((tab) => tab !== shown?.tab);
      show(next);
      return true;
    },
    end() {
      for (const tab of tabs) tab.unfollow?.();
      shown?.chat.close();
    },
  };
}

interface Shown<C> {
  readonly current: C | undefined;
  /** Closes all tabs. */
  end(): void;
}

const toRow = (tab: Tab, chat: TabChat | undefined): TabRow => ({
  name: chat?.talk.settings.name || tab.name,
  state: chat?.talk.transcript.state ?? tab.state,
  isCurrent: chat !== undefined,
});

function followState(client: TabsDeps<TabChat>['client'], tab: Tab, onChange: () => void): () => void {
  const set = (state: WorkstreamState) => {
    if (tab.state === state) return;
    tab.state = state;
    onChange();
  };
  const subscription = client.subscribe(tab.wsId, {
    onSnapshot: ({ workstream }) => set(workstream.state),
    onEvent: (event) => event.type === 'ws_state' && set(event.state),
  });
  return () => subscription.close();
}
