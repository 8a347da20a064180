import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import type { StreamEventOf } from '../../protocol/stream-events.ts';
import type { Conversation } from '../support/clients/conversation.ts';
import type { ScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

/** Lets the agent work with background commands. */
export function backgroundTalk(model: Pick<ScriptedModel, 'when' | 'requests'>) {
  let turns = 0;

  /** Lets the agent make a call. Returns its result. */
  async function call(talk: Conversation, name: string, args: object): Promise<StreamEventOf<'tool_result'>> {
    const id = `call_${++turns}`;
    const message = `turn ${turns}.`;
    model.when(message, callTools({ id, name, arguments: args }), say('Done.'));
    const question = await talk.ask(message);
    await talk.ended(question);
    return talk.until('tool_result', ({ call_id }) => call_id === id);
  }

  /** Starts a command in the background. Returns its id. */
  async function start(talk: Conversation, command: string, more: object = {}): Promise<string> {
    const { output, outcome, call_id } = await call(talk, 'bash', { command, run_in_background: true, ...more });
    assert.equal(outcome, 'done', output);
    const { command_id: id } = await talk.until('background_command', (event) => event.call_id === call_id);
    assert.ok(output.includes(`in the background as ${id}`), output);
    return id;
  }

  /** The messages of the latest requests to the model, counted from the end. */
  function requestBefore(count: number): { content?: string | null }[] {
    const { messages } = JSON.parse(JSON.stringify(model.requests.at(-count)?.body));
    return messages;
  }

  return { call, start, requestBefore };
}

/** The event about the end of a command. */
export const ended = (talk: Conversation, id: string) =>
  talk.until('background_command', ({ command_id, state }) => command_id === id && state === 'ended');

/** The processes of this machine whose command line contains the words. */
export async function processesWith(words: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(words));
}
