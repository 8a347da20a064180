import assert from 'node:assert/strict';
import { test } from 'node:test';
import { button, openWorkstream, send, state, visit, visitAgain } from '../support/clients/browser.ts';
import { sharedStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

declare global {
  interface Window {
    violations: string[];
  }
}

const { model, daemon } = await sharedStage();

test('the content security policy is in force: an injected script does not run, and nothing is fetched', async (t) => {
  // The request for the image is reported, and blocked by the policy.
  const expected = [/violates the .*Content Security Policy/, /^request: http:\/\/127\.0\.0\.1:9\/pixel$/];
  const { page } = await visit(t, daemon, { expected });
  await page.locator('.link-open').waitFor();
  await page.evaluate(() => {
    window.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.effectiveDirective));
    const script = document.createElement('script');
    script.textContent = 'window.injected = true';
    const handler = document.createElement('div');
    handler.setAttribute('onclick', 'window.injected = true');
    const image = new Image();
    image.src = 'http://127.0.0.1:9/pixel';
    const frame = document.createElement('iframe');
    frame.src = 'data:text/html,a frame';
    const served = document.createElement('script');
    served.src = '/static/docs.js'; // of the same origin, but no part of the page
    document.body.append(script, served, handler, image, frame);
    handler.click();
    return fetch('http://127.0.0.1:9/').catch(() => 'refused');
  });
  await page.waitForFunction(() => window.violations.length >= 6);
  const { violations, injected } = await page.evaluate(() => ({
    violations: window.violations.toSorted(),
    injected: 'injected' in window,
  }));
  assert.deepEqual(
    { violations, injected },
    {
      violations: ['connect-src', 'frame-src', 'img-src', 'script-src-attr', 'script-src-elem', 'script-src-elem'],
      injected: false,
    },
  );
});

test('HTML from a model is shown as text, images become links, and links cannot run scripts', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'hostile');
  model.when(
    'hostile',
    say(
      'Look: <img src="http://127.0.0.1:9/leak" onerror="window.injected = true"> <b>bold</b>\n\n',
      '<script>window.injected = true</script>\n\n',
      '![the chart](http://127.0.0.1:9/leak?secret)\n\n',
      '[a trap](javascript:window.injected=true) and [a page](https://example.com/)\n\nthe end',
    ),
  );
  await send(page, 'hostile');
  await state(page, 'idle');
  const answer = page.locator('.answer', { hasText: 'the end' });
  await answer.waitFor();
  const seen = await answer.evaluate((element) => ({
    elements: element.querySelectorAll('img, script, b, iframe, [onerror]').length,
    links: [...element.querySelectorAll('a')].map(({ href, textContent, rel, target }) => [
      textContent,
      href,
      rel,
      target,
    ]),
    injected: 'injected' in window,
  }));
  const safe = ['noopener noreferrer', '_blank'];
  assert.deepEqual(seen, {
    elements: 0,
    links: [
      ['image: the chart', 'http://127.0.0.1:9/leak?secret', ...safe],
      ['a page', 'https://example.com/', ...safe],
    ],
    injected: false,
  });
  const text = await answer.innerText();
  assert.match(text, /onerror="window\.injected = true"> <b>bold<\/b>/);
  assert.match(text, /<script>window\.injected = true<\/script>/);
});

test('messages, tool output and command output are shown as text, too', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, '<i>name</i>');
  const html = '<img src=x onerror=window.injected=1>';
  model.when('as text', callTools({ name: 'bash', arguments: { command: `echo '${html}' | tee text` } }), say('done'));
  await send(page, `${html} as text`);
  assert.match(await page.locator('.approval.pending').innerText(), /echo '<img src=x onerror=window\.injected=1>'/);
  await button(page, 'Approve').click();
  await page.locator('.output', { hasText: html }).waitFor();
  await page.locator('.block.user', { hasText: html }).waitFor();
  assert.equal(await page.evaluate(() => document.querySelectorAll('img, i').length), 0);
});

test('without a sandbox the banner, the approval and the card of a command say so, also after a reload', async (t) => {
  await daemon.restart({ entry: new URL('../support/daemon/unsandboxed-daemon.ts', import.meta.url) });
  const { page } = await visit(t, daemon);
  await page.locator('.banner.warning', { hasText: /sandbox/ }).waitFor();
  await openWorkstream(page, 'bare');
  model.when('bare', callTools({ name: 'bash', arguments: { command: 'echo bare | tee bare' } }), say('done'));
  await send(page, 'bare');
  await page.locator('.approval.pending .not-sandboxed', { hasText: 'Not sandboxed' }).waitFor();
  await button(page, 'Approve').click();
  await page.locator('.block.answer', { hasText: 'done' }).waitFor();
  const told = () => page.locator('.not-sandboxed').allInnerTexts();
  const live = await told();
  assert.deepEqual([live.length, live[0]?.startsWith('Not sandboxed')], [1, true]);
  await page.reload();
  await page.locator('.tool .not-sandboxed').waitFor();
  assert.deepEqual(await told(), live);
});
