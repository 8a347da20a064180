import { wordsOf } from '../../../../protocol/words-of.ts';
import { withDeadline } from '../../process/deadline.ts';
import { readPrompt } from '../call-result.ts';
import type { AnnouncedPrompt } from './announced-lists.ts';
import type { CatalogDeps, OfferingServer } from './offering-server.ts';

/** The prompts of a server, or why it cannot be asked. */
export interface ListedPrompts {
  server: string;
  prompts: readonly AnnouncedPrompt[];
  problem?: string;
}

export interface ChosenPrompt {
  server: string;
  name: string;
  args: Record<string, string>;
}

/** Prompts that a person chooses. */
export interface ChosenPrompts {
  list(signal: AbortSignal): Promise<ListedPrompts[]>;
  /** The text of a prompt with its arguments filled in. Undefined: no server of this name offers prompts. Rejects with what went wrong. */
  get(chosen: ChosenPrompt, signal: AbortSignal): Promise<string | undefined>;
}

const LIST_MS = 30_000;
const MOST_CHARS = 64 * 1024;

export const createChosenPrompts = ({ servers, deps }: CatalogDeps): ChosenPrompts => ({
  async list(signal) {
    using deadline = withDeadline(signal, { clock: deps.clock, ms: LIST_MS });
    return await Promise.all(servers('prompts').map((one) => listOf(one, deadline.signal)));
  },
  async get({ server: of, name, args }, signal) {
    const found = servers('prompts').find((one) => one.name === of);
    if (!found) return undefined;
    const { config, server } = found;
    using deadline = withDeadline(signal, { clock: deps.clock, ms: config.timeoutSecs * 1_000 });
    const reply = await server.call({
      method: 'prompts/get',
      params: { name, arguments: args },
      signal: deadline.signal,
      onProgress: () => undefined,
      onAsked: async () => ({ action: 'cancel' }), // no call waits whose question it could be
    });
    if (reply.kind === 'input') throw new Error('asks something first, which is only possible where the agent uses it');
    const text = deps.guard.clean(readPrompt(reply.answer).text);
    return text.length <= MOST_CHARS
      ? text
      : `${text.slice(0, MOST_CHARS)}\n[${text.length - MOST_CHARS} more characters]`;
  },
});

async function listOf({ name: server, server: of }: OfferingServer, signal: AbortSignal): Promise<ListedPrompts> {
  try {
    await of.refresh(signal);
    return { server, prompts: of.catalog.prompts };
  } catch (error) {
    return { server, prompts: [], problem: wordsOf(error) };
  }
}
