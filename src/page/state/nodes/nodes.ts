import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { Result } from '../../../../protocol/index.ts';
import type { NodeRow, PairedNode } from '../../../../protocol/methods/node.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { type Asking, PairingQueue } from './pairing-queue.ts';

interface Port {
  client: Reader & Pick<GatewayClient, 'on'>;
  /** Whether this login may see and decide pairing requests. */
  mayDecide(): boolean;
  /** Milliseconds since 1970. */
  now(): number;
}

export interface NodeEntry extends NodeRow {
  /** Time of the last approval; undefined without the approve scope. */
  approvedAtMs: number | undefined;
  /** Time of the last disconnect, by this browser's clock; undefined while connected, and if it never was. */
  leftAtMs: number | undefined;
}

/**
 * The paired nodes and the pairing requests. Requests are read from the start, because they need a decision. Nodes are
 * read and kept current only while the panel is open.
 */
export class Nodes {
  readonly #port: Port;
  /** Of nodes and requests. */
  readonly reading: Reading;
  readonly #queue: PairingQueue;
  readonly #nodes = signal<readonly NodeEntry[] | undefined>(undefined);
  #isFollowed = false;
  #isReading = false;
  #read: Promise<void> = Promise.resolve();
  /** Something has changed since the current read began. */
  #isStale = false;

  constructor(port: Port) {
    this.#port = port;
    this.reading = new Reading(port.client);
    this.#queue = new PairingQueue();
    const { client } = port;
    client.on('node.pair.requested', () => this.refreshLater());
    client.on('node.pair.resolved', (resolved) => {
      this.#queue.resolve(resolved);
      this.refreshLater();
    });
    // Connects and disconnects have an event. Other changes, such as a new name, are read with the next tick.
    for (const event of ['presence', 'tick'] as const) client.on(event, () => this.#isFollowed && this.refreshLater());
  }

  /** Undefined until the first answer. Sorted by the daemon: connected nodes first, then by name. */
  get nodes(): ReadonlySignal<readonly NodeEntry[] | undefined> {
    return this.#nodes;
  }

  /** Pairing requests, oldest first. A finished request keeps its place until it is dismissed. */
  get asking(): ReadonlySignal<readonly Asking[]> {
    return this.#queue.asking;
  }

  /** Number of requests that wait for a decision. */
  readonly waiting = computed(() => this.asking.value.filter(({ outcome }) => outcome === undefined).length);

  /** Called when the panel opens. Call the returned function when it closes. */
  follow(): () => void {
    this.#isFollowed = true;
    this.refreshLater();
    return () => {
      this.#isFollowed = false;
      this.#queue.forgetEnded();
    };
  }

  refreshLater(): void {
    this.#isStale = true;
    if (!this.#isReading && (this.#isFollowed || this.#port.mayDecide())) this.#read = this.#readAll();
  }

  /** Resolves when what is known is current, or could not be read. */
  refresh(): Promise<void> {
    this.refreshLater();
    return this.#read;
  }

  /** This and the next methods return an error message, or undefined on success. */
  async approve(requestId: string): Promise<string | undefined> {
    return this.#attempt(async () => {
      await this.#port.client.call('node.pair.approve', { requestId });
      this.#queue.resolve({ requestId, decision: 'approved' });
    });
  }

  async reject(requestId: string): Promise<string | undefined> {
    return this.#attempt(async () => {
      await this.#port.client.call('node.pair.reject', { requestId });
      this.#queue.resolve({ requestId, decision: 'rejected' });
    });
  }

  dismiss(requestId: string): void {
    this.#queue.dismiss(requestId);
  }

  async rename(nodeId: string, displayName: string): Promise<string | undefined> {
    if (displayName === '') return 'A node needs a name.';
    return this.#attempt(() => this.#port.client.call('node.rename', { nodeId, displayName }));
  }

  async revoke(nodeId: string): Promise<string | undefined> {
    return this.#attempt(() => this.#port.client.call('node.token.revoke', { nodeId }));
  }

  async #attempt(act: () => Promise<unknown>): Promise<string | undefined> {
    try {
      await act();
      return undefined;
    } catch (error) {
      return wordsOf(error);
    } finally {
      this.refreshLater(); // the event may be late or lost, and a refusal may mean that the list is out of date
    }
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#isStale) {
      this.#isStale = false;
      await this.#readOnce();
    }
    this.#isReading = false;
  }

  #readOnce(): Promise<void> {
    const { client, mayDecide } = this.#port;
    return this.reading.read(
      () =>
        Promise.all([
          mayDecide() ? client.call('node.pair.list', {}) : undefined,
          this.#isFollowed ? client.call('node.list', { extended: true }) : undefined,
        ]),
      ([pairing, list]) => this.#keep(pairing, list),
    );
  }

  #keep(pairing: Result<'node.pair.list'> | undefined, list: Result<'node.list'> | undefined): void {
    const { now } = this.#port;
    const aheadMs = list === undefined ? 0 : list.ts - now();
    this.#queue.update(pairing?.pending ?? [], { aheadMs, keepsEnded: this.#isFollowed });
    if (list === undefined) return;
    const approvals = approvalsOf(pairing?.paired ?? []);
    this.#nodes.value = list.nodes.map((node) => ({
      ...node,
      approvedAtMs: approvals.get(node.nodeId),
      leftAtMs: node.lastSeenAtMs === undefined ? undefined : node.lastSeenAtMs - aheadMs,
    }));
  }
}

/** The name of the node, or its id if the name is empty. */
export const nodeName = ({ displayName, nodeId }: Pick<NodeRow, 'displayName' | 'nodeId'>): string =>
  displayName?.trim() || nodeId;

const approvalsOf = (paired: readonly PairedNode[]): Map<string, number> =>
  new Map(paired.map(({ nodeId, approvedAtMs }) => [nodeId, approvedAtMs]));
