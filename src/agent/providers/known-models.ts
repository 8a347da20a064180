import type { ProviderName } from './models-config.ts';

type HostedProvider = Exclude<ProviderName, 'openai-compatible' | 'demo'>;

/** The defaults that make each hosted provider usable with only a key. */
export const HOSTED: Record<HostedProvider, { baseUrl: string; keyName: string; modelId: string }> = {
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    keyName: 'ANTHROPIC_API_KEY',
    modelId: 'claude-sonnet-5-5',
  },
  openai: { baseUrl: 'https://api.openai.com/v1', keyName: 'OPENAI_API_KEY', modelId: 'gpt-6.1-terra' },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyName: 'GOOGLE_GENERATIVE_AI_API_KEY',
    modelId: 'gemini-3.8-flash',
  },
};

/** The context window of a hosted model, by the longest known prefix; 0 for unknown models. */
export function knownContextWindow(modelId: string): number {
  return WINDOWS.find(([prefix]) => modelId.startsWith(prefix))?.[1] ?? 0;
}

// Longer prefixes first.
const WINDOWS: [prefix: string, tokens: number][] = [
  ['claude-opus-4-6', 1_000_000],
  ['claude-opus-4-7', 1_000_000],
  ['claude-opus-4-8', 1_000_000],
  ['claude-sonnet-4-6', 1_000_000],
  ['claude-haiku-4', 200_000],
  ['claude-sonnet-4', 200_000],
  ['claude-opus-4', 200_000],
  ['claude-3', 200_000],
  ['claude-', 1_000_000],
  ['gpt-6', 1_050_000],
  ['gpt-5.6', 1_050_000],
  ['gpt-5.5', 1_050_000],
  ['gpt-5.4-mini', 400_000],
  ['gpt-5.4-nano', 400_000],
  ['gpt-5.4', 1_050_000],
  ['gpt-5', 400_000],
  ['gpt-4.1', 1_047_576],
  ['gpt-4o', 128_000],
  ['gpt-4-turbo', 128_000],
  ['o1', 200_000],
  ['o3', 200_000],
  ['o4', 200_000],
  ['gemini-', 1_048_576],
];
