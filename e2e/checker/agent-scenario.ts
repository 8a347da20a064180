import type { StreamEventOf, StreamEventType } from '../../protocol/stream-events.ts';
import type { Arrivals } from '../support/clients/arrivals.ts';
import type { ScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, type ScriptedCall, say } from '../support/model/scripted-steps.ts';
import type { CallParams, StreamFrame } from './evidence.ts';
import { effectCommand } from './recording/effects-file.ts';
import type { RecordedSocket } from './recording/record-socket.ts';
import type { Recorder } from './recording/recorder.ts';

export interface AgentTalk {
  wsId: string;
  recorder: Recorder;
  seen: Arrivals<StreamFrame>;
  socket: RecordedSocket;
}

const PLAN = (what: string) =>
  `## Goal\n${what}\n\n## Current State\nThe folder holds a few files, and none of them is about this.\n\n## Plan\n1. Begin with the files.\n\n## Risks\nNone.`;

/** Two sub-agents with a call each, a plan that is revised and then approved, a watch that fires, and two memories. */
export async function delegateWork(talk: AgentTalk, model: ScriptedModel, file: string): Promise<void> {
  const bash = (tag: string): ScriptedCall => ({
    ...{ name: 'bash', id: `call-${tag}` },
    arguments: { command: effectCommand({ tag, file, secs: 0 }) },
  });
  const task = (part: string): ScriptedCall => ({
    ...{ name: 'task', id: `call-task-${part}` },
    arguments: { title: `Part ${part}`, prompt: `do part ${part}` },
  });
  const memory = (id: string, args: object): ScriptedCall => ({ name: 'memory', id: `call-${id}`, arguments: args });
  const save = (name: string) => memory(`save-${name}`, { action: 'save', name, content: `content of ${name}` });
  const watch = {
    ...{ action: 'create', name: 'paint', interval: '10m', max_polls: 2, stop_on: 'exit_code == 0' },
    command: effectCommand({ tag: 'fx-watch', file, secs: 0 }),
  };
  model.when('do part one', callTools(bash('fx-part-one')), say('One is done.'));
  model.when('do part two', callTools(bash('fx-part-two')), say('Two is done.'));
  model.when('share the work', callTools(task('one'), task('two')), say('Both parts are done.'));
  model.when('Plan this', say(PLAN('A house')));
  model.when('wants a different plan', say(PLAN('A smaller house')));
  const plan = { name: 'plan_agent', id: 'call-plan', arguments: { goal: 'a house' } };
  model.when('plan a house', callTools(plan), say('I begin.'));
  model.when('remember it', callTools(save('house_colour'), save('house_size')), say('I know.'));
  model.when('wait for the paint', callTools({ name: 'watch', id: 'call-watch', arguments: watch }), say('I wait.'));
  model.when('[watch "paint"', say('It is dry.'));
  await sendDeciding(talk, 'share the work');
  await sendDeciding(talk, 'plan a house');
  await sendDeciding(talk, 'remember it');
  await sendDeciding(talk, 'wait for the paint');
  const told = await until(talk, 'user_turn', ({ message }) => message.startsWith('[watch'));
  await until(talk, 'ws_state', ({ run }) => run?.run_id === told.run_id);
}

/** Sends a message, and approves whatever is asked until its run has ended; the first round of a plan is revised. */
export async function sendDeciding(talk: AgentTalk, message: string): Promise<void> {
  const { wsId, recorder, socket, seen } = talk;
  const from = seen.all.length;
  const params = { wsId, message, idempotencyKey: `key of ${message}` };
  const answer = await recorder.call({ method: 'workstream.send', params }, socket).answered;
  const { runId } = Object(answer?.payload);
  const known = new Set<string>();
  const isNew = ({ data }: StreamFrame) =>
    (data.type === 'approve_request' || data.type === 'plan_review') && !known.has(data.approval_id);
  const isEnd = ({ data }: StreamFrame) => data.type === 'ws_state' && data.run?.run_id === runId;
  for (;;) {
    const { data } = await seen.until(
      (frame) => seen.all.indexOf(frame) >= from && (isNew(frame) || isEnd(frame)),
      `the end of "${message}"`,
    );
    if (data.type === 'ws_state') return;
    if (data.type !== 'approve_request' && data.type !== 'plan_review') throw new Error(`strange: ${data.type}`);
    known.add(data.approval_id);
    const isRevised = data.type === 'plan_review' && data.round === 1;
    await decide(
      talk,
      data.approval_id,
      isRevised ? { approved: false, feedback: 'a smaller one' } : { approved: true },
    );
  }
}

const decide = ({ wsId, recorder, socket }: AgentTalk, approvalId: string, params: Partial<CallParams>) =>
  recorder.call({ method: 'approval.resolve', params: { wsId, approvalId, ...params } }, socket).answered;

async function until<T extends StreamEventType>(
  { seen }: AgentTalk,
  type: T,
  fits: (event: StreamEventOf<T>) => boolean,
): Promise<StreamEventOf<T>> {
  const isIt = ({ data }: StreamFrame) => data.type === type && fits(data as never); // of the type
  return (await seen.until(isIt, type)).data as StreamEventOf<T>;
}
