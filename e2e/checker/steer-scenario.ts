import type { StreamEvent } from '../../protocol/stream-events.ts';
import type { Arrivals } from '../support/clients/arrivals.ts';
import type { ScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';
import type { StreamFrame } from './evidence.ts';
import type { CallWish } from './recording/record-call.ts';
import type { RecordedSocket } from './recording/record-socket.ts';
import type { Recorder } from './recording/recorder.ts';

interface SteeredTalk {
  wsId: string;
  recorder: Recorder;
  seen: Arrivals<StreamFrame>;
  socket: RecordedSocket;
}

/** Two messages steer a run with a call; a third one comes when no turn is left, and becomes the next run. */
export async function steer(talk: SteeredTalk, model: ScriptedModel): Promise<void> {
  const { wsId } = talk;
  const held = stall();
  const listing = callTools({ id: 'call-course', name: 'list_directory', arguments: { path: '.' } });
  model.when('set sail', [say('Hoisting '), held, listing]);
  model.when('reef the sail', say('Reefed, and anchored.'));
  model.when('drop anchor', say('Anchored.'));
  const sail = await send(talk, { message: 'set sail' });
  await held.reached;
  await send(talk, { message: 'drop anchor', steer: true, times: 2 });
  const queued = await send(talk, { message: 'reef the sail', queue: true });
  await talk.recorder.call({ method: 'queue.steer', params: { wsId, runId: queued } }, talk.socket).answered;
  held.release();
  await ended(talk, sail);
  const rest = stall();
  model.when('hold course', [say('Holding '), rest, say('it.')]);
  model.when('moor the ship', say('Moored.'));
  const hold = await send(talk, { message: 'hold course' });
  await rest.reached;
  const moor = await send(talk, { message: 'moor the ship', steer: true });
  rest.release();
  await ended(talk, hold);
  await ended(talk, moor);
}

interface Wish {
  message: string;
  steer?: true;
  queue?: true;
  times?: number;
}

/** Sends a message with a key, and returns its run. */
async function send({ wsId, recorder, socket }: SteeredTalk, { times = 1, ...wish }: Wish): Promise<string> {
  const params = { wsId, ...wish, idempotencyKey: `key of ${wish.message}` };
  const call: CallWish = { method: 'workstream.send', params };
  let runId: unknown;
  for (let time = 0; time < times; time += 1)
    runId = Object((await recorder.call(call, socket).answered)?.payload).runId;
  if (typeof runId !== 'string') throw new Error(`not accepted: ${wish.message}`);
  return runId;
}

const ended = ({ seen }: SteeredTalk, runId: string) =>
  seen.until(({ data }) => endOf(data) === runId, `the end of ${runId}`);

const endOf = (data: StreamFrame['data']): string | undefined => {
  const event = data as StreamEvent; // others have another type
  return event.type === 'ws_state' ? event.run?.run_id : undefined;
};
