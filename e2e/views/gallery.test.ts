import assert from 'node:assert/strict';
import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { buildDocs } from '../../scripts/docs/build-docs.js';
import { watchGallery } from '../../scripts/page/gallery.js';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { launched } from '../support/clients/browser-profiles.ts';

test('the gallery draws the components of the page, in each appearance, and all of them are accessible', async () => {
  await using ui = await mkdtempDisposable(path.join(tmpdir(), 'headgate-gallery-'));
  await mkdir(path.join(ui.path, 'site'));
  await writeFile(path.join(ui.path, 'site.json'), '{}');
  await (await watchGallery(ui.path)).dispose();
  const files = JSON.parse(await readFile(path.join(ui.path, 'site.json'), 'utf8'));
  assert.deepEqual(Object.keys(files), ['/static/gallery.html', '/static/gallery.css', '/static/gallery.js']);

  await using page = await (await launched()).newPage({ viewport: { width: 1280, height: 900 } });
  const thrown: string[] = [];
  page.on('pageerror', (error) => thrown.push(String(error.stack)));
  await page.route('**/*', async (route) => {
    const row = files[new URL(route.request().url()).pathname];
    if (row === undefined) return route.fulfill({ status: 404 });
    const body = gunzipSync(await readFile(path.join(ui.path, 'site', row.file)));
    await route.fulfill({ body, contentType: row.contentType });
  });
  await page.goto('http://localhost:9/static/gallery.html');
  for (const part of [
    '.primary',
    '.approval.pending',
    '.diff-text',
    '.composer',
    '.usage-table',
    '.login',
    '.tool.denied',
  ])
    await page.locator(part).first().waitFor({ timeout: 60_000 });
  for (const theme of ['light', 'dark'])
    for (const contrast of ['normal', 'more']) {
      await page.getByLabel('theme').selectOption(theme);
      await page.getByLabel('contrast').selectOption(contrast);
      await assertAccessible(page, `the gallery, ${theme}, contrast ${contrast}`);
      if (process.env.PICTURE)
        await page.screenshot({ fullPage: true, path: `${process.env.PICTURE}-${theme}-${contrast}.png` });
    }
  await page.getByLabel('density').selectOption('compact');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.density), 'compact');
  assert.deepEqual(thrown, []);
});

test('the site of the documentation is read and searched from files, without a network', async () => {
  await using site = await mkdtempDisposable(path.join(tmpdir(), 'headgate-site-'));
  await buildDocs(site.path);
  await using context = await (await launched()).newContext({ offline: true });
  const page = await context.newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('pageerror', (error) => asked.push(String(error)));
  await page.goto(pathToFileURL(path.join(site.path, 'guide.html')).href);
  await page.getByRole('searchbox').fill('backup restor');
  const first = page.locator('#results a').first();
  await first.waitFor();
  await assertAccessible(page, 'a page of the documentation with results');
  await first.click();
  await page
    .getByRole('heading', { name: /Backup and restore/i })
    .first()
    .waitFor();
  await page.getByRole('searchbox').fill('zebra unicorn');
  await page.getByText('No page has all of these words.').waitFor();
  assert.deepEqual(
    asked.filter((url) => !url.startsWith('file://')),
    [],
  );
});
