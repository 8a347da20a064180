import type { Mode } from '../../../protocol/events/modes.ts';
import { COORDINATOR_TOOLS } from '../coordinator/tool-names.ts';
import { FIND_TOOL, USE_TOOL } from '../mcp/find-tool.ts';
import type { ToolCall } from '../message.ts';
import type { RunSettings } from '../run/run-context.ts';
import type { PreparedCall, Toolbox } from '../tools/toolbox.ts';
import { TASK } from './sub-agents.ts';

type Narrow = Exclude<Mode, 'full'>;
type Rights = Pick<RunSettings, 'autoApprove' | 'mode' | 'approvedTools'>;

/** From the one that lets the least run unasked. */
const ORDER: readonly Narrow[] = ['read_only', 'ask', 'edits', 'auto'];

/** What runs unasked in a sub-agent that was restricted to a mode: never more than in its parent, as that is now. */
export const narrowedRights = (parent: Rights, asked: Narrow | undefined): Rights => ({
  get autoApprove() {
    return asked === undefined && parent.autoApprove;
  },
  get approvedTools() {
    return asked === undefined ? (parent.approvedTools ?? []) : [];
  },
  get mode() {
    const mode = parent.mode ?? 'ask';
    if (asked === undefined) return mode;
    // With everything allowed, the parent's own mode says nothing; but read-only always holds.
    if (parent.autoApprove && mode !== 'read_only') return asked;
    return ORDER.indexOf(asked) < ORDER.indexOf(mode) ? asked : mode;
  },
});

/** The checklist is the one of the conversation, and workstreams work for its own agent. */
const NEVER: ReadonlySet<string> = new Set(['todo', 'plan_agent', 'watch', ...COORDINATOR_TOOLS]);

/** The names of the tools that sub-agents can have. */
export const toolsForSubAgents = (toolbox: Pick<Toolbox, 'definitions'>): string[] =>
  toolbox
    .definitions()
    .map(({ name }) => name)
    .filter((name) => !NEVER.has(name));

/** Whether a sub-agent can have this tool, offered to its parent or found there with a search. */
export const mayHave = (toolbox: Toolbox, name: string): boolean =>
  toolsForSubAgents(toolbox).includes(name) || toolbox.isFound?.(name) === true;

/**
 * The tools of a sub-agent: those of its parent, or some of them. Where it gets some that models find only with a search, it
 * also gets the search, and can call no others with it. `isDeepest`: it starts no further ones.
 */
export function narrowedToolbox(
  parent: Toolbox,
  { only, isDeepest }: { only: readonly string[] | undefined; isDeepest: boolean },
): Toolbox {
  const isIncluded = (name: string) => only === undefined || only.includes(name);
  const searches = only?.some((name) => parent.isFound?.(name)) === true;
  const has = (name: string) =>
    !NEVER.has(name) &&
    !(isDeepest && name === TASK) &&
    (isIncluded(name) || (searches && (name === FIND_TOOL || name === USE_TOOL)));
  let definitions: ReturnType<Toolbox['definitions']> | undefined;
  return {
    definitions() {
      definitions ??= parent.definitions().filter(({ name }) => has(name));
      return definitions;
    },
    isFound: (name) => (has(name) || isIncluded(USE_TOOL)) && parent.isFound?.(name) === true,
    async prepare(call, context) {
      const isOffered = parent.definitions().some(({ name }) => name === call.name);
      if (isOffered && !has(call.name)) return refused(call, call.name);
      const prepared = await parent.prepare(call, context);
      if (prepared.kind === 'refused') return prepared; // an unknown tool, for example
      if (!has(call.name)) return refused(call, call.name);
      const { calls } = prepared;
      if (calls === undefined || isIncluded(USE_TOOL) || isIncluded(calls)) return prepared;
      return refused(call, calls);
    },
  };
}

const refused = (call: ToolCall, tool: string): PreparedCall => ({
  kind: 'refused',
  subject: '',
  reason: `This sub-agent does not have the tool ${tool}.`,
  canonicalArguments: call.arguments,
});
