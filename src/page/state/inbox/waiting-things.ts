import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Result } from '../../../../protocol/index.ts';
import { toTaintWords } from '../../../../protocol/text/rule-words.ts';
import { toVisibleLine, toVisibleText } from '../../../../protocol/text/visible-text.ts';
import { attempt } from '../accounts/refusal.ts';
import type { Desk } from '../app.ts';
import { nodeName } from '../nodes/nodes.ts';
import { Reading } from '../reading/reading.ts';
import type { Panel } from '../workstreams.ts';

/** Something besides a question that waits for a person. */
export interface WaitingThing {
  /** Notifications lead to it by this key (src/gateway/push/thing-kinds.ts). */
  key: string;
  title: string;
  detail: string;
  sinceMs: number;
  /** Where it is decided, and everything about it is shown. */
  place: Panel;
  /** What can be decided here; each returns an error message, or undefined on success. */
  accept?: Choice;
  refuse?: Choice;
}

interface Choice {
  label: string;
  act(): Promise<string | undefined>;
}

type Memories = Result<'memory.quarantine.list'>['memories'];
type People = Result<'channel.sender.list'>['senders'];
type Accounts = Result<'mcp.consent.pending'>['pending'];

interface Rights {
  releaseMemories: ReadonlySignal<boolean>;
  manageChannels: ReadonlySignal<boolean>;
  changeNodes: ReadonlySignal<boolean>;
}

/** A longer text is read, and decided about, where it is whole. */
const MOST_CHARS = 600;

/** Machines, people, accounts and memories that wait. Read when the inbox is shown. */
export class WaitingThings {
  readonly #desk: Pick<Desk, 'client' | 'nodes' | 'others'>;
  readonly #rights: Rights;
  readonly #memories = signal<Memories>([]);
  readonly #people = signal<People>([]);
  readonly #accounts = signal<Accounts>([]);
  readonly reading: Reading;

  constructor(desk: Pick<Desk, 'client' | 'nodes' | 'others'>, rights: Rights) {
    this.#desk = desk;
    this.#rights = rights;
    this.reading = new Reading(desk.client);
  }

  /** Machines are read with the nodes. */
  get readings(): readonly Reading[] {
    return [this.reading, this.#desk.nodes.reading];
  }

  readonly all = computed((): WaitingThing[] => [
    ...(this.#rights.changeNodes.value ? this.#machines() : []),
    ...this.#people.value.filter(({ status }) => status === 'pending').map(toPerson),
    ...this.#accounts.value.map((account) => this.#toAccount(account)),
    ...this.#memories.value.map((memory) => this.#toMemory(memory)),
  ]);

  async read(): Promise<void> {
    await Promise.all([this.#desk.nodes.refresh(), this.#readOthers()]);
  }

  #readOthers(): Promise<void> {
    const { client } = this.#desk;
    const { releaseMemories, manageChannels } = this.#rights;
    return this.reading.read(
      () =>
        Promise.all([
          releaseMemories.peek() ? client.call('memory.quarantine.list', { limit: 200 }) : { memories: [] },
          manageChannels.peek() ? client.call('channel.sender.list', {}) : { senders: [] },
          client.call('mcp.consent.pending', {}),
        ]),
      ([{ memories }, { senders }, { pending }]) => {
        this.#memories.value = memories;
        this.#people.value = senders;
        this.#accounts.value = pending;
      },
    );
  }

  /** A machine is approved only beside the code that it shows. */
  #machines(): WaitingThing[] {
    const { nodes } = this.#desk;
    const waiting = nodes.asking.value.filter(({ outcome }) => outcome === undefined);
    return waiting.map(({ request }) => ({
      key: `machine ${request.nodeId}`,
      title: 'A machine asks to be paired',
      detail: toVisibleLine(nodeName(request)),
      sinceMs: request.ts,
      place: 'nodes',
      refuse: { label: 'Reject', act: () => nodes.reject(request.requestId) },
    }));
  }

  #toAccount({ server, sinceMs }: Accounts[number]): WaitingThing {
    const { client } = this.#desk;
    return {
      key: `account ${server}`,
      title: 'A call needed an account of yours',
      detail: toVisibleLine(server),
      sinceMs,
      place: 'agent',
      refuse: { label: 'Dismiss', act: () => this.#decide(() => client.call('mcp.consent.dismiss', { server })) },
    };
  }

  #toMemory({ memoryId, name, content, createdAtMs, taint }: Memories[number]): WaitingThing {
    const { client } = this.#desk;
    const text = toVisibleText(content);
    const isWhole = text.length <= MOST_CHARS;
    const release = () => this.#decide(() => client.call('memory.quarantine.release', { memoryId }));
    const discard = () => this.#decide(() => client.call('memory.quarantine.discard', { memoryId }));
    return {
      key: `memory ${memoryId}`,
      title: `A memory waits: the agent had read ${toTaintWords(taint)}`,
      detail: `${toVisibleLine(name)}\n${isWhole ? text : `${text.slice(0, MOST_CHARS)}…`}`,
      sinceMs: createdAtMs,
      place: 'agent',
      ...(isWhole && { accept: { label: 'Release', act: release } }),
      refuse: { label: 'Discard', act: discard },
    };
  }

  async #decide(act: () => Promise<unknown>): Promise<string | undefined> {
    const problem = await attempt(act);
    await Promise.all([this.read(), this.#desk.others.read()]);
    return problem;
  }
}

/** A person is approved by the code that the channel gave to this person. */
const toPerson = ({ channel, senderId, name, updatedAtMs }: People[number]): WaitingThing => ({
  key: `person ${channel} ${senderId}`,
  title: 'Somebody asks to write from a chat',
  detail: `${toVisibleLine(name)} (${toVisibleLine(channel)})`,
  sinceMs: updatedAtMs,
  place: 'channels',
});
