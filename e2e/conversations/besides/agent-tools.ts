import { z } from 'zod';
import { testGuard } from '../../../src/agent/guard/guard-fixture.ts';
import { createServerTool } from '../../../src/agent/mcp/server-tool.ts';
import { toToolName } from '../../../src/agent/mcp/tool-name.ts';
import type { MemorySource } from '../../../src/agent/memory/memory-source.ts';
import { createMemoryTool } from '../../../src/agent/memory/memory-tool.ts';
import { taskTool } from '../../../src/agent/tools/agents/task.ts';
import { planAgentTool } from '../../../src/agent/tools/person/plan-agent.ts';
import type { Tool } from '../../../src/agent/tools/tool.ts';
import { systemClock } from '../../../src/clock.ts';
import { randomIds } from '../../../src/ids.ts';

const SERVER = 'notes';
/** The tool of a tool server, as models know it. */
export const SERVER_TOOL = toToolName(SERVER, 'read');

/** What the agent does beside the conversation: sub-agents, plans, memories, and a tool server. All are those of the daemon. */
export const agentTools = (version: number, memories: () => MemorySource): Tool<never>[] =>
  [
    taskTool,
    planAgentTool,
    createMemoryTool({ memories: current(memories), settings: { maxContent: 32_768 } }),
    serverTool(version),
  ] as Tool<never>[]; // tools differ in their arguments

/** Those of the process that runs now. */
const current = (get: () => MemorySource): MemorySource => ({
  placesIn: (...asked) => get().placesIn(...asked),
  list: (...asked) => get().list(...asked),
  search: (...asked) => get().search(...asked),
  save: (...asked) => get().save(...asked),
  remove: (...asked) => get().remove(...asked),
  forRuns: (...asked) => get().forRuns(...asked),
});

const Asked = z.object({ arguments: z.object({ text: z.string().optional() }) });

const answerTo = (params: unknown) => ({
  content: [{ type: 'text' as const, text: `read ${Asked.parse(params).arguments.text}` }],
  isError: false,
});

/** A server that answers at once. An update describes its tool in another way. */
const serverTool = (version: number): Tool<Record<string, unknown>> =>
  createServerTool(
    {
      name: 'read',
      description: `Version ${version} of read.`,
      inputSchema: { type: 'object', properties: { text: { type: 'string' }, chars: { type: 'number' } } },
      digest: `digest of version ${version}`,
    },
    {
      name: SERVER,
      config: {
        ...{ command: 'notes', args: [], env: {}, headers: {}, network: [], folders: [], writesFolders: false },
        ...{ sandbox: false, autoApprove: true, enabled: true, timeoutSecs: 20 },
      },
      call: async ({ params }) => ({ kind: 'done', answer: answerTo(params) }),
    },
    { guard: testGuard(), outputs: '/nowhere', clock: systemClock, ids: randomIds },
  );
