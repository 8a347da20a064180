import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { eventsEndpoints } from '../../../protocol/http/events.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { principalWith } from '../../testing/http-edge.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { createPlaces } from '../input/places.ts';
import { createSseWriting } from '../sse.ts';
import { streamOf } from './events.ts';

const unused = () => assert.fail('not in this test');

test('a caller has a limited number of open streams, and a stream that ended gives its place back', async () => {
  const clock = fakeClock();
  const opened: string[] = [];
  const { work } = streamOf(
    { endpoint: eventsEndpoints.global, open: ({ principal }) => void opened.push(principal.id) },
    {
      streams: { open: unused, follow: unused, states: unused, onChange: unused },
      writing: createSseWriting({ defer: unused, clock }),
      metrics: { httpRequest: () => undefined, sseConnections: unused, sseCoalesced: unused },
      places: createPlaces(2),
      log: recordingLog(),
      closing: new AbortController().signal,
      clock,
    },
  );
  const open = async (caller: 'read' | 'write') => {
    const req = new IncomingMessage(new Socket());
    const res = new ServerResponse(req);
    const path = '/v1/api/events/global';
    await work(
      { req, res, requestId: 'r', path, query: '', endpoint: path, fields: {}, startedMs: 0 },
      principalWith(caller),
    );
    return res;
  };
  const first = await open('read');
  await open('read');
  await open('write');
  await assert.rejects(open('read'), { code: 'RATE_LIMITED', message: /^Too many open event streams \(limit \d+\)$/ });
  first.emit('close');
  await open('read');
  assert.deepEqual(opened, ['read', 'read', 'write', 'read']);
});
