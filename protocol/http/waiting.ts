import { z } from 'zod';
import { Waiting } from '../cluster/machine-labels.ts';

/** Why a workstream runs nowhere now; absent if its machine runs it. */
export const WAITING_FIELD = {
  waiting: z
    .object({
      reason: Waiting.shape.reason,
      /** The machine that had it last. */
      node_id: z.string(),
      /** Of the reason `labels`. */
      missing_labels: z.array(z.string()).optional(),
      message: z.string(),
    })
    .optional(),
};
