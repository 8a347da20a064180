import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Principal } from '../auth/principal.ts';
import type { EventStreams, StreamRequest } from '../streams/event-streams.ts';
import { writeViewer } from './calls/carried-call.ts';
import { Elsewhere, unreachable } from './elsewhere.ts';
import { farStreams, serveStream } from './far-streams.ts';
import type { Link } from './links/link.ts';

const notServed = () => assert.fail('it is not asked');

const ADA: Principal = {
  id: 'token of ada',
  scopes: new Set(['read']),
  permissions: new Set(),
  userId: 'ada',
  source: { kind: 'token', tokenId: 't' },
  ended: new AbortController().signal,
};
const REQUEST: StreamRequest = { viewer: ADA, lastEventId: 'e:3', resume: true, snapshot: false, history: 5 };
const NEVER = new AbortController().signal;
const BEGINNING = { frames: [{ id: 'e:4', json: '{}' }], after: 4 };

/** Streams of this daemon, where `open` does this, and the machine `m`, which answers so. */
function world(open: EventStreams['open'], answer: Link['ask'] = notServed) {
  const steps: unknown[] = [];
  const own: EventStreams = { open, follow: notServed, states: notServed, onChange: notServed };
  const link: Link = {
    ask(what, body) {
      steps.push([what, JSON.parse(JSON.stringify(body))]);
      return answer(what, body);
    },
    tell: notServed,
    take: notServed,
    ended: NEVER,
    end: notServed,
  };
  const streams = farStreams(own, {
    linkTo: (machine) => (machine === 'm' ? link : undefined),
    refusal: (elsewhere) => unreachable(elsewhere.machine ?? '', elsewhere),
    async openLogs(machine, wsIds) {
      steps.push(['open logs', machine, ...wsIds]);
    },
    endings: () => 7,
  });
  return { streams, steps };
}
const elsewhere = (machine: string | null) => () => Promise.reject(new Elsewhere(machine));

test('a stream of this daemon begins here', async () => {
  const opening = { connected: '{}', since: 1, begin: async () => BEGINNING };
  const { streams, steps } = world(async () => opening);
  assert.equal(await streams.open('w', REQUEST), opening);
  assert.deepEqual(steps, []);
});

test('a stream of another machine begins there, and its log is known here before it is followed', async () => {
  const { streams, steps } = world(elsewhere('m'), async () => ({ connected: '{"c":1}', ...BEGINNING }));
  const { connected, since, begin } = await streams.open('w', REQUEST);
  assert.deepEqual([connected, since, await begin(NEVER)], ['{"c":1}', 7, BEGINNING]);
  const viewer = { userId: 'ada', permissions: [] };
  assert.deepEqual(steps, [
    ['stream', { wsId: 'w', request: { ...REQUEST, viewer } }],
    ['open logs', 'm', 'w'],
  ]);
});

test('a stream of a machine without a link cannot begin now', async () => {
  const { streams } = world(elsewhere('gone'));
  await assert.rejects(streams.open('w', REQUEST), { name: 'GatewayError', code: 'UNAVAILABLE', retryable: true });
});

test('refusals of this daemon and of the other machine pass as they are', async () => {
  const refusal = new GatewayError('NOT_FOUND', 'Unknown workstream');
  const fails = () => Promise.reject(refusal);
  await assert.rejects(world(fails).streams.open('w', REQUEST), refusal);
  await assert.rejects(world(elsewhere('m'), fails).streams.open('w', REQUEST), refusal);
});

test('a stream of a workstream that has left its machine meanwhile cannot begin now', async () => {
  for (const machine of ['another', null]) {
    const { streams } = world(elsewhere('m'), elsewhere(machine));
    await assert.rejects(streams.open('w', REQUEST), { name: 'GatewayError', code: 'UNAVAILABLE', retryable: true });
  }
});

test('a machine opens a stream with the rights of its viewer, and ends the wait with the signal', async () => {
  const asked: unknown[] = [];
  const gone = AbortSignal.abort();
  const open: EventStreams['open'] = async (wsId, { viewer, ...request }) => {
    asked.push([wsId, request, viewer.userId, [...viewer.permissions]]);
    return {
      connected: '{}',
      since: 0,
      async begin(signal) {
        asked.push(signal);
        return BEGINNING;
      },
    };
  };
  const { viewer: _, ...request } = REQUEST;
  const opening = { wsId: 'w', request: { ...request, viewer: writeViewer(ADA) } };
  const answer = await serveStream(opening, { signal: gone, interim: notServed }, { open });
  assert.deepEqual(answer, { connected: '{}', ...BEGINNING });
  assert.deepEqual(asked, [['w', request, 'ada', []], gone]);
});
