import { z } from 'zod';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { withDeadline } from '../../process/deadline.ts';
import type { Tool, ToolOutcome, ToolRun } from '../../tools/tool.ts';
import { ConsentProblem, toEnvelope } from '../accounts/consent-problem.ts';
import { toFramed } from '../call-result.ts';
import type { Offers } from '../known-tools.ts';
import type { Catalog } from './announced-lists.ts';
import type { CatalogDeps, OfferingServer } from './offering-server.ts';

const ListArguments = z.strictObject({
  server: z.string().max(64).optional().describe('Only of this tool server'),
  query: z.string().max(200).optional().describe('Only entries with all of these words'),
});

const MOST_LINES = 100;
const MOST_LINE_CHARS = 600;
const LIST_MS = 30_000;

interface Listing {
  name: string;
  description: string;
  what: keyof Offers;
  /** The entries of a server, each as one line. */
  lines(offered: Catalog): string[];
}

/** A tool that lists what servers offer. It asks them, so that the list is the present one. */
export const createListTool = (
  { name, description, what, lines }: Listing,
  { servers, deps }: CatalogDeps,
): Tool<z.infer<typeof ListArguments>> => ({
  name,
  description,
  parameters: ListArguments,
  readOnly: true,
  safeToRepeat: true,
  async prepare({ server: only, query = '' }, { wsId }) {
    const all = servers(what);
    const asked = only === undefined ? all : all.filter((server) => server.name === only);
    const subject = [only, query].filter(Boolean).join(' ');
    if (asked.length === 0) return { kind: 'refused', subject, reason: noSuchServer(what, only, all) };
    const list = async (run: ToolRun): Promise<ToolOutcome> => {
      const parts = await Promise.all(
        asked.map((server) => listOne(server, { run, query, lines, wsId, clock: deps.clock })),
      );
      const taint = { kind: 'unknown' as const, target: asked.map((server) => server.name).join(', ') };
      return { output: deps.guard.clean(parts.join('\n')), outcome: 'done', taint };
    };
    return {
      kind: 'ready',
      subject,
      preview: '',
      approvalLabel: name,
      needsApproval: false,
      execute: list,
    };
  },
});

/** Why there is nothing to work with. */
export function noSuchServer(what: keyof Offers, name: string | undefined, all: readonly OfferingServer[]): string {
  const others = all.map((server) => server.name).join(', ') || 'none';
  return name === undefined
    ? `No tool server offers ${what}.`
    : `No tool server ${toVisibleLine(name)} offers ${what}. These do: ${others}.`;
}

interface ListedFor {
  run: ToolRun;
  query: string;
  wsId: string;
  lines: Listing['lines'];
  clock: CatalogDeps['deps']['clock'];
}

async function listOne(
  { name, server }: OfferingServer,
  { run, query, lines, wsId, clock }: ListedFor,
): Promise<string> {
  using deadline = withDeadline(run.signal, { clock, ms: LIST_MS });
  let offered: Catalog;
  try {
    offered = await server.offers(deadline.signal, { wsId });
  } catch (error) {
    run.signal.throwIfAborted();
    if (error instanceof ConsentProblem) return toEnvelope(error);
    return `The tool server ${name} could not be asked: ${wordsOf(error)}`;
  }
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = lines(offered).filter((line) => words.every((word) => line.toLowerCase().includes(word)));
  const shown = found.slice(0, MOST_LINES).map((line) => line.slice(0, MOST_LINE_CHARS));
  const left = found.length > MOST_LINES ? [`${found.length - MOST_LINES} more; use query to find them`] : [];
  return toFramed(name, [...(shown.length === 0 ? ['nothing'] : shown), ...left].join('\n'));
}
