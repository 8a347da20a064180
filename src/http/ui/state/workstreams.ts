import { computed, signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { ParamsInput, Result } from '../../../../protocol/index.ts';
import type { WorkstreamRow } from '../../../../protocol/methods/workstream.ts';
import { openTab, type Tab } from './tab.ts';

interface Port {
  client: GatewayClient;
  schedule(run: () => void): void;
  /** Whether a person can see the page. */
  isVisible(): boolean;
  /** Where the tab in front is remembered over a reload. */
  memory: Pick<Storage, 'getItem' | 'setItem'>;
}

export type SavedRow = Result<'workstream.saved'>['workstreams'][number];
const MEMORY_KEY = 'headgate.front';

/** The loaded workstreams as tabs, in the daemon's order, and which one is in front. */
export class Workstreams {
  readonly #port: Port;
  readonly #front = signal<string | undefined>(undefined);
  readonly tabs = signal<readonly Tab[]>([]);
  readonly front = computed(() => this.tabs.value.find(({ wsId }) => wsId === this.#front.value));

  constructor(port: Port) {
    this.#port = port;
    this.#front.value = port.memory.getItem(MEMORY_KEY) ?? undefined;
    const { client } = port;
    // No event tells of workstreams that others make or close: the list is read again whenever something hints at it.
    client.on('tick', () => this.refreshLater());
    client.on('health', () => this.refreshLater());
    client.on('approval.requested', ({ wsId }) => {
      if (!this.tabs.peek().some((tab) => tab.wsId === wsId)) this.refreshLater();
    });
  }

  async refresh(): Promise<void> {
    const { workstreams } = await this.#port.client.call('workstream.list', {});
    const before = new Map(this.tabs.peek().map((tab) => [tab.wsId, tab]));
    const tabs = workstreams.map((row) => this.#adopt(row, before.get(row.wsId)));
    const loaded = new Set(workstreams.map(({ wsId }) => wsId));
    for (const [wsId, tab] of before) if (!loaded.has(wsId)) tab.close();
    this.tabs.value = tabs;
    if (!this.front.peek() && tabs[0]) this.select(tabs[0].wsId);
  }

  refreshLater(): void {
    // A failure here is a lost connection, which the page shows and which ends in another refresh.
    this.refresh().catch(() => undefined);
  }

  select(wsId: string): void {
    this.#front.value = wsId;
    this.#port.memory.setItem(MEMORY_KEY, wsId);
    const tab = this.front.peek();
    if (tab) tab.unread.value = false;
  }

  /** Makes or reopens a workstream and brings it to the front. */
  async create(params: ParamsInput<'workstream.create'>): Promise<void> {
    const { wsId } = await this.#port.client.call('workstream.create', params);
    await this.show(wsId);
  }

  async show(wsId: string): Promise<void> {
    this.select(wsId);
    await this.refresh();
  }

  async close(tab: Tab): Promise<void> {
    await this.#port.client.call('workstream.close', { wsId: tab.wsId });
    await this.refresh();
  }

  async saved(): Promise<readonly SavedRow[]> {
    const { workstreams } = await this.#port.client.call('workstream.saved', { limit: 100 });
    return workstreams.filter(({ loaded }) => !loaded);
  }

  dispose(): void {
    for (const tab of this.tabs.peek()) tab.close();
  }

  #adopt(row: WorkstreamRow, tab: Tab | undefined): Tab {
    if (tab) {
      tab.row.value = row;
      return tab;
    }
    const { client, schedule, isVisible } = this.#port;
    return openTab(row, {
      client,
      schedule,
      isInFront: (wsId) => isVisible() && this.#front.peek() === wsId,
      onGone: () => this.refreshLater(),
    });
  }
}
