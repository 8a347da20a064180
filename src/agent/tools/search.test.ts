import assert from 'node:assert/strict';
import { chmod, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { needs } from '../../testing/needs.ts';
import { RG } from '../process/program-fixture.ts';
import { StopReason } from '../stop-reason.ts';
import { createConfinement } from './files/confinement.ts';
import { searchWithWorker } from './search/search-walk.ts';
import { createSearchTool } from './search.ts';
import { createToolFixture, execute, recordRun, toShown } from './tool-fixture.ts';

const workerUrl = new URL('./search/search-worker.ts', import.meta.url);
const ripgrepPath = RG.kind === 'found' ? RG.path : undefined;
/** More than the matches need. */
const MOST = 200_000;
const needsRipgrep = await needs('ripgrep');

async function start(ripgrep: string | undefined, clock = systemClock) {
  const fixture = await createToolFixture();
  const confinement = createConfinement({ home: fixture.home });
  const tool = createSearchTool({ confinement, clock, ripgrep, workerUrl });
  const prepare = async (args: { query: string; path?: string; glob?: string }, workdir = fixture.workdir) =>
    tool.prepare(tool.parameters.parse(args), { ...fixture.context(), workdir: await fixture.hold(workdir) });
  return {
    ...fixture,
    prepare,
    async search(args: Parameters<typeof prepare>[0], workdir = fixture.workdir) {
      const run = { ...recordRun(), maxOutputBytes: MOST };
      const { output } = await execute(await prepare(args, workdir), run);
      return output.split('\n').sort();
    },
  };
}

for (const [name, ripgrep] of Object.entries({ 'with ripgrep': ripgrepPath, 'by our own walk': undefined })) {
  const options = name === 'with ripgrep' ? needsRipgrep : {};

  test(
    `${name}: matching lines are shown with path and line, and .gitignore is respected at every depth`,
    options,
    async () => {
      await using it = await start(ripgrep);
      await it.file('work/.gitignore', 'dist/\n*.log\n!keep.log\n/only-here.txt\n');
      await it.file('work/src/.gitignore', 'generated.ts\n');
      await it.file('work/src/a.ts', 'one\nneedle 1\nneedle: 2\r\n');
      await it.file('work/src/generated.ts', 'needle');
      await it.file('work/src/only-here.txt', 'needle 3');
      await it.file('work/only-here.txt', 'needle');
      await it.file('work/dist/b.js', 'needle');
      await it.file('work/x.log', 'needle');
      await it.file('work/keep.log', 'needle 4');
      await it.file('work/.github/ci.yml', 'needle 5');
      await it.file('work/.git/HEAD', 'needle');
      await it.file('work/binary', Buffer.from('needle\0needle'));
      const all = [
        '.github/ci.yml:1: needle 5',
        'keep.log:1: needle 4',
        'src/a.ts:2: needle 1',
        'src/a.ts:3: needle: 2',
      ];
      assert.deepEqual(await it.search({ query: 'need[l]e' }), [...all, 'src/only-here.txt:1: needle 3']);
      assert.deepEqual(await it.search({ query: 'needle', path: 'src', glob: '*.ts' }), all.slice(2));
      assert.deepEqual(await it.search({ query: 'needle', path: 'src/a.ts' }), all.slice(2));
      assert.deepEqual(await it.search({ query: 'nothing like this' }), ['[no matches]']);
    },
  );

  test(`${name}: a search shows neither secrets nor Headgate's home`, options, async () => {
    await using it = await start(ripgrep);
    await it.file('work/.env', 'needle=canary');
    await it.file('work/tls/server.key', 'needle canary');
    await it.file('work/.ssh/config', 'needle canary');
    await it.file('home/config.json', 'needle canary');
    await it.file('outside/x', 'needle canary');
    await it.file('work/a.txt', 'needle');
    await symlink(join(it.root, 'outside'), join(it.workdir, 'link'));
    assert.deepEqual(await it.search({ query: 'needle' }), ['a.txt:1: needle']);
    assert.deepEqual(await it.search({ query: 'needle', glob: '.env' }), ['[no matches]']);
    const fromAbove = await it.search({ query: 'needle' }, it.root);
    assert.deepEqual(fromAbove, ['outside/x:1: needle canary', 'work/a.txt:1: needle']);
  });

  test(`${name}: at most 200 matches and no endless line`, options, async () => {
    await using it = await start(ripgrep);
    await it.file('work/a.txt', `needle${'x'.repeat(10_000)}\n`.repeat(250));
    const lines = await it.search({ query: 'needle' });
    assert.equal(lines.length, 201);
    assert.ok(lines.includes('[more than 200 matches; the rest is left out]'));
    assert.ok(lines.every((line) => line.length < 600));
  });

  test(
    `${name}: an invalid regular expression is an error, and a query is never taken for an option`,
    options,
    async () => {
      await using it = await start(ripgrep);
      await it.file('work/--files', 'x --version\n');
      const outcome = await execute(await it.prepare({ query: '(unclosed' }));
      assert.equal(outcome.outcome, 'failed');
      assert.match(outcome.output, /regex|regular expression/);
      assert.deepEqual(await it.search({ query: '--version' }), ['--files:1: x --version']);
      assert.deepEqual(await it.search({ query: 'x', path: '--files' }), ['--files:1: x --version']);
      assert.deepEqual(await it.search({ query: 'x', glob: '--files' }), ['--files:1: x --version']);
    },
  );

  test(`${name}: a cancelled search says so`, options, async () => {
    await using it = await start(ripgrep);
    const signal = AbortSignal.abort(new StopReason('cancel', 'by a person'));
    assert.deepEqual(await execute(await it.prepare({ query: 'x' }), recordRun(signal)), {
      output: '[cancelled]',
      outcome: 'cancelled',
    });
  });
}

test('an expression that backtracks forever is stopped by the deadline', async () => {
  const clock = fakeClock();
  await using it = await start(undefined, clock);
  await it.file('work/a.txt', `${'a'.repeat(50)}!\n`);
  const searching = execute(await it.prepare({ query: '^(a+)+$' }));
  let isOver = false;
  const over = searching.finally(() => {
    isOver = true;
  });
  while (!isOver) await clock.advance(5_000);
  assert.deepEqual(await over, { output: '[timed out after 5 s]', outcome: 'failed' });
});

test('matches found before an expression got stuck are kept, and the signal ends the worker', async () => {
  await using it = await start(undefined);
  const path = await it.file('work/a.txt', 'found aa\n');
  await it.file('work/b.txt', `${'a'.repeat(50)}!\n`);
  const stop = new AbortController();
  const request = {
    target: it.workdir,
    root: it.workdir,
    query: '^(found )?(a+)+$',
    glob: undefined,
    showSecrets: false,
  };
  const hits = searchWithWorker(workerUrl, request, stop.signal);
  assert.deepEqual((await hits.next()).value, { path, line: 1, text: 'found aa' });
  const next = hits.next();
  stop.abort(new StopReason('timeout', 'too slow'));
  await assert.rejects(next, { kind: 'timeout' });
});

test('searching outside the workdir and in secrets needs approval, and then shows them', async () => {
  await using it = await start(undefined);
  await it.file('work/.env', 'needle=1');
  const outside = await it.file('outside/x', 'needle');
  assert.deepEqual(toShown(await it.prepare({ query: 'needle', path: '.env' })), {
    kind: 'ready',
    subject: 'needle in .env',
    preview: '(this file looks like it holds a secret)\n',
    approvalLabel: 'search',
    needsApproval: true,
    effects: { list: [{ kind: 'read', target: '.env', certain: true }] },
    bindTo: join(it.workdir, '.env'),
  });
  const ask = await it.prepare({ query: 'needle', path: '../outside' });
  assert.equal(ask.kind === 'ready' && ask.needsApproval, true);
  assert.deepEqual(await it.search({ query: 'needle', path: '.env' }), ['.env:1: needle=1']);
  assert.deepEqual(await it.search({ query: 'needle', path: '../outside' }), [`${outside}:1: needle`]);
});

test('a hit is shown only if the opened file contains it, not if the name was replaced meanwhile', async () => {
  await using it = await start(undefined);
  await it.file('work/a.txt', 'first\nneedle here\n');
  const rg = await it.file('rg', `#!/bin/sh\nprintf './a.txt\\0002:needle elsewhere\\n./a.txt\\0002:needle here\\n'\n`);
  await chmod(rg, 0o755);
  const tool = createSearchTool({
    ...{ confinement: createConfinement({ home: it.home }), clock: systemClock, ripgrep: rg, workerUrl },
  });
  const { output } = await execute(await tool.prepare({ query: 'needle', path: '.' }, it.context()));
  assert.equal(output, 'a.txt:2: needle here');
});
