import assert from 'node:assert/strict';
import type { ApprovalItem } from '../../protocol/events/approval-item.ts';
import type { RuleChoice } from '../../protocol/events/rules.ts';
import type { Conversation } from '../support/clients/conversation.ts';
import type { Stage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

/** The model runs the commands in a message, which are between backticks, those that begin with OFF outside the sandbox. */
export function answerCommands(model: Stage['model']): void {
  model.onRequest(({ messages }) => {
    if (messages.at(-1)?.role === 'tool') return say('done');
    const asked = String(messages.findLast(({ role }) => role === 'user')?.content ?? '');
    const commands = [...asked.matchAll(/`([^`]+)`/g)].map(([, command = '']) => command);
    const calls = commands.map((command, n) => ({ name: 'bash', arguments: argumentsOf(command), id: `call_${n}` }));
    return calls.length === 0 ? say('hello') : callTools(...calls);
  });
}

const argumentsOf = (command: string) =>
  command.startsWith('OFF ')
    ? { command: command.slice(4), sandbox: 'off', reason: 'it needs a local socket' }
    : { command };

export const itemsOf = ({ seen }: Conversation): ApprovalItem[] =>
  seen.flatMap(({ event }) => (event.type === 'tool_info' || event.type === 'approve_request' ? event.items : []));
export const questions = ({ seen }: Conversation) =>
  seen.filter(({ event }) => event.type === 'approve_request').length;
export const outcomes = ({ seen }: Conversation) =>
  seen.flatMap(({ event }) =>
    event.type === 'tool_result' ? [`${event.call_id} ${event.outcome}: ${event.output}`] : [],
  );

/** Asks for calls, and waits for the end of the run. */
export async function run(talk: Conversation, message: string): Promise<void> {
  await talk.ended(await talk.ask(message));
}

/** Asks for calls, and answers the question about them. */
export async function runWith(
  talk: Conversation,
  message: string,
  decision: {
    approved: boolean;
    rules?: RuleChoice[];
    decisions?: Record<string, { approved: boolean; feedback?: string }>;
  },
): Promise<void> {
  const before = questions(talk);
  const asked = await talk.ask(message);
  await talk.until('approve_request', () => questions(talk) > before);
  const [pending] = await talk.pending();
  assert.ok(pending);
  await talk.client.call('approval.resolve', { approvalId: pending.approvalId, ...decision });
  await talk.ended(asked);
}
