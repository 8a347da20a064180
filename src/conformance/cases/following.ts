import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { parseCursor } from '../../../protocol/cursor.ts';
import type { ConformanceCase } from '../conformance-case.ts';
import { type Lab, needs, type Session } from '../lab.ts';
import { expectEqual, expectThat } from '../verdict.ts';

const Subscribed = z.object({
  cursor: z.string(),
  recovered: z.boolean(),
  reason: z.string().optional(),
  snapshot: z.object({}).optional(),
});
const Step = z.object({ wsId: z.string(), cursor: z.string() });

async function subscribe(session: Session, wsId: string, after?: string) {
  return Subscribed.parse(await session.call('events.subscribe', { wsId, after }));
}

/** Creates events in the log without a model, and returns the cursors of all events that the session received. */
async function makeEvents(session: Session, wsId: string): Promise<string[]> {
  await session.call('workstream.command', { wsId, command: '/help' });
  await session.until('event of the workstream', (frame) =>
    frame.type === 'event' && Step.safeParse(frame.payload).data?.wsId === wsId ? frame : undefined,
  );
  await session.call('health'); // what was sent before this answer has arrived
  return cursorsOf(session, wsId);
}

const cursorsOf = (session: Session, wsId: string) =>
  session.events('workstream').flatMap(({ payload }) => {
    const step = Step.safeParse(payload).data;
    return step?.wsId === wsId ? [step.cursor] : [];
  });

async function setUp(lab: Lab) {
  const session = await lab.connect();
  needs(session, 'events.subscribe', 'events.unsubscribe', 'workstream.command');
  return { session, wsId: await lab.makeWorkstream(session) };
}

/** Subscribes with a cursor that cannot be resumed. */
async function expectReset(lab: Lab, toCursor: (cursor: string) => string, reason: string): Promise<void> {
  const { session, wsId } = await setUp(lab);
  const { cursor } = await subscribe(session, wsId);
  const answer = await subscribe(session, wsId, toCursor(cursor));
  const told = { recovered: answer.recovered, reason: answer.reason, snapshot: answer.snapshot !== undefined };
  expectEqual(told, { recovered: false, reason, snapshot: true }, 'the answer');
}

export const followingCases: ConformanceCase[] = [
  {
    must: '`events.subscribe` must be answered before the first event of the subscription',
    async run(lab) {
      const { session, wsId } = await setUp(lab);
      const { cursor } = await subscribe(session, wsId);
      await makeEvents(session, wsId);
      const other = await lab.connect();
      await subscribe(other, wsId, cursor);
      const [first] = cursorsOf(other, wsId);
      const atAnswer = other.frames.findLastIndex((frame) => frame.type === 'res');
      const atEvent = other.frames.findIndex((frame) => frame.type === 'event' && frame.event === 'workstream');
      expectThat(first === undefined || atAnswer < atEvent, 'an event came before the answer');
    },
  },
  {
    must: 'A subscription without a cursor must begin with a snapshot at its cursor',
    async run(lab) {
      const { session, wsId } = await setUp(lab);
      const { cursor, snapshot } = await subscribe(session, wsId);
      expectThat(snapshot !== undefined, 'there is no snapshot');
      expectThat(parseCursor(cursor) !== undefined, `"${cursor}" is not a cursor`);
    },
  },
  {
    must: 'A subscription with a cursor inside the log must continue exactly after it, each later event once and in order',
    async run(lab) {
      const { session, wsId } = await setUp(lab);
      const { cursor } = await subscribe(session, wsId);
      await makeEvents(session, wsId);
      const heard = await makeEvents(session, wsId);
      const [first = '', last = ''] = [heard[0], heard.at(-1)];
      for (const after of [cursor, first]) {
        const other = await lab.connect();
        const { recovered } = await subscribe(other, wsId, after);
        expectThat(recovered, `${after} was not resumed`);
        if (after !== last) await other.until(`event ${last}`, (frame) => isAt(frame, last) || undefined);
        expectIncreasing(cursorsOf(other, wsId), after);
      }
    },
  },
  {
    must: 'A cursor of another epoch must be answered `recovered: false` with the reason `epoch` and a snapshot',
    run: (lab) => expectReset(lab, () => 'conformance:1', 'epoch'),
  },
  {
    must: 'A cursor ahead of the log must be answered `recovered: false` with the reason `ahead` and a snapshot',
    run: (lab) => expectReset(lab, (cursor) => `${parseCursor(cursor)?.epoch}:999999999`, 'ahead'),
  },
  {
    must: 'A malformed cursor must be ignored',
    async run(lab) {
      const { session, wsId } = await setUp(lab);
      for (const after of ['', 'x', 'a:b', ':1']) {
        const { recovered, reason, snapshot } = await subscribe(session, wsId, after);
        const told = { recovered, reason, snapshot: snapshot !== undefined };
        expectEqual(told, { recovered: false, reason: undefined, snapshot: true }, `after "${after}"`);
      }
    },
  },
  {
    must: 'A subscription to an unknown workstream must be answered NOT_FOUND',
    async run(lab) {
      const session = await lab.connect();
      needs(session, 'events.subscribe');
      const { error } = await session.request('events.subscribe', { wsId: randomUUID() });
      expectEqual(error?.code, 'NOT_FOUND', 'the answer');
    },
  },
  {
    must: 'After the answer to `events.unsubscribe` no further event of that workstream must arrive',
    async run(lab) {
      const { session, wsId } = await setUp(lab);
      const witness = await lab.connect();
      for (const one of [session, witness]) await subscribe(one, wsId);
      await session.call('events.unsubscribe', { wsId });
      const before = cursorsOf(session, wsId).length;
      await makeEvents(witness, wsId);
      await session.call('health');
      expectEqual(cursorsOf(session, wsId).length, before, 'events after the unsubscribe');
    },
  },
];

function isAt(frame: { type: string; payload?: unknown }, cursor: string): boolean {
  return frame.type === 'event' && Step.safeParse(frame.payload).data?.cursor === cursor;
}

function expectIncreasing(cursors: readonly string[], after: string): void {
  const offsets = [after, ...cursors].map((cursor) => parseCursor(cursor)?.offset ?? Number.NaN);
  const isIncreasing = offsets.every((offset, i) => i === 0 || offset > (offsets[i - 1] ?? 0));
  expectThat(isIncreasing, `events came twice or out of order: ${offsets.join(', ')}`);
}
