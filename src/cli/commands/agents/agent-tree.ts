import type { ListedSubAgent } from '../../../../protocol/methods/conversation/sub-agent.ts';
import { subAgentWords } from '../../../../protocol/text/background-words.ts';
import { toSafeText } from '../../terminal/safe-text.ts';

const LAST_CHARS = 100;

/** A line or two for each sub-agent, below the one that started it: its id, title and state, and what it said last. */
export function toTree(agents: readonly ListedSubAgent[]): string {
  const ids = new Set(agents.map(({ agent_id }) => agent_id));
  // Those whose parent has ended, and is not listed, stand at the top.
  const parentOf = ({ parent_agent_id: id }: ListedSubAgent) => (id !== undefined && ids.has(id) ? id : undefined);
  const below = Map.groupBy(agents, parentOf);
  const linesOf = (agent: ListedSubAgent, depth: number): string[] => [
    ...linesFor(agent, '  '.repeat(depth)),
    ...(below.get(agent.agent_id) ?? []).flatMap((child) => linesOf(child, depth + 1)),
  ];
  const lines = (below.get(undefined) ?? []).flatMap((agent) => linesOf(agent, 1));
  return lines.map((line) => `${line}\n`).join('');
}

function linesFor(agent: ListedSubAgent, indent: string): string[] {
  const { agent_id: id, title, last_output: last = '' } = agent;
  const [said = ''] = toSafeText(last).trim().split('\n');
  const line = said.length > LAST_CHARS ? `${said.slice(0, LAST_CHARS)}…` : said;
  return [
    `${indent}${id}  ${toSafeText(title)}: ${subAgentWords(agent)}`,
    ...(line === '' ? [] : [`${indent}  ${line}`]),
  ];
}
