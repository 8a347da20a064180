import { z } from 'zod';

/** The judge, which rates calls that wait for approval, and the guard over outputs. */
export const JudgeConfig = z.object({
  enabled: z.boolean().default(true).describe('Whether calls that need approval are rated.'),
  useModel: z.boolean().default(true).describe('Whether a model judges these calls, too.'),
  model: z
    .string()
    .max(256)
    .default('')
    .describe('The model that judges, by its alias; empty: that of the workstream.'),
  timeoutSecs: z.number().min(5).max(600).default(60).describe('Seconds in which a model has to judge.'),
  confidenceThreshold: z
    .number()
    .min(0)
    .max(1)
    .default(0.7)
    .describe('How sure a verdict has to be that lets a call run unasked in the mode auto, from 0 to 1.'),
  maxContextRatio: z
    .number()
    .min(0.1)
    .max(1)
    .default(0.5)
    .describe('How much of its context window the conversation may take.'),
  readOnlyTools: z.boolean().default(true).describe('Whether the model that judges may read files of the project.'),
  cancelOnApproval: z
    .boolean()
    .default(false)
    .describe('Whether a model stops judging when somebody has decided. Otherwise its verdict follows.'),
  retentionDays: z
    .int()
    .min(0)
    .max(36_500)
    .default(365)
    .describe('Days that verdicts, and findings in outputs, are kept; 0: as long as their conversation.'),
  outputGuard: z
    .boolean()
    .default(true)
    .describe('Whether outputs of tools are searched for secrets, instructions and hidden text.'),
  redactSecrets: z
    .boolean()
    .default(true)
    .describe('Whether what looks like a secret in outputs is replaced by a tag for everyone. Needs the output guard.'),
});
