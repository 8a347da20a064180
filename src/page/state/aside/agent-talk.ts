import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { SubAgent } from '../../../../protocol/events/sub-agent.ts';
import type { Block, TalkBlock } from '../conversation/blocks.ts';
import { toBlocks } from '../conversation/history-blocks.ts';
import { closeTools } from '../conversation/tool-blocks.ts';
import { type Reader, Reading } from '../reading/reading.ts';

/** Which sub-agent: itself, or the one that a call has started. */
export type AgentName = { agentId: string } | { callId: string };

export interface Talk {
  agent: SubAgent;
  blocks: readonly TalkBlock[];
}

/** The task of a sub-agent, and what it has said and done. */
export class AgentTalk {
  readonly #client: Reader;
  readonly #wsId: string;
  readonly #name: AgentName;
  readonly #talk: Signal<Talk | undefined> = signal(undefined);
  readonly #isMissing = signal(false);
  readonly reading: Reading;

  constructor({ client, wsId, name }: { client: Reader; wsId: string; name: AgentName }) {
    this.#client = client;
    this.#wsId = wsId;
    this.#name = name;
    this.reading = new Reading(client);
  }

  /** Undefined until it is read. */
  get talk(): ReadonlySignal<Talk | undefined> {
    return this.#talk;
  }

  /** The call has not started a sub-agent. */
  get isMissing(): ReadonlySignal<boolean> {
    return this.#isMissing;
  }

  /** Reads it, and again after an event about it. */
  read(): Promise<void> {
    return this.reading.read(
      () => this.#ask(),
      (talk) => {
        this.#talk.value = talk;
        this.#isMissing.value = talk === undefined;
      },
    );
  }

  async #ask(): Promise<Talk | undefined> {
    const agentId = 'agentId' in this.#name ? this.#name.agentId : await this.#find(this.#name.callId);
    if (agentId === undefined) return undefined;
    const { agent, messages } = await this.#client.call('subagent.messages', { wsId: this.#wsId, agentId });
    const blocks = toBlocks(messages);
    return { agent, blocks: (agent.state === 'ended' ? closeTools(blocks) : blocks).filter(isTalk) };
  }

  async #find(callId: string): Promise<string | undefined> {
    const { agents } = await this.#client.call('subagent.list', { wsId: this.#wsId });
    return agents.findLast(({ call_id }) => call_id === callId)?.agent_id;
  }
}

const isTalk = (block: Block): block is TalkBlock => block.kind !== 'summary';
