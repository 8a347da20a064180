import { planEndpoints } from '../../../../protocol/http/questions/plan.ts';
import { bind, given } from '../../bind.ts';

export const planRoutes = [
  bind(planEndpoints.resolve, 'plan.resolve', {
    params: ({ ws_id, feedback, approval_id, cycle_id }) => ({
      wsId: ws_id,
      feedback,
      approvalId: given(approval_id) ?? given(cycle_id),
    }),
    reply: ({ status, approvalId, outcome }) => ({ status, approval_id: approvalId, outcome }),
  }),
];
