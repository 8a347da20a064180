// `npm run check`: format, lint, types, dead code, architecture, and the unit tests that need no database server. Tests that passed
// before are run again only if something that they use has changed; with `--all`, all are run.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { installedChromium } from '../e2e/support/clients/chromium.ts';
import { runTests, toCountLine, toSlowestLine } from './run-tests.js';
import { toSkipLines } from './skips.js';
import { durationsIn } from './test-durations.js';
import { unchangedTestsIn } from './unchanged-tests.js';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The minimum numbers of tests, including skipped ones; with fewer, some were not found. Raise them as tests are added. */
const FLOORS = { unit: 5_900, 'end-to-end': 2_105 };

/** A process in which no test begins or ends for so long hangs: even on a slow and busy machine, no test took half of this time. */
const HUNG_MS = 300_000;

/** Kills a process whose report has not grown between two looks. */
export const watch = (_files, kill, report) => {
  let before;
  // biome-ignore lint/style/noRestrictedGlobals: scripts have no clock.
  const timer = setInterval(() => {
    const size = statSync(report, { throwIfNoEntry: false })?.size ?? 0;
    if (size === before) kill();
    before = size;
  }, HUNG_MS);
  return () => clearInterval(timer);
};

const STATIC_CHECKS = {
  'format and lint': ['biome', 'check', '--error-on-warnings', '--max-diagnostics=200'],
  // Several threads check the same types anew: twice the processor time. What did not change is not checked again.
  types: [
    'tsc',
    '-p',
    '.',
    '--checkers',
    '1',
    '--incremental',
    '--tsBuildInfoFile',
    'node_modules/.cache/types.tsbuildinfo',
  ],
  'dead code': ['knip', '--cache', '--cache-location', 'node_modules/.cache/knip'],
};

/** Runs the static checks. Returns whether all passed. */
export async function checkStatically() {
  const results = await Promise.all(
    Object.entries(STATIC_CHECKS).map(async ([name, [program, ...args]]) => {
      const { code, output, seconds } = await runProgram(path.join(ROOT, 'node_modules/.bin', program), args);
      const mark = code === 0 ? '✔' : '✖';
      say(`${mark} ${name} (${seconds.toFixed(1)} s)\n${code === 0 ? '' : `${output}\n`}`);
      return code === 0;
    }),
  );
  return results.every(Boolean);
}

const isCi = process.env.CI === 'true';

const durations = durationsIn(path.join(ROOT, 'node_modules/.cache/test-seconds.json'));
/** Test files load mostly the same modules, so a compile cache helps. It is off for coverage, which it makes less exact. */
export const COMPILED = { NODE_COMPILE_CACHE: path.join(ROOT, 'node_modules/.cache/compiled-tests') };
const isMeasured = () => process.env.NODE_V8_COVERAGE !== undefined;

/**
 * How many files of unit tests share a process, because loading modules takes longer than the tests: 20 together took a half
 * more processor time. Tests leave no state behind, and a test that hangs affects only the files of its process.
 */
const FILES_TOGETHER = 110;

/** Tests of the agent start many programs, and starting one takes longer the more memory a process has. */
const AGENT_FILES_TOGETHER = 40;

/** Folders whose tests start PostgreSQL, and spend their time waiting for it. */
const WITH_DATABASE = ['src/gateway/store/postgres/', 'src/gateway/store/copying/'];

/** Runs all that it is asked for, and remembers nothing. */
const ALL_CHANGED = { divide: (files) => ({ changed: files, tests: 0 }), keep: (_passed) => undefined };

/** The unit tests that passed before, with the same code. Undefined without git, which lists the files of the project. */
function unchangedTests() {
  const listFiles = () =>
    execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' })
      .split('\0')
      .filter((file) => file !== '' && existsSync(path.join(ROOT, file)));
  const cache = path.join(ROOT, 'node_modules/.cache/passed-tests.json');
  try {
    return unchangedTestsIn({ root: ROOT, cache, listFiles });
  } catch {
    return undefined;
  }
}

/** Runs the tests next to the code; `isQuick`: without those that start PostgreSQL. */
export async function runUnitTests({ isQuick = false, unchanged = ALL_CHANGED } = {}) {
  const all = globSync('{src,protocol,scripts}/**/*.test.ts', { cwd: ROOT }).sort();
  const wanted = isQuick ? all.filter((file) => !WITH_DATABASE.some((folder) => file.startsWith(folder))) : all;
  const { changed: files, tests } = unchanged.divide(wanted);
  const [ofAgent, others] = [true, false].map((isWanted) =>
    files.filter((file) => file.startsWith('src/agent/') === isWanted),
  );
  const batches = [...inBatches(ofAgent, AGENT_FILES_TOGETHER), ...inBatches(others, FILES_TOGETHER)];
  const environmentOf = () => (isMeasured() ? {} : COMPILED);
  const result = await runTests({
    ...{ name: 'unit', batches, atLeast: FLOORS.unit - tests, watch },
    ...{ isCi, environmentOf, durations, keepPassed: unchanged.keep },
  });
  return { ...result, passed: result.passed + tests, before: tests };
}

/**
 * These tests start the daemon and the command line from their sources for coverage, because coverage of a bundle cannot be
 * mapped back exactly: lines that never ran count as covered. All other tests run the bundle, as users do.
 */
const FROM_SOURCES = ['e2e/cli/from-sources.test.ts'];

/**
 * The environment of a test file. The bundle is already built. The other files are not measured: they run the same code as
 * the unit tests, through processes and sockets, and coverage makes them a fifth slower.
 */
function endToEndEnvironment(file) {
  if (FROM_SOURCES.includes(file)) return { E2E_SOURCES: '1', E2E_BUILT: '1' };
  return { E2E_BUILT: '1', NODE_V8_COVERAGE: undefined, ...COMPILED };
}

/** The longest ones start first, so that none runs alone at the end. */
const LONGEST = [
  'e2e/views/views.test.ts',
  'e2e/security/cards.test.ts',
  'e2e/cli/command-line.test.ts',
  'e2e/protocol/whole.test.ts',
  'e2e/restart/tools.test.ts',
  'e2e/restart/packed-logs.test.ts',
  'e2e/restart/shutdown.test.ts',
  'e2e/restart/restart.test.ts',
  'e2e/security/rights.test.ts',
  'e2e/page/step-up.test.ts',
  'e2e/faults/tools.test.ts',
  'e2e/security/route-rights.test.ts',
  'e2e/samples/conversations.test.ts',
  'e2e/samples/decision-kills.test.ts',
  'e2e/fuzz/frames.test.ts',
  'e2e/faults/files.test.ts',
  'e2e/page/connection-trouble.test.ts',
  'e2e/samples/cron-kills.test.ts',
  'e2e/start/npm-dev.test.ts',
];

/** How many files of a folder share a process and its browser, because loading modules and starting Chromium takes seconds. */
const END_TO_END_TOGETHER = 9;

/** Those of several machines mostly wait for leases to end, so more of them run beside each other. */
const CLUSTER_TOGETHER = 4;

/** The files that must be alone: they are long, or they need an environment of their own. */
const isAlone = (file) => LONGEST.includes(file) || FROM_SOURCES.includes(file);

/**
 * Starts and stops a daemon once, to write its compiled code into the cache of the tests: a start then takes a third less processor
 * time. Node writes it only when a process ends by itself, and almost all daemons of tests are killed.
 */
async function compileDaemon() {
  const home = await mkdtemp(path.join(tmpdir(), 'headgate-compiled-'));
  const env = { PATH: process.env.PATH, HOME: home, HEADGATE_MODEL: 'demo', ...COMPILED };
  const args = ['bin/headgate.js', 'start', '--port', '0', '--home', path.join(home, 'home')];
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'ignore'], timeout: 60_000 });
  child.stdout.once('data', () => child.kill('SIGTERM')); // if it cannot start, it ends, and the tests say why
  await new Promise((resolve) => child.once('close', resolve));
  await rm(home, { recursive: true, force: true });
}

/** Runs the tests of the whole product. */
export async function runEndToEndTests() {
  await installedChromium().catch(() => undefined); // unpack it once; if that fails, the tests that need it say why
  await compileDaemon();
  const files = globSync('e2e/**/*.test.ts', { cwd: ROOT }).sort();
  const folders = Object.values(
    Object.groupBy(
      files.filter((file) => !isAlone(file)),
      path.dirname,
    ),
  );
  const batches = [
    ...files.filter(isAlone).map((file) => [file]),
    ...folders.flatMap((folder) => inBatches(folder, togetherIn(folder))),
  ];
  return runTests({
    ...{ name: 'end-to-end', batches, atLeast: FLOORS['end-to-end'], watch },
    ...{ isCi, environmentOf: endToEndEnvironment, durations },
  });
}

const togetherIn = ([file = '']) => (file.startsWith('e2e/cluster/') ? CLUSTER_TOGETHER : END_TO_END_TOGETHER);

function inBatches(files, size) {
  const count = Math.ceil(files.length / size);
  return Array.from({ length: count }, (_, at) => files.slice(at * size, (at + 1) * size));
}

/** Prints the counts of a run, and what to install so that nothing is skipped. */
export function tellCounts(result) {
  const lines = [toCountLine(result), toSlowestLine(result), ...toSkipLines(result)];
  say(`${result.ok ? '✔' : '✖'} ${lines.join('\n  ')}\n`);
}

function runProgram(file, args) {
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output, seconds: (performance.now() - startMs) / 1000 }));
  });
}

function say(text) {
  process.stdout.write(text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.chdir(ROOT);
  const clean = await checkStatically();
  const unchanged = unchangedTests() ?? ALL_CHANGED;
  const isAll = process.argv.includes('--all');
  const unit = await runUnitTests({
    isQuick: true,
    unchanged: isAll ? { ...ALL_CHANGED, keep: unchanged.keep } : unchanged,
  });
  tellCounts(unit);
  process.exitCode = clean && unit.ok ? 0 : 1;
}
