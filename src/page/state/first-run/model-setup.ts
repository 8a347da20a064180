import { type ReadonlySignal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { LocalModelServer, ModelCandidate } from '../../../../protocol/methods/models.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { toTestWords } from './guide-words.ts';

/** The providers whose key can be entered, and other servers. */
export const KEY_PROVIDERS = [
  { id: 'anthropic', name: 'Anthropic' },
  { id: 'openai', name: 'OpenAI' },
  { id: 'google', name: 'Google' },
  { id: 'openai-compatible', name: 'Another server that is compatible with OpenAI' },
] as const;

/** Adds a model to the configuration as the default one. */
export type KeepModel = (candidate: ModelCandidate) => Promise<void>;

/** The name under which a model is kept: of other servers there can be several. */
export const toAlias = ({ provider, model }: ModelCandidate): string =>
  provider === 'openai-compatible' && model !== undefined ? model : provider;

/** Adds models to the configuration of the daemon: servers on its machine, and providers with a key. */
export class ModelSetup {
  readonly #client: Pick<GatewayClient, 'call'>;
  readonly #servers = signal<readonly LocalModelServer[] | undefined>(undefined);

  constructor(client: Pick<GatewayClient, 'call'>) {
    this.#client = client;
  }

  /** Undefined until somebody looked for them. */
  get servers(): ReadonlySignal<readonly LocalModelServer[] | undefined> {
    return this.#servers;
  }

  /** This and the next methods return an error message, or undefined on success. */
  discover(): Promise<string | undefined> {
    return attempt(async () => {
      const { servers = [] } = await this.#client.call('models.list', { discover: true });
      this.#servers.value = servers;
      return undefined;
    });
  }

  /** Configures a model as the default one, if it can be used. The key is not kept here. */
  keep(alias: string, candidate: ModelCandidate): Promise<string | undefined> {
    return attempt(async () => {
      const tested = await this.#client.call('models.test', { model: alias, candidate });
      if (!tested.ok) return `Nothing was stored. ${toTestWords(tested)}`;
      // Merged with an earlier entry of the name, the key could go to the server of that one.
      const { model = null, baseUrl = null, apiKey = null, provider } = candidate;
      const entry = { provider, model, baseUrl, apiKey, apiKeyEnv: null };
      await this.#patch({ models: { [alias]: entry }, defaultModel: alias });
      return undefined;
    });
  }

  /** Its key is removed with it. */
  remove(alias: string): Promise<string | undefined> {
    return attempt(async () => {
      const { config } = await this.#client.call('config.get', {});
      const isDefault = defaultOf(config) === alias;
      await this.#patch({ models: { [alias]: null }, ...(isDefault && { defaultModel: null }) });
      return undefined;
    });
  }

  async #patch(change: object): Promise<void> {
    const { hash } = await this.#client.call('config.get', {});
    await this.#client.call('config.patch', { raw: JSON.stringify(change), baseHash: hash });
  }
}

const defaultOf = (config: unknown): unknown =>
  typeof config === 'object' && config !== null && 'defaultModel' in config ? config.defaultModel : undefined;

async function attempt(act: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await act();
  } catch (error) {
    return wordsOf(error);
  }
}
