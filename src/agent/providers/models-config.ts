import { z } from 'zod';

export const PROVIDER_NAMES = ['openai-compatible', 'openai', 'anthropic', 'google', 'demo'] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** One model of config.json. Unknown keys are left to whoever loads the file. */
export const ModelConfig = z.object({
  provider: z.enum(PROVIDER_NAMES),
  /** Left out: the provider's usual one, or the first that an openai-compatible server lists. */
  model: z.string().min(1).optional(),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  /** The environment variable that holds the key. */
  apiKeyEnv: z.string().min(1).optional(),
  apiKey: z.string().min(1).optional(),
  /** False: it is told in words of the images it would be sent. */
  images: z.boolean().optional(),
  contextWindow: z.number().int().positive().optional(),
  maxOutputTokens: z.number().int().positive().optional(),
  temperature: z.number().min(0).max(2).optional(),
});
export type ModelConfig = z.infer<typeof ModelConfig>;

/** How long any model may be silent, and how long its answer may be. */
export const AnswerLimits = z.object({
  /** Until the first byte. Left out: 300 on one's own network, where a model may have to be loaded first, else 60. */
  firstSecs: z.number().min(1).max(3_600).optional(),
  /** Between two pieces. */
  betweenSecs: z.number().min(1).max(3_600).default(60),
  /** Text, reasoning and the arguments of tool calls together. */
  maxChars: z.int().min(1_000).max(64_000_000).default(4_000_000),
  maxToolCalls: z.int().min(1).max(1_000).default(128),
});
export type AnswerLimits = z.infer<typeof AnswerLimits>;

/** The part of config.json that is about models. */
export const ModelsConfig = z.object({
  models: z.record(z.string().min(1), ModelConfig).optional(),
  /** An alias of `models`, or `provider/model`. */
  defaultModel: z.string().min(1).optional(),
  answers: AnswerLimits.prefault({}),
});
export type ModelsConfig = z.infer<typeof ModelsConfig>;
