// `npm run check`: format, lint, types, dead code, architecture and unit tests, in about a minute.
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { installedChromium } from '../e2e/support/clients/chromium.ts';
import { runTests, toCountLine, toSlowestLine } from './run-tests.js';
import { toSkipLines } from './skips.js';
import { durationsIn } from './test-durations.js';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Fewer tests than these, the skipped ones included, mean that some were not found. Raise them as tests are added. */
const FLOORS = { unit: 2_700, 'end-to-end': 1_030 };

/** A process that runs longer than this hangs: on the busiest machine seen, none took a third of it. */
const HUNG_MS = 600_000;
const watch = (_files, kill) => {
  // biome-ignore lint/style/noRestrictedGlobals: scripts have no clock.
  const timer = setTimeout(kill, HUNG_MS);
  return () => clearTimeout(timer);
};

const STATIC_CHECKS = {
  'format and lint': ['biome', 'check', '--error-on-warnings', '--max-diagnostics=200'],
  types: ['tsc', '-p', '.'],
  'dead code': ['knip'],
};

/** Runs the checks that read the code only. Answers whether all passed. */
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
/** Files share most of what they load. Coverage would be less exact with it. */
const COMPILED = { NODE_COMPILE_CACHE: path.join(ROOT, 'node_modules/.cache/compiled-tests') };
const isMeasured = () => process.env.NODE_V8_COVERAGE !== undefined;

/**
 * So many files of unit tests share a process: loading what they test took more time than testing it. They keep no state
 * beyond their tests, and what hangs costs its neighbours only.
 */
const FILES_TOGETHER = 20;

/** Runs the tests that lie beside the code. */
export function runUnitTests() {
  const files = globSync('{src,protocol,scripts}/**/*.test.ts', { cwd: ROOT }).sort();
  const count = Math.ceil(files.length / FILES_TOGETHER);
  const batches = Array.from({ length: count }, (_, at) => files.slice(at * FILES_TOGETHER, (at + 1) * FILES_TOGETHER));
  const environmentOf = () => (isMeasured() ? {} : COMPILED);
  return runTests({
    ...{ name: 'unit', batches, atLeast: FLOORS.unit, watch },
    ...{ isCi, environmentOf, durations },
  });
}

/**
 * These start the daemon from its sources, so that its own coverage is counted; what is measured in a bundle cannot be
 * mapped back faithfully (lines that never ran count as covered). All other tests run the bundle, as users do.
 */
const FROM_SOURCES = ['e2e/cli/command-line.test.ts', 'e2e/start/start-failures.test.ts'];

/**
 * What a file needs of the environment. The bundle is built; and of files that run none of the product in their own process
 * nothing could be counted.
 */
function endToEndEnvironment(file) {
  const isCounted = /from '(?:\.\.\/)+(?:src|protocol)\/|\/clocked-daemon\.ts'/.test(
    readFileSync(path.join(ROOT, file), 'utf8'),
  );
  if (FROM_SOURCES.includes(file)) return { E2E_SOURCES: '1', E2E_BUILT: '1' };
  return { E2E_BUILT: '1', ...(isMeasured() && isCounted ? {} : { NODE_V8_COVERAGE: undefined, ...COMPILED }) };
}

/** Runs the tests of the whole product in processes of its own. */
export async function runEndToEndTests() {
  await installedChromium().catch(() => undefined); // unpacked here once; where it fails, the tests that need it say why
  const batches = globSync('e2e/**/*.test.ts', { cwd: ROOT })
    .sort()
    .map((file) => [file]);
  return runTests({
    ...{ name: 'end-to-end', batches, atLeast: FLOORS['end-to-end'], watch },
    ...{ isCi, environmentOf: endToEndEnvironment, durations },
  });
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
  const unit = await runUnitTests();
  tellCounts(unit);
  process.exitCode = clean && unit.ok ? 0 : 1;
}
