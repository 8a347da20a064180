import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import jpeg from 'jpeg-js';
import { has, isQuiet, openChat } from '../support/clients/chat-terminal.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

/** A red pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);

/** The same. */
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

test('an image is named with its size; a terminal that says it can show sixels gets it, be it a PNG, a GIF or a JPEG', async () => {
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
  await writeFile(
    file.replace('.png', '.jpg'),
    jpeg.encode({ width: 16, height: 16, data: Buffer.alloc(1024, 255) }).data,
  );
  for (const [name, size, count] of [
    ['red.gif', '1×1', 3],
    ['red.jpg', '16×16', 4],
  ] as const) {
    chat.type(`/attach ${path.join(daemon.home, name)}\r`);
    await chat.until(has(`+ ${name}`), 'the attachment');
    chat.type('look\r');
    await chat.until((rows) => rows.includes(`[image: ${name}, ${size}]`), 'its line');
    await chat.until(() => chat.sixels().length === count, `the image ${name}`);
  }
  assert.equal(chat.sixels()[2], '"1;1;1;1#210;2;100;0;0#210@');
  assert.match(chat.sixels()[3] ?? '', /^"1;1;16;16#251;2;100;100;100#251!16~/);
  assert.equal((await chat.until(isQuiet, 'the end')).at(-1), '›');
});
