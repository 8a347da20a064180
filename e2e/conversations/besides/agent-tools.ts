import { z } from 'zod';
import { testGuard } from '../../../src/agent/guard/guard-fixture.ts';
import { createFindTools } from '../../../src/agent/mcp/find-tool.ts';
import { createServerTool } from '../../../src/agent/mcp/server-tool.ts';
import type { ServerReply } from '../../../src/agent/mcp/session.ts';
import { toToolName } from '../../../src/agent/mcp/tool-name.ts';
import type { HistorySource } from '../../../src/agent/memory/history-source.ts';
import type { MemorySource } from '../../../src/agent/memory/memory-source.ts';
import { createMemoryTool } from '../../../src/agent/memory/memory-tool.ts';
import { createRecallTool } from '../../../src/agent/memory/recall-tool.ts';
import type { SkillSource } from '../../../src/agent/skills/skill-source.ts';
import { createSkillTool } from '../../../src/agent/skills/skill-tool.ts';
import { taskTool } from '../../../src/agent/tools/agents/task.ts';
import { planAgentTool } from '../../../src/agent/tools/person/plan-agent.ts';
import { createTodoTool } from '../../../src/agent/tools/todo.ts';
import type { Tool } from '../../../src/agent/tools/tool.ts';
import type { ChangingTools } from '../../../src/agent/tools/toolbox.ts';
import { systemClock } from '../../../src/clock.ts';
import { randomIds } from '../../../src/ids.ts';

const SERVER = 'notes';
/** The tool of a tool server, as models know it. */
export const SERVER_TOOL = toToolName(SERVER, 'read');
/** It asks the person something. */
export const ASKING_TOOL = toToolName(SERVER, 'ask');

/** What agents know, in the process that runs now. */
export interface AgentWorld {
  memories(): MemorySource;
  skills(): SkillSource;
  history(): HistorySource;
}

/** What the agent does beside the conversation, and what it knows. All are those of the daemon. */
export const agentTools = (version: number, { memories, skills, history }: AgentWorld): Tool<never>[] =>
  [
    taskTool,
    planAgentTool,
    createMemoryTool({ memories: current(memories), settings: { maxContent: 32_768 } }),
    createRecallTool({ search: (...asked) => history().search(...asked) }),
    createSkillTool({
      now: (...asked) => skills().now(...asked),
      offered: (...asked) => skills().offered(...asked),
      load: (...asked) => skills().load(...asked),
      read: (...asked) => skills().read(...asked),
    }),
    createTodoTool(),
    serverTool('read', version),
    serverTool('ask', version),
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

/** More than models are told of one by one. */
const MANY = 24;
export const hiddenTool = (number: number): string => toToolName(SERVER, `note_${number % MANY}`);

/** Models find these by a search. An update changes what they find. */
export function manyTools(version: number): ChangingTools {
  const many = Array.from({ length: MANY }, (_, number) => serverTool(`note_${number}`, version));
  const finding = createFindTools(() => many);
  return {
    offered: () => finding,
    find: (name) => [...many, ...finding].find((tool) => tool.name === name),
    ready: async () => undefined,
  };
}

const Asked = z.object({
  name: z.string(),
  arguments: z.object({ text: z.string().optional() }),
  inputResponses: z.unknown().optional(),
});

/** `ask` has a question for the person first, whose answer comes with a further request. */
function replyTo(params: unknown): ServerReply {
  const { name, arguments: given, inputResponses: answers } = Asked.parse(params);
  if (name === 'ask' && answers === undefined) return { kind: 'input', requests: { asked: QUESTION }, state: 'asked' };
  const text = `${name === 'read' ? 'read' : 'noted'} ${given.text} ${answers === undefined ? '' : JSON.stringify(answers)}`;
  return { kind: 'done', answer: { content: [{ type: 'text', text }], isError: false } };
}

const QUESTION = {
  method: 'elicitation/create',
  params: {
    message: 'Which one?',
    requestedSchema: { type: 'object', properties: { one: { type: 'string' } }, required: ['one'] },
  },
};

/** Of a server that replies at once. An update describes its tools in another way. */
const serverTool = (tool: string, version: number): Tool<Record<string, unknown>> =>
  createServerTool(
    {
      name: tool,
      description: `Version ${version} of ${tool}.`,
      inputSchema: { type: 'object', properties: { text: { type: 'string' }, chars: { type: 'number' } } },
      digest: `digest of version ${version}`,
    },
    {
      name: SERVER,
      config: {
        ...{ command: 'notes', args: [], env: {}, headers: {}, network: [], folders: [], writesFolders: false },
        ...{ sandbox: false, autoApprove: true, enabled: true, timeoutSecs: 20 },
      },
      call: async ({ params }) => replyTo(params),
    },
    { guard: testGuard(), outputs: '/nowhere', clock: systemClock, ids: randomIds },
  );
