import { z } from 'zod';
import { contract } from '../../contract.ts';
import { PlanOutcome } from '../../events/questions/asked-plan.ts';
import { optionalKey, optionalText } from '../../frames.ts';

/** Plans that wait for a person: approvals of the kind `plan`. */
export const planContracts = {
  'plan.resolve': contract({
    summary:
      'Answer the pending plan of a workstream: an empty feedback approves it; n, no and reject reject it; other words ask for another plan. With approvalId only that plan (CONFLICT if it was decided).',
    scope: 'write',
    audit: { action: 'plan.resolve', id: 'approvalId', by: 'handler' },
    params: () =>
      z
        .strictObject({
          wsId: z.string(),
          feedback: z.string().max(16_384),
          approvalId: optionalText(),
          idempotencyKey: optionalKey(),
        })
        .meta({ id: 'PlanResolveParams' }),
    result: () =>
      z
        .strictObject({
          status: z.literal('ok'),
          /** The plan that was decided, and what follows; absent if none was pending. */
          approvalId: z.string().optional(),
          outcome: PlanOutcome.optional(),
        })
        .meta({ id: 'PlanResolveResult' }),
    idempotency: 'optional',
  }),
};
