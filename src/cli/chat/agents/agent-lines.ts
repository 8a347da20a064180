import type { SubAgent } from '../../../../protocol/events/sub-agent.ts';
import { subAgentWords } from '../../../../protocol/text/background-words.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import type { Sheet } from '../../terminal/sheet.ts';
import { wrapWords } from '../../terminal/wrap.ts';

/** Prints a line when a sub-agent starts to work, and one when it ends, indented by its depth. */
export function createAgentLines(print: (lines: string[]) => void) {
  const titles = new Map<string, string>();
  return {
    tell(agent: SubAgent, { paint, columns }: Sheet): void {
      const { agent_id: id, state, depth, outcome, title: raw } = agent;
      const title = toSafeText(raw);
      const isNew = !titles.has(id);
      titles.set(id, title);
      const indent = '  '.repeat(depth - 1);
      if (state === 'ended') {
        titles.delete(id);
        const mark = outcome === 'done' ? paint('green', '✔') : paint('red', '✖');
        print(wrapWords(`${indent}${mark} Sub-agent ${title}: ${subAgentWords(agent)}`, columns));
      } else if (isNew) print(wrapWords(`${indent}${paint('yellow', '◌')} Sub-agent: ${title}`, columns));
    },
    /** The title of the sub-agent that asks; undefined: the agent of the conversation does. */
    titleOf(asked: { agent_id?: string | undefined } | { agentId?: string | undefined }): string | undefined {
      const id = 'agentId' in asked ? asked.agentId : 'agent_id' in asked ? asked.agent_id : undefined;
      return id === undefined ? undefined : (titles.get(id) ?? 'unknown');
    },
  };
}
