import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DaemonUnderTest, startDaemon } from '../daemon.ts';
import { readProcess } from '../soak/process-figures.ts';
import type { Known } from './arbitrary-of-schema.ts';
import { FRAMES_PER_SAMPLE, hostileFrames } from './hostile-frames.ts';
import { sendFrames } from './send-frames.ts';

const FRAMES = 200_000;
const FRAMES_PER_CONNECTION = 2_500;
/** So that frames are made while others are answered. */
const LANES = 2;
const MIB = 1024 * 1024;
/** Of resident memory, from the first quarter to the end; the garbage of a busy daemon is less. */
const FLAT_MIB = 96;

/** Brings a run back that failed: the test prints it. */
const seed = Number(process.env.HEADGATE_FUZZ_SEED ?? randomInt(2 ** 31));

/** Ids that exist, so that requests get further than to NOT_FOUND. */
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

test(`${FRAMES} frames, made from the contract or torn, do no harm`, async (t) => {
  t.diagnostic(`HEADGATE_FUZZ_SEED=${seed}`);
  const inbound = { burst: 1_000_000, perSecond: 1_000_000 };
  await using daemon = await startDaemon({ config: { server: { inbound } } });
  const frames = hostileFrames(await knownIds(daemon));
  const problems: string[] = [];
  const rssMib: number[] = [];
  let made = 0;
  const lane = async () => {
    while (made < FRAMES) {
      made += FRAMES_PER_CONNECTION;
      const samples = fc.sample(frames, { numRuns: FRAMES_PER_CONNECTION / FRAMES_PER_SAMPLE, seed: seed + made });
      problems.push(...(await sendFrames(daemon, samples.flat())));
      rssMib.push(Math.round((await readProcess(daemon.pid)).rssBytes / MIB));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  t.diagnostic(`resident memory, MiB: ${rssMib.join(' ')}`);
  assert.deepEqual([...new Set(problems)].slice(0, 10), []);
  const early = Math.max(...rssMib.slice(0, rssMib.length / 4));
  assert.ok((rssMib.at(-1) ?? 0) < early + FLAT_MIB, 'memory stays flat');
  assert.equal((await daemon.get('/health')).status, 200);
  assert.doesNotMatch(daemon.output().stderr, /unhandled|uncaught/i);
});
