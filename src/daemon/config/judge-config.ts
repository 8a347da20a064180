import { z } from 'zod';

/** The judge, which rates calls that wait for approval. */
export const JudgeConfig = z.object({
  enabled: z.boolean().default(true).describe('Whether calls that need approval are rated.'),
});
