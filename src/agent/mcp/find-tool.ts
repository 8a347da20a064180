import { z } from 'zod';
import type { Tool } from '../tools/tool.ts';

/** The names of the two tools below. */
export const FIND_TOOL = 'find_tool';
export const USE_TOOL = 'use_tool';

const MOST_FOUND = 5;

const FindArguments = z.strictObject({
  query: z.string().min(1).max(500).describe('What the tool should do, in a few words, or its name'),
});

const UseArguments = z.strictObject({
  name: z.string().min(1).max(256).describe('The name of the tool, as find_tool shows it'),
  arguments: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Its arguments, by the schema that find_tool shows'),
});

/**
 * Stand for the tools of servers where these would be too many for every request: one finds them with their arguments, the
 * other calls them. A call asks, and is ruled, as if the tool had been called by its name.
 */
export function createFindTools(tools: () => readonly Tool[]): Tool[] {
  return [createFindTool(tools), createUseTool(tools)];
}

const createFindTool = (tools: () => readonly Tool[]): Tool<z.infer<typeof FindArguments>> => ({
  name: FIND_TOOL,
  description:
    'Finds tools of the connected tool servers by what they do, and shows how they are called. Use use_tool to call one.',
  parameters: FindArguments,
  readOnly: true,
  safeToRepeat: true,
  prepare: async ({ query }) => ({
    kind: 'ready',
    subject: query,
    preview: '',
    approvalLabel: FIND_TOOL,
    needsApproval: false,
    execute: async () => ({ output: toFound(query, tools()), outcome: 'done' }),
  }),
});

const createUseTool = (tools: () => readonly Tool[]): Tool<z.infer<typeof UseArguments>> => ({
  name: USE_TOOL,
  description: 'Calls a tool of a tool server that find_tool has shown.',
  parameters: UseArguments,
  readOnly: false,
  safeToRepeat: false,
  prepare: async ({ name, arguments: args }, context) => {
    const tool = tools().find((one) => one.name === name);
    if (tool) {
      const prepared = await tool.prepare(args, context);
      return prepared.kind === 'ready' ? { ...prepared, calls: tool.name } : prepared;
    }
    return {
      kind: 'refused',
      subject: name,
      reason: `Unknown tool: ${name}. Use find_tool to see which tools there are.`,
    };
  },
});

function toFound(query: string, tools: readonly Tool[]): string {
  const words = wordsIn(query);
  const found = tools
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  if (found.length === 0) {
    const servers = [...new Set(tools.map(({ name }) => name.split('__')[1]))].join(', ');
    return `None of ${tools.length} tools fits. There are tools of these servers: ${servers}.`;
  }
  const shown = found.slice(0, MOST_FOUND).map(({ tool }) => toShown(tool));
  return [`${found.length} of ${tools.length} tools fit.`, ...shown].join('\n\n');
}

const toShown = ({ name, description, schema }: Tool): string =>
  `${name}\n${description}\nArguments: ${JSON.stringify(schema ?? {})}`;

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** A word in the name says more than one in the description; its beginning, less than the whole word. */
function scoreOf({ name, description }: Tool, words: readonly string[]): number {
  const [inName, inText] = [wordsIn(name.replaceAll('_', ' ')), new Set(wordsIn(description))];
  return words.reduce((sum, word) => {
    if (inName.includes(word)) return sum + 6;
    if (inName.some((one) => one.startsWith(word) || word.startsWith(one))) return sum + 3;
    if (inText.has(word)) return sum + 2;
    return [...inText].some((one) => one.startsWith(word)) ? sum + 1 : sum;
  }, 0);
}
