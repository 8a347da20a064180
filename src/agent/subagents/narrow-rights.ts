import type { Mode } from '../../../protocol/events/modes.ts';
import { COORDINATOR_TOOLS } from '../coordinator/tool-names.ts';
import type { RunSettings } from '../run/run-context.ts';
import type { Toolbox } from '../tools/toolbox.ts';
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

/** The tools of a sub-agent: those of its parent, or some of them. `isDeepest`: it starts no further ones. */
export function narrowedToolbox(
  parent: Toolbox,
  { only, isDeepest }: { only: readonly string[] | undefined; isDeepest: boolean },
): Toolbox {
  const has = (name: string) =>
    !NEVER.has(name) && !(isDeepest && name === TASK) && (only === undefined || only.includes(name));
  let definitions: ReturnType<Toolbox['definitions']> | undefined;
  return {
    definitions() {
      definitions ??= parent.definitions().filter(({ name }) => has(name));
      return definitions;
    },
    async prepare(call, context) {
      if (has(call.name) || !parent.definitions().some(({ name }) => name === call.name))
        return parent.prepare(call, context);
      const reason = `This sub-agent does not have the tool ${call.name}.`;
      return { kind: 'refused', subject: '', reason, canonicalArguments: call.arguments };
    },
  };
}
