import { wordsOf } from '../../../../protocol/words-of.ts';
import { type AnnouncedTool, readTools } from '../announced-tools.ts';
import type { Listed, Session } from '../session.ts';
import { type Catalog, readPrompts, readResources } from './announced-lists.ts';

/** All that a server offers. */
export interface ServerLists extends Catalog {
  tools: AnnouncedTool[];
  /** What was left out, and why; for people. */
  problems: readonly string[];
}

const MOST_WORDS = 200;

/** Reads all lists of a server. It cannot be used without its tools, but without the other lists. */
export async function readLists(session: Pick<Session, 'list'>, signal: AbortSignal): Promise<ServerLists> {
  const { tools, problems } = readTools(await session.list('tools', signal));
  const left = [...problems];
  const read = async (what: Exclude<Listed, 'tools'>): Promise<unknown[]> => {
    try {
      return await session.list(what, signal);
    } catch (error) {
      signal.throwIfAborted();
      // Most servers have no templates, and many do not say so.
      if (what !== 'templates') left.push(`its ${what} could not be listed (${wordsOf(error).slice(0, MOST_WORDS)})`);
      return [];
    }
  };
  const resources = readResources(await read('resources'), { isTemplate: false });
  const templates = readResources(await read('templates'), { isTemplate: true });
  const prompts = readPrompts(await read('prompts'));
  return { tools, resources: [...resources, ...templates], prompts, problems: left };
}
