import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { createPaint } from '../../src/cli/terminal/paint.ts';
import { toQuestion, toQuestionLines, toQuestionRoom } from '../../src/cli/terminal/question-lines.ts';
import { button, openDrawer, openWorkstream, send, visit } from '../support/clients/browser.ts';
import { openTerminal } from '../support/clients/terminal.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { startNode } from '../support/daemon/node-process.ts';
import { openStage } from '../support/daemon/stage.ts';
import { pause } from '../support/deadline.ts';
import { EVIL, OLD_FILE, TRICKS, type Trick } from '../support/faults/hiding-tricks.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const here = { HEADGATE_HOME: daemon.home };
await writeFile(path.join(daemon.home, 'config.json'), `{ nodes: { '*': { allow: ['system.*'] } } }`);
await daemon.restart({ entry: new URL('../support/daemon/unsandboxed-daemon.ts', import.meta.url) });
const folder = path.join(daemon.home, 'workspace');
await mkdir(folder, { recursive: true });
await writeFile(path.join(folder, OLD_FILE.name), OLD_FILE.content);

const node = await pairedNode();
after(() => node[Symbol.asyncDispose]());
for (const [name, { calls }] of Object.entries(TRICKS))
  model.when(`trick: ${name}.`, callTools(...calls), say('Done.'));
const asked = await askAll();

async function pairedNode() {
  const started = await startNode(daemon, ['--allow', 'bash *']);
  await runHeadgate(['nodes', 'approve', await started.code()], here);
  await started.child.printed(/^Connected\.$/m);
  return started;
}

/** Every trick waits for approval in a separate workstream. */
async function askAll(): Promise<Map<string, string>> {
  const client = await daemon.client();
  const ids = new Map<string, string>();
  for (const name of Object.keys(TRICKS)) {
    const { wsId } = await client.call('workstream.create', { name });
    const waits = new Promise<void>((resolve) => {
      client.on('approval.requested', ({ sessionKey }) => sessionKey === wsId && resolve());
    });
    await client.call('workstream.send', { wsId, message: `trick: ${name}.` });
    await waits;
    ids.set(name, wsId);
  }
  return ids;
}

const DEVICES = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 664 },
};

/** Every other trick is tried on one of the devices, others each time; CARDS=all tries all of them on both. */
const first = randomInt(12);
const isTried = (trick: number, device: number): boolean =>
  process.env.CARDS === 'all' || (trick + first) % 4 === 2 * device;

/** The ways of the terminal, which draw the same card. Every trick is tried in one of them, others each time. */
const TERMINALS = ['chat', 'run', 'pipe'];
const triedIn = (terminal: string): [string, Trick][] =>
  Object.entries(TRICKS).filter(
    (_, trick) => process.env.CARDS === 'all' || (trick + first) % 3 === TERMINALS.indexOf(terminal),
  );

for (const [at, [device, size]] of Object.entries(DEVICES).entries()) {
  test(`on the page, ${device}: the end of the command is visible, whatever precedes it`, async (t) => {
    const { page } = await visit(t, daemon, { phone: device === 'phone' });
    await page.setViewportSize(size);
    await page.emulateMedia({ reducedMotion: 'reduce' }); // no drawer slides over the card
    const tried = Object.entries(TRICKS).filter((_, trick) => isTried(trick, at));
    for (const [name, { calls, middle }] of tried) {
      await t.test(name, async () => {
        await openDrawer(page);
        await page.locator(`#tab-${asked.get(name)}`).click();
        await page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
        await page.locator('.approval.pending .asked').waitFor();
        // Playwright scrolls, like a person who leaves the end, while it waits for a button that takes no press yet.
        await page.locator('.approval.pending .decision:not([data-guarded])').waitFor();
        await approveButton(page, calls.length).click({ trial: true });
        assert.deepEqual(await settledCard(page), IN_VIEW);
        const whole = await readAll(page);
        assert.ok(whole.includes(middle) && whole.includes(EVIL));
        assert.deepEqual(await settledCard(page), IN_VIEW);
        await page.locator('.transcript').evaluate((view) => {
          view.scrollTop -= 1; // a person who scrolls up a little no longer follows the end
        });
        await button(page, 'Always allow…').press('Enter'); // its warning takes room
        await button(page, 'Back').waitFor();
        assert.deepEqual(await settledCard(page), IN_VIEW);
        await button(page, 'Back').click();
      });
    }
  });
}

/** Its name tells whether several calls ask; of several calls, some may need no answer. */
const approveButton = (page: Page, calls: number) =>
  page.getByRole('button', { name: calls > 1 ? /^Approve( all)?$/ : /^Approve$/ });

/** Whether the last EVIL of the pending card is visible without scrolling, and the card can be answered. */
const lookAtCard = (page: Page) =>
  page.evaluate((evil) => {
    const card = document.querySelector('.approval.pending');
    const frame = card?.querySelector('.asked');
    if (!card || !frame) return undefined;
    /** Of all text in the frame. */
    const characters: { text: Node; at: number }[] = [];
    const walker = document.createTreeWalker(frame, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode;
      characters.push(...Array.from({ length: text.textContent?.length ?? 0 }, (_, at) => ({ text, at })));
    }
    const rectOf = ({ text, at }: { text: Node; at: number }) => {
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return range.getBoundingClientRect();
    };
    const isSeen = ({ left, width, top, height }: DOMRect) =>
      card.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    const edges = frame.getBoundingClientRect();
    const isInFrame = ({ top, bottom }: DOMRect) => top >= edges.top && bottom <= edges.bottom;
    const start = characters
      .map(({ text, at }) => text.textContent?.[at])
      .join('')
      .lastIndexOf(evil);
    const drawn = characters.slice(start, start + evil.length).map(rectOf);
    const buttons = [...card.querySelectorAll('.decide button')].map((each) => each.getBoundingClientRect());
    return {
      isThere: start >= 0,
      endInView: drawn.every((rect) => isSeen(rect) && isInFrame(rect)),
      buttonsInView: buttons.every(isSeen),
      scrolls: frame.scrollHeight > frame.clientHeight + 1,
    };
  }, EVIL);

const IN_VIEW = { isThere: true, endInView: true, buttonsInView: true, scrolls: false };

/** The card as it must be, or as it stays: the page measures what fits some frames after each change. */
async function settledCard(page: Page) {
  let seen = await lookAtCard(page);
  for (let looks = 0; looks < 50 && !isDeepStrictEqual(seen, IN_VIEW); looks += 1) {
    await page.evaluate(() => new Promise(requestAnimationFrame));
    seen = await lookAtCard(page);
  }
  return seen;
}

/** Shows all of it, reads to the end and collapses it again. */
async function readAll(page: Page): Promise<string> {
  const frame = page.locator('.approval.pending .asked');
  const read = async () => ((await frame.textContent()) ?? '').replaceAll('\n', '');
  await button(page, 'Show all').click();
  const next = frame.getByRole('button', { name: 'Next page' });
  let text = await read();
  while ((await next.count()) > 0 && (await next.isEnabled())) {
    await next.click();
    text += await read();
  }
  await button(page, 'Show less').click();
  return text;
}

test('what every terminal asks shows the end of each command on one screen, and all of it on request', async () => {
  const client = await daemon.client();
  const { approvals } = await client.call('approval.list', {});
  for (const [name, trick] of Object.entries(TRICKS)) {
    const found = approvals.find(({ wsId }) => wsId === asked.get(name));
    assert.ok(found, name);
    const question = toQuestion(found);
    const room = toQuestionRoom(question, { rows: 24, columns: 80 });
    const rows = toQuestionLines(question, { paint, room });
    assert.ok(rows.length <= 22 && squeeze(rows).includes(squeeze([EVIL])), `${name}:\n${rows.join('\n')}`);
    const whole = squeeze(toQuestionLines(question, { paint, room: undefined }));
    assert.ok(whole.includes(squeeze([trick.middle])) && whole.includes(squeeze([EVIL])), name);
  }
});

test('in a chat, start and end of the command are on the screen with the keys, and v prints all of it', async (t) => {
  for (const [name, trick] of triedIn('chat')) {
    await t.test(name, async () => {
      await using chat = openTerminal({ args: ['chat', '--ws', asked.get(name) ?? ''], env: here });
      const rows = await chat.until(has('y approve'), 'the question');
      assert.ok(squeeze(rows.slice(-24)).includes(squeeze([EVIL])), rows.slice(-24).join('\n'));
      await pause(STARTLED_MS);
      chat.type('v');
      const isWhole = (seen: string[]) => isPrintedWhole(seen, trick) && has('y approve')(seen);
      await chat.until(isWhole, 'the whole');
    });
  }
});

test('headgate run asks with start and end of the command, and v prints all of it', async (t) => {
  for (const [name, trick] of triedIn('run')) {
    await t.test(name, async () => {
      await using run = openTerminal({ args: ['run', `trick: ${name}.`], env: here });
      const rows = await run.until(has('y approve'), 'the question');
      assert.ok(squeeze(rows.slice(-24)).includes(squeeze([EVIL])), rows.slice(-24).join('\n'));
      await pause(STARTLED_MS);
      run.type('v');
      const isAskedAgain = (seen: string[]) => seen.filter((row) => row.includes('y approve')).length === 2;
      await run.until((seen) => isPrintedWhole(seen, trick) && isAskedAgain(seen), 'the whole');
      await pause(STARTLED_MS);
      run.type('n');
      assert.equal(await run.exited, 4);
    });
  }
});

test('headgate run without a terminal prints start and end of the command before it denies', async (t) => {
  for (const [name] of triedIn('pipe')) {
    await t.test(name, async () => {
      const { code, stderr } = await runHeadgate(['run', `trick: ${name}.`], here);
      const [question = ''] = stderr.split(/^Denied/m);
      assert.deepEqual([code, squeeze([question]).includes(squeeze([EVIL]))], [4, true]);
      assert.ok(question.split('\n').length < 60, question);
      assert.match(question, / … [\d,]+ characters … |… [\d,]+ (blank lines?|more lines?|lines?) /);
    });
  }
});

test('a chat without a terminal prints start and end of the command, and all of it on the line v', async () => {
  const args = ['bin/headgate.js', 'chat', '--new'];
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { PATH: process.env.PATH, ...here } });
  child.stdin.end('trick: comments.\nv\nn\n');
  const rows = (await text(child.stdout)).split('\n');
  const titles = rows.flatMap((row, index) => (row.startsWith('? May') ? [index] : []));
  const [first = 0, second = 0] = titles;
  const counts = [first, second].map(
    (from, at) => rows.slice(from, [second, rows.length][at]).filter((row) => row.includes('# step')).length,
  );
  assert.deepEqual([titles.length, counts[1], rows.slice(first, second).includes(`  ${EVIL}`)], [2, 301, true]);
  assert.ok((counts[0] ?? 0) < 50);
});

test('with more calls than fit on a phone, the card says so and all can be reached', async (t) => {
  const calls = Array.from({ length: 12 }, (_, index) => ({
    name: 'bash',
    arguments: { command: `echo ${index}\n${EVIL}` },
  }));
  model.when('a dozen', callTools(...calls), say('Done.'));
  const { page } = await visit(t, daemon, { phone: true });
  await page.setViewportSize(DEVICES.phone);
  await openWorkstream(page, 'a dozen');
  await send(page, 'a dozen');
  await page.getByText('The 12 calls do not all fit here. Scroll to see every one.').waitFor();
  await approveButton(page, calls.length).click({ trial: true });
  const card = (await page.locator('.approval.pending').textContent()) ?? '';
  assert.equal(card.split(EVIL).length - 1, 12);
});

test('a command of one megabyte can be read completely, page by page, and decided', async (t) => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `# line ${index} of a very long file\n`);
  const content = `${lines.join('')}${EVIL}\n`;
  model.when('a megabyte', callTools({ name: 'write_file', arguments: { path: 'long.sh', content } }), say('Done.'));
  const { page } = await visit(t, daemon);
  page.setDefaultTimeout(300_000); // 101 pages, on a busy machine
  await openWorkstream(page, 'a megabyte');
  await send(page, 'a megabyte');
  await page.locator('.approval.pending').waitFor();
  assert.deepEqual(await settledCard(page), IN_VIEW);
  await button(page, 'Show all').click();
  await page.getByText('Page 1 of 101').waitFor();
  await button(page, 'Last page').click();
  await page.locator('.approval.pending').getByText(EVIL).waitFor();
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'Done.' }).waitFor();
});

const paint = createPaint(false);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const has = (text: string) => (rows: readonly string[]) => rows.some((row) => row.includes(text));
/** Longer than the time in which keys pressed before the approval appeared are ignored. */
const STARTLED_MS = 500;

/** Ignores how a terminal wraps a text. */
const squeeze = (rows: readonly string[]) => rows.join('').replaceAll(/\s/g, '');

/** The hidden part is there, and the end occurs a second time. */
function isPrintedWhole(rows: readonly string[], { middle }: { middle: string }): boolean {
  const text = squeeze(rows);
  return text.includes(squeeze([middle])) && text.split(squeeze([EVIL])).length === 3;
}
