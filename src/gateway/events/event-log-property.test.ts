import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { systemClock } from '../../clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { DAEMON } from '../sharing/perception.ts';
import { content, memoryLog, roomySink } from '../testing/memory-log.ts';
import { EventLog } from './event-log.ts';
import type { LogReader } from './log-reader.ts';

const text = fc.string({ maxLength: 3 });
const event = fc.oneof(
  { weight: 6, arbitrary: text.map(content) },
  { weight: 2, arbitrary: text.map((said): StreamEvent => ({ type: 'reasoning', text: said })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('c1', 'c2'), text)
      .map(([call_id, chunk]): StreamEvent => ({ type: 'tool_output_chunk', call_id, chunk })),
  },
  { weight: 1, arbitrary: fc.constant<StreamEvent>({ type: 'stream_end' }) },
);

/** A client on a bad connection, and a daemon that restarts sometimes. */
function setUp() {
  const memory = memoryLog();
  const target = roomySink(1);
  let events = new EventLog({ store: memory.store, clock: systemClock, log: recordingLog() });
  let reader: LogReader = events.follow('a', 0, { viewer: DAEMON, sink: target.sink });
  return {
    memory,
    target,
    async turn() {
      await new Promise(setImmediate);
    },
    async append(appended: StreamEvent[]) {
      memory.append('a', ...appended);
    },
    async room(room: number) {
      target.state.room = room;
      reader.resume();
    },
    /** The reader ends, and another one begins after a delivered event. */
    async cut(at: number) {
      reader.close();
      target.written.length = at % (target.written.length + 1);
      reader = events.follow('a', target.written.at(-1)?.offset ?? 0, { viewer: DAEMON, sink: target.sink });
    },
    async restart() {
      events = new EventLog({ store: memory.store, clock: systemClock, log: recordingLog() });
      await this.cut(target.written.length);
    },
    async drain() {
      const isBehind = () => reader.offset < memory.store.bounds('a').last;
      for (let turns = 0; isBehind() && turns < 1_000; turns += 1) {
        await this.room(Number.POSITIVE_INFINITY);
        await this.turn();
      }
    },
  };
}

type Step = (client: ReturnType<typeof setUp>) => Promise<void>;

const appending = (minLength: number, maxLength: number) =>
  fc.array(event, { minLength, maxLength }).map(
    (events): Step =>
      (client) =>
        client.append(events),
  );
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: appending(1, 40) },
  { weight: 1, arbitrary: appending(500, 700) },
  {
    weight: 4,
    arbitrary: fc.nat(3).map(
      (room): Step =>
        (client) =>
          client.room(room),
    ),
  },
  { weight: 3, arbitrary: fc.constant<Step>((client) => client.turn()) },
  {
    weight: 2,
    arbitrary: fc.nat().map(
      (at): Step =>
        (client) =>
          client.cut(at),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Step>((client) => client.restart()) },
);

/** The texts with all adjacent ones joined, so that their boundaries do not matter. */
function normalised(events: readonly StreamEvent[]): [string, string][] {
  const said: [string, string][] = [];
  for (const { name, piece } of events.map(toPiece)) {
    const last = said.at(-1);
    if (last?.[0] === name && piece !== undefined) last[1] += piece;
    else said.push([name, piece ?? '']);
  }
  return said;
}

function toPiece(from: StreamEvent): { name: string; piece?: string } {
  if (from.type === 'tool_output_chunk') return { name: from.call_id, piece: from.chunk };
  return 'text' in from ? { name: from.type, piece: from.text } : { name: from.type };
}

test('a reader gets the whole log, whatever is appended, however slow it is, and wherever it reconnects', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const client = setUp();
      for (const take of steps) await take(client);
      await client.drain();
      const offsets = client.target.written.map(({ offset }) => offset);
      assert.deepEqual(
        offsets,
        [...new Set(offsets)].sort((a, b) => a - b),
        'each once, in order',
      );
      const received = client.target.written.map((written) => written.event);
      assert.deepEqual(normalised(received), normalised(client.memory.events('a')));
    }),
    { numRuns: 150 },
  );
});
