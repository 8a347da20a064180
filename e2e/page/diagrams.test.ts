import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { openWorkstream, send, state, untilCopied, visit, visitAgain } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const fence = (...lines: string[]) => `\`\`\`mermaid\n${lines.join('\n')}\n\`\`\`\n\n`;

const FLOW = ['flowchart LR', '  accTitle: The way', '  A[Start] --> B{Fine?}', '  B -->|yes| C((End))'];

/** Lets the model answer with this in a new workstream. */
async function answer(page: Page, name: string, markdown: string): Promise<Locator> {
  await openWorkstream(page, name);
  model.when(`draw ${name}`, say(markdown));
  await send(page, `draw ${name}`);
  const shown = page.locator('.answer');
  await shown.waitFor();
  await state(page, 'idle');
  return shown;
}

test('a diagram is drawn when its source is complete, with a name, its source and a copy, in light and dark', async (t) => {
  const { page, context } = await visitAgain(t, daemon);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openWorkstream(page, 'diagram');
  const [inFence, afterwards] = [stall(), stall()];
  const source = FLOW.join('\n');
  model.when('draw it', [
    say('```mermaid\n', FLOW.slice(0, 3).join('\n')),
    inFence,
    say(`\n${FLOW[3]}\n`, '```\n\n', 'Drawn'),
    afterwards,
    say(' above.'),
  ]);
  await send(page, 'draw it');
  await page.locator('.answer .code', { hasText: 'Fine?' }).waitFor();
  assert.equal(await page.locator('iframe, .diagram').count(), 0, 'a source that still grows is not drawn');
  inFence.release();
  const image = page.getByRole('img', { name: 'Flowchart: The way' });
  await image.waitFor();
  afterwards.release();
  await state(page, 'idle');
  const isDrawn = await image.evaluate((one: HTMLImageElement) => one.decode().then(() => one.naturalWidth > 200));
  assert.ok(isDrawn);
  const light = await image.getAttribute('src');
  await page.getByRole('button', { name: 'Source' }).click();
  await page.locator('.diagram pre', { hasText: 'accTitle' }).waitFor();
  await page.locator('.diagram-actions').getByRole('button', { name: 'Copy' }).click();
  await untilCopied(page, source);
  await assertAccessible(page, 'a diagram and its source');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForFunction(
    (before) => document.querySelector<HTMLImageElement>('.diagram img')?.src !== before,
    light,
  );
  await assertAccessible(page, 'a diagram in dark colours');
  await page.emulateMedia({ colorScheme: null });
  const frame = page.locator('iframe');
  assert.deepEqual(
    [await frame.count(), await frame.getAttribute('sandbox'), await frame.getAttribute('aria-hidden')],
    [1, 'allow-scripts', 'true'],
  );
});

test('a diagram with markup, links, directives and HTML draws text only, and one that is none shows its source and why', async (t) => {
  const { page } = await visitAgain(t, daemon);
  const init =
    '%%{init: {"securityLevel": "loose", "htmlLabels": true, "themeCSS": "* { fill: url(http://127.0.0.1:9/) }"}}%%';
  const hostile = [
    init,
    'flowchart LR',
    '  A["<img src=x onerror=parent.hit=1><script>parent.hit=1</script><iframe src=/></iframe>"] --> B',
    '  click A "javascript:parent.hit=1"',
    '  click B href "http://127.0.0.1:9/" _top',
  ];
  const many = Array.from({ length: 500 }, (_, place) => `  a${place} --> b${place}`);
  const shown = await answer(
    page,
    'hostile',
    [
      fence(...hostile),
      fence('flowchart LR', '  A -->'),
      fence('hello'),
      fence('flowchart LR', ...many),
      fence(
        'gantt',
        '  dateFormat YYYY-MM-DD',
        '  excludes monday,tuesday,wednesday,thursday,friday,saturday,sunday',
        '  a: 2014-01-01, 30d',
      ),
      fence('flowchart LR', `  A["${'x'.repeat(20_000)}"]`),
    ].join(''),
  );
  await shown.locator('.diagram-note').nth(4).waitFor();
  assert.deepEqual(
    (await shown.locator('.diagram-note').allInnerTexts()).map((text) =>
      text.replace(/^This diagram could not be drawn\. /, ''),
    ),
    [
      'Parse error on line 3.',
      'Its first line names no kind of diagram.',
      'It has more than 400 connections.',
      'Failed to find a valid date that was not excluded by `excludes` after 10,000 iterations.',
      'Diagrams with more than 20000 characters are not drawn.',
    ],
  );
  assert.equal(await shown.locator('.diagram-source pre').count(), 5);
  const image = shown.locator('.diagram img');
  const svg = decodeURIComponent((await image.getAttribute('src')) ?? '');
  assert.doesNotMatch(svg, /<(script|iframe|img|foreignObject)|javascript:|127\.0\.0\.1/i);
  assert.equal(await page.evaluate(() => 'hit' in window), false);
});

test('the frame has a policy of its own and an opaque origin: it reaches neither the page, its storage nor the network', async (t) => {
  const expected = [
    /violates the .*Content Security Policy/,
    /Failed to read|Blocked a frame|net::ERR/,
    /^request: http:\/\/127\.0\.0\.1:9\//,
  ];
  const { page } = await visit(t, daemon, { expected });
  await answer(page, 'frame', fence(...FLOW));
  await page.getByRole('img', { name: 'Flowchart: The way' }).waitFor();
  const inside = page.frames().find((frame) => frame.url().endsWith('/static/diagram.html')) ?? assert.fail('no frame');
  const reached = await inside.evaluate(async () => {
    const tried = async (run: () => unknown) => {
      try {
        return await run();
      } catch (error) {
        return error instanceof Error ? error.name : 'refused';
      }
    };
    const script = document.createElement('script');
    script.textContent = 'window.taken = 1';
    document.body.append(script);
    document.body.setAttribute('onclick', 'window.taken = 1');
    document.body.click();
    return {
      origin: window.origin,
      page: await tried(() => window.parent.document.title),
      storage: await tried(() => localStorage.length),
      cookie: await tried(() => document.cookie),
      fetched: await tried(() => fetch('/v1/api/workstreams')),
      elsewhere: await tried(() => fetch('http://127.0.0.1:9/')),
      taken: 'taken' in window,
    };
  });
  assert.deepEqual(reached, {
    origin: 'null',
    page: 'SecurityError',
    storage: 'SecurityError',
    cookie: 'SecurityError',
    fetched: 'TypeError',
    elsewhere: 'TypeError',
    taken: false,
  });
  // It cannot carry anything away as an address, either: the page's policy frames this daemon only.
  await inside.evaluate(() => location.assign('http://127.0.0.1:9/?secret')).catch(() => undefined);
});

test('a frame that never ends and answers nonsense is removed, while the page goes on', async (t) => {
  const { page } = await visit(t, daemon);
  const endless = `onmessage = ({ data: { id } }) => {
    parent.postMessage({ kind: 'picture', id, svg: '<img onerror=alert()>', width: 1, height: 1 }, '*');
    setTimeout(() => { for (;;); });
  };
  parent.postMessage({ kind: 'ready' }, '*')`;
  const body = `<script>${endless}</script>`;
  await page.route('**/static/diagram.html', (route) => route.fulfill({ contentType: 'text/html', body }));
  const shown = await answer(page, 'endless', fence(...FLOW));
  const note = shown.locator('.diagram-note');
  await note.getByText('It was drawn, but the picture is unusable.').waitFor();
  assert.equal(await page.locator('iframe').count(), 0);
  await page.unroute('**/static/diagram.html');
  await note.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('img', { name: 'Flowchart: The way' }).waitFor();
});
