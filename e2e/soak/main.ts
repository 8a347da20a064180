// `npm run soak -- --minutes 60`: runs the real daemon under a steady mixed load, and reports whether anything accumulates.
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/clock.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { type Inspector, openInspector } from './inspector.ts';
import { type RunningLoad, startLoad } from './load.ts';
import { judgeSamples, type Row, toTable } from './report.ts';
import { type Sample, sampleBusy, sampleResting } from './samples.ts';
import { scriptTurns } from './script.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    /** Turns per second, of all users together. */
    rate: { type: 'string', default: '1' },
    /** The file for all samples, as JSON. */
    out: { type: 'string', default: path.join(tmpdir(), 'headgate-soak.json') },
    /** Prefix of two heap snapshots for finding a leak. Taking them permanently costs memory, so `rss` is then meaningless. */
    snapshots: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const turnsPerSecond = Number(values.rate);
if (!(minutes > 0) || !(turnsPerSecond > 0)) throw new Error('--minutes and --rate are positive numbers');

/** The warm-up, in which caches fill and code is compiled, is not judged. */
const WARM_UP = 0.2;
/** The number of rests in the whole run, at most one each 20 s. */
const RESTS = 40;
const BUSY_SAMPLE_MS = 10_000;
/** Idle connections of the driver are closed within this time. */
const SETTLE_MS = 6_500;

interface Soaked {
  daemon: DaemonUnderTest;
  inspector: Inspector;
  load: RunningLoad;
}

const never = new AbortController().signal;
const toMib = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);
const say = (line: string) => void process.stdout.write(`${line}\n`);

await using model = await startScriptedModel();
scriptTurns(model);
await using daemon = await startDaemon({
  model: model.url,
  config: { answers: { retrySecs: 2 } },
  env: { NODE_OPTIONS: '--inspect=127.0.0.1:0' },
});
using inspector = await openInspector(daemon.output().stderr);
say(`pid ${daemon.pid}, ${daemon.url}, ${minutes} minutes at ${turnsPerSecond} turns per second`);
const load = startLoad(daemon, { turnsPerSecond });
const died = daemon.exited().then(({ code, signal }): never => {
  throw new Error(`the daemon ended with ${code ?? signal}; stderr: ${daemon.output().stderr}`);
});
const samples = await Promise.race([soak({ daemon, inspector, load }), died]);
await load.stop();
const rows = judgeSamples(samples.resting, minutes * WARM_UP);
await tell(rows, samples);
process.exitCode = load.failures.length === 0 && rows.every(({ verdict }) => verdict !== 'grows') ? 0 : 1;

interface Samples {
  busy: Sample[];
  resting: Sample[];
}

async function soak(parts: Soaked): Promise<Samples> {
  const startMs = systemClock.monotonic();
  const now = () => (systemClock.monotonic() - startMs) / 60_000;
  const restEveryMs = Math.max(20_000, (minutes * 60_000) / RESTS);
  const samples: Samples = { busy: [], resting: [] };
  while (now() < minutes) {
    const restAt = now() + restEveryMs / 60_000;
    while (now() < restAt) {
      await systemClock.sleep(Math.min(BUSY_SAMPLE_MS, (restAt - now()) * 60_000 + 1), never);
      samples.busy.push(await sampleBusy(parts.daemon, now()));
    }
    samples.resting.push(await restAndSample(parts, now));
    if (samples.resting.length === 1 + Math.floor(WARM_UP * RESTS)) await snapshot(parts, 'first');
  }
  await snapshot(parts, 'last');
  return samples;
}

async function snapshot({ inspector, load }: Soaked, name: string): Promise<void> {
  if (values.snapshots === undefined) return;
  await load.rest();
  await inspector.writeSnapshot(path.resolve(`${values.snapshots}-${name}.heapsnapshot`));
  load.resume();
}

async function restAndSample({ daemon, inspector, load }: Soaked, now: () => number): Promise<Sample> {
  await load.rest();
  await systemClock.sleep(SETTLE_MS, never);
  model.requests.length = 0;
  const sample = await sampleResting({ daemon, inspector }, now());
  load.resume();
  const { heapBytes = 0, rssBytes = 0, timersAlive, files } = sample;
  const turns = [...load.counts.values()].reduce((sum, count) => sum + count, 0);
  say(
    `${sample.minutes.toFixed(1)} min: heap ${toMib(heapBytes)} MiB, rss ${toMib(rssBytes)} MiB, ${timersAlive} timers, ${files} files, ${turns} done, ${load.failures.length} failures`,
  );
  return sample;
}

async function tell(rows: Row[], samples: Samples): Promise<void> {
  const [from, to] = [samples.busy[0], samples.busy.at(-1)];
  const cpu =
    from && to ? (100 * ((to.cpuSeconds ?? 0) - (from.cpuSeconds ?? 0))) / ((to.minutes - from.minutes) * 60) : 0;
  const worstLagMs = Math.max(...samples.busy.map(({ lagMs = 0 }) => lagMs));
  const counts = Object.fromEntries(load.counts);
  say(`\n${toTable(rows)}\n`);
  say(
    `CPU ${cpu.toFixed(1)} % of a core; event loop p99 at worst ${worstLagMs.toFixed(0)} ms; ${JSON.stringify(counts)}`,
  );
  for (const failure of load.failures.slice(0, 20)) say(`FAILED: ${failure}`);
  await writeFile(
    values.out,
    JSON.stringify({ minutes, turnsPerSecond, cpu, counts, failures: load.failures, rows, samples }, null, 1),
  );
  say(`${load.failures.length} failures; samples in ${values.out}`);
}
