import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GATEWAY_EVENTS } from '../../../protocol/events/gateway.ts';
import { EventFrame } from '../../../protocol/frames.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { framesOf } from '../testing/fake-wire.ts';
import { toLogEntry } from './log-entry.ts';

const entryOf = (event: StreamEvent, offset = 41) =>
  toLogEntry({ wsId: 'abc', epoch: 'k3Jd' }, { offset, json: JSON.stringify(event) });

test('an entry is one SSE frame with its cursor as id', () => {
  const entry = entryOf({ type: 'content', text: 'a\nb "c" \u2028 ☃' });
  assert.equal(entry.type, 'content');
  assert.equal(entry.sse(), 'id: k3Jd:41\ndata: {"type":"content","ws_id":"abc","text":"a\\nb \\"c\\" \u2028 ☃"}\n\n');
});

test('ws_state is also sent under its later name, before it and without an id', () => {
  const run = { run_id: 'r', status: 'ok' as const };
  const entry = entryOf({ type: 'ws_state', ws_id: 'abc', state: 'idle', run });
  const said = '"ws_id":"abc","state":"idle","run":{"run_id":"r","status":"ok"}';
  assert.equal(
    entry.sse(),
    `data: {"type":"state_change",${said},"acting_user_id":""}\n\nid: k3Jd:41\ndata: {"type":"ws_state",${said}}\n\n`,
  );
});

test('an error is followed by an idle with the id; the log and WebSockets have only the error', () => {
  const run = { run_id: 'r', status: 'error' as const, error: 'a "state":"idle"' };
  const event: StreamEvent = { type: 'ws_state', ws_id: 'abc', state: 'error', run };
  const entry = entryOf(event);
  const error = `"ws_id":"abc","state":"error","run":${JSON.stringify(run)}`;
  const idle = '"ws_id":"abc","state":"idle"';
  assert.deepEqual(entry.sse().split('data: '), [
    '',
    `{"type":"state_change",${error},"acting_user_id":""}\n\n`,
    `{"type":"ws_state",${error}}\n\n`,
    `{"type":"state_change",${idle},"acting_user_id":""}\n\nid: k3Jd:41\n`,
    `{"type":"ws_state",${idle}}\n\n`,
  ]);
  assert.deepEqual(EventFrame.parse(framesOf(entry.wsFrame())[0]).payload, { wsId: 'abc', cursor: 'k3Jd:41', event });
});

test('an entry is one WebSocket frame that fits its row, at every length of the header', () => {
  for (const length of [0, 10, 200, 70_000]) {
    const event: StreamEvent = { type: 'content', text: 'ä'.repeat(length) };
    const frame = entryOf(event).wsFrame();
    const [decoded, ...more] = framesOf(frame);
    assert.deepEqual(more, []);
    assert.deepEqual(EventFrame.parse(decoded), {
      type: 'event',
      event: 'workstream',
      payload: { wsId: 'abc', cursor: 'k3Jd:41', event },
    });
    const { payload } = EventFrame.parse(decoded);
    assert.deepEqual(GATEWAY_EVENTS.workstream.payload.parse(payload), payload);
  }
});

test('each encoding is created once for all readers', () => {
  const entry = entryOf({ type: 'stream_end' });
  assert.equal(entry.wsFrame(), entry.wsFrame());
  assert.equal(entry.sse(), entry.sse());
});
