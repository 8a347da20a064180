import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { link, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { LIMITS } from '../../../protocol/limits.ts';
import { type Clock, systemClock } from '../../clock.ts';
import { StopReason } from '../stop-reason.ts';
import { toPdf, toPdfBomb } from './documents/pdf-fixture.ts';
import { createPdfReader } from './documents/read-pdf.ts';
import { toSha256 } from './files/confined-file.ts';
import { createConfinement } from './files/confinement.ts';
import { createReadFileTool } from './read-file.ts';
import { createToolFixture, execute, recordRun, toShown } from './tool-fixture.ts';

/** Limits of seconds do not end on a slow machine; the memory is looked at as often as usual. */
const patientClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms > 1_000 ? ms * 100 : ms, signal),
};

async function start() {
  const fixture = await createToolFixture();
  const workerUrl = new URL('./documents/pdf-worker.ts', import.meta.url);
  const pdf = createPdfReader({ clock: patientClock, workerUrl });
  const tool = createReadFileTool({ confinement: createConfinement({ home: fixture.home }), pdf });
  const prepare = (args: { path: string; offset?: number; limit?: number; pages?: string }) =>
    tool.prepare(tool.parameters.parse(args), fixture.context());
  return { ...fixture, prepare, read: async (args: Parameters<typeof prepare>[0]) => execute(await prepare(args)) };
}

test('a file is shown with line numbers, and its version is recorded', async () => {
  await using it = await start();
  const path = await it.file('work/a.txt', 'one\r\ntwo €\n\nfour');
  assert.deepEqual(await it.read({ path: 'a.txt' }), {
    output: '     1\tone\n     2\ttwo €\n     3\t\n     4\tfour',
    outcome: 'done',
    files: { [path]: toSha256('one\r\ntwo €\n\nfour') },
  });
});

test('reading inside the workdir needs no approval', async () => {
  await using it = await start();
  const path = await it.file('work/a.txt', '');
  assert.deepEqual(toShown(await it.prepare({ path: 'a.txt' })), {
    kind: 'ready',
    subject: 'a.txt',
    preview: '',
    approvalLabel: 'read_file',
    needsApproval: false,
    effects: { list: [{ kind: 'read', target: 'a.txt', certain: true }] },
    bindTo: path,
  });
});

test('reading outside the workdir, or a secret, needs approval and shows where the file is', async () => {
  await using it = await start();
  const outside = await it.file('outside/.env', 'canary');
  await it.file('work/key.pem', 'canary');
  const ask = async (path: string) => {
    const prepared = await it.prepare({ path });
    return prepared.kind === 'ready' && [prepared.needsApproval, prepared.preview];
  };
  assert.deepEqual(await ask('key.pem'), [true, '(this file looks like it holds a secret)\n']);
  assert.deepEqual(await ask(outside), [
    true,
    `(outside the working directory: ${outside})\n(this file looks like it holds a secret)\n`,
  ]);
});

test('a part of a file is shown with the offset of the rest, and the version of the whole file is recorded', async () => {
  await using it = await start();
  const text = Array.from({ length: 10 }, (_, n) => `l${n + 1}\n`).join('');
  const path = await it.file('work/a.txt', text);
  assert.deepEqual(await it.read({ path: 'a.txt', offset: 3, limit: 2 }), {
    output: '     3\tl3\n     4\tl4\n[lines 3 to 4 of 10; offset 5 shows the rest]',
    outcome: 'done',
    files: { [path]: toSha256(text) },
  });
  assert.equal((await it.read({ path: 'a.txt', offset: 10 })).output, '    10\tl10\n[lines 10 to 10 of 10]');
  assert.equal((await it.read({ path: 'a.txt', offset: 11 })).output, '[there are only 10 lines]');
});

test('long files and lines are cut with a note, and an empty file has a note', async () => {
  await using it = await start();
  await it.file('work/lines.txt', 'x\n'.repeat(5_000));
  await it.file('work/wide.txt', `${'w'.repeat(1_000)}\n`.repeat(500));
  await it.file('work/line.txt', `${'€'.repeat(1_000_000)}\nend`);
  await it.file('work/empty.txt', '');
  assert.match(
    (await it.read({ path: 'lines.txt' })).output,
    /\n {2}2000\tx\n\[lines 1 to 2000 of 5000; offset 2001 shows the rest\]$/,
  );
  const wide = (await it.read({ path: 'wide.txt' })).output;
  assert.ok(wide.length < 66_000);
  assert.match(wide, /\[lines 1 to 65 of 500; offset 66 shows the rest\]$/);
  const line = (await it.read({ path: 'line.txt' })).output;
  assert.match(line, /^ {5}1\t€+ \[line cut, 3000000 bytes\]\n {5}2\tend$/);
  assert.ok(Buffer.byteLength(line) < 9_000);
  assert.equal((await it.read({ path: 'empty.txt' })).output, '[it is empty]');
});

test('files that are not text are refused', async () => {
  await using it = await start();
  await it.file('work/image.png', Buffer.from([0x89, 0x50, 0, 0, 1]));
  execFileSync('mkfifo', [join(it.workdir, 'pipe')]);
  assert.deepEqual(await it.read({ path: 'image.png' }), {
    output: 'image.png is a binary file (5 bytes).',
    outcome: 'failed',
  });
  assert.deepEqual(await it.read({ path: 'pipe' }), { output: 'pipe is not an ordinary file.', outcome: 'failed' });
  assert.deepEqual(await it.read({ path: '.' }), {
    output: '. is a folder; list_directory shows it.',
    outcome: 'failed',
  });
  assert.deepEqual(await it.prepare({ path: 'missing' }), {
    kind: 'refused',
    subject: 'missing',
    reason: 'missing: no such file.',
  });
});

test('a file replaced by a link between preparation and reading is not read', async () => {
  await using it = await start();
  const path = await it.file('work/a.txt', 'harmless');
  const secret = await it.file('outside/secret', 'canary');
  const prepared = await it.prepare({ path: 'a.txt' });
  await rm(path);
  await symlink(secret, path);
  assert.deepEqual(await execute(prepared), {
    output: 'a.txt leads to another place than when it was checked; nothing was done.',
    outcome: 'failed',
  });
});

test('a file that became a hard link between preparation and reading is not shown', async () => {
  await using it = await start();
  const path = await it.file('work/a.txt', 'harmless');
  const secret = await it.file('home/token', 'canary');
  const prepared = await it.prepare({ path: 'a.txt' });
  await rm(path);
  await link(secret, path);
  assert.deepEqual(await execute(prepared), { output: 'a.txt has become a hard link; try again.', outcome: 'failed' });
});

test('a folder replaced by a link between preparation and reading is not followed', async () => {
  await using it = await start();
  await it.file('work/dir/a.txt', 'harmless');
  await it.file('home/a.txt', 'canary');
  const prepared = await it.prepare({ path: 'dir/a.txt' });
  await rename(join(it.workdir, 'dir'), join(it.workdir, 'dir2'));
  await symlink(it.home, join(it.workdir, 'dir'));
  const outcome = await execute(prepared);
  assert.equal(outcome.outcome, 'failed');
  assert.doesNotMatch(outcome.output, /canary/);
});

test('a stopped read says so and returns nothing', async () => {
  await using it = await start();
  await it.file('work/a.txt', 'text');
  const run = recordRun(AbortSignal.abort(new StopReason('shutdown', 'going down')));
  assert.deepEqual(await execute(await it.prepare({ path: 'a.txt' }), run), {
    output: '[stopped by shutdown]',
    outcome: 'cancelled',
  });
});

test('the text of a PDF is shown by pages', async () => {
  await using it = await start();
  await it.file('work/a.pdf', toPdf(['Hello (you)\nand more', 'Second', 'Third']));
  const read = async (pages?: string) => (await it.read({ path: 'a.pdf', ...(pages && { pages }) })).output;
  assert.deepEqual(
    [await read(), await read('2'), await read('2-9'), await read('4')],
    [
      '--- page 1 ---\nHello (you)\nand more\n--- page 2 ---\nSecond\n--- page 3 ---\nThird\n[pages 1 to 3 of 3]',
      '--- page 2 ---\nSecond\n[page 2 of 3; pages "3-" shows the rest]',
      '--- page 2 ---\nSecond\n--- page 3 ---\nThird\n[pages 2 to 3 of 3]',
      '[the PDF has only 3 pages]',
    ],
  );
});

test('a PDF that is damaged, too greedy or asked for wrongly fails in words', async () => {
  await using it = await start();
  await it.file('work/a.pdf', toPdf(['x']));
  await it.file('work/broken.pdf', '%PDF-1.7 nothing');
  await it.file('work/bomb.pdf', toPdfBomb(400_000_000));
  await it.file('work/a.txt', 'text');
  const outcomes = await Promise.all(
    [
      { path: 'broken.pdf' },
      { path: 'a.pdf', pages: 'all' },
      { path: 'a.pdf', pages: '1-30' },
      { path: 'a.txt', pages: '1' },
    ].map(it.read),
  );
  assert.deepEqual(
    [...outcomes, await it.read({ path: 'bomb.pdf' })].map(({ output, outcome }) => [outcome, output]),
    [
      ['failed', 'broken.pdf is damaged: it cannot be read as a PDF.'],
      ['failed', 'Invalid pages "all". Use a number or a range such as 1-5.'],
      ['failed', 'At most 20 pages can be read at once.'],
      ['failed', 'a.txt is not a PDF; leave pages away.'],
      ['failed', 'The PDF needs too much memory to be read.'],
    ],
  );
});

test('an image is returned for the model, unless it is too large', async () => {
  await using it = await start();
  const bytes = Buffer.from('89504e470d0a1a0a00ff', 'hex');
  await it.file('work/pictures/dot.jpg', bytes);
  await it.file('work/big.gif', Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(LIMITS.imageBytes)]));
  assert.deepEqual(await it.read({ path: 'pictures/dot.jpg' }), {
    output: '[image dot.jpg, image/png, 10 bytes]',
    outcome: 'done',
    images: [{ fileName: 'dot.jpg', mimeType: 'image/png', kind: 'image', bytes }],
  });
  assert.deepEqual(await it.read({ path: 'big.gif' }), {
    output: `big.gif is too large an image (${LIMITS.imageBytes + 6} bytes, at most ${LIMITS.imageBytes}); make a smaller copy of it.`,
    outcome: 'failed',
  });
});
