import { wordsOf } from '../../../../protocol/words-of.ts';
import { withDeadline } from '../../process/deadline.ts';
import type { Asker } from '../accounts/user-sessions.ts';
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

/** The person who asks: a user's id, empty for the operator. */
type Person = Required<Pick<Asker, 'user'>>;

/** Prompts that a person chooses. */
export interface ChosenPrompts {
  list(person: Person, signal: AbortSignal): Promise<ListedPrompts[]>;
  /** The text of a prompt with its arguments filled in. Undefined: no server of this name offers prompts. Rejects with what went wrong. */
  get(chosen: ChosenPrompt & Person, signal: AbortSignal): Promise<string | undefined>;
}

const LIST_MS = 30_000;
const MOST_CHARS = 64 * 1024;

export const createChosenPrompts = ({ servers, deps }: CatalogDeps): ChosenPrompts => ({
  async list(person, signal) {
    using deadline = withDeadline(signal, { clock: deps.clock, ms: LIST_MS });
    return await Promise.all(servers('prompts').map((one) => listOf(one, person, deadline.signal)));
  },
  async get({ server: of, name, args, user }, signal) {
    const found = servers('prompts').find((one) => one.name === of);
    if (!found) return undefined;
    const { config, server } = found;
    using deadline = withDeadline(signal, { clock: deps.clock, ms: config.timeoutSecs * 1_000 });
    const reply = await server.call({
      method: 'prompts/get',
      params: { name, arguments: args },
      user,
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

async function listOf(
  { name: server, server: of }: OfferingServer,
  person: Person,
  signal: AbortSignal,
): Promise<ListedPrompts> {
  try {
    const { prompts } = await of.offers(signal, person);
    return { server, prompts };
  } catch (error) {
    return { server, prompts: [], problem: wordsOf(error) };
  }
}
