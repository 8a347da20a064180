import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorShape, Frame, ResponseFrame } from '../../protocol/frames.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { TestClient } from '../../src/gateway/testing/test-client.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { within } from '../support/deadline.ts';

/** The number of flood requests that are always in flight. */
const UNDER_WAY = 2_000;
const NEIGHBOURS = 3;
const REQUESTS = 40;

/** One connection that sends a new request for each answer until it is stopped. */
async function startFlood(daemon: DaemonUnderTest) {
  const { socket } = await openSocket(daemon);
  const outcomes: Record<string, number> = {};
  const begun = Promise.withResolvers<void>();
  const served = Promise.withResolvers<void>();
  let asked = 0;
  const ask = () => socket.send(JSON.stringify({ type: 'req', id: `f${asked++}`, method: 'system-presence' }));
  const onAnswer = ({ error }: ResponseFrame) => {
    const outcome = error ? toText(error) : 'answered';
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (outcome === REFUSED) begun.resolve();
    if ((outcomes.answered ?? 0) >= 2 * LIMITS.inboundBurst) served.resolve();
    ask();
  };
  socket.removeAllListeners('message'); // millions of frames must not be kept in memory
  socket.on('message', (data) => {
    const frame: Frame = JSON.parse(data.toString());
    if (frame.type === 'res') onAnswer(frame);
  });
  for (let n = 0; n < UNDER_WAY; n += 1) ask();
  await within(begun.promise, 60_000, () => 'a refusal');
  return {
    outcomes,
    refused: () => outcomes[REFUSED] ?? 0,
    /** The number of unanswered requests. */
    waiting: () => asked - Object.values(outcomes).reduce((sum, count) => sum + count, 0),
    /** Resolves when the number of answers exceeds the burst, so at least one request was refused. */
    servedAgain: () => served.promise,
    stop: () => socket.terminate(),
  };
}

const toText = ({ code, retryable, retryAfterMs = 0 }: ErrorShape) =>
  `${code}, ${retryable ? 'retryable' : 'final'}, ${retryAfterMs > 0 ? 'says when' : 'says not when'}`;
const REFUSED = 'RATE_LIMITED, retryable, says when';

test('a flood of requests is refused on its own connection, and all others are served meanwhile', async (t) => {
  await using daemon = await startDaemon();
  const neighbours = await Promise.all(Array.from({ length: NEIGHBOURS }, () => openSocket(daemon)));
  const flood = await startFlood(daemon);
  /** The unanswered flood requests at each answer to another client. */
  const talk = async ({ request }: TestClient) => {
    const waiting: number[] = [];
    for (let n = 0; n < REQUESTS; n += 1) {
      if ((await request('workstream.list', {})).ok) waiting.push(flood.waiting());
    }
    return waiting;
  };
  const answers = await within(Promise.all(neighbours.map(talk)), 60_000, () => 'the answers to the neighbours');
  const { status } = await daemon.fetch('/health');
  await within(flood.servedAgain(), 60_000, () => 'answers to the flood after its rest');
  flood.stop();
  t.diagnostic(`${flood.refused()} refused while ${NEIGHBOURS * REQUESTS} requests of others were answered`);
  const { answered = 0, ...refusals } = flood.outcomes;
  assert.deepEqual(
    { answers: answers.map(({ length }) => length), status, refusals: Object.keys(refusals) },
    { answers: Array(NEIGHBOURS).fill(REQUESTS), status: 200, refusals: [REFUSED] },
  );
  assert.ok(answered >= LIMITS.inboundBurst, `${answered} of the flood were answered`);
  for (const own of answers) assert.ok(Math.min(...own) >= UNDER_WAY - 1, 'the flood continued during these calls');
});
