import { z } from 'zod';
import { LIMITS } from '../../../../protocol/limits.ts';
import type { SubAgentEnd, SubAgents, SubAgentTask } from '../../subagents/sub-agents.ts';
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
  model: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('The alias of another model of your maker, such as a cheaper one; by default yours'),
  timeout_seconds: z.int().min(1).optional().describe('How long it may work; by default as long as you'),
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
    'Do not use it for one or two calls that you can make yourself. Returns {"outcome": "done" | "failed" | "cancelled" | "limit", "text", ...}; "cancelled_by" says that a person stopped it: do not start it again unasked.',
  ].join(' '),
  parameters: TaskArguments,
  readOnly: false,
  safeToRepeat: true, // it continues the sub-agent that it had started
  async prepare(args, { subAgents, callId }) {
    const { title, prompt, tools, mode, model, max_turns: maxTurns, max_tokens: maxTokens } = args;
    const subject = title.trim().split('\n')[0] ?? '';
    const refused = (reason: string) => ({ kind: 'refused' as const, subject, reason });
    if (prompt.trim() === '' || subject === '') return refused('The title or the prompt is empty.');
    if (!subAgents) return refused('Sub-agents cannot be started here.');
    const isStarted = subAgents.hasStarted(callId);
    const why = isStarted ? undefined : (subAgents.whyNot() ?? (await problemOf(args, subAgents)));
    if (why !== undefined) return refused(why);
    const timeoutMs = args.timeout_seconds === undefined ? undefined : args.timeout_seconds * 1_000;
    const task: SubAgentTask = { title: subject, prompt, tools, mode, model, timeoutMs, maxTurns, maxTokens };
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

/** What is asked for that the sub-agent cannot have. */
async function problemOf(
  { tools = [], model, timeout_seconds: seconds = 0 }: TaskArguments,
  subAgents: SubAgents,
): Promise<string | undefined> {
  const unknown = tools.filter((name) => !subAgents.canHave(name));
  if (unknown.length > 0) return `Sub-agents cannot have ${unknown.join(', ')}. Tools: ${subAgents.tools.join(', ')}.`;
  const mostSeconds = subAgents.maxTimeoutMs / 1_000;
  if (seconds > mostSeconds) return `timeout_seconds is ${seconds}, but can be at most ${mostSeconds}.`;
  return model === undefined ? undefined : subAgents.whyNotModel(model);
}

/** As data, so that no text of a sub-agent can be taken for anything else. */
function toOutcome(end: SubAgentEnd | { refused: string }): ToolOutcome {
  if ('refused' in end) return { output: end.refused, outcome: 'failed' };
  const { agentId, outcome, isByPerson, text, turns, toolCalls, tokens, taint } = end;
  const isLong = text.length > LIMITS.subAgentResultChars;
  const said = {
    outcome,
    ...(isByPerson && { cancelled_by: 'a person' }),
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
