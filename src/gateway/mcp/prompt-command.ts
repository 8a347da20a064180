import { usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { toVisibleLine, toVisibleText } from '../../../protocol/text/visible-text.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { ListedPrompts } from '../../agent/mcp/catalog/chosen-prompts.ts';
import { promptLine } from '../../agent/mcp/catalog/prompt-tools.ts';
import type { ToolServers } from '../../agent/mcp/tool-servers.ts';
import type { Command } from '../commands/command.ts';
import { lesserOf } from '../rights.ts';
import type { Runs } from '../runs/runs.ts';
import type { Workstream } from '../workstreams/workstream.ts';

interface PromptCommandDeps {
  toolServers: Pick<ToolServers, 'prompts'>;
  runs: Pick<Runs, 'accept'>;
}

const MOST_LINES = 100;
const MOST_WORDS = 500;

/**
 * `/prompt`: lists the prompts of tool servers, or sends one as the next message. Its text was written by others, so it counts
 * like text of a caller who may not approve.
 */
export const createPromptCommand =
  ({ toolServers, runs }: PromptCommandDeps, say: (to: Workstream, text: string) => Promise<void>): Command['run'] =>
  async (argument, workstream, by) => {
    const signal = new AbortController().signal;
    const user = by.sender ?? ''; // the operator has no user
    if (argument === '')
      return say(workstream, toVisibleText(toList(await toolServers.prompts.list({ user }, signal))));
    const chosen = readChosen(argument);
    const text = await toolServers.prompts.get({ ...chosen, user }, signal).catch((error: unknown) => {
      throw new GatewayError(
        'INVALID_REQUEST',
        `The tool server ${chosen.server}: ${wordsOf(error).slice(0, MOST_WORDS)}`,
      );
    });
    if (text === undefined)
      throw new GatewayError(
        'NOT_FOUND',
        `No tool server ${chosen.server} offers prompts. /prompt lists those that do.`,
      );
    const { principal, rights, sender } = by;
    const message = `[The prompt ${toVisibleLine(chosen.name)} of the tool server ${chosen.server}, written by its author:]\n${text}`;
    await runs.accept(workstream, {
      message,
      principal,
      rights: lesserOf(rights, 'write'),
      ...(sender !== undefined && { sender }),
      source: 'person',
    });
  };

/** `SERVER NAME`, then arguments such as `file=a.ts` or `topic="two words"`. Names of prompts with spaces are quoted, too. */
function readChosen(argument: string): { server: string; name: string; args: Record<string, string> } {
  const words = [...argument.matchAll(WORD)].map(([word]) => word);
  const [server, name, ...given] = words;
  if (server === undefined || name === undefined)
    throw new GatewayError('INVALID_REQUEST', `Usage: ${usageOf('prompt')}`);
  const args = given.map((word): [string, string] => {
    const at = word.indexOf('=');
    if (at < 1) throw new GatewayError('INVALID_REQUEST', `${word} is not ARGUMENT=VALUE. Usage: ${usageOf('prompt')}`);
    return [word.slice(0, at), unquoted(word.slice(at + 1))];
  });
  return { server, name: unquoted(name), args: Object.fromEntries(args) };
}

const WORD = /(?:[^\s"]|"[^"]*"?)+/g;

const unquoted = (word: string): string => word.replace(/^"([^"]*)"?$/, '$1');

function toList(listed: readonly ListedPrompts[]): string {
  if (listed.length === 0) return 'No tool server offers prompts.';
  const lines = listed.flatMap(({ server, prompts, problem }) => [
    ...prompts.map((prompt) => `${server} ${promptLine(prompt)}`),
    ...(problem === undefined ? [] : [`${server} cannot be asked: ${problem}`]),
  ]);
  const left = lines.length > MOST_LINES ? [`${lines.length - MOST_LINES} more`] : [];
  return [...lines.slice(0, MOST_LINES), ...left, HINT].join('\n');
}

const HINT =
  '/prompt SERVER NAME ARGUMENT=VALUE sends one. Its text is written by others, so it can run nothing unasked.';
