import { z } from 'zod';
import { Price } from './prices/price.ts';

export const PROVIDER_NAMES = ['openai-compatible', 'openai', 'anthropic', 'google', 'demo'] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** One model of config.json. Unknown keys are handled when the file is loaded. */
export const ModelConfig = z.object({
  provider: z.enum(PROVIDER_NAMES),
  /** Default: the provider's usual model, or the first that an openai-compatible server lists. */
  model: z.string().min(1).optional(),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  /** The environment variable that holds the key. */
  apiKeyEnv: z.string().min(1).optional(),
  apiKey: z.string().min(1).optional(),
  /** False: the model gets descriptions instead of images. */
  images: z.boolean().optional(),
  contextWindow: z.number().int().positive().optional(),
  maxOutputTokens: z.number().int().positive().optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** Replaces the list price of a hosted model. */
  price: Price.optional(),
  /** Aliases of the models that answer when this one cannot, best first. */
  fallback: z.array(z.string().min(1)).max(8).optional(),
});
export type ModelConfig = z.infer<typeof ModelConfig>;

/** Limits for the silence and the length of any answer. */
export const AnswerLimits = z.object({
  firstSecs: z.number().min(1).max(3_600).optional().describe(
    // On a local network, a model may have to be loaded first.
    'Seconds that a model may be silent before its answer begins. Default: 60, or 300 on a local network.',
  ),
  betweenSecs: z.number().min(1).max(3_600).default(60).describe('Seconds that a model may pause during an answer.'),
  maxChars: z
    .int()
    .min(1_000)
    .max(64_000_000)
    .default(4_000_000)
    .describe('Maximum characters of an answer: text, reasoning and tool arguments together.'),
  maxToolCalls: z.int().min(1).max(1_000).default(128).describe('Maximum tool calls in one answer.'),
  retrySecs: z
    .number()
    .min(0)
    .max(86_400)
    .default(300)
    .describe('Longest wait in seconds before a refused request is repeated, also if the server asks for more.'),
});
export type AnswerLimits = z.infer<typeof AnswerLimits>;

/** Models by alias. A fallback has to be another one of them. */
const ModelConfigs = z.record(z.string().min(1), ModelConfig).superRefine((models, context) => {
  const known = Object.keys(models);
  for (const [alias, { fallback = [] }] of Object.entries(models)) {
    fallback.forEach((name, index) => {
      const others = known.filter((other) => other !== alias);
      if (others.includes(name)) return;
      const message = `no other model has the alias "${name}"; use ${others.join(', ') || 'the alias of a second model'}`;
      context.addIssue({ code: 'custom', path: [alias, 'fallback', index], message });
    });
  }
});

/** The section of config.json about models. */
export const ModelsConfig = z.object({
  models: ModelConfigs.optional().describe('Models by alias.'),
  defaultModel: z.string().min(1).optional().describe('An alias of models, or provider/model.'),
  answers: AnswerLimits.prefault({}),
});
export type ModelsConfig = z.infer<typeof ModelsConfig>;
