// Runs test files, each in a process of its own, tells only what failed, and refuses to be content with too few tests: a
// runner that finds nothing is green. A file that does not end is killed for good, also when it spins.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** Some assertions compare megabytes. */
const MAX_REASON = 4_000;
/** How many files are named with how long they took. */
const SLOWEST = 8;
/** Tests wait for timers and other processes for a third of their time. */
const FILES_AT_ONCE = Math.ceil(availableParallelism() * 1.5);
const REPORTER = fileURLToPath(new URL('line-reporter.js', import.meta.url));

/**
 * Returns the counts; `ok` is false when a test failed or fewer than `atLeast` ran. No test runs twice. Where `maySkip` is
 * false for a file, a skipped test counts as failed.
 */
export async function runTests({
  name,
  files,
  atLeast,
  timeoutMs,
  maySkip = (_file) => true,
  environmentOf = () => ({}),
}) {
  const startMs = performance.now();
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const durations = [];
  const queue = [...files];
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-tests-'));
  const run = (file, report) =>
    runFile({ file, timeoutMs, environment: environmentOf(file), reportPath: path.join(folder, report) });
  const work = async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const fileStartMs = performance.now();
      for (const result of (await run(file, String(queue.length))).map(judgeSkip(maySkip(file)))) {
        counts[result.outcome] += 1;
        if (result.outcome !== 'passed') process.stdout.write(toReport(result));
      }
      durations.push({ file, seconds: (performance.now() - fileStartMs) / 1000 });
    }
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, work));
  await rm(folder, { recursive: true });
  const missing = Math.max(0, atLeast - counts.passed - counts.failed);
  if (missing > 0) process.stdout.write(`✖ ${name}: ${missing} fewer tests ran than the ${atLeast} expected\n`);
  const seconds = (performance.now() - startMs) / 1000;
  const slowest = durations.sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  return { name, ...counts, files: files.length, seconds, slowest, ok: counts.failed === 0 && missing === 0 };
}

const judgeSkip = (isAllowed) => (result) =>
  result.outcome === 'skipped' && !isAllowed
    ? { ...result, outcome: 'failed', reason: `must not be skipped here: ${result.reason}` }
    : result;

/** One line for people: `412 unit tests passed in 83 files (31.2 s)`. */
export function toCountLine({ name, passed, failed, skipped, files, seconds }) {
  const failures = failed > 0 ? `, ${failed} failed` : '';
  const skips = skipped > 0 ? `, ${skipped} skipped` : '';
  return `${passed} ${name} tests passed${failures}${skips} in ${files} files (${seconds.toFixed(1)} s)`;
}

/** Where the time went: `slowest: page/scale 41 s, samples/drill 38 s`. */
export const toSlowestLine = ({ slowest }) =>
  `slowest: ${slowest.map(({ file, seconds }) => `${toShortName(file)} ${seconds.toFixed(0)} s`).join(', ')}`;

/** `page/cron` for `e2e/page/cron.test.ts`. */
const toShortName = (file) => path.join(path.basename(path.dirname(file)), path.basename(file, '.test.ts'));

/** The outcome of every test of the file, and one more that failed when the file itself did. */
async function runFile({ file, timeoutMs, environment, reportPath }) {
  const startMs = performance.now();
  const { code, signal, output } = await runProcess(
    [`--test-reporter=${REPORTER}`, `--test-reporter-destination=${reportPath}`, file],
    { timeoutMs, environment },
  );
  const lines = (await readFile(reportPath, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  const entries = lines.map((line) => JSON.parse(line));
  const results = toResults(entries);
  const failure = (reason) => ({ outcome: 'failed', name: file, file: path.resolve(file), reason });
  if (signal !== null) {
    const seconds = Math.round((performance.now() - startMs) / 1000);
    const finished = results.map(({ name }) => name);
    const unfinished = entries.filter(({ outcome, name }) => outcome === 'begun' && !finished.includes(name));
    const names = unfinished.map(({ name }) => `unfinished: ${name}`).join('\n');
    return [...results, failure(`ended by ${signal} after ${seconds} s\n${names}\n${output}`)];
  }
  if (code !== 0 && !results.some(({ outcome }) => outcome === 'failed')) {
    return [...results, failure(`ended with ${code}\n${output}`)];
  }
  return results.length === 0 ? [failure('holds no test')] : results;
}

/** Process groups that run: each file's process and what it started. */
const groups = new Set();
process.once('exit', () => {
  for (const group of groups) killGroup(group);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

/** What ended; a failure with what the test told, in which there may be the reason. */
function toResults(entries) {
  const ends = entries.filter(({ outcome }) => outcome !== 'begun' && outcome !== 'told');
  return ends.map((end) => {
    if (end.outcome !== 'failed') return end;
    const told = entries.filter(({ outcome, line }) => outcome === 'told' && line === end.line);
    return { ...end, reason: [end.reason, ...told.map(({ message }) => message)].join('\n') };
  });
}

/** A daemon that a killed test leaves behind goes with it: both are of one process group. */
function runProcess(args, { timeoutMs, environment }) {
  return new Promise((resolve, reject) => {
    // Inside a test the runner would make its children speak to it instead of to our reporter.
    const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
    const env = { ...inherited, ...environment };
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    groups.add(child.pid);
    // biome-ignore lint/style/noRestrictedGlobals: scripts have no clock.
    const timer = setTimeout(() => killGroup(child.pid), timeoutMs);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output = (output + text).slice(-10_000);
      });
    }
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      killGroup(child.pid);
      groups.delete(child.pid);
      resolve({ code, signal, output: output.trim() });
    });
  });
}

function killGroup(group) {
  try {
    process.kill(-group, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // nothing was left
  }
}

function toReport({ outcome, name, file, line, reason }) {
  const place =
    file === undefined ? '' : ` (${path.relative(process.cwd(), file)}${line === undefined ? '' : `:${line}`})`;
  const text = reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON)} …` : reason;
  return `${outcome === 'skipped' ? '- skipped:' : '✖'} ${name}${place}\n  ${text.replaceAll('\n', '\n  ')}\n\n`;
}
