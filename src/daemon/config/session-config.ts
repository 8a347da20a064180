import { z } from 'zod';

/** How long conversations are kept, and where their titles come from. */
export const SessionConfig = z.object({
  retentionDays: z
    .int()
    .min(0)
    .max(36_500)
    .default(0)
    .describe('Days after which closed conversations without a name are deleted; 0: never.'),
  titles: z
    .enum(['model', 'message'])
    .default('model')
    .describe('What titles come from: the model, after the first answer; or the first message alone.'),
});
