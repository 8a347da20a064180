import { z } from 'zod';
import type { Tool } from '../tool.ts';

const PlanAgentArguments = z.strictObject({
  goal: z
    .string()
    .min(1)
    .max(16_000)
    .describe(
      'What is to be achieved, with all that is known and decided so far: the planner does not see this conversation',
    ),
});
type PlanAgentArguments = z.infer<typeof PlanAgentArguments>;

/** Has a plan made by an agent that only reads, and reviewed by a person before anything is done. */
export const planAgentTool: Tool<PlanAgentArguments> = {
  name: 'plan_agent',
  description: [
    'Makes a plan for larger or risky work: an agent explores the working directory, read-only, and writes the plan, which the',
    'person reviews and may have revised. Use it before you change anything if the work has several steps or more than one',
    'reasonable way. Returns the approved plan, whose steps are then your checklist, or that it was rejected.',
  ].join(' '),
  parameters: PlanAgentArguments,
  readOnly: true,
  safeToRepeat: true,
  async prepare({ goal }) {
    const [first = ''] = goal.trim().split('\n');
    if (first === '') return { kind: 'refused', subject: '', reason: 'The goal is empty.' };
    return {
      kind: 'ready',
      subject: first.slice(0, MAX_SUBJECT),
      preview: goal.trim(),
      approvalLabel: 'plan_agent',
      needsApproval: true,
      execute: async ({ reviewPlan }) => reviewPlan?.(goal.trim()) ?? NO_RUN,
    };
  },
};

const MAX_SUBJECT = 200;

const NO_RUN = { output: 'Plans can be made only in a conversation.', outcome: 'failed' } as const;
