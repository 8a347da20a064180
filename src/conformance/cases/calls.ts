import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Frame, ResponseFrame } from '../../../protocol/frames.ts';
import type { ConformanceCase } from '../conformance-case.ts';
import { type Lab, needs, type Session } from '../lab.ts';
import { expectEqual, expectThat, Inapplicable } from '../verdict.ts';

/** The message to the model, in cases that need a run. */
export const MESSAGE = 'say ok';
/** How often to wait for a run, and how long each time. */
const WAITS = 7;
const WAIT_MS = 9_000;

const Run = z.object({ runId: z.string(), status: z.string() });

/** Sends one message in a separate workstream and waits for the end of its run. */
async function runToEnd(lab: Lab, before?: (session: Session, sessionKey: string) => Promise<unknown>) {
  const session = await lab.connect();
  needs(session, 'chat.send', 'agent.wait');
  const sessionKey = await lab.makeWorkstream(session);
  await before?.(session, sessionKey);
  const params = { sessionKey, message: MESSAGE, idempotencyKey: randomUUID() };
  const { runId } = Run.parse(await session.call('chat.send', params));
  await waitFor(session, runId);
  return { session, params, runId };
}

/** Inapplicable if the model takes too long, because that does not violate the protocol. */
export async function waitFor(session: Session, runId: string): Promise<void> {
  for (let i = 0; i < WAITS; i++) {
    const { status } = Run.parse(await session.call('agent.wait', { runId, timeoutMs: WAIT_MS }));
    if (status !== 'timeout') return;
  }
  throw new Inapplicable(`the model took longer than ${(WAITS * WAIT_MS) / 1000} s`);
}

/** Calls `agent` and returns both answers. */
async function askAgent(lab: Lab) {
  const session = await lab.connect();
  needs(session, 'agent', 'agent.wait');
  const sessionKey = await lab.makeWorkstream(session);
  const key = randomUUID();
  const first = await session.request('agent', { sessionKey, message: MESSAGE, idempotencyKey: key });
  await waitFor(session, key);
  const isAnswer = (frame: Frame) => frame.type === 'res' && frame.id === first.id;
  const final = await session.until('second answer to agent', () => session.frames.filter(isAnswer)[1]);
  return { session, sessionKey, key, first, final: ResponseFrame.parse(final) };
}

const Numbered = z.object({ runId: z.string(), seq: z.int() });
const Told = z.object({ runId: z.string(), state: z.string() });
const Keyed = z.object({ runId: z.string(), sessionKey: z.string() });
const Listed = z.object({ sessions: z.array(z.object({ key: z.string() })) });
const RunEnd = z.object({
  event: z.object({
    type: z.literal('ws_state'),
    state: z.enum(['idle', 'error']),
    run: z.object({ run_id: z.string() }),
  }),
});

function payloadsOf<T>(session: Session, event: string, shape: z.ZodType<T>): T[] {
  return session.events(event).flatMap(({ payload }) => shape.safeParse(payload).data ?? []);
}

export const callCases: ConformanceCase[] = [
  {
    must: '`agent` must answer twice on one id: accepted, then the final answer',
    async run(lab) {
      const { key, first, final } = await askAgent(lab);
      expectEqual(first.payload, { runId: key, status: 'accepted' }, 'the first answer');
      const status = Run.safeParse(final.payload).data?.status;
      expectThat(status === 'ok' || status === 'error', `the final answer says ${status}`);
    },
  },
  {
    must: 'A repeat of a finished `agent` must be answered once, with the final answer',
    async run(lab) {
      const { sessionKey, key, final } = await askAgent(lab);
      const again = await lab.connect();
      const repeat = await again.request('agent', { sessionKey, message: MESSAGE, idempotencyKey: key });
      await again.call('health'); // everything sent before this answer has arrived
      const answers = again.frames.filter((frame) => frame.type === 'res' && frame.id === repeat.id);
      expectEqual(answers.length, 1, 'how many answers');
      expectEqual(repeat.payload, final.payload, 'the answer to the repeat');
    },
  },
  {
    must: 'A failed run must answer `agent` with both its result and an error',
    async run(lab) {
      const { final } = await askAgent(lab);
      if (final.ok) throw new Inapplicable('the run did not fail');
      expectThat(final.payload !== undefined && final.error !== undefined, 'the result or the error is missing');
    },
  },
  {
    must: 'The final answer of `agent` must come after the workstream is free for the next message',
    async run(lab) {
      const { session, sessionKey } = await askAgent(lab);
      needs(session, 'workstream.send');
      const sent = await session.call('workstream.send', { wsId: sessionKey, message: MESSAGE });
      const { runId, status } = Run.parse(sent);
      expectEqual(status, 'ok', 'the answer to the next message');
      await waitFor(session, runId);
    },
  },
  {
    must: '`chat.abort` of an unknown or finished run must answer `aborted: false`',
    async run(lab) {
      const session = await lab.connect();
      needs(session, 'chat.abort');
      const sessionKey = await lab.makeWorkstream(session);
      const answer = await session.call('chat.abort', { sessionKey, runId: randomUUID() });
      expectEqual(answer, { ok: true, aborted: false }, 'the answer');
    },
  },
  {
    must: '`chat.abort` of a run of another session must be answered INVALID_REQUEST',
    async run(lab) {
      const { session, runId } = await runToEnd(lab);
      needs(session, 'chat.abort');
      const sessionKey = await lab.makeWorkstream(session);
      const { error } = await session.request('chat.abort', { sessionKey, runId });
      expectEqual(error?.code, 'INVALID_REQUEST', 'the answer');
    },
  },
  {
    must: 'A session created by an alias must have this alias as its key in every frame and answer',
    async run(lab) {
      const session = await lab.connect();
      needs(session, 'chat.send', 'agent.wait', 'sessions.list', 'sessions.delete');
      const sessionKey = lab.nameSession();
      const params = { sessionKey, message: MESSAGE, idempotencyKey: randomUUID() };
      const { runId } = Run.parse(await session.call('chat.send', params));
      await waitFor(session, runId);
      await hearFinal(session, runId);
      const events = payloadsOf(session, 'chat', Keyed).filter((event) => event.runId === runId);
      const { sessions } = Listed.parse(await session.call('sessions.list', {}));
      const history = Keyed.pick({ sessionKey: true }).parse(await session.call('chat.history', { sessionKey }));
      expectEqual([...new Set(events.map((event) => event.sessionKey))], [sessionKey], 'the keys of its events');
      expectThat(
        sessions.some(({ key }) => key === sessionKey),
        'sessions.list does not have the key',
      );
      expectEqual(history.sessionKey, sessionKey, 'the key in its history');
    },
  },
  {
    must: 'An unknown approval must be answered NOT_FOUND',
    async run(lab) {
      const session = await lab.connect();
      needs(session, 'approval.resolve');
      const { error } = await session.request('approval.resolve', { approvalId: randomUUID(), approved: false });
      expectEqual(error?.code, 'NOT_FOUND', 'the answer');
    },
  },
  {
    must: 'A repeat with the same key and params must get the first answer and start nothing, even after a restart',
    async run(lab) {
      const { session, params, runId } = await runToEnd(lab);
      const again = await lab.connect();
      await again.call('chat.send', params);
      const { runId: second } = Run.parse(await again.call('chat.send', params));
      expectEqual(second, runId, 'the run of the repeat');
      const history = await session.call('chat.history', { sessionKey: params.sessionKey });
      expectEqual(JSON.stringify(history).split(`"${MESSAGE}"`).length - 1, 1, 'messages in the conversation');
    },
  },
  {
    must: 'The same key with other params must be answered CONFLICT',
    async run(lab) {
      const { session, params } = await runToEnd(lab);
      const { error } = await session.request('chat.send', { ...params, message: 'say something else' });
      expectEqual(error?.code, 'CONFLICT', 'the answer');
    },
  },
  {
    must: 'A repeat of `chat.send` must answer `in_flight` while the run is in progress and `ok` once it has ended',
    async run(lab) {
      const { session, params, runId } = await runToEnd(lab);
      const { status } = Run.parse(await session.call('chat.send', params));
      const { status: ended } = Run.parse(await session.call('agent.wait', { runId, timeoutMs: 0 }));
      if (ended !== 'ok') throw new Inapplicable('the run failed');
      expectEqual(status, 'ok', 'the answer');
    },
  },
  {
    must: '`agent` and `chat.send` must be refused without an `idempotencyKey`',
    async run(lab) {
      const session = await lab.connect();
      needs(session, 'agent', 'chat.send');
      const sessionKey = await lab.makeWorkstream(session);
      for (const method of ['agent', 'chat.send']) {
        const { error } = await session.request(method, { sessionKey, message: MESSAGE });
        expectEqual(error?.code, 'INVALID_REQUEST', `the answer to ${method}`);
      }
    },
  },
  {
    must: 'The events of one run must be numbered from 1 without gaps',
    async run(lab) {
      const { session, runId } = await runToEnd(lab);
      await hearFinal(session, runId);
      const numbers = payloadsOf(session, 'agent', Numbered).filter((event) => event.runId === runId);
      expectThat(numbers.length > 0, 'no agent event came');
      expectEqual(
        numbers.map(({ seq }) => seq),
        numbers.map((_, i) => i + 1),
        'the seq of its events',
      );
    },
  },
  {
    must: 'A run must end in exactly one `chat` event of the states `final`, `aborted` and `error`',
    async run(lab) {
      const { session, runId } = await runToEnd(lab);
      await hearFinal(session, runId);
      await session.call('health');
      const ends = payloadsOf(session, 'chat', Told).filter(
        (event) => event.runId === runId && event.state !== 'delta',
      );
      expectEqual(ends.length, 1, 'how many ends');
    },
  },
  {
    must: 'A connection must receive the `agent` and `chat` events of every workstream until its first `events.subscribe`, then only of those it subscribed to',
    async run(lab) {
      const elsewhere = await lab.connect();
      needs(elsewhere, 'events.subscribe');
      const { session, runId } = await runToEnd(lab, async (maker) =>
        elsewhere.call('events.subscribe', { wsId: await lab.makeWorkstream(maker) }),
      );
      await hearFinal(session, runId);
      await elsewhere.call('health'); // what was sent before this answer has arrived
      const heard = [...elsewhere.events('agent'), ...elsewhere.events('chat')];
      expectThat(
        !JSON.stringify(heard).includes(runId),
        'a connection that subscribed elsewhere received events of the run',
      );
    },
  },
  {
    must: 'Each run must end with exactly one `ws_state` of `idle` or `error` that names the run',
    async run(lab) {
      const { session, runId } = await runToEnd(lab, (maker, wsId) => maker.call('events.subscribe', { wsId }));
      const ends = () => payloadsOf(session, 'workstream', RunEnd).filter(({ event }) => event.run.run_id === runId);
      await session.until('end of the run in the log', () => ends()[0]);
      await session.call('health');
      expectEqual(ends().length, 1, 'how many ends');
    },
  },
];

const hearFinal = (session: Session, runId: string) =>
  session.until('end of the run as a chat event', () =>
    payloadsOf(session, 'chat', Told).find((event) => event.runId === runId && event.state !== 'delta'),
  );
