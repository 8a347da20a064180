import { GatewayError } from '../../../protocol/errors.ts';
import { trimEndOf } from '../../../protocol/text/trimmed-text.ts';
import { HOSTED } from './known-models.ts';
import { type ModelConfig, type ModelsConfig, PROVIDER_NAMES, type ProviderName } from './models-config.ts';

/** The environment variables that name a key or a server. */
export type ProviderEnvironment = Readonly<Record<string, string | undefined>>;

/** A model with everything needed to call it. */
export interface ModelChoice {
  alias: string;
  provider: ProviderName;
  /** Undefined: the first one that the server lists. */
  modelId: string | undefined;
  baseUrl: string;
  apiKey?: string;
  /** Where the key comes from, for people: the variable, or config.json. */
  keyName: string;
  settings: Pick<ModelConfig, 'images' | 'contextWindow' | 'maxOutputTokens' | 'temperature' | 'price' | 'fallback'>;
}

interface Known {
  config: Pick<ModelsConfig, 'models' | 'defaultModel'>;
  environment: ProviderEnvironment;
  /** A server that was discovered on this machine. */
  localUrl?: string | undefined;
}

export const DEMO: ModelChoice = {
  alias: 'demo',
  provider: 'demo',
  modelId: 'demo',
  baseUrl: '',
  keyName: '',
  settings: {},
};

/**
 * Finds a model by an alias, by `provider/model` or by a provider's name. Throws INVALID_REQUEST with the known names.
 */
export function chooseModel(name: string, known: Known): ModelChoice {
  const configured = known.config.models?.[name];
  if (configured && Object.hasOwn(known.config.models ?? {}, name)) return complete(name, configured, known);
  const [prefix, ...rest] = name.split('/');
  const provider = PROVIDER_NAMES.find((candidate) => candidate === prefix);
  if (!provider || (rest.length > 0 && rest.join('/') === '')) {
    const aliases = listChoices(known).map(({ alias }) => alias);
    throw new GatewayError(
      'INVALID_REQUEST',
      `Unknown model "${name}". Known: ${[...new Set([...aliases, 'demo'])].join(', ')}; or provider/model, where provider is one of ${PROVIDER_NAMES.join(', ')}.`,
    );
  }
  const model = rest.join('/');
  return complete(name, { provider, ...(model !== '' && { model }) }, known);
}

/** A model that has no alias; it is named by its provider and its name there. Throws INVALID_REQUEST without a server. */
export function chooseUnnamed(model: ModelConfig, known: Known): ModelChoice {
  const { provider, model: name } = model;
  return complete(name === undefined ? provider : `${provider}/${name}`, model, known);
}

/** The default model; undefined when nothing is configured. */
export function chooseDefault(known: Known & { wanted?: string | undefined }): ModelChoice | undefined {
  const { config, wanted } = known;
  const name = wanted ?? config.defaultModel ?? Object.keys(config.models ?? {})[0];
  return name === undefined ? fromEnvironment(known)[0] : chooseModel(name, known);
}

/**
 * All models that can be used as they are: those of config.json, then those with a key or server in the environment.
 */
export function listChoices(known: Known): ModelChoice[] {
  const configured = Object.entries(known.config.models ?? {}).map(([alias, model]) => toChoice(alias, model, known));
  return [...configured, ...fromEnvironment(known)];
}

function fromEnvironment(known: Known): ModelChoice[] {
  const { environment, localUrl } = known;
  const server = environment.OPENAI_BASE_URL || localUrl;
  const hosted = (['anthropic', 'openai', 'google'] as const).filter(
    // With a base URL, the key belongs to that server.
    (name) => environment[HOSTED[name].keyName] && !(name === 'openai' && environment.OPENAI_BASE_URL),
  );
  return [
    ...(server ? [toChoice('openai-compatible', { provider: 'openai-compatible' }, known)] : []),
    ...hosted.map((provider) => toChoice(`${provider}/${HOSTED[provider].modelId}`, { provider }, known)),
  ];
}

function complete(alias: string, model: ModelConfig, known: Known): ModelChoice {
  const choice = toChoice(alias, model, known);
  if (choice.provider === 'demo' || URL.canParse(choice.baseUrl)) return choice;
  throw new GatewayError(
    'INVALID_REQUEST',
    `Model "${alias}" needs a server: set OPENAI_BASE_URL, or baseUrl in config.json.`,
  );
}

/** The address of a model's server: its own, or the provider's usual one; empty when unknown. */
export function baseUrlOf(
  { provider, baseUrl }: Pick<ModelConfig, 'provider' | 'baseUrl'>,
  known: Pick<Known, 'environment' | 'localUrl'>,
): string {
  if (provider === 'demo') return '';
  return trimEndOf(baseUrl ?? usualOf(provider, known).baseUrl, '/');
}

/** The usual variable for the provider's key, and the server that the key is for. */
export function usualKeyOf(
  { provider }: Pick<ModelConfig, 'provider'>,
  known: Pick<Known, 'environment' | 'localUrl'>,
): { keyName: string; baseUrl: string } | undefined {
  return provider === 'demo' ? undefined : usualOf(provider, known);
}

function toChoice(alias: string, model: ModelConfig, { environment, localUrl }: Known): ModelChoice {
  const { provider, apiKeyEnv } = model;
  if (provider === 'demo') return { ...DEMO, alias };
  const usual = usualOf(provider, { environment, localUrl });
  const baseUrl = baseUrlOf(model, { environment, localUrl });
  // A key is sent automatically only to the server it is meant for.
  const usualKey = baseUrl === usual.baseUrl ? environment[usual.keyName] : undefined;
  const apiKey = model.apiKey ?? (apiKeyEnv === undefined ? usualKey : environment[apiKeyEnv]);
  return {
    alias,
    provider,
    modelId: model.model ?? usual.modelId,
    baseUrl,
    keyName: model.apiKey !== undefined ? 'config.json' : (apiKeyEnv ?? usual.keyName),
    ...(apiKey && { apiKey }),
    settings: settingsOf(model),
  };
}

const settingsOf = ({
  images,
  contextWindow,
  maxOutputTokens,
  temperature,
  price,
  fallback,
}: ModelConfig): ModelChoice['settings'] => ({
  ...(price && { price }),
  ...(images !== undefined && { images }),
  ...(contextWindow !== undefined && { contextWindow }),
  ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  ...(temperature !== undefined && { temperature }),
  ...(fallback !== undefined && { fallback }),
});

/** Used when no variable is known to hold the key. */
const NAMED_KEY = 'apiKeyEnv in config.json';

function usualOf(
  provider: Exclude<ProviderName, 'demo'>,
  { environment, localUrl }: Pick<Known, 'environment' | 'localUrl'>,
): { baseUrl: string; keyName: string; modelId?: string } {
  const given = environment.OPENAI_BASE_URL === undefined ? undefined : trimEndOf(environment.OPENAI_BASE_URL, '/');
  if (provider !== 'openai-compatible') {
    // The variable holds the key for the server in OPENAI_BASE_URL.
    const isOfAnother = provider === 'openai' && given && given !== HOSTED.openai.baseUrl;
    return isOfAnother ? { ...HOSTED.openai, keyName: NAMED_KEY } : HOSTED[provider];
  }
  // A discovered server gets no key.
  return given ? { baseUrl: given, keyName: 'OPENAI_API_KEY' } : { baseUrl: localUrl ?? '', keyName: NAMED_KEY };
}
