// Runs test files in separate processes, one or several in each, and reports only failed tests. Too few tests are a failure,
// because otherwise a runner that finds nothing would pass. A process that does not end is killed, even in an endless loop.
// Node's own concurrency and timeout cannot do this: they start a process for every file, give all of them the same environment,
// cannot stop an endless loop, and leave behind the daemons that a stopped file has started.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { watchIdleShare } from './idle-share.js';
import { maySkip } from './skips.js';

/** Longer reasons are cut: some assertions compare megabytes. */
const MAX_REASON = 4_000;
/** How much of the output of a process is kept; less than a reason, so that its end is shown. */
const MAX_OUTPUT = 3_000;
/** How many of the slowest files are listed. */
const SLOWEST = 8;
/** More processes than cores, because tests often wait for timers. Not many more: each starts others, and all become slower. */
const AT_FIRST = availableParallelism() * 2;
/** Another one starts when so much of the processors' time was idle between two looks. */
const IDLE_SHARE = 0.2;
const LOOK_MS = 2_000;
const AT_MOST = availableParallelism() * 4;
/** How long the output of an ended process is awaited. */
const LAST_WORDS_MS = 10_000;
const RUN_FILES = fileURLToPath(new URL('run-files.js', import.meta.url));
/**
 * Young objects get more room, and one thread collects: all processors are busy anyway. Short-lived processes then spend a
 * sixth less processor time.
 */
const ROOMY = ['--min-semi-space-size=64', '--max-semi-space-size=128', '--single-threaded-gc'];

/**
 * Runs every batch of files in a separate process. Batches that took longest the last time start first, so that none runs
 * alone at the end. Returns the counts; `ok` is false if a test failed, or fewer than `atLeast` ran or were skipped. No test runs
 * twice. A test that must not be skipped here counts as failed. `watch(files, kill, report)` kills a process that hangs, and
 * returns a function that ends the watch; `report` is the file that grows with each test. `keepPassed` gets the files whose tests
 * have all passed, with the number of tests of each.
 */
export async function runTests({
  name,
  batches,
  atLeast,
  watch,
  isCi = false,
  environmentOf = () => ({}),
  durations = { known: {}, keep: (_seconds) => undefined },
  keepPassed = (_tests) => undefined,
}) {
  const startMs = performance.now();
  const results = [];
  const seconds = {};
  const passedWhole = {};
  const queue = longestFirst(batches, durations.known);
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-tests-'));
  const idleShare = watchIdleShare();
  const workers = [];
  const work = async () => {
    for (let batch = queue.shift(); batch !== undefined; batch = queue.shift()) {
      const reportPath = path.join(folder, String(queue.length));
      const ended = await runBatch({ files: batch, watch, environment: environmentOf(batch[0]), reportPath });
      Object.assign(seconds, ended.seconds);
      const judged = ended.results.map(judgeSkip(isCi));
      for (const failure of judged.filter(is('failed'))) process.stdout.write(toReport(failure));
      results.push(...judged);
      if (ended.isWhole) Object.assign(passedWhole, passedFiles(batch, judged));
    }
  };
  for (let count = 0; count < AT_FIRST; count += 1) workers.push(work());
  // biome-ignore lint/style/noRestrictedGlobals: scripts have no clock.
  const looking = setInterval(() => {
    if (idleShare() > IDLE_SHARE && queue.length > 0 && workers.length < AT_MOST) workers.push(work());
  }, LOOK_MS);
  for (const worker of workers) await worker; // also those that are added meanwhile
  clearInterval(looking);
  await rm(folder, { recursive: true });
  durations.keep(seconds);
  keepPassed(passedWhole);
  const [passed, failed, skipped] = ['passed', 'failed', 'skipped'].map((outcome) => results.filter(is(outcome)));
  const missing = Math.max(0, atLeast - results.length);
  if (missing > 0) process.stdout.write(`✖ ${name}: ${missing} fewer tests ran than the ${atLeast} expected\n`);
  const took = { seconds: (performance.now() - startMs) / 1000, slowest: slowestOf(seconds) };
  const counts = { passed: passed.length, failed: failed.length, skipped: skipped.length };
  const ok = failed.length === 0 && missing === 0;
  return { name, ...counts, skips: skipped, files: batches.flat().length, ...took, ok };
}

const is = (outcome) => (result) => result.outcome === outcome;

/** The files of which every test passed, with the numbers of their tests. A test from a shared file may be one of any of them. */
function passedFiles(files, results) {
  const own = new Set(files.map((file) => path.resolve(file)));
  if (results.some((result) => result.outcome !== 'passed' && !own.has(result.file))) return {};
  const ofFile = (file) => results.filter((result) => result.file === path.resolve(file));
  return Object.fromEntries(
    files
      .map((file) => [file, ofFile(file)])
      .filter(([, all]) => all.length > 0 && all.every(is('passed')))
      .map(([file, all]) => [file, all.length]),
  );
}

/** Batches with unknown durations start first. */
function longestFirst(batches, known) {
  const secondsOf = (batch) => batch.reduce((sum, file) => sum + (known[file] ?? Number.POSITIVE_INFINITY), 0);
  return batches
    .map((batch) => [secondsOf(batch), batch])
    .sort(([a], [b]) => (a === b ? 0 : b - a))
    .map(([, batch]) => batch);
}

const slowestOf = (seconds) =>
  Object.entries(seconds)
    .map(([file, took]) => ({ file, seconds: took }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST);

const judgeSkip = (isCi) => (result) =>
  result.outcome === 'skipped' && !maySkip(result.tags, { isCi })
    ? { ...result, outcome: 'failed', reason: `must not be skipped here: ${result.reason}` }
    : result;

/** One line for people: `412 unit tests passed in 83 files (31.2 s)`. `before`: passed with the same code, and were not run again. */
export function toCountLine({ name, passed, failed, skipped, files, seconds, before = 0 }) {
  const failures = failed > 0 ? `, ${failed} failed` : '';
  const skips = skipped > 0 ? `, ${skipped} skipped` : '';
  const unchanged = before > 0 ? `, ${before} of them before, with the same code` : '';
  return `${passed} ${name} tests passed${unchanged}${failures}${skips} in ${files} files (${seconds.toFixed(1)} s)`;
}

/** The slowest files: `slowest: page/scale 41 s, samples/drill 38 s`. */
export const toSlowestLine = ({ slowest }) =>
  `slowest: ${slowest.map(({ file, seconds }) => `${toShortName(file)} ${seconds.toFixed(0)} s`).join(', ')}`;

/** `page/cron` for `e2e/page/cron.test.ts`. */
const toShortName = (file) => path.join(path.basename(path.dirname(file)), path.basename(file, '.test.ts'));

/** The outcome of every test of the files, one more failure if the process failed, and the duration of each file. */
async function runBatch({ files, watch, environment, reportPath }) {
  const startMs = performance.now();
  const { code, signal, output } = await runProcess([...ROOMY, RUN_FILES, ...files], {
    watch: (kill) => watch(files, kill, reportPath),
    environment: { ...environment, TEST_REPORT: reportPath },
  });
  const tookSeconds = (performance.now() - startMs) / 1000;
  const { entries, problem } = toEntries(await readFile(reportPath, 'utf8').catch(() => ''));
  const results = toResults(entries).map(failIfEmpty);
  const isFailed = results.some(is('failed'));
  const failure = (reason) => ({ outcome: 'failed', name: nameOf(files), file: path.resolve(files[0]), reason });
  if (problem !== undefined) results.push(failure(`its report cannot be read: ${problem}\n${output}`));
  const strays = entries.filter(isStray).map(({ message }) => message);
  const told = [...strays, ...unfinished(entries, results), output];
  if (signal !== null) {
    results.push(failure([`ended by ${signal} after ${Math.round(tookSeconds)} s`, ...told].join('\n')));
  } else if (code !== 0 && (strays.length > 0 || !isFailed)) {
    results.push(failure([`ended with ${code}`, ...told].join('\n')));
  }
  return {
    results,
    seconds: files.length === 1 ? { [files[0]]: tookSeconds } : secondsOfFiles(files, results),
    /** The process ended by itself, with the ends of all tests. */
    isWhole: signal === null && problem === undefined && strays.length === 0 && (code === 0 || isFailed),
  };
}

/** One entry per line. A report with foreign output in it fails its files, but not the whole run. */
function toEntries(report) {
  try {
    const lines = report.split('\n').filter((line) => line !== '');
    return { entries: lines.map((line) => JSON.parse(line)) };
  } catch (error) {
    return { entries: [], problem: error.message };
  }
}

/** An error that came outside of every test. Node reports it only as a diagnostic, and ends with 1. */
const isStray = ({ outcome, line, message }) =>
  outcome === 'told' && line === undefined && /^(Error|Warning): /.test(message);

/** The tests that had begun when the process ended. */
const unfinished = (entries, results) =>
  entries
    .filter((begun) => begun.outcome === 'begun' && !results.some(isOf(begun)))
    .map(({ name, file }) => `unfinished: ${name} (${path.relative(process.cwd(), file)})`);

const nameOf = ([first, ...more]) => (more.length === 0 ? first : `${first} and ${more.length} more`);

const isOf = (begun) => (result) => result.name === begun.name && result.file === begun.file;

/** Node reports a file without tests as a passed test with the file's name. */
const failIfEmpty = (result) =>
  result.outcome === 'passed' && result.name === result.file
    ? { ...result, outcome: 'failed', reason: 'contains no test' }
    : result;

/** The durations of files that shared a process, from their tests. */
function secondsOfFiles(files, results) {
  const tookMs = (file) =>
    results.filter((result) => result.file === path.resolve(file)).reduce((sum, { ms = 0 }) => sum + ms, 0);
  return Object.fromEntries(files.map((file) => [file, tookMs(file) / 1000]));
}

/** Running process groups: the process of each batch, and its children. */
const groups = new Set();
process.once('exit', () => {
  for (const group of groups) killGroup(group);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

/** The ended tests; a failure includes the diagnostics of its test, which may contain the reason. */
function toResults(entries) {
  const ends = entries.filter(({ outcome }) => outcome !== 'begun' && outcome !== 'told');
  return ends.map((end) => {
    if (end.outcome !== 'failed') return end;
    const told = entries.filter(
      ({ outcome, line, file }) => outcome === 'told' && line === end.line && file === end.file,
    );
    return { ...end, reason: [end.reason, ...told.map(({ message }) => message)].join('\n') };
  });
}

/** Daemons that a killed test leaves behind are killed, too, because they are in its process group. */
function runProcess(args, { watch, environment }) {
  return new Promise((resolve, reject) => {
    // Inside a test, the runner would send the reports of its children to itself instead of to our reporter.
    const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
    const env = { ...inherited, ...environment };
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    groups.add(child.pid);
    const endWatch = watch(() => killGroup(child.pid));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output = (output + text).slice(-MAX_OUTPUT); // its end says why
      });
    }
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      endWatch();
      killGroup(child.pid);
      groups.delete(child.pid);
      // Its last words may still be in the pipes. A process that has left the group can hold them open.
      const end = () => resolve({ code, signal, output: output.trim() });
      // biome-ignore lint/style/noRestrictedGlobals: scripts have no clock.
      const limit = setTimeout(end, LAST_WORDS_MS);
      child.on('close', () => {
        clearTimeout(limit);
        end();
      });
    });
  });
}

function killGroup(group) {
  try {
    process.kill(-group, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // the group has ended
  }
}

function toReport({ name, file, line, reason }) {
  const place =
    file === undefined ? '' : ` (${path.relative(process.cwd(), file)}${line === undefined ? '' : `:${line}`})`;
  const text = reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON)} …` : reason;
  return `✖ ${name}${place}\n  ${text.replaceAll('\n', '\n  ')}\n\n`;
}
