import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Inspector, openInspector } from '../soak/inspector.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import type { Known } from './arbitrary-of-schema.ts';
import { everyMethod, FRAMES_PER_SAMPLE, hostileFrames } from './hostile-frames.ts';
import { sendFrames } from './send-frames.ts';

/** A sample; `npm run fuzz` sends 200 000. */
const FRAMES = Number(process.env.FUZZ_FRAMES ?? 20_000);
const FRAMES_PER_CONNECTION = 2_500;
/** Yields, so that frames are generated while others are answered. */
const LANES = 2;
/** How often every method is called before the first measurement. */
const ROUNDS_BEFORE = 3;
const MIB = 1024 * 1024;
/**
 * The growth of live memory after a full collection, from the first half to the end: 32 bytes per frame, plus what does not
 * depend on their number (0.8 to 2.4 MiB were seen: parts that a frame reaches for the first time).
 */
const FLAT_MIB = 3 + (32 * 0.5 * FRAMES) / MIB;

/** The seed to reproduce a failed run, which the test prints. */
const seed = Number(process.env.HEADGATE_FUZZ_SEED ?? randomInt(2 ** 31));

/** Existing ids, so that requests do not only get NOT_FOUND. */
async function knownIds(daemon: DaemonUnderTest): Promise<Known> {
  const client = await daemon.client();
  const wsIds: string[] = [];
  for (let n = 0; n < 5; n += 1) wsIds.push((await client.call('workstream.create', {})).wsId);
  const session = fc.constantFrom('main', ...wsIds);
  const key = fc.nat(50).map((n) => `key-${n}`);
  return {
    ...{ wsId: session, resumeWs: session, sessionKey: session, sessionId: session, key: session, to: session },
    ...{ runId: key, idempotencyKey: key },
    message: fc.constantFrom('help', 'say hello', 'bash true', 'list', '/help'),
    command: fc.constantFrom('/help', '/clear', '/name x', '/model demo', '/nothing'),
  };
}

/** Nothing is asked of other machines. */
const CLOSED = 'http://127.0.0.1:1';
const NOT_OUTSIDE = {
  mcp: { registryUrl: CLOSED },
  skills: { discoveryUrl: CLOSED, githubApiUrl: CLOSED, githubRawUrl: CLOSED },
};

/** What is loaded when it is first needed is no growth. */
async function loadParts(daemon: DaemonUnderTest): Promise<void> {
  const client = await daemon.client();
  await assert.rejects(client.call('mcp.registry.search', { search: 'x' }), { code: 'UNAVAILABLE' });
  await client.call('push.list', {});
  const { wsId } = await client.call('workstream.create', {});
  await client.call('file.list', { wsId });
  await assert.rejects(client.call('skill.discover', { query: 'x' }), { code: 'UPSTREAM_FAILED' });
}

test(`${FRAMES} generated frames, valid and mutilated, do no harm`, async (t) => {
  t.diagnostic(`HEADGATE_FUZZ_SEED=${seed}`);
  const inbound = { burst: 1_000_000, perSecond: 1_000_000 };
  const env = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };
  await using daemon = await startDaemon({ config: { server: { inbound }, ...NOT_OUTSIDE }, env });
  await loadParts(daemon);
  using inspector = await openInspector(daemon.output().stderr);
  const known = await knownIds(daemon);
  const frames = hostileFrames(known);
  const problems: string[] = [];
  // Schemas and parts are made when they are first needed.
  for (const writes of fc.sample(everyMethod(known), { numRuns: ROUNDS_BEFORE, seed }))
    problems.push(...(await sendFrames(daemon, writes)));
  let made = 0;
  const lane = async (until: number) => {
    while (made < until) {
      made += FRAMES_PER_CONNECTION;
      const samples = fc.sample(frames, { numRuns: FRAMES_PER_CONNECTION / FRAMES_PER_SAMPLE, seed: seed + made });
      problems.push(...(await sendFrames(daemon, samples.flat())));
    }
  };
  const liveMib: number[] = [];
  for (const until of [FRAMES / 2, FRAMES]) {
    await Promise.all(Array.from({ length: LANES }, () => lane(until)));
    liveMib.push(await toLiveMib(inspector));
  }
  t.diagnostic(`live memory after one half and at the end, MiB: ${liveMib.join(' ')}`);
  assert.deepEqual([...new Set(problems)].slice(0, 10), []);
  const [early = 0, late = 0] = liveMib;
  assert.ok(late - early < FLAT_MIB, `memory stays flat: ${early.toFixed(1)} MiB, then ${late.toFixed(1)}`);
  assert.equal((await daemon.get('/health')).status, 200);
  assert.doesNotMatch(daemon.output().stderr, /unhandled|uncaught/i);
});

async function toLiveMib(inspector: Inspector): Promise<number> {
  const { heapBytes, externalBytes } = await inspector.liveMemory();
  return (heapBytes + externalBytes) / MIB;
}
