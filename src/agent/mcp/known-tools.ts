import { type AnnouncedTool, MOST_TOOLS } from './announced-tools.ts';

/** A tool as it was accepted: when its server was first asked, or by a person since. */
export interface KnownTool extends AnnouncedTool {
  /** The server has it no longer. It is kept, so that it cannot come back as another one. */
  isGone?: true | undefined;
  /** How the server describes it now. Nobody has accepted that. */
  changed?: AnnouncedTool | undefined;
}

/** What a server was last known to offer besides tools. */
export interface Offers {
  resources: boolean;
  prompts: boolean;
}

/** More are not remembered. */
const MOST_KNOWN = 2 * MOST_TOOLS;

/**
 * What is known after the server has described its tools again. New tools are taken as they are. `keepsMissing`: it may
 * have told only of some.
 */
export function learnTools(
  known: readonly KnownTool[],
  announced: readonly AnnouncedTool[],
  { keepsMissing = false }: { keepsMissing?: boolean } = {},
): KnownTool[] {
  const now = new Map(announced.map((tool) => [tool.name, tool]));
  const kept = known.map((before): KnownTool => {
    const { isGone: _, changed: __, ...tool } = before;
    const current = now.get(tool.name);
    now.delete(tool.name);
    if (!current && keepsMissing) return before;
    if (!current) return { ...tool, isGone: true };
    return current.digest === tool.digest ? tool : { ...tool, changed: current };
  });
  return [...kept, ...[...now.values()].slice(0, Math.max(0, MOST_KNOWN - kept.length))];
}

/** What is known after a person has accepted the changes of all tools, or of one. */
export const acceptTools = (known: readonly KnownTool[], name?: string): KnownTool[] =>
  known.map((tool) => (tool.changed && (name === undefined || tool.name === name) ? tool.changed : tool));
