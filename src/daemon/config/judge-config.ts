import { z } from 'zod';
import { type ModelConfig, PROVIDER_NAMES } from '../../agent/providers/models-config.ts';

const isEmptyOrAddress = (text: string): boolean => text === '' || /^https?:$/.test(URL.parse(text)?.protocol ?? '');

/** The judge, which rates calls that wait for approval, and the guard over outputs. */
export const JudgeConfig = z.object({
  enabled: z.boolean().default(true).describe('Whether calls that need approval are rated.'),
  useModel: z.boolean().default(true).describe('Whether a model judges these calls, too.'),
  model: z
    .string()
    .max(256)
    .default('')
    .describe(
      'The model that judges, by its alias; empty: that of the workstream. With a provider of its own, by the name that it has there.',
    ),
  provider: z
    .enum(['', ...PROVIDER_NAMES.filter((name) => name !== 'demo')])
    .default('')
    .describe('The provider of the model that judges, if it is none of models.'),
  baseUrl: z
    .string()
    .max(2_048)
    .refine(isEmptyOrAddress, 'must be an http or https address')
    .default('')
    .describe(
      'The address of that provider. Empty: its usual one. Without a provider: of an OpenAI-compatible server.',
    ),
  apiKey: z.string().max(4_096).default('').describe('The key for that provider.'),
  apiKeyEnv: z.string().max(256).default('').describe('The environment variable that holds this key.'),
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
  tokensPerQuestion: z
    .int()
    .min(0)
    .max(100_000_000)
    .default(0)
    .describe('Tokens that a model may use to judge the calls of one question; 0: only the budgets count.'),
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
type JudgeConfig = z.infer<typeof JudgeConfig>;

/** The model that judges, if it is none of `models`. */
export function ownJudge({ provider, baseUrl, model, apiKey, apiKeyEnv }: JudgeConfig): ModelConfig | undefined {
  if (provider === '' && baseUrl === '') return undefined;
  return {
    provider: provider === '' ? 'openai-compatible' : provider,
    ...(model !== '' && { model }),
    ...(baseUrl !== '' && { baseUrl }),
    ...(apiKey !== '' && { apiKey }),
    ...(apiKeyEnv !== '' && { apiKeyEnv }),
  };
}
