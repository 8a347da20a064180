import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCursor } from '../../protocol/cursor.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { watchDaemon } from '../support/daemon/watch-daemon.ts';
import { type ReadOut, type StalledReader, stallSocket, stallStream } from '../support/faults/stalled-readers.ts';
import { pause, type Step, say } from '../support/model/scripted-steps.ts';

const MIB = 1024 * 1024;
/** Text for each reader: more than the kernel's buffers of a connection on both sides. */
const FLOOD_BYTES = 18 * MIB;
const DELTA_BYTES = 8 * 1024;
const DELTAS = FLOOD_BYTES / DELTA_BYTES;
const STALLED = 20;
const READING = 5;
/** How many stalled readers of each kind read at the end. */
const CATCHING_UP = 6;
/**
 * The memory that a stalled reader may cost. At the end it is less than one MiB; the rest is garbage on a busy machine. If
 * unread events were kept, it would be 18.
 */
const MIB_PER_STALLED = 6;

const { model, daemon } = await openStage({ config: { answers: { maxChars: 2 * FLOOD_BYTES } } });

/** Deltas with the time of sending. */
const flood: Step[] = Array.from({ length: DELTAS }, (_, n): Step[] => [
  { run: (answer) => say(`@${performance.now().toFixed(1)}@`.padEnd(DELTA_BYTES, '.')).run(answer) },
  ...(n % 4 === 3 ? [pause(10)] : []),
]).flat();

test('stalled readers cost little memory, delay no other reader, and continue without a gap', async (t) => {
  model.when('flood', flood);
  const alone = await floodThrough(daemon, { stalled: 0 });
  const beside = await floodThrough(daemon, { stalled: STALLED });
  const figures = {
    'MiB at the peak without stalled readers': Math.round(alone.peakBytes / MIB),
    'MiB at the peak with them': Math.round(beside.peakBytes / MIB),
    'p99 of the others without, ms': alone.p99Ms,
    'p99 of the others with, ms': beside.p99Ms,
    'slowest /health without, ms': alone.healthMaxMs,
    'slowest /health with, ms': beside.healthMaxMs,
    'why stalled ones were closed': beside.closed,
  };
  t.diagnostic(JSON.stringify(figures));
  const allowed = alone.peakBytes + 2 * STALLED * MIB_PER_STALLED * MIB;
  // `floodThrough` has waited until the others got everything while the stalled ones did not read.
  assert.ok(beside.peakBytes < allowed, JSON.stringify(figures));
});

async function floodThrough(daemon: DaemonUnderTest, { stalled }: { stalled: number }) {
  const { ws_id: wsId } = (await daemon.post('/v1/api/workstreams/new', {})).body;
  const client = await daemon.client();
  const from = (await client.call('workstream.get', { wsId })).cursor;
  client.close();
  const open = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => [stallStream(daemon, wsId, from), stallSocket(daemon, wsId, from)]).flat(),
    );
  const standing = await open(stalled);
  const reading = await open(READING);
  // The stalled readers read only afterwards; waiting for one before would never end.
  const told = Promise.all(reading.map((reader) => reader.readUntil('stream_end')));
  await daemon.post('/v1/api/send', { ws_id: wsId, message: 'flood' });
  const { result: everything, ...watched } = await watchDaemon(daemon, told);
  for (const { closed } of everything) assert.equal(closed, undefined);
  const texts = everything.map(textOf);
  assert.equal(texts[0]?.length, FLOOD_BYTES);
  assert.ok(texts.every((text) => text === texts[0]));
  const late = await Promise.all(standing.slice(0, CATCHING_UP).map((one) => catchUp(one, { daemon, wsId, from })));
  for (const { text, closed } of late) {
    assert.equal(text, texts[0]);
    // 1006: the frame that says so did not get through the full connection in time.
    assert.ok(['undefined', '1008 slow consumer', '1006 '].includes(String(closed)), String(closed));
  }
  for (const reader of [...standing, ...reading]) reader.destroy();
  await daemon.post('/v1/api/workstreams/close', { ws_id: wsId });
  return {
    ...watched,
    p99Ms: percentile(everything.flatMap(delaysOf), 0.99),
    closed: late.map(({ closed }) => closed),
  };
}

/** Continues reading; a reader that lost its connection resumes from the last cursor over a new one. */
async function catchUp(
  reader: StalledReader,
  { daemon, wsId, from }: { daemon: DaemonUnderTest; wsId: string; from: string },
) {
  const first = await reader.readUntil('stream_end');
  if (first.closed === undefined) return { closed: undefined, text: textOf(first) };
  const open = reader.kind === 'SSE' ? stallStream : stallSocket;
  const again = await open(daemon, wsId, first.events.at(-1)?.cursor ?? from);
  const rest = await again.readUntil('stream_end');
  again.destroy();
  assert.equal(rest.closed, undefined);
  return { closed: first.closed, text: textOf({ events: [...first.events, ...rest.events] }) };
}

/** The text, if it was received once and in order. */
function textOf({ events }: Pick<ReadOut, 'events'>): string {
  const offsets = events.map(({ cursor }) => parseCursor(cursor)?.offset ?? 0);
  assert.ok(
    offsets.every((offset, i) => i === 0 || offset > (offsets[i - 1] ?? 0)),
    'events arrive in order',
  );
  return events.map(({ event }) => (event.type === 'content' ? event.text : '')).join('');
}

/** How long each delta took from the model to the reader. */
const delaysOf = ({ events }: ReadOut): number[] =>
  events.flatMap(({ event, atMs }) =>
    event.type === 'content' ? [...event.text.matchAll(/@([\d.]+)@/g)].map(([, sent]) => atMs - Number(sent)) : [],
  );

const percentile = (values: number[], share: number): number =>
  Math.round(values.sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0);
