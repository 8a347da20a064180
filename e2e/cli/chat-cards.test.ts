import assert from 'node:assert/strict';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import jpeg from 'jpeg-js';
import { has, isQuiet, openChat, STARTLED_MS } from '../support/clients/chat-terminal.ts';
import { openStage } from '../support/daemon/stage.ts';
import { pause } from '../support/deadline.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

/** A red pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);

/** What a camera notes in a JPEG if it is turned by 90 degrees. */
const ON_ITS_SIDE = Buffer.from('ffe100224578696600004d4d002a00000008000101120003000000010006000000000000', 'hex');
/** Two pixels: a red one, and a blue one through which half of the background is seen. */
const WEBP = Buffer.from('UklGRiAAAABXRUJQVlA4TBMAAAAvAQAAEA8Q+z//D/yPChWI6H8AAA==', 'base64');
/** A red pixel. */
const GIF = Buffer.from('R0lGODlhAQABAIAAAP8AAP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64');

for (const columns of [80, 120]) {
  test(`at ${columns} columns, Ctrl-O lists the calls, unfolds one, and shows the whole output`, async () => {
    await using chat = await openChat(daemon, { columns });
    const command = 'seq 1 400';
    model.when(`count at ${columns}`, callTools({ name: 'bash', arguments: { command } }), say('Counted.'));
    chat.type(`count at ${columns}\r`);
    await chat.until((rows) => has('Counted.')(rows) && isQuiet(rows), 'the answer');
    chat.type('draft\x0f');
    const folded = await chat.until(has('› ▸ ✔ bash seq 1 400 (400 lines)'), 'the list');
    assert.ok(folded.includes('  … 388 lines above; Ctrl-O shows them'));
    chat.type('\x1b[C');
    await chat.until(has('… 390 lines more'), 'the unfolded call');
    chat.type('\rG');
    const whole = await chat.until(has('(380–400 of 400 lines)'), 'the end of the output');
    assert.ok(whole.slice(-24).every((row) => row.length <= columns));
    chat.type('q');
    await chat.until((rows) => rows.at(-1) === '› draft', 'the draft');
  });
}

/** How many questions were approved. */
const decided = (rows: string[]) => rows.filter((row) => /^✔ (?:Plan approved|Approved): /.test(row)).length;

for (const columns of [80, 120]) {
  test(`at ${columns} columns, a checklist, a plan, a sub-agent and the changes of a file are shown`, async () => {
    await using project = await mkdtempDisposable(path.join(tmpdir(), 'headgate-chat-cards-'));
    await writeFile(path.join(project.path, 'port.txt'), 'port 80\n');
    await using chat = await openChat(daemon, { columns, workdir: project.path });
    const turn = async (text: string, questions: number) => {
      chat.type(`${text}\r`);
      for (let count = 0; count < questions; count += 1) {
        await chat.until(has('y approve'), 'the question');
        await pause(STARTLED_MS);
        const before = decided(chat.rows());
        chat.type('y');
        // The next question may be drawn in the same frame, so that the screen is never without one.
        await chat.until((rows) => decided(rows) > before, 'the decision');
      }
      return chat.until((rows) => has(`Done: ${text}.`)(rows) && isQuiet(rows), 'the answer');
    };
    const items = [
      { text: 'read it', status: 'done' },
      { text: 'change it', status: 'in_progress' },
    ];
    const list = `list ${columns}`;
    model.when(list, callTools({ name: 'todo', arguments: { items } }), say(`Done: ${list}.`));
    await turn(list, 0);
    const hand = `hand over ${columns}`;
    model.when(`PART-${columns}`, say('The part is done.'));
    model.when(
      hand,
      callTools({ name: 'task', arguments: { title: 'Count', prompt: `PART-${columns}` } }),
      say(`Done: ${hand}.`),
    );
    await turn(hand, 0);
    const edit = `edit ${columns}`;
    model.when(
      edit,
      callTools({ name: 'read_file', arguments: { path: 'port.txt' } }),
      callTools({ name: 'edit_file', arguments: { path: 'port.txt', old_string: 'port 80', new_string: 'port 443' } }),
      say(`Done: ${edit}.`),
    );
    await turn(edit, 1);
    const plan = `plan ${columns}`;
    const text =
      '## Goal\nPort 443 in server.ts\n## Current State\nThe number is in server.ts, line 3.\n## Plan\n1. Read it\n2. Change it\n## Risks\nNone that are known.';
    model.when(`GOAL-${columns}`, say(text));
    model.when(plan, callTools({ name: 'plan_agent', arguments: { goal: `GOAL-${columns}` } }), say(`Done: ${plan}.`));
    const rows = await turn(plan, 2);
    for (const row of [
      ...['✔ todo 1 of 2 done', '  [x] read it', '  [>] change it'],
      ...['◌ Sub-agent: Count', '✔ Sub-agent Count: done, 1 turn, 0 calls'],
      ...['  @@ -1,1 +1,1 @@', '  -port 80', '  +port 443', '✔ Approved: edit_file'],
      ...['? Is this plan good?', '  1. Read it', '✔ Plan approved: plan_agent'],
    ])
      assert.ok(rows.includes(row), `${row} is not in:\n${rows.join('\n')}`);
    assert.ok(rows.every((row) => row.length <= columns));
    assert.match(rows.at(-2) ?? '', /^── scripted · .*headgate-chat-cards-\w+ · ask · 15 tokens \(0 %\)$/);
  });
}

test('an image is named with its size; a terminal that says it can show sixels gets it, be it a PNG, a GIF, a JPEG or a WebP', async () => {
  await using chat = await openChat(daemon);
  const file = path.join(daemon.home, 'red.png');
  await writeFile(file, PNG);
  model.when('look', say('Red.'));
  const show = async (count: number) => {
    chat.type(`/attach ${file}\r`);
    await chat.until((rows) => rows.filter((row) => row.startsWith('+ red.png')).length === count, 'the attachment');
    chat.type('look\r');
    await chat.until((rows) => rows.filter((row) => row === '[image: red.png, 1×1]').length === count, 'its line');
  };
  await show(1);
  assert.deepEqual(chat.sixels(), []);
  chat.type('\x1b[6;20;10t\x1b[?62;4c'); // as a terminal answers, late
  await show(2);
  await chat.until(() => chat.sixels().length === 1, 'the image');
  assert.equal(chat.sixels()[0], '"1;1;1;1#210;2;100;0;0#210@');
  await writeFile(file.replace('.png', '.gif'), GIF);
  const { data: photo } = jpeg.encode({ width: 16, height: 8, data: Buffer.alloc(512, 255) });
  await writeFile(file.replace('.png', '.jpg'), Buffer.concat([photo.subarray(0, 2), ON_ITS_SIDE, photo.subarray(2)]));
  await writeFile(file.replace('.png', '.webp'), WEBP);
  for (const [name, size, count] of [
    ['red.gif', '1×1', 2],
    ['red.jpg', '8×16', 3],
    ['red.webp', '2×1', 4],
  ] as const) {
    chat.type(`/attach ${path.join(daemon.home, name)}\r`);
    await chat.until(has(`+ ${name}`), 'the attachment');
    chat.type('look\r');
    await chat.until((rows) => rows.includes(`[image: ${name}, ${size}]`), 'its line');
    await chat.until(() => chat.sixels().length === count, `the image ${name}`);
  }
  assert.equal(chat.sixels()[1], '"1;1;1;1#210;2;100;0;0#210@');
  assert.match(chat.sixels()[2] ?? '', /^"1;1;8;16#251;2;100;100;100#251!8~/);
  assert.match(chat.sixels()[3] ?? '', /^"1;1;2;1#210;2;100;0;0/);
  const isOver = (rows: string[]) => isQuiet(rows) && rows.at(-1) === '›';
  await chat.until(isOver, 'the end');
});
