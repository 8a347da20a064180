import type { StreamEvent } from '../../protocol/stream-events.ts';
import type { Arrivals } from '../support/clients/arrivals.ts';
import type { ScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import type { StreamFrame } from './evidence.ts';
import { patchCall } from './recording/patch-call.ts';
import type { RecordedSocket } from './recording/record-socket.ts';
import type { Recorder } from './recording/recorder.ts';

interface UsingTalk {
  wsId: string;
  recorder: Recorder;
  seen: Arrivals<StreamFrame>;
  socket: RecordedSocket;
}

/** A patch, a question that is answered, and a background command whose end the model is told. */
export async function useTools(talk: UsingTalk, model: ScriptedModel): Promise<void> {
  const question = { name: 'ask_user', arguments: { question: 'Which colour?' }, id: 'call-colour' };
  const background = {
    name: 'bash',
    arguments: { command: 'echo painted', run_in_background: true },
    id: 'call-paint',
  };
  const patch = { ...patchCall('fx-patch'), id: 'call-patch' };
  model.when('paint it', callTools(question, patch, background), say('It is being painted.'));
  model.when('is it dry', say('It is.'));
  const runId = await send(talk, 'paint it');
  const isAsked = ({ data }: StreamFrame) =>
    data.type === 'approve_request' && data.items.some(({ question: asked }) => asked !== undefined);
  const { data } = await talk.seen.until(isAsked, 'the question');
  if (data.type !== 'approve_request') throw new Error('no question');
  const decisions = { 'call-colour': { approved: true, answer: 'blue' } };
  const params = { wsId: talk.wsId, approvalId: data.approval_id, approved: true, decisions };
  await talk.recorder.call({ method: 'approval.resolve', params }, talk.socket).answered;
  await ended(talk, runId);
  await talk.seen.until(({ data: each }) => each.type === 'background_command' && each.state === 'ended', 'its end');
  await ended(talk, await send(talk, 'is it dry'));
}

async function send({ wsId, recorder, socket }: UsingTalk, message: string): Promise<string> {
  const params = { wsId, message, idempotencyKey: `key of ${message}` };
  const answer = await recorder.call({ method: 'workstream.send', params }, socket).answered;
  const { runId } = Object(answer?.payload);
  if (typeof runId !== 'string') throw new Error(`not accepted: ${message}`);
  return runId;
}

const ended = ({ seen }: UsingTalk, runId: string) =>
  seen.until(({ data }) => isEnd(data, runId), `the end of ${runId}`);

const isEnd = (event: StreamFrame['data'], runId: string): boolean =>
  event.type === 'ws_state' && (event as Extract<StreamEvent, { type: 'ws_state' }>).run?.run_id === runId;
