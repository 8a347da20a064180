import { z } from 'zod';

/** The judge, which rates calls that wait for approval, and the guard over outputs. */
export const JudgeConfig = z.object({
  enabled: z.boolean().default(true).describe('Whether calls that need approval are rated.'),
  outputGuard: z
    .boolean()
    .default(true)
    .describe('Whether outputs of tools are searched for secrets, instructions and hidden text.'),
  redactSecrets: z
    .boolean()
    .default(true)
    .describe('Whether what looks like a secret in outputs is replaced by a tag for everyone. Needs the output guard.'),
});
