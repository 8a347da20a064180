import { randomUUID } from 'node:crypto';
import { openConversation } from '../clients/conversation.ts';
import { readLedger } from '../daemon/ledger.ts';
import type { Stage } from '../daemon/stage.ts';
import { callTools, type ScriptedCall, say } from './scripted-steps.ts';

/** Lets the model make one call in a new workstream, approves it if that is asked, and returns its result. */
export async function useTool({ model, daemon }: Stage, call: ScriptedCall): Promise<string> {
  const name = `${call.name} ${randomUUID()}`;
  model.when(name, callTools(call), say('done'));
  await using talk = await openConversation(daemon);
  const question = await talk.ask(name);
  const ended = talk.ended(question);
  // What is harmless runs unasked.
  const asked = await Promise.race([talk.until('approve_request'), ended]);
  if (asked) await talk.decide(asked.approval_id, { approved: true });
  await question.answer;
  await ended;
  const { messages } = readLedger(daemon.home, talk.wsId);
  return messages.flatMap((message) => (message.role === 'tool' ? [message.output] : [])).join('\n');
}

/** Runs a command as the agent would, and returns the output that the model reads. */
export const runAsAgent = (stage: Stage, command: string): Promise<string> =>
  useTool(stage, { name: 'bash', arguments: { command } });
