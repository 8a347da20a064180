import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { formatCursor, parseCursor } from '../../protocol/cursor.ts';
import type { EventFrame, Frame } from '../../protocol/frames.ts';
import type { StreamEvent } from '../../protocol/stream-events.ts';
import { unpack } from '../../src/gateway/store/compaction/packed-body.ts';
import { isDelta, textOf } from '../../src/gateway/store/merge-deltas.ts';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import type { Logged } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import { pause, type Step, say, think } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const PIECES = 40;
/** Reasoning and text in pieces that arrive one by one. */
const inPieces = (name: string): Step[] =>
  Array.from({ length: PIECES }, (_, n) => [n < 10 ? think(`why ${n} `) : say(`${name} ${n} `), pause(4)]).flat();

async function answeredInPieces(talk: Conversation, message: string): Promise<void> {
  model.when(message, inPieces(message));
  const question = await talk.ask(message);
  question.answer.catch(() => undefined); // the daemon may die after the end
  await talk.ended(question);
}

test('a reader that continues anywhere in a packed answer gets exactly the rest, over both transports', async () => {
  await using talk = await openConversation(daemon);
  for (const message of ['first', 'second']) {
    await answeredInPieces(talk, message);
  }
  await isPacked(talk);
  const { events } = await talk.agree();
  const { cursor } = await talk.client.call('workstream.get', { wsId: talk.wsId });
  const epoch = parseCursor(cursor)?.epoch ?? '';
  for (let offset = 0; offset < events.length; offset += 1) {
    const after = formatCursor({ epoch, offset });
    const read = { stream: await streamedAfter(talk, after, cursor), socket: await heardAfter(talk, after, cursor) };
    const rest = toRest(events.slice(offset));
    assert.deepEqual({ after, ...read }, { after, stream: rest, socket: rest });
  }
});

/** How the answer is stored when the daemon has died. */
const STEPS = [
  { when: 'kill before', at: 'pack', form: 'rows' },
  { when: 'kill after', at: 'pack', form: 'one row' },
  { when: 'kill before', at: 'compress', form: 'one row' },
  { when: 'kill after', at: 'compress', form: 'a block' },
];
for (const { when, at, form } of STEPS) {
  test(`${when} an answer is ${at}ed: its readers continue, and it is stored once`, async () => {
    const entry = new URL('../support/fixtures/dying-packer.ts', import.meta.url);
    await daemon.restart({ entry, env: { DIE_WHEN: when, DIE_AT: at } });
    await using talk = await openConversation(daemon);
    await answeredInPieces(talk, `${when} ${at}`);
    await daemon.exited();
    assert.equal(formOf(talk), form);
    await daemon.restart();
    await talk.reconnect();
    await talk.agree();
    await answeredInPieces(talk, `after ${when} ${at}`);
    await isPacked(talk);
    await talk.agree();
  });
}

/** Resolves when all events are in one block. */
async function isPacked(talk: Conversation): Promise<void> {
  while (formOf(talk) !== 'a block') await daemon.get('/health'); // a round trip, which lets time pass
}

function formOf({ wsId }: Conversation): string {
  using database = new DatabaseSync(path.join(daemon.home, 'headgate.db'), { readOnly: true });
  const bodies = database.prepare('select body_json from events where ws_id = ?').all(wsId);
  if (bodies.length === 1 && bodies[0]?.body_json instanceof Uint8Array) return 'a block';
  const events = bodies.flatMap(({ body_json }) => (typeof body_json === 'string' ? (unpack(body_json)[0] ?? []) : []));
  const answers = events.filter((json) => isDelta(JSON.parse(json)));
  return answers.length === 1 ? 'one row' : 'rows';
}

/** All text, the types of the other events, and the last offset; adjacent pieces may be joined for a reader. */
function toRest(events: readonly Logged[]) {
  return {
    text: events.map(({ event }) => (isDelta(event) ? textOf(event) : '')).join(''),
    others: events.flatMap(({ event }) => (isDelta(event) ? [] : [event.type])),
    at: events.at(-1)?.offset,
  };
}

async function streamedAfter({ wsId }: Conversation, lastEventId: string, last: string) {
  await using stream = await daemon.sse(`/v1/api/events?ws_id=${wsId}&resume=1`, { lastEventId });
  await stream.until(({ id }) => id === last);
  const logged = stream.frames.filter(({ id, data }) => id !== undefined && data.type !== 'history');
  return toRest(logged.map(({ id, data }) => ({ offset: parseCursor(id)?.offset ?? 0, event: data })));
}

async function heardAfter({ wsId }: Conversation, after: string, last: string) {
  const { socket, frames, call } = await openSocket(daemon);
  await call('events.subscribe', { wsId, after });
  const isEvent = (frame: Frame): frame is EventFrame => frame.type === 'event' && frame.event === 'workstream';
  const toLogged = ({ payload }: EventFrame): Logged => {
    const { cursor, event } = payload as { cursor: string; event: StreamEvent }; // by the event's row
    return { offset: parseCursor(cursor)?.offset ?? 0, event };
  };
  const lastOffset = parseCursor(last)?.offset;
  while (!frames.some((frame) => isEvent(frame) && toLogged(frame).offset === lastOffset)) await call('health'); // a round trip
  socket.close();
  return toRest(frames.filter(isEvent).map(toLogged));
}
