import assert from 'node:assert/strict';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { ModelRequest } from '../../agent/providers/model.ts';
import { taskTool } from '../../agent/tools/agents/task.ts';
import { calling, type Move } from '../testing/puppet-model.ts';
import { turnsUntil, type WholeGatewayOptions, wholeGateway } from '../testing/whole-gateway.ts';

/** The whole gateway with the tool that starts sub-agents. */
export const machineWith = (options: WholeGatewayOptions = {}) => wholeGateway({ ...options, tools: [taskTool] });

type Machine = Awaited<ReturnType<typeof machineWith>>;

/** The result of a call that ends only when it is stopped. */
export const never = new Promise<never>(() => undefined);

/** The task of a sub-agent. */
export const firstOf = ({ messages }: ModelRequest): string => {
  const [first] = messages;
  return first?.role === 'user' ? first.content : '';
};

/** What the model reads of the latest call. */
export const lastResult = ({ messages }: ModelRequest): unknown => {
  const last = messages.at(-1);
  return last?.role === 'tool' ? JSON.parse(last.output) : undefined;
};

/** The events of one type. */
export const ofType = <T extends StreamEvent['type']>(events: readonly StreamEvent[], type: T) =>
  events.filter((event): event is Extract<StreamEvent, { type: T }> => event.type === type);

/** The agent of the conversation gives these tasks in one turn; sub-agents do as `work` says, and answer after their calls. */
export function delegate(machine: Machine, tasks: readonly object[], work: (request: ModelRequest) => Move[]): void {
  machine.puppet.replies((request) => {
    const isSubAgent = request.system.includes('You are a sub-agent');
    if (request.messages.at(-1)?.role === 'tool') return [isSubAgent ? `did ${firstOf(request)}` : 'all done'];
    if (isSubAgent) return work(request);
    return tasks.map((task, index) => calling('task', { title: `Task ${index}`, ...task }, `call_${index}`));
  });
}

/** Tasks that differ. */
export const prompts = (count: number) => Array.from({ length: count }, (_, index) => ({ prompt: `part ${index}` }));

/** Waits until a question is pending that is not this one. */
export async function nextQuestion(machine: Machine, previous?: string): Promise<Approval> {
  let found: Approval | undefined;
  await turnsUntil(async () => {
    [found] = (await machine.call('approval.list', {})).approvals;
    return found !== undefined && found.approvalId !== previous;
  }, 'a question');
  return found ?? assert.fail();
}

/** The results of one tool. */
export const resultsOf = (events: readonly StreamEvent[], name: string) =>
  ofType(events, 'tool_result').filter((result) => result.name === name);
