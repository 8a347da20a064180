import type { StreamEvent } from '../../protocol/stream-events.ts';
import { isForPlan, memoryCall, PLAN_TEXT, planCall, taskCall, watchCall } from '../checker/recording/agent-calls.ts';
import { effectCommand } from '../checker/recording/effects-file.ts';
import type { CallWish } from '../checker/recording/record-call.ts';
import type { Recorder } from '../checker/recording/recorder.ts';
import type { Answer, ChatRequest, ScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, type Step, say, stall } from '../support/model/scripted-steps.ts';

interface RehearsalParts {
  wsId: string;
  recorder: Recorder;
  model: ScriptedModel;
  /** The tag of its command, and the file in the working directory that the command appends to. */
  effect: { tag: string; file: string };
  /** A new, unused word. */
  next(): string;
}

type Params = Omit<CallWish['params'], 'wsId'>;

/**
 * Does once, before the first round, what actors do only by chance, and on a slow machine hardly ever: a message steers a
 * run, work is given to a sub-agent, a watch and a planner, turns are taken back and answered again with a call of the same id, a summary replaces the conversation, a used-up
 * budget is raised or not, and the daemon is killed during a command. It has to survive the other kills.
 */
export async function rehearse({ wsId, recorder, model, effect, next }: RehearsalParts): Promise<void> {
  const events = createEvents();
  const socket = recorder.socket({
    reader: `rehearsal of ${wsId}`,
    onEvent({ event, payload }) {
      if (event === 'workstream') events.add(Object(payload).event);
    },
  });
  await socket.connected;
  socket.request('events.subscribe', { wsId });
  const call = async (method: CallWish['method'], params: Params = {}) => {
    const answer = await recorder.call({ method, params: { wsId, ...params } }, socket).answered;
    if (!answer?.ok) throw new Error(`${method} was refused in the rehearsal: ${JSON.stringify(answer)}`);
  };
  const keyed = (params: Params = {}) => ({ ...params, idempotencyKey: `key-${next()}` });
  const send = (message: string, params: Params = {}) =>
    call('workstream.send', keyed({ message: `${message} ${next()}`, ...params }));
  const untilIdle = () => events.until((event) => event.type === 'ws_state' && event.run !== undefined);
  const talk = async () => {
    await send('at length'.repeat(200)); // long enough to be summarized
    await untilIdle();
  };
  const decide = async (approved: boolean) => {
    const asked = await events.until(({ type }) => type === 'approve_request');
    await call('approval.resolve', { approvalId: Object(asked).approval_id, approved });
  };
  const useUp = async (isRaised: boolean) => {
    await call('budget.set', { tokens: 1 });
    await send('go on');
    await decide(isRaised);
    await untilIdle();
  };

  const held = stall();
  model.onRequest(rehearsed(effect, held));
  await talk();
  await delegate({ send, decide, untilIdle });
  await send(SLOWLY);
  await held.reached;
  await send('steer', { steer: true });
  held.release();
  await untilIdle();
  await call('workstream.retry', keyed());
  await untilIdle();
  await call('workstream.rewind', keyed({ turns: 1 }));
  await talk();
  await call('workstream.command', { command: '/compact' });
  await events.until(({ type }) => type === 'compacted');
  await useUp(false);
  await useUp(true); // last, because it gives far more than one token
  await call('budget.set');
  await send(RUN);
  await decide(true);
  await events.until(({ type }) => type === 'tool_output_chunk');
  await recorder.kill9();
  await socket.ended;
  await recorder.restart();
}

interface Acts {
  send(message: string): Promise<void>;
  decide(approved: boolean): Promise<void>;
  untilIdle(): Promise<unknown>;
}

/** Work for a sub-agent, a watch, a memory and a plan. */
async function delegate({ send, decide, untilIdle }: Acts): Promise<void> {
  await send(DELEGATE);
  await decide(true); // the watch
  await untilIdle();
  await untilIdle(); // the run with its result
  await send(PLAN);
  await decide(true); // that a plan is made
  await decide(true); // the plan
  await untilIdle();
}

/** The model of the rehearsal. */
function rehearsed({ tag, file }: RehearsalParts['effect'], held: Step): (request: ChatRequest) => Answer {
  const tagOf = (kind: string) => `${tag}-${kind}`;
  const shared = [taskCall(tagOf('task')), watchCall(tagOf('watch'), file), memoryCall(tagOf('memory'))];
  const answers: [string, Answer][] = [
    [PLAN, callTools(planCall(tagOf('plan')))],
    [DELEGATE, callTools(...shared)],
    [SLOWLY, [held, callTools({ name: 'list_directory', arguments: {} })]],
    [RUN, callTools({ name: 'bash', arguments: { command: effectCommand({ tag: tagOf('run'), file, secs: 10 }) } })],
  ];
  return (request) => {
    if (isForPlan(request)) return say(PLAN_TEXT);
    const last = request.messages.at(-1);
    const asked = last?.role === 'user' ? JSON.stringify(last.content) : '';
    return answers.find(([words]) => asked.includes(words))?.[1] ?? say('Calmly.');
  };
}

const SLOWLY = 'slowly';
const DELEGATE = 'share the work';
const PLAN = 'plan ahead';
const RUN = 'run it';

/** The events that `until` has not yet seen. */
function createEvents() {
  const unread: StreamEvent[] = [];
  let wake = Promise.withResolvers<void>();
  return {
    add(event: StreamEvent): void {
      unread.push(event);
      wake.resolve();
    },
    /** Reads on up to the next event of a kind. */
    async until(isWanted: (event: StreamEvent) => boolean): Promise<StreamEvent> {
      for (;;) {
        const event = unread.shift();
        if (event && isWanted(event)) return event;
        if (event) continue;
        wake = Promise.withResolvers();
        await wake.promise;
      }
    },
  };
}
