import assert from 'node:assert/strict';
import { watch as watchFolder } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { runTests, toCountLine, toSlowestLine } from './run-tests.js';
import { toSkipLines } from './skips.js';

/** Runs files with these texts. Returns the output and the counts. */
async function runTexts(
  t: TestContext,
  texts: readonly string[],
  { atLeast = 0, isCi = false, together = false, known = {}, environment = {} } = {},
) {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-'));
  t.after(() => rm(folder, { recursive: true }));
  const files = texts.map((_, index) => path.join(folder, `${index}.test.js`));
  await Promise.all(
    files.map((file, index) => writeFile(file, `const { test } = require('node:test');\n${texts[index]}`)),
  );
  let told = '';
  t.mock.method(process.stdout, 'write', (text: string) => {
    told += text;
    return true;
  });
  const kept: string[] = [];
  const durations = {
    known: Object.fromEntries(Object.entries(known).map(([name, seconds]) => [path.join(folder, name), seconds])),
    keep: (seconds: object): undefined => {
      kept.push(...Object.keys(seconds).map((file) => path.basename(file)));
    },
  };
  const passedWhole: Record<string, number> = {};
  const keepPassed = (tests: Record<string, number>): undefined => {
    for (const [file, count] of Object.entries(tests)) passedWhole[path.basename(file)] = count;
  };
  const begun: string[] = [];
  /** A file counts as hung once it has created a file named `hangs-` and its name. */
  const watch = ([file = '']: readonly string[], kill: () => void) => {
    begun.push(path.basename(file));
    const watcher = watchFolder(folder, (_, name) => name === `hangs-${path.basename(file)}` && kill());
    return () => watcher.close();
  };
  const batches = together ? [files] : files.map((file) => [file]);
  const {
    seconds: _,
    slowest,
    skips,
    ...result
  } = await runTests({
    ...{ name: 'sample', batches, atLeast, isCi, watch, durations, keepPassed },
    environmentOf: () => environment,
  });
  t.mock.restoreAll();
  return { told, result, begun, kept, passedWhole, skips, slowest: slowest.map(({ file }) => path.basename(file)) };
}

/** For a sample: creates the file that tells `watch` that it hangs. */
const HANGS =
  "require('node:fs').writeFileSync(__dirname + '/hangs-' + require('node:path').basename(__filename), '');";

test('passed and skipped tests are counted, and both were found', async (t) => {
  const skipping = `test('one', () => {}); test('two', { skip: 'no disk', tags: ['missing'] }, () => {});`;
  const { told, result, slowest } = await runTexts(t, [skipping], { atLeast: 2 });
  const counts = { name: 'sample', passed: 1, failed: 0, skipped: 1, files: 1 };
  assert.deepEqual([result, slowest], [{ ...counts, ok: true }, ['0.test.js']]);
  assert.equal(told, '');
  assert.equal(toCountLine({ ...counts, seconds: 1.25 }), '1 sample tests passed, 1 skipped in 1 files (1.3 s)');
  const times = {
    slowest: [
      { file: 'e2e/samples/drill.test.ts', seconds: 41.2 },
      { file: 'src/a.test.ts', seconds: 2 },
    ],
  };
  assert.equal(toSlowestLine(times), 'slowest: samples/drill 41 s, src/a 2 s');
});

/** A test that runs, and one for each way to be skipped. */
const SKIPPING = `test('one', () => {});
test('two', { skip: 'no disk', tags: ['missing'] }, () => {});
test('three', { skip: 'no disk', tags: ['missing'] }, () => {});
test('four', { skip: 'no namespaces', tags: ['refused'] }, () => {});
`;

test('for each reason, one line counts the skipped tests', async (t) => {
  const { skips } = await runTexts(t, [SKIPPING]);
  assert.deepEqual(toSkipLines({ name: 'unit', skips }), [
    '2 unit tests skipped: no disk',
    '1 unit test skipped: no namespaces',
  ]);
});

test('in CI, a test that lacks anything but a sandbox fails', async (t) => {
  const { told, result } = await runTexts(t, [SKIPPING], { isCi: true });
  assert.match(told, /^✖ two \(.*\)\n {2}must not be skipped here: no disk\n\n✖ three /);
  assert.deepEqual([result.passed, result.skipped, result.failed, result.ok], [1, 1, 2, false]);
});

test('a test that is skipped without a reason fails everywhere', async (t) => {
  const { told, result } = await runTexts(t, [`test.skip('one', () => {});`]);
  assert.match(told, /^✖ one \(.*\)\n {2}must not be skipped here: no reason given\n\n$/);
  assert.equal(result.ok, false);
});

test('a failed test is reported with its place and reason', async (t) => {
  const { told, result } = await runTexts(t, [`test('adds', () => { throw new Error('it is 5'); });`]);
  assert.match(told, /^✖ adds \(.*0\.test\.js:2\)\n {2}Error: it is 5\n/);
  assert.deepEqual([result.failed, result.ok], [1, false]);
});

test('what caused the error of a test is shown', async (t) => {
  const { told } = await runTexts(t, [
    `test('asks', () => { throw new TypeError('fetch failed', { cause: new Error('socket hang up') }); });`,
  ]);
  assert.match(told, /TypeError: fetch failed[\s\S]*caused by Error: socket hang up/);
});

test('diagnostics of a test are shown if it fails', async (t) => {
  const { told } = await runTexts(t, [
    `test('quiet', (t) => t.diagnostic('nobody asked'));\n` +
      `test('adds', (t) => { t.after(() => t.diagnostic('seen: 5')); throw new Error('it is 5'); });`,
  ]);
  assert.match(told, /Error: it is 5\n[\s\S]*\n {2}seen: 5\n/);
  assert.doesNotMatch(told, /nobody asked/);
});

test('fewer tests than expected are a failure', async (t) => {
  const { told, result } = await runTexts(t, [`test('one', () => {});`], { atLeast: 3 });
  assert.deepEqual([told, result.ok], ['✖ sample: 2 fewer tests ran than the 3 expected\n', false]);
});

test('a file without a test is a failure', async (t) => {
  const { told, result } = await runTexts(t, ['']);
  assert.match(told, /contains no test/);
  assert.equal(result.ok, false);
});

test('a file that cannot be loaded is a failure with its output', async (t) => {
  const { told, result } = await runTexts(t, [
    `test('one', () => {}); process.exitCode = 3; console.error('the words');`,
  ]);
  assert.match(told, /ended with 3\n {2}the words/);
  assert.deepEqual([result.passed, result.failed, result.ok], [1, 1, false]);
});

test('an error outside of every test is shown, even if all tests pass', async (t) => {
  const samples = [
    `test('one', () => { setImmediate(() => { throw new Error('it is 5'); }); });`,
    `test('one', () => { setImmediate(() => void Promise.reject(new Error('it is 6'))); });`,
    `test('one', () => { setImmediate(() => { throw new Error('it is 7'); }); }); test('two', () => { throw new Error('other'); });`,
  ].map((text) => `${text} test('last', () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))));`);
  const { told, result } = await runTexts(t, samples);
  for (const wanted of ['it is 5', 'it is 6', 'it is 7']) {
    assert.match(told, new RegExp(`ended with 1\\n  Error: .*"Error: ${wanted}"`));
    assert.match(told, new RegExp(`\\n  Error: ${wanted}\\n +at .*test\\.js`));
  }
  assert.deepEqual([result.passed, result.failed, result.ok], [6, 4, false]);
});

test('if a test ends the process, it is named, and its last words are shown', async (t) => {
  const { told, result } = await runTexts(t, [
    `test('leaves', () => new Promise(() => { let rounds = 0; setInterval(() => { if (++rounds < 20) return;
process.stderr.write('x'.repeat(60_000) + '\\nthe last words'); process.exit(1); }, 10); }));`,
  ]);
  assert.match(told, /ended with 1\n {2}unfinished: leaves \(/);
  assert.match(told, /x\n {2}the last words\n/);
  assert.deepEqual([result.passed, result.failed, result.ok], [0, 1, false]);
});

test('a file in an endless loop is killed without affecting others', async (t) => {
  const { told, result } = await runTexts(t, [`${HANGS} for (;;);`, `test('one', () => {});`]);
  assert.match(told, /0\.test\.js\)\n {2}ended by SIGKILL after \d+ s/);
  assert.deepEqual([result.passed, result.failed, result.ok], [1, 1, false]);
});

test('a process that continues after its last test is ended, with a list of what keeps it open', async (t) => {
  const left = `test('one', () => { setInterval(() => {}, 1_000_000); throw new Error('it is 5'); }); test('two', () => {});`;
  const { told, result } = await runTexts(t, [left], { environment: { TEST_LINGER_MS: '300' } });
  assert.match(told, /Error: it is 5\n/);
  assert.match(told, /ended by SIGKILL after \d+ s\n {2}still open 0\.3 s after the last test: .*1 Timeout/);
  assert.deepEqual([result.passed, result.failed, result.ok], [1, 2, false]);
});

test('a worker of a test does not write into the report', async (t) => {
  const working = `const { Worker } = require('node:worker_threads');
require('node:fs').writeFileSync(__dirname + '/work.js', '');
test('one', () => new Promise((resolve) => new Worker(__dirname + '/work.js').on('exit', () => resolve())));`;
  const { result } = await runTexts(t, [working]);
  assert.deepEqual([result.passed, result.ok], [1, true]);
});

test('a test that never ends is named', async (t) => {
  // It takes some turns until the reporter has written its lines.
  const { told } = await runTexts(t, [
    `test('waits', () => new Promise(() => { let rounds = 0; setInterval(() => { if (++rounds === 20) { ${HANGS} } }, 10); }));`,
  ]);
  assert.match(told, /unfinished: waits/);
});

test('files that share a process are reported separately, and each must contain a test', async (t) => {
  const samples = [`test('one', () => { throw new Error('it is 5'); });`, '', `test('one', () => {});`];
  const { told, result, kept } = await runTexts(t, samples, { together: true });
  assert.match(told, /^✖ one \(.*0\.test\.js:2\)\n {2}Error: it is 5\n/);
  assert.match(told, /1\.test\.js\)\n {2}contains no test\n/);
  assert.deepEqual([result.passed, result.failed, result.files, result.ok], [1, 2, 3, false]);
  assert.deepEqual(kept, ['0.test.js', '1.test.js', '2.test.js']);
});

test('files that took longest the last time start first, and unknown files before them', async (t) => {
  const samples = Array.from({ length: 4 }, () => `test('one', () => {});`);
  const { begun } = await runTexts(t, samples, { known: { '0.test.js': 1, '1.test.js': 3, '3.test.js': 2 } });
  assert.deepEqual(begun, ['2.test.js', '1.test.js', '3.test.js', '0.test.js']);
});

test('only files of which every test passed are remembered, and none of a process that did not end by itself', async (t) => {
  const passes = `test('one', () => {}); test('two', () => {});`;
  const fails = `test('one', () => {}); test('two', () => { throw new Error('no'); });`;
  const skips = `test('one', { skip: 'no disk', tags: ['missing'] }, () => {});`;
  const alone = await runTexts(t, [passes, fails, skips, `${passes} ${HANGS} for (;;);`]);
  assert.deepEqual(alone.passedWhole, { '0.test.js': 2 });
  const shared = await runTexts(t, [passes, fails, passes], { together: true });
  assert.deepEqual(shared.passedWhole, { '0.test.js': 2, '2.test.js': 2 });
  const ofShared = `require('node:fs').writeFileSync(__dirname + '/shared.js', "require('node:test').test('no', () => { throw 1; })");`;
  assert.deepEqual((await runTexts(t, [`${ofShared} require('./shared.js'); ${passes}`])).passedWhole, {});
  const stray = `${passes} setImmediate(() => { throw new Error('stray'); });`;
  assert.deepEqual((await runTexts(t, [passes, stray], { together: true })).passedWhole, {});
});
