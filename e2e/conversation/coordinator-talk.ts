import assert from 'node:assert/strict';
import type { StreamEvent, StreamEventOf, StreamEventType } from '../../protocol/stream-events.ts';
import { followStream } from '../support/clients/followers.ts';
import type { Stage } from '../support/daemon/stage.ts';
import type { Answer } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

/** A child, as `children` lists it. */
export interface Child {
  ws_id: string;
  name: string;
  state: string;
}

/** Opens a coordinator over HTTP and follows its stream, also across restarts. */
export async function openCoordinator({ daemon, model }: Stage, options: object = {}) {
  const made = await daemon.post('/v1/api/workstreams/new', { kind: 'coordinator', ...options });
  const wsId: string = made.body.ws_id ?? assert.fail(JSON.stringify(made.body));
  const stream = await followStream(daemon, wsId);
  const answered = new Set<string>();
  const events = (): StreamEvent[] => stream.seen.all.map(({ event }) => event);
  const until = async <T extends StreamEventType>(type: T, fits: (event: StreamEventOf<T>) => boolean = () => true) => {
    const isIt = (event: StreamEvent): event is StreamEventOf<T> => event.type === type && fits(event as never); // the type was just checked
    const { event } = await stream.seen.until(({ event: one }) => isIt(one), type);
    return isIt(event) ? event : assert.fail();
  };
  let latest: string | undefined;
  const talk = {
    wsId,
    events,
    until,
    /** Has the coordinator make these turns in answer to a message once it is idle, and then say something. */
    async ask(message: string, ...turns: Answer[]): Promise<string> {
      model.when(message, ...turns, say(`over: ${message}`));
      if (latest !== undefined) await talk.ended(latest);
      const { body } = await daemon.post('/v1/api/send', { ws_id: wsId, message });
      assert.equal(body.status, 'ok', JSON.stringify(body));
      latest = body.run_id;
      return body.run_id;
    },
    /** Waits for the next question, and approves it. */
    async approve(): Promise<void> {
      const { approval_id } = await until('approve_request', (event) => !answered.has(event.approval_id));
      answered.add(approval_id);
      const { status } = await daemon.post('/v1/api/approve', { ws_id: wsId, approved: true });
      assert.equal(status, 200);
    },
    ended: (runId: string) => until('ws_state', ({ run }) => run?.run_id === runId),
    /** What a call returned, as data. */
    async result(callId: string) {
      const { output, outcome } = await until('tool_result', ({ call_id }) => call_id === callId);
      return outcome === 'done' ? JSON.parse(output) : { outcome, output };
    },
    async children(): Promise<Child[]> {
      return (await daemon.get(`/v1/api/workstreams/${wsId}/children`)).body.items;
    },
    /** The ids of children with these names. */
    async named(...names: string[]): Promise<string[]> {
      const all = await talk.children();
      return names.map((name) => all.find((child) => child.name === name)?.ws_id ?? assert.fail(`no child ${name}`));
    },
    async metrics() {
      return (await daemon.get(`/v1/api/workstreams/${wsId}/metrics`)).body;
    },
    /** What the stream tells of a child. */
    newsOf: (childId: string) =>
      events().flatMap((event) =>
        'child_ws_id' in event && event.child_ws_id === childId
          ? [event.type === 'child_ws_state' ? event.state : event.type.replace('child_ws_', '')]
          : [],
      ),
    /** The types of the events about a call, and about nothing else. */
    toldOf: (callId: string) =>
      events().flatMap((event) =>
        'call_id' in event && event.call_id === callId && /^(batch|wait)_/.test(event.type) ? [event] : [],
      ),
    /** Goes on with the stream after a restart. */
    resume: () => stream.resume(),
    [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
  };
  return talk;
}

/** A call of a tool of coordinators. */
export const calls = (name: string, args: object, id: string = name) => callTools({ name, arguments: args, id });

/** A call that makes workstreams whose first messages are their names. */
export const spawns = (id: string, ...names: string[]) =>
  calls('spawn_batch', { workstreams: names.map((name) => ({ name, message: name })) }, id);
