import { z } from 'zod';
import { LIMITS } from '../../../../protocol/limits.ts';
import type { SubAgentEnd, SubAgentTask } from '../../subagents/sub-agents.ts';
import { TASK } from '../../subagents/sub-agents.ts';
import type { Tool, ToolOutcome } from '../tool.ts';

const DEFAULT_TURNS = 50;

const TaskArguments = z.strictObject({
  title: z.string().min(1).max(100).describe('What it is about, in three to eight words, for people'),
  prompt: z
    .string()
    .min(1)
    .max(32_000)
    .describe('The whole task: goal, places, limits, and what to report. The sub-agent knows nothing else'),
  tools: z
    .array(z.string().max(128))
    .min(1)
    .max(64)
    .optional()
    .describe('The only tools it gets; by default all of yours'),
  mode: z
    .enum(['read_only', 'ask', 'edits'])
    .optional()
    .describe('Narrows what runs without asking; read_only: it changes nothing'),
  max_turns: z.int().min(1).max(200).default(DEFAULT_TURNS).describe('Model turns'),
  max_tokens: z.int().min(1_000).max(100_000_000).optional().describe('Tokens of all its requests and answers'),
});
type TaskArguments = z.infer<typeof TaskArguments>;

/** Gives a task to a sub-agent, and returns its last answer. The calls of the sub-agent are decided one by one. */
export const taskTool: Tool<TaskArguments> = {
  name: TASK,
  description: [
    'Gives a task to a sub-agent that works in the same folder with a context of its own, and waits for its answer.',
    'Use it for work that needs much reading and has a short result, and make several calls in one turn for independent parts: they run at the same time.',
    'Do not use it for one or two calls that you can make yourself. Returns {"outcome": "done" | "failed" | "cancelled" | "limit", "text", ...}.',
  ].join(' '),
  parameters: TaskArguments,
  readOnly: false,
  safeToRepeat: true, // it continues the sub-agent that it had started
  async prepare({ title, prompt, tools, mode, max_turns: maxTurns, max_tokens: maxTokens }, { subAgents, callId }) {
    const subject = title.trim().split('\n')[0] ?? '';
    const refused = (reason: string) => ({ kind: 'refused' as const, subject, reason });
    if (prompt.trim() === '' || subject === '') return refused('The title or the prompt is empty.');
    if (!subAgents) return refused('Sub-agents cannot be started here.');
    const why = subAgents.whyNot();
    if (why !== undefined) return refused(why);
    const unknown = tools?.filter((name) => !subAgents.tools.includes(name)) ?? [];
    if (unknown.length > 0)
      return refused(`Sub-agents cannot have ${unknown.join(', ')}. Tools: ${subAgents.tools.join(', ')}.`);
    const task: SubAgentTask = { title: subject, prompt, tools, mode, maxTurns, maxTokens };
    return {
      kind: 'ready',
      subject,
      preview: prompt,
      approvalLabel: TASK,
      needsApproval: false,
      reading: { commands: [], effects: [], gaps: [] },
      execute: async () => toOutcome(await subAgents.run(callId, task)),
    };
  },
};

/** As data, so that no text of a sub-agent can be taken for anything else. */
function toOutcome({ agentId, outcome, text, turns, toolCalls, tokens, taint }: SubAgentEnd): ToolOutcome {
  const isLong = text.length > LIMITS.subAgentResultChars;
  const said = {
    outcome,
    text: isLong ? text.slice(0, LIMITS.subAgentResultChars) : text,
    ...(isLong && { cut: `The first ${LIMITS.subAgentResultChars} of ${text.length} characters.` }),
    agent_id: agentId,
    turns,
    tool_calls: toolCalls,
    tokens,
  };
  return { output: JSON.stringify(said), outcome: OUTCOMES[outcome], ...(taint && { taint }) };
}

const OUTCOMES = { done: 'done', limit: 'done', failed: 'failed', cancelled: 'cancelled' } as const;
