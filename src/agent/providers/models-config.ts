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
  contextWindow: z.number().int().positive().optional(),
  maxOutputTokens: z.number().int().positive().optional(),
  temperature: z.number().min(0).max(2).optional(),
});
export type ModelConfig = z.infer<typeof ModelConfig>;

/** The part of config.json that is about models. */
export const ModelsConfig = z.object({
  models: z.record(z.string().min(1), ModelConfig).optional(),
  /** An alias of `models`, or `provider/model`. */
  defaultModel: z.string().min(1).optional(),
});
export type ModelsConfig = z.infer<typeof ModelsConfig>;
