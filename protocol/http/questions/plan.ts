import { z } from 'zod';
import { PlanOutcome } from '../../events/questions/asked-plan.ts';
import { endpoint } from '../endpoint.ts';

const text = z.string().nullish();

/** Plans that wait for a person (HTTP.md, "Plans"). */
export const planEndpoints = {
  resolve: endpoint({
    verb: 'post',
    path: '/v1/api/plan',
    summary: 'Answer the pending plan. Without a `feedback` that is a string, answers 400 and decides nothing.',
    scope: 'write',
    request: () =>
      z.object({
        /** Empty: approved. `n`, `no` and `reject`: rejected. Other words: another plan is wanted. */
        feedback: z.string({ error: 'must be a string; an empty one approves the plan' }),
        ws_id: z.string().default(''),
        approval_id: text,
        /** The name of `approval_id` in later releases. */
        cycle_id: text,
      }),
    reply: () =>
      z.object({
        status: z.literal('ok'),
        /** Absent if no plan was pending. */
        approval_id: z.string().optional(),
        outcome: PlanOutcome.optional(),
      }),
    errors: {
      400: 'feedback: must be a string; an empty one approves the plan',
      403: 'Only callers who may approve can ask for changes of this plan',
      404: 'Unknown workstream',
      409: 'The approval was already decided',
    },
    idempotencyKey: true,
  }),
};
