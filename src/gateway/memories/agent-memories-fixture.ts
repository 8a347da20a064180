import assert from 'node:assert/strict';
import { testGuard } from '../../agent/guard/guard-fixture.ts';
import type { HistorySource } from '../../agent/memory/history-source.ts';
import type { MemorySource } from '../../agent/memory/memory-source.ts';
import { createMemoryTool } from '../../agent/memory/memory-tool.ts';
import { createRecallTool } from '../../agent/memory/recall-tool.ts';
import type { Message } from '../../agent/message.ts';
import type { ModelRequest } from '../../agent/providers/model.ts';
import { createToolbox } from '../../agent/tools/toolbox.ts';
import { randomIds } from '../../ids.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { createMessageRecall } from '../recall/message-recall.ts';
import type { SqliteStore } from '../store/sqlite-store.ts';
import { calling } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { MemorySettings } from './agent-memories.ts';
import { type OpenedMemories, openMemories } from './open-memories.ts';

/** A gateway whose agent has the tools `memory` and `recall`, as the daemon gives them to it. */
export async function gatewayWithMemories(changed: Partial<MemorySettings> = {}) {
  const settings: MemorySettings = {
    relevanceK: 5,
    fetchLimit: 50,
    maxContent: 32_768,
    nudges: true,
    nudgeCooldownSecs: 300,
    ...changed,
  };
  let opened: { memories: OpenedMemories; recall: HistorySource } | undefined;
  const get = () => opened ?? assert.fail('no store yet');
  /** A restart opens them anew. */
  const current: OpenedMemories = {
    get memories() {
      return get().memories.memories;
    },
    get quarantine() {
      return get().memories.quarantine;
    },
    get agents() {
      return get().memories.agents;
    },
  };
  const agents: MemorySource = {
    placesIn: (...asked) => current.agents.placesIn(...asked),
    list: (...asked) => current.agents.list(...asked),
    search: (...asked) => current.agents.search(...asked),
    save: (...asked) => current.agents.save(...asked),
    remove: (...asked) => current.agents.remove(...asked),
    forRuns: (...asked) => current.agents.forRuns(...asked),
  };
  const history: HistorySource = { search: (...asked) => get().recall.search(...asked) };
  const gateway = await wholeGateway({
    toolbox: createToolbox([createMemoryTool({ memories: agents, settings }), createRecallTool(history)], testGuard()),
    memories: current,
    tap(store: SqliteStore) {
      const [clock, log] = [{ now: () => 1_000_000 }, recordingLog()];
      const memories = openMemories({ store, clock, ids: randomIds, log, settings: () => settings });
      opened = { memories, recall: createMessageRecall({ store }) };
      return store;
    },
  });
  return Object.assign(gateway, {
    settings,
    /** The message of a person, and what the model was sent before it answered. */
    async say(text: string, options: Said = {}): Promise<ModelRequest> {
      const { length } = gateway.puppet.requests;
      await end(await gateway.accept(text, options));
      return gateway.puppet.requests[length] ?? assert.fail('no request');
    },
    /** The agent makes a call in answer to a message; returns its stored result. */
    async uses(tool: 'memory' | 'recall', args: object, options: Said = {}) {
      gateway.puppet.turn(calling(tool, args));
      await end(await gateway.accept('do it', options));
      const { messages = [] } = gateway.puppet.requests.at(-1) ?? {};
      return messages.findLast((message) => message.role === 'tool') ?? assert.fail('no result');
    },
  });
}

interface Said {
  to?: Workstream;
  /** `write`: a caller whom nobody trusts with approvals, which taints the turn. */
  rights?: 'approve' | 'write';
}

async function end(run: Awaited<ReturnType<WholeGateway['accept']>>): Promise<void> {
  const { status, error } = await (run ?? assert.fail('refused')).ended;
  assert.deepEqual([status, error], ['ok', undefined]);
}

/** The messages of the daemon that show memories. */
export const shownMemories = ({ messages }: Pick<ModelRequest, 'messages'>): string[] =>
  messages.flatMap((message: Message) =>
    message.role === 'user' && message.environment?.memories ? [message.content] : [],
  );
